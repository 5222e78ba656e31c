"""A conversation: prompts at the terminal, each of them a further run of one session (K32).

The interrupt key ends what runs, and the person is asked for the next prompt. A second one
while it is being ended leaves at once.
"""

import asyncio
import os
import signal
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.interrupts import leave_at_once
from pluggableharness.cli.prompt_history import history_path, read_history, remember
from pluggableharness.cli.prompt_line import EditedLine, Interrupted, PlainLine, PromptLine
from pluggableharness.cli.slash_commands import COMMANDS, GoOnWith, SlashCommands
from pluggableharness.kernel.domain.message import Role
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.kernel import Kernel, Setup, opened
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.turn.ports import Model

Done = TypeVar("Done")

_LABEL, _PLANNING = "> ", "plan > "
_LEAVING = "Ctrl-C again, Ctrl-D or /quit leaves."
_GREETING = "Type what is to be done, or /help. Ctrl-C stops what runs, Ctrl-D leaves."


async def converse(setup: Setup, model: Model, resume: Path | None = None) -> int:
    """Hold a conversation, of a new session or of the one in that log; 0 when the person leaves.

    Raises what opening a kernel, a session and its log does.
    """
    keys = Keys()
    terminal = Terminal(keys=keys, conversation=True)
    with _Turns() as turns, keys.quiet():
        line = _prompt_line(terminal, keys)
        try:
            async with opened(setup) as kernel:
                log = resume
                while True:
                    following = await _one_session(kernel, model, terminal, line, turns, log)
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


async def _one_session(
    kernel: Kernel,
    model: Model,
    terminal: Terminal,
    line: PromptLine,
    turns: "_Turns",
    log: Path | None,
) -> GoOnWith | None:
    """Converse until the person leaves or goes on with another session, which is given back."""
    if log is None:
        async with kernel.session(model, terminal) as session:
            terminal.say(_GREETING, "faint")
            conversation = _Conversation(kernel, session, terminal, line, turns)
            return await conversation.hold()
    async with kernel.resumed(log, lambda before: model, terminal) as (session, before):
        _recall(terminal, session.id, before)
        conversation = _Conversation(kernel, session, terminal, line, turns, before)
        return await conversation.hold()


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
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted)
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
            if not self._asked or _is_cancelled():
                task.cancel()
                raise
            raise Interrupted from None
        finally:
            self._running = None

    def _interrupted(self) -> None:
        if self._asked:
            leave_at_once()
        self._asked = True
        target = self._running or self._owner
        if target is not None:
            target.cancel()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@dataclass(slots=True)
class _Conversation:
    """One session and the person in front of it; `before` is what its record already holds."""

    kernel: Kernel
    session: Session
    terminal: Terminal
    line: PromptLine
    turns: _Turns
    before: RecordedSession | None = None
    _begun: bool = False

    async def hold(self) -> GoOnWith | None:
        """Take prompts and commands until the person leaves, or goes on with another session."""
        self.terminal.follow(lambda: (self.session.bounds, self.session.spending.now))
        commands = SlashCommands(self.kernel, self.session, self.terminal, self._ask)
        interrupts = 0
        while interrupts < 2:
            try:
                typed = await self._ask(_PLANNING if self.session.mode.plan else _LABEL)
                if typed is None:
                    return None
                interrupts = 0
                if typed.startswith("/"):
                    remember(history_path(os.environ), typed.strip())
                    if (outcome := await commands.obey(typed)) is not None:
                        return outcome if isinstance(outcome, GoOnWith) else None
                elif typed.strip():
                    remember(history_path(os.environ), typed.strip("\n"))
                    await self._prompted(typed.strip("\n"))
            except Interrupted:
                interrupts += 1
                if interrupts == 1:
                    self.terminal.say(_LEAVING, "faint")
        return None

    async def _ask(self, label: str) -> str | None:
        self.terminal.make_room()
        return await self.turns.run(self.line.read(label))

    async def _prompted(self, text: str) -> None:
        """Let the session run to its end, or to an interrupt, which is an end as well."""
        try:
            await self.turns.run(self._run(text))
        except Interrupted:
            pass

    async def _run(self, text: str) -> None:
        if self._begun:
            await self.session.go_on(text)
            return
        self._begun = True
        if self.before is not None:
            await self.session.resume(self.before, text)
        else:
            await self.session.run(text)
