"""A conversation: prompts at the terminal, each of them a further run of one session (K32).

The interrupt key ends what runs, and the person is asked for the next prompt. A second one
while it is being ended leaves at once. A new session opens, and its model is loaded, while the
first prompt is typed.
"""

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pluggableharness.cli.choosing import Choosing
from pluggableharness.cli.exits import DONE
from pluggableharness.cli.interrupts import meanwhile, on_signals
from pluggableharness.cli.kernel_log import log_drawn_by
from pluggableharness.cli.prompt_history import history_path, read_history, remember
from pluggableharness.cli.prompt_line import EditedLine, Interrupted, PlainLine, PromptLine
from pluggableharness.cli.slash_commands import COMMANDS, GoOnWith, SlashCommands
from pluggableharness.cli.starting import follow
from pluggableharness.kernel.domain.cancelled import is_cancelled
from pluggableharness.kernel.domain.message import Role
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.models.answering import Answering
from pluggableharness.kernel.models.vendors import VendorModels
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.setup import Setup

Done = TypeVar("Done")

_LABEL, _PLANNING = "> ", "plan > "
_LEAVING = "Ctrl-C again, Ctrl-D or /quit leaves."
_GREETING = "Type what is to be done, or /help. Ctrl-C stops what runs, Ctrl-D leaves."


async def converse(setup: Setup, models: VendorModels, resume: Path | None = None) -> int:
    """Hold a conversation, of a new session or of the one in that log; 0 when the person leaves.

    Raises what opening a kernel, a session and its log does.
    """
    choosing = Choosing(setup, models)
    keys = Keys()
    terminal = Terminal(keys=keys, conversation=True)
    with _Turns() as turns, keys.quiet(), log_drawn_by(terminal.say):
        line = _prompt_line(terminal, keys)
        try:
            async with opened(setup) as kernel:
                log = resume
                while True:
                    conversation = _Conversation(kernel, terminal, line, turns, choosing)
                    following = await _one_session(conversation, log)
                    if following is None:
                        return DONE
                    log = following.log
        finally:
            terminal.close()


def _prompt_line(terminal: Terminal, keys: Keys) -> PromptLine:
    if not terminal.looks.cursor:
        return PlainLine(keys)
    described = {name: about for name, (_, about) in COMMANDS.items()}
    history = read_history(history_path(os.environ))
    return EditedLine(described, history, colour=terminal.looks.colour)


async def _one_session(conversation: "_Conversation", log: Path | None) -> GoOnWith | None:
    """Converse until the person leaves or goes on with another session, which is given back."""
    kernel, terminal = conversation.kernel, conversation.terminal
    model = conversation.choosing.answering
    if log is None:
        terminal.say(_GREETING, "faint")
        begun = kernel.session(model, terminal)
        async with (
            AsyncExitStack() as stack,
            meanwhile(stack.enter_async_context(begun)) as opening,
            meanwhile(_prepared_after(opening, model)),
        ):
            return await conversation.hold(opening)
    async with (
        kernel.resumed(log, lambda before: model, terminal) as (session, before),
        meanwhile(model.prepare()),
    ):
        _recall(terminal, session.id, before)
        opened: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        opened.set_result(session)
        return await conversation.hold(opened, before)


async def _prepared_after(opening: "asyncio.Future[Session]", model: Answering) -> None:
    """Load the model last: what is imported beside the loop delays the prompt's first line."""
    await asyncio.wait({opening})
    await model.prepare()


def _recall(terminal: Terminal, session_id: str, before: RecordedSession) -> None:
    """The last exchange of a session that goes on, so that the person knows where they are."""
    terminal.say(f"going on with session {session_id}", "faint")
    for role, style in ((Role.USER, "faint"), (Role.ASSISTANT, "")):
        said = [one.text for one in before.history if one.role is role and one.text.strip()]
        if said:
            mark = _LABEL if role is Role.USER else ""
            terminal.say(mark + said[-1].strip(), style)
    if before.left is not None:
        terminal.say("It was cut short; your next prompt first settles what it left open.")


@dataclass(slots=True)
class _Turns:
    """Who gets the interrupt signal: what runs under it, or else the whole of the process."""

    _running: "asyncio.Task[object] | None" = None
    _asked: bool = False
    _owner: "asyncio.Task[object] | None" = field(default_factory=asyncio.current_task)

    def __enter__(self) -> "_Turns":
        on_signals((signal.SIGINT,), self._interrupted, lambda: self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the handler: a second interrupt still leaves while providers are ended."""

    async def run(self, work: Coroutine[None, None, Done]) -> Done:
        """Do work that the signal ends. Raises Interrupted when it did."""
        task = asyncio.ensure_future(work)
        self._running, self._asked = task, False
        try:
            return await task
        except asyncio.CancelledError:
            if not self._asked or is_cancelled():
                task.cancel()
                raise
            raise Interrupted from None
        finally:
            self._running = None

    def _interrupted(self) -> None:
        self._asked = True
        target = self._running or self._owner
        if target is not None:
            target.cancel()


@dataclass(slots=True)
class _Conversation:
    """The person in front of one session."""

    kernel: Kernel
    terminal: Terminal
    line: PromptLine
    turns: _Turns
    choosing: Choosing
    _begun: bool = False

    async def hold(
        self, opening: "asyncio.Future[Session]", before: RecordedSession | None = None
    ) -> GoOnWith | None:
        """Take prompts and commands until the person leaves, or goes on with another session.

        `before` is what the session's record already holds. Raises what opening the session
        does, as soon as it does.
        """
        interrupts = 0
        while interrupts < 2:
            try:
                typed = await self._ask(opening)
                if typed is None:
                    return None
                interrupts = 0
                if not typed.strip():
                    continue
                remember(history_path(os.environ), typed.strip("\n"))
                session = await self.turns.run(_opened(opening))
                if typed.startswith("/"):
                    obeyed = SlashCommands(
                        self.kernel, session, self.terminal, self._read, self.choosing
                    )
                    if (outcome := await obeyed.obey(typed)) is not None:
                        return outcome if isinstance(outcome, GoOnWith) else None
                else:
                    await self._prompted(session, before, typed.strip("\n"))
            except Interrupted:
                interrupts += 1
                if interrupts == 1:
                    self.terminal.say(_LEAVING, "faint")
        return None

    async def _ask(self, opening: "asyncio.Future[Session]") -> str | None:
        """The next line; a session that cannot be opened is not waited for a line to tell."""
        opens_so = self.choosing.setup.plan_mode
        planning = opening.result().mode.plan if opening.done() else opens_so
        reading = asyncio.ensure_future(self._read(_PLANNING if planning else _LABEL))
        try:
            both: tuple[asyncio.Future[Any], ...] = (reading, opening)
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                opening.result()
            return await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, label: str) -> str | None:
        with self.terminal.undisturbed():
            return await self.turns.run(self.line.read(label))

    async def _prompted(self, session: Session, before: RecordedSession | None, text: str) -> None:
        """Let the session run to its end, or to an interrupt, which is an end as well."""
        follow(self.terminal, session)
        self.kernel.go_on_with(session, self.choosing.choices)
        try:
            await self.turns.run(self._run(session, before, text))
        except Interrupted:
            pass

    async def _run(self, session: Session, before: RecordedSession | None, text: str) -> None:
        if self._begun:
            await session.go_on(text)
            return
        self._begun = True
        if before is not None:
            session.spending.prompted()
            await session.resume(before, text)
        else:
            await session.run(text)


async def _opened(opening: "asyncio.Future[Session]") -> Session:
    """The session once it is open; whoever stops waiting for it leaves it to open."""
    return await asyncio.shield(opening)
