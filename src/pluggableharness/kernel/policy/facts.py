"""What conditions are evaluated over: one call's facts, gathered when first asked for (K7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.policy.conditions import (
    BadCondition,
    Condition,
    Unanswerable,
    compiled,
    context,
)
from pluggableharness.kernel.policy.folders import Folders
from pluggableharness.kernel.policy.rules import Action, Rule
from pluggableharness.kernel.policy.shell import ShellView, shell_view, supposed
from pluggableharness.kernel.policy.subjects import command_line, paths, words_run

if TYPE_CHECKING:
    from cel import Context


class Held(Enum):
    """How a rule's condition came out on a call."""

    YES = "yes"
    NO = "no"
    FAILED = "failed"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Answer:
    """How a condition came out, and why unless it simply held."""

    held: Held
    why: str = ""


_YES = Answer(Held.YES)
_NOT_CERTAIN = "in which folder it runs is not known for certain"
_SUPPOSED = "the command may run what the rule speaks of: its text does not tell all that it runs"
_NO = Answer(Held.NO, "its condition is false")


class Facts:
    """A call as conditions see it. `attended` says that a person is there to be asked."""

    def __init__(self, call: Call, *, attended: bool = False) -> None:
        self._call = call
        self._attended = attended
        self._line = words_run(call)

    @property
    def folder(self) -> str | None:
        """Where the call runs, "." in the session's directory; None where nobody knows."""
        return self._folders.only

    @property
    def named(self) -> list[str]:
        """The paths that a call without a command names, as rules speak of them."""
        return [*self._writes, *self._reads]

    @property
    def view(self) -> ShellView | None:
        """What the call's command line does, as it is judged; None for a call without one."""
        return None if self._line is None else self._view

    def answer(self, rule: Rule) -> Answer:
        """How the rule's condition comes out; a rule without one simply holds."""
        if not rule.when:
            return _YES
        try:
            condition = compiled(rule.when)
            if rule.action is Action.ALLOW and self._call.distrusted:
                return Answer(Held.NO, self._call.distrusted)
            if (unsure := self._misplaced(condition, rule.action)) is not None:
                return unsure
            if not condition.looks_at_files:
                return _YES if condition.holds(self._plain) else _NO
            if (unmet := self._unmet(condition, rule.action)) is not None:
                return unmet
            held = condition.holds(self._context)
            if not held and rule.action is not Action.ALLOW and self._may_hold(condition):
                return Answer(Held.UNUSABLE, _SUPPOSED)
        except (BadCondition, Unanswerable) as failure:
            return Answer(Held.FAILED, str(failure))
        return _YES if held else _NO

    def _may_hold(self, condition: Condition) -> bool:
        """Whether a condition that does not hold would, if the line ran all that it may run."""
        if "commands" not in condition.needs:
            return False
        extra = supposed(self._view, condition.texts)
        if condition.matches_words and any(one.known is not None for one in self._view.commands):
            return True
        if not extra:
            return False
        commands = [one.facts() for one in (*self._view.commands, *extra)]
        try:
            return condition.holds(self._with(commands))
        except Unanswerable:
            return True

    def _misplaced(self, condition: Condition, action: Action) -> Answer | None:
        """Why the folder in which the call runs keeps a condition from being evaluated."""
        if "working_directory" in condition.needs:
            sure = self._folders.only is not None
            return None if sure else Answer(Held.FAILED, _NOT_CERTAIN)
        if action is not Action.ALLOW or self._line is None or not self._folders.elsewhere:
            return None
        where = f"in {self._folders.only}" if self._folders.only else "elsewhere, perhaps"
        return Answer(Held.NO, f"it runs {where}: the condition does not look at working_directory")

    def _unmet(self, condition: Condition, action: Action) -> Answer | None:
        """Why a condition on what a command does is not even evaluated; None when it is."""
        if self._line is None:
            return self._unmet_without_shell(condition, action)
        if self._view.unusable:
            return Answer(Held.UNUSABLE, f"the command line cannot be read ({self._view.unusable})")
        if self._view.unsure and "writes" in condition.needs:
            return Answer(Held.UNUSABLE, self._view.unsure)
        if action is not Action.ALLOW:
            return None
        return self._unmentioned(condition)

    def _unmet_without_shell(self, condition: Condition, action: Action) -> Answer | None:
        if "commands" in condition.needs:
            return Answer(Held.NO, "no argument of the call is known to say what it runs")
        named = (self._writes if "writes" in condition.needs else []) + (
            self._reads if "reads" in condition.needs else []
        )
        if action is Action.ALLOW and not named:
            return Answer(Held.NO, "the call names no path")
        return None

    def _unmentioned(self, condition: Condition) -> Answer | None:
        """What an allow must speak of before it may cover it (K7)."""
        if "commands" not in condition.needs:
            return Answer(Held.NO, "an allow of a shell command must look at commands")
        unminded = self._unminded_writes(condition) if self._view.unexpected else ()
        if unminded:
            files = ", ".join(unminded)
            return Answer(Held.NO, f"it writes {files}, which the condition does not look at")
        for program, word in self._unproven:
            if condition.texts.isdisjoint((word, word.partition("=")[0])):
                why = "which may do anything: the condition does not name it"
                return Answer(Held.NO, f"{program} is given {word}, {why}")
        if self._substitutes and not condition.minds_substitutes:
            return Answer(
                Held.NO,
                "another command makes some of its words: the condition does not look at"
                " substitutes",
            )
        return None

    def _unminded_writes(self, condition: Condition) -> tuple[str, ...]:
        """What is written although neither a program's name nor the condition tells of it."""
        written = self._view.unexpected
        if "writes" in condition.needs:
            return ()
        if not condition.minds_writes:
            return written
        redirected = {path for one in self._view.commands for path in one.redirects_to}
        return tuple(path for path in written if path not in redirected)

    @cached_property
    def _unproven(self) -> tuple[tuple[str, str], ...]:
        commands = self._view.commands
        return tuple((one.program, word) for one in commands for word in one.unproven)

    @cached_property
    def _substitutes(self) -> bool:
        return any(command.substitutes for command in self._view.commands)

    @cached_property
    def _folders(self) -> Folders:
        return Folders(self._call)

    @cached_property
    def _view(self) -> ShellView:
        if self._line is None:
            return ShellView()
        view = shell_view(self._line)
        why = view.unusable or self._call.distrusted
        return ShellView(unusable=why) if why else self._folders.placed(view)

    @cached_property
    def _writes(self) -> list[str]:
        writes = self._call.operation.kind is Kind.RESOURCE
        return [*self._view.writes, *(self._folders.followed(self._told) if writes else ())]

    @cached_property
    def _reads(self) -> list[str]:
        writes = self._call.operation.kind is Kind.RESOURCE
        return [*self._view.reads, *(() if writes else self._folders.followed(self._told))]

    @property
    def _told(self) -> Iterator[str]:
        """The paths that its arguments name; beside a shell's line they are where that may run."""
        return iter(()) if command_line(self._call) is not None else paths(self._call)

    @cached_property
    def _plain(self) -> "Context":
        """For conditions on the call alone, which need no command line to be read."""
        return context(self._variables)

    @cached_property
    def _context(self) -> "Context":
        return self._with([command.facts() for command in self._view.commands])

    def _with(self, commands: list[dict[str, object]]) -> "Context":
        files = {"commands": commands, "writes": self._writes, "reads": self._reads}
        return context({**self._variables, **files})

    @cached_property
    def _variables(self) -> dict[str, object]:
        operation, place = self._call.operation, self._call.context
        folder = self._folders.only
        return {
            **({} if folder is None else {"working_directory": folder}),
            "provider": operation.provider,
            "tool": operation.name,
            "kind": operation.kind.value,
            "risk": operation.risk.value,
            "arguments": self._call.arguments,
            "session": {
                "id": place.session_id,
                "turn": place.turn_id,
                "working_directory": place.working_directory,
                "attended": self._attended,
            },
        }
