"""Puts a plan item to a person and waits for a clear answer (K10, K10a). Uses rich."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.child_lines import place
from pluggableharness.kernel.frontends.drawing import Drawing
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.lines import exact, fold, hang
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.reply import Reply, chosen, clear_yes, edited, understood
from pluggableharness.kernel.frontends.screen import Screen
from pluggableharness.kernel.frontends.text import shown

_MOST_UNCLEAR = 3
_MOST_ASIDES = 12
_ROOM_TO_ANSWER = 10


def risk_text(risk: Risk) -> Text:
    """A risk as it is always shown: the word, and its colour."""
    return Text(risk.value.replace("_", " "), f"risk.{risk.value}")


def item_lines(drawing: Drawing, item: PlanItem) -> list[Text]:
    """What a plan item would do: its arguments, or its preview and what that leaves out (P29)."""
    if item.preview is None:
        body = drawing.arguments(item.call.arguments)
    else:
        body = drawing.with_preview(item.call.arguments, item.preview)
    return body + drawing.notes()


def boxed(title: Text, body: Sequence[Text], looks: Looks) -> list[Text]:
    """A title and lines behind a bar. No content can draw a line without that bar."""
    top, bar = (looks.glyphs.top + " ", "faint"), (looks.glyphs.bar + " ", "faint")
    return [Text.assemble(top, title), *(Text.assemble(bar, line) for line in body)]


def title_of(item: PlanItem, looks: Looks, *remarks: str) -> Text:
    """`moderate · filesystem.edit_file`, and remarks."""
    dot = f" {looks.glyphs.dot} "
    name = shown(item.call.operation.full_name, looks.encoding)
    title = Text.assemble(risk_text(item.call.operation.risk), (dot, "faint"), (name, "bold"))
    for remark in remarks:
        if remark:
            title.append(dot, "faint").append(remark)
    return title


@dataclass(slots=True)
class Question:
    """One question about one item. `place` is empty or says which of how many it is."""

    screen: Screen
    keys: Keys
    item: PlanItem
    changed: str
    place: str

    async def ask(self) -> Answer:
        """The person's answer: three unclear ones, or the end of the input, are a no."""
        hides = self._show(whole=False)
        unclear = asides = 0
        while unclear < _MOST_UNCLEAR and asides < _MOST_ASIDES:
            typed = await self._typed(hides)
            reply, reason = understood(typed)
            match reply:
                case Reply.ALLOW:
                    self._say(Text("allowed", "success"))
                    return Answer(allow=True)
                case Reply.DENY:
                    return Answer(allow=False, reason=await self._denied(typed, reason))
                case Reply.SESSION | Reply.ALWAYS:
                    asides += 1
                    lasting = Lasting.SESSION if reply is Reply.SESSION else Lasting.ALWAYS
                    scope = await self._scope(lasting)
                    if scope is not None:
                        return Answer(allow=True, lasting=lasting, scope=scope)
                case Reply.EDIT:
                    asides += 1
                    arguments = await self._edit()
                    if arguments is not None:
                        return Answer(allow=True, arguments=arguments)
                case Reply.HELP:
                    asides += 1
                    self._help(hides)
                case Reply.SHOW:
                    asides += 1
                    self._say(Text("everything:"))
                    hides = self._show(whole=True)
                case Reply.UNCLEAR:
                    unclear += 1
                    self._say(Text("not an answer", "warning"))
        self._say(Text("  no clear answer: denied", "error"))
        return Answer(allow=False, reason="no clear answer was given")

    def _show(self, *, whole: bool) -> bool:
        """Draw the question; whether something of it is hidden."""
        looks = self.screen.looks
        drawing = Drawing(looks, self.screen.width - 2, whole)
        body = item_lines(drawing, self.item)
        if self.changed:
            text = exact(f"asked again: {self.changed}", looks).text
            text.style = "warning"
            body = [*fold(text, drawing.width, words=True), *body]
        body += hang(Text("asked: ", "faint"), Text(), self._why(), drawing.width, words=True)
        asker = place(self.item.call.context.path, looks)
        for line in boxed(title_of(self.item, looks, self.place, asker), body, looks):
            self._say(line)
        return drawing.remarks.hidden

    def _why(self) -> Text:
        verdict = self.item.verdict
        why = f"{verdict.decided_by}: {verdict.reason}" if verdict.reason else verdict.decided_by
        text = exact(why, self.screen.looks).text
        text.style = "faint"
        return text

    async def _typed(self, hides: bool) -> str | None:
        lasting = [("s", "session"), ("k", "always")] if self.item.scopes else []
        more = [("v", "show all")] if hides else []
        keys = [("a", "allow"), *lasting, ("d", "deny"), ("e", "edit"), *more, ("?", "help")]
        room = self.screen.width - _ROOM_TO_ANSWER
        wide = (f" {self.screen.looks.glyphs.dot} ", "  ", " ")
        prompts = [self._keys_shown(keys, between) for between in wide]
        return await self._key(next((one for one in prompts if one.cell_len <= room), prompts[-1]))

    def _keys_shown(self, keys: Sequence[tuple[str, str]], between: str) -> Text:
        prompt = Text.assemble((self.screen.looks.glyphs.bottom + " ", "faint"))
        for number, (key, word) in enumerate(keys):
            after = between if number < len(keys) - 1 else " "
            prompt.append(key, "key").append(f" {word}{after}", "faint")
        return prompt.append("> ")

    async def _key(self, prompt: Text) -> str | None:
        try:
            return await self.keys.key(lambda: self.screen.question(prompt, end=""))
        except BaseException:
            self._say(Text("no longer asked", "warning"))
            raise

    async def _scope(self, lasting: Lasting) -> Scope | None:
        """What the answer is to cover, of what is offered; None when the person goes back."""
        scopes = self.item.scopes
        if not scopes:
            self._say(Text("this can only be allowed once", "warning"))
            return None
        how_long = "for this session" if lasting is Lasting.SESSION else "for always"
        self._say(Text("session" if lasting is Lasting.SESSION else "always"))
        self._barred(f"allow {how_long}:")
        for number, scope in enumerate(scopes, 1):
            self._barred(f"{number}  {scope.covers}")
        numbers = "1" if len(scopes) == 1 else f"1-{len(scopes)}"
        typed = await self._key(self._prompt(f"{numbers}, or Return to go back > "))
        picked = chosen(typed or "", [scope.covers for scope in scopes], several=False)
        if not picked:
            self._say(Text("nothing allowed yet", "warning"))
            return None
        scope = next(scope for scope in scopes if scope.covers == picked[0])
        if lasting is Lasting.ALWAYS and not await self._confirmed(scope):
            return None
        self._say(Text(f"allowed {how_long}", "success"))
        return scope

    async def _confirmed(self, scope: Scope) -> bool:
        """Whether the rule is to be written, exactly as shown (K10)."""
        self._say(Text("this rule will be written:"))
        for line in scope.rule.rstrip("\n").split("\n"):
            self._barred(line)
        typed = await self._key(self._prompt("y to write it, anything else to go back > "))
        if clear_yes(typed):
            return True
        self._say(Text("nothing written", "warning"))
        return False

    async def _edit(self) -> JsonObject | None:
        """The arguments as the person wants them; None when they go back or it is no edit."""
        self._say(Text("edit:"))
        arguments = self.item.call.arguments
        self._barred(json.dumps(arguments, ensure_ascii=False))
        self.screen.question(
            self._prompt("NAME=VALUE, or all as JSON; Return to go back > "), end=""
        )
        try:
            line = await self.keys.line()
        except BaseException:
            self._say(Text("no longer asked", "warning"))
            raise
        if line is None or not self.keys.is_terminal:
            self._say(Text())
        if not line or not line.strip():
            self._say(Text("not edited", "warning"))
            return None
        try:
            return edited(line.strip(), arguments)
        except ValueError as failure:
            self._barred(f"not edited: {failure}")
            return None

    def _prompt(self, words: str) -> Text:
        return Text.assemble((self.screen.looks.glyphs.bottom + " ", "faint"), words)

    def _barred(self, text: str) -> None:
        """Text of anyone's, exact, behind the bar that no content can draw."""
        for piece in fold(exact(text, self.screen.looks, whole=True).text, self.screen.width - 2):
            self._say(Text.assemble((self.screen.looks.glyphs.bar + " ", "faint"), piece))

    async def _denied(self, typed: str | None, reason: str) -> str:
        self._say(Text("denied", "error"))
        if typed is None:
            return "the input ended before an answer came"
        if reason or not typed.strip("\x04\r\n ") or not self.keys.is_terminal:
            return reason
        self.screen.question(Text("  why? (Return for no reason) > ", "faint"), end="")
        try:
            line = await self.keys.line()
        except BaseException:
            self._say(Text())
            raise
        if line is None:
            self._say(Text())
        return (line or "").strip()

    def _help(self, hides: bool) -> None:
        operation = self.item.call.operation
        self._say(Text("help"))
        about = f"{operation.full_name}: {operation.description}"
        lines = [
            Text("a, y  allow: the call runs, exactly as shown"),
            Text("d, n  deny: it does not run; you may say why, and the model reads it"),
            *(self._lasting_help() if self.item.scopes else []),
            Text("e     edit the arguments; the call is checked and shown again before it runs"),
            *([Text("v     show everything, however long it is")] if hides else []),
            Text("?     this help; Return alone and the end of the input count as no"),
            *Drawing(self.screen.looks, self.screen.width - 2).prose(about),
        ]
        for line in lines:
            for piece in fold(line, self.screen.width - 2, words=True):
                self._say(Text.assemble((self.screen.looks.glyphs.bar + " ", "faint"), piece))

    @staticmethod
    def _lasting_help() -> list[Text]:
        return [
            Text("s     allow for this session; you choose what that covers"),
            Text("k     allow for always: a rule is shown, and kept beside agent.hcl"),
        ]

    def _say(self, line: Text) -> None:
        self.screen.question(line)
