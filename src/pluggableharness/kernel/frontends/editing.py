"""Asks a person for other arguments of a call: in their own editor, or on one line (K10)."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.argument_file import as_file, from_file, headed, same
from pluggableharness.kernel.frontends.dialogue import Dialogue
from pluggableharness.kernel.frontends.editor import BrokenOff, NotEdited, edited, editor_of
from pluggableharness.kernel.frontends.reply import Reply, reassigned, understood
from pluggableharness.kernel.frontends.text import shown

_MOST_TRIES = 3


@dataclass(slots=True)
class Editing:
    """One edit of one call's arguments, which ends when they can be read or the person goes back.

    `environ` names the editor. `draft` is what was saved there so far, "" for nothing: it is what
    the editor opens again.
    """

    dialogue: Dialogue
    call: Call
    environ: Mapping[str, str]
    draft: str = ""

    async def ask(self, remark: str) -> JsonObject | None:
        """The arguments as edited; None when they are not. `remark` is why they are asked for."""
        file = self.draft or self._file()
        arguments = await (self._in_editor(file, remark) if file else self._on_line())
        if arguments is None:
            return None
        if same(arguments, self.call.arguments):
            self.dialogue.bar("not edited: these are the arguments that the call has")
            return None
        self.dialogue.bar("edited: the call is checked as it is now, and you are asked again")
        return arguments

    def _file(self) -> str:
        """The arguments for an editor; "" where there is none, or a line can say more."""
        if not (self.dialogue.keys.is_terminal and editor_of(self.environ)):
            return ""
        try:
            return as_file(self.call.arguments)
        except ValueError:
            return ""

    async def _in_editor(self, file: str, remark: str) -> JsonObject | None:
        self.dialogue.say("edit")
        while True:
            try:
                saved = await self._saved(headed(file, *self._about(remark)))
                if not headed(saved).strip():
                    raise NotEdited("nothing was left in the file")
            except NotEdited as why:
                self.dialogue.bar(f"not edited: {why}")
                return None
            self.draft = file = saved
            try:
                return from_file(saved)
            except ValueError as wrong:
                remark = f"not edited: {wrong}"
                self.dialogue.bar(remark)
            typed = await self.dialogue.key("e to edit again, anything else to go back > ")
            again = understood(typed)[0] is Reply.EDIT
            self.dialogue.say("edit" if again else "not edited")
            if not again:
                return None

    async def _saved(self, file: str) -> str:
        """What the editor saves, with the terminal lent to it. Raises NotEdited."""
        screen = self.dialogue.screen
        try:
            with self.dialogue.keys.lent() as terminal:
                screen.lend()
                return await edited(file, self.environ, terminal)
        except BrokenOff:
            screen.take_back()
            raise
        except asyncio.CancelledError:
            screen.take_back()
            self.dialogue.no_longer()
            raise

    def _about(self, remark: str) -> list[str]:
        """What stands above the arguments in the editor."""
        schema = self.call.operation.input_schema
        names = (
            shown(name) + ("" if name in schema.required else " (optional)")
            for name in schema.properties
        )
        return [
            *(remark.split("\n") if remark else []),
            f"The arguments of {shown(self.call.operation.full_name)}, as TOML. It takes:",
            ", ".join(names) or "any",
            "Save and leave, and the call is checked, and asked about again. To change nothing,",
            "leave without saving.",
        ]

    async def _on_line(self) -> JsonObject | None:
        arguments = self.call.arguments
        self.dialogue.say("edit:")
        self.dialogue.bar(json.dumps(arguments, ensure_ascii=False))
        for _ in range(_MOST_TRIES):
            line = await self.dialogue.line("NAME=VALUE, or all as JSON; Return to go back > ")
            if not line or not line.strip():
                break
            try:
                return reassigned(line.strip(), arguments, self.call.operation.input_schema)
            except ValueError as failure:
                self.dialogue.bar(f"not edited: {failure}")
        self.dialogue.say("not edited", "warning")
        return None
