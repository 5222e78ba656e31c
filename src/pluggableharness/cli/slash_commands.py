"""What a person can say to the harness itself in a conversation: lines that begin with `/`."""

import os
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pluggableharness.cli.arguments import read_arguments
from pluggableharness.cli.choosing import Choosing
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.policy.explaining import explained
from pluggableharness.cli.session_words import about, began, ended
from pluggableharness.cli.tools import first_sentence
from pluggableharness.kernel.domain.errors import HarnessError, UsageError
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.frontends.meter import dollars
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.frontends.words import counted, duration
from pluggableharness.kernel.kernel import Kernel
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.schema.nearest import close
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.store.descent import check_root
from pluggableharness.kernel.store.index import Summary, summaries
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.kernel.store.lock import holders, is_held
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_meta

COMMANDS = {
    "/help": ("", "what there is to say"),
    "/plan": ("", "plan mode on or off: look and say, change nothing"),
    "/tools": ("", "what the model may call now"),
    "/policy": ("[OPERATION NAME=VALUE ...]", "the rules and grants, or why a call is judged so"),
    "/cost": ("", "what is spent, and what is left"),
    "/model": ("[PROVIDER:ID]", "which model answers and which could; or let another answer"),
    "/resume": ("[ID]", "go on with another session of this folder"),
    "/quit": ("", "leave; the session can be resumed"),
}
_LISTED = 10


@dataclass(frozen=True, slots=True)
class GoOnWith:
    """The session that the conversation goes on with."""

    log: Path


class Leave(Enum):
    """The person leaves."""

    LEAVE = "leave"


Ask = Callable[[str], Awaitable[str | None]]
"""Reads a line behind a label; None when there is none to come."""


@dataclass(slots=True)
class SlashCommands:
    """Obeys the commands of one session's conversation."""

    kernel: Kernel
    session: Session
    terminal: Terminal
    ask: Ask
    choosing: Choosing

    async def obey(self, typed: str) -> GoOnWith | Leave | None:
        """Do what a line says, and say what came of it; None to go on with this session."""
        name, _, rest = typed.strip().partition(" ")
        try:
            match name.lower():
                case "/help":
                    self._help()
                case "/plan":
                    self._plan()
                case "/tools":
                    self._tools()
                case "/policy":
                    await self._policy(rest)
                case "/cost":
                    self._cost()
                case "/model":
                    self._model(rest.strip())
                case "/resume":
                    return await self._resume(rest.strip())
                case "/quit" | "/exit":
                    return Leave.LEAVE
                case _:
                    near = close(name, list(COMMANDS))
                    meant = f"; did you mean {near}?" if near else "."
                    self.terminal.say(f"There is no {name}{meant} See /help.")
        except HarnessError as error:
            self.terminal.say(str(error), "warning")
        return None

    def _help(self) -> None:
        rows = [(f"{name} {takes}".rstrip(), about) for name, (takes, about) in COMMANDS.items()]
        self.terminal.table(rows, "key")
        self.terminal.say(
            "Return sends; Alt-Return, or \\ before Return, begins a new line. Ctrl-C stops what "
            "runs and clears what is typed; Ctrl-D leaves.",
            "faint",
        )

    def _plan(self) -> None:
        self.session.mode.plan = not self.session.mode.plan
        self.terminal.say(
            "plan mode: from the next prompt on nothing is offered that changes anything"
            if self.session.mode.plan
            else "plan mode is off"
        )

    def _model(self, given: str) -> None:
        """Say which models there are, or let the named one answer. Raises UsageError."""
        if not given:
            self.terminal.table(list(self.choosing.listed()), "key")
            return
        self.choosing.choose(given)
        first, *others = (one.name for one in self.choosing.choices)
        behind = f"; when it cannot, {' or '.join(others)} does" if others else ""
        self.terminal.say(f"{first} answers from the next prompt on{behind}")

    def _tools(self) -> None:
        rows = [
            (one.full_name, one.kind.value, one.risk.value, first_sentence(one.description))
            for one in self.session.in_scope
        ]
        self.terminal.table(rows, "key")
        hidden = len(self.session.offered) - len(rows)
        if hidden:
            self.terminal.say(f"{counted(hidden, 'operation')} more when plan mode is off", "faint")

    async def _policy(self, written: str) -> None:
        if written.strip():
            await self._explain(written)
            return
        rules = self.kernel.policy(self.session.id).rules
        if not rules:
            self.terminal.say("There are no rules: what changes something is asked about.")
        self.terminal.table([_rule_row(rule) for rule in rules], "key")

    async def _explain(self, written: str) -> None:
        """Say how a call would be judged. Raises UsageError for one that could not be made."""
        try:
            operation, *pairs = shlex.split(written)
        except ValueError as error:
            raise UsageError(f"{written}: {error}") from error
        known = next((one for one in self.session.offered if one.full_name == operation), None)
        arguments = read_arguments(known, pairs, None)
        found = await self.kernel.explain(operation, arguments, self.session)
        self.terminal.say("\n".join(explained(found)))

    def _cost(self) -> None:
        bounds, spent = self.session.bounds, self.session.spending.now
        turns = _of(str(self.session.spending.of_prompt.turns), bounds.max_turns, str)
        usage = spent.usage
        self.terminal.table(
            [
                ("tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"),
                ("dollars", _of(dollars(spent.cost_usd), bounds.max_cost_usd, dollars)),
                ("turns", f"{turns} for the last prompt, {spent.turns} in all"),
                ("time", _of(duration(spent.wall_clock_s), bounds.max_wall_clock_s, duration)),
            ]
        )

    async def _resume(self, given: str) -> GoOnWith | None:
        if given:
            return self._other(given)
        found = recent(self.session.working_directory, besides=self.session.id)
        if not found:
            self.terminal.say("There is no other session of this folder.")
            return None
        self.terminal.table([_session_row(at, one) for at, one in enumerate(found, 1)], "key")
        asked = f"1-{len(found)}, an id, or Return to stay > "
        picked = ((await self.ask(asked)) or "").strip()
        if not picked:
            return None
        if picked.isascii() and picked.isdigit() and 1 <= int(picked) <= len(found):
            picked = found[int(picked) - 1].session_id
        return self._other(picked)

    def _other(self, given: str) -> GoOnWith:
        """A session that can be gone on with here: this one is left only for such a one.

        Raises HarnessError, which says why the session is none.
        """
        log = find_log(given)
        check_root(log)
        read_session(log)
        if is_held(log, holders()):
            raise UsageError(f"session {log.stem} is open already, here or in another harness")
        meta = read_meta(log)
        directory = meta.get("working_directory", "")
        profile = meta.get("profile") or DEFAULT_PROFILE.name
        if (directory, profile) != (self.session.working_directory, self.session.profile):
            raise UsageError(
                f"session {log.stem} works in {in_quotes(directory)} as {in_quotes(profile)}, and "
                f"this conversation elsewhere or as another. Leave it, and: harness run --resume "
                f"{log.stem}"
            )
        return GoOnWith(log)


def recent(directory: str, *, besides: str = "") -> Sequence[Summary]:
    """The latest sessions that somebody began in a directory, the newest first."""
    found = [
        one
        for one in summaries(sessions_directory(os.environ))
        if one.working_directory == directory and one.was_begun and one.session_id != besides
    ]
    return found[: -_LISTED - 1 : -1]


def _session_row(number: int, one: Summary) -> tuple[str, ...]:
    return str(number), began(one), ended(one), about(one).partition("\n")[0]


def _rule_row(rule: Rule) -> tuple[str, ...]:
    place = "granted" if rule.granted and rule.position is None else str(rule.position or "")
    return rule.name, rule.action.value, rule.when, place


def _of(spent: str, limit: float | None, words: Callable[[float], str]) -> str:
    return spent if limit is None else f"{spent} of {words(limit)}"
