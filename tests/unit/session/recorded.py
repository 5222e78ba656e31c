"""Sessions from and to real logs, over doubles of all else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from store_logs import SESSION, TOY, direct
from unit.turn.doubles import calls, operation, ports, says

from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.session import SessionEnd
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.session.spending import Spending
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_events
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.turn.hooks import NO_HOOKS, Hooks

READ = operation("read")


WRITE = operation("write", Kind.RESOURCE)


PUT = operation("put", Kind.RESOURCE, idempotent=True)


OFFERED = (READ, WRITE, PUT)


SAID = (calls("read", "write", "put", "gone"), says("done"))


def bound(log: EventLog, *said: Message, hooks: Hooks = NO_HOOKS, **doubles: Any) -> Session:
    made, *_ = ports(*said, **doubles)
    record = SessionLog(log, lambda provider: replace(TOY, name=provider))
    return Session(SESSION, "/work", OFFERED, replace(made, record=record, hooks=hooks), record)


async def whole_log(directory: Path, *said: Message, **doubles: Any) -> Path:
    log = EventLog.create(directory, SESSION)
    await bound(log, *said, **doubles).run("go")
    await log.close()
    return log.path


def cut(path: Path, rows: int) -> None:
    """Leave the first rows alone: a log as a kernel leaves it that was killed behind them."""
    with direct(path) as connection:
        connection.execute("DELETE FROM events WHERE sequence > ?", (rows,))


async def resume(
    path: Path, *said: Message, prompt: str | None = None, **doubles: Any
) -> tuple[Session, SessionEnd, RecordedSession]:
    log = EventLog.open(path)
    before = read_session(path)
    session = bound(log, *said, **doubles)
    session.spending = Spending(before.spent)
    end = await session.resume(before, prompt)
    await log.close()
    return session, end, before


def results(history: list[Message]) -> list[ToolResult]:
    return [block for m in history for block in m.blocks if isinstance(block, ToolResult)]


def outcomes(history: list[Message]) -> dict[str, Outcome]:
    return {result.name: result.outcome for result in results(history)}


def well_formed(history: list[Message]) -> bool:
    """Whether every message with calls is followed by one result for each (K2)."""
    return all(
        [call.tool_use_id for call in message.calls]
        == [block.tool_use_id for block in history[at + 1].blocks if isinstance(block, ToolResult)]
        for at, message in enumerate(history)
        if message.calls
    )


async def interrupted(directory: Path, *said: Message) -> Path:
    """A log that ends with the intents of the message's sent calls."""
    path = await whole_log(directory, *said)
    sent = [event.sequence for event in read_events(path) if event.kind == "tool_call"]
    first_result = [e.sequence for e in read_events(path) if e.kind == "tool_result"]
    assert sent[0] < first_result[0]
    cut(path, sent[0])
    return path
