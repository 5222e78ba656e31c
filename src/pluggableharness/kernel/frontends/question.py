"""Puts a plan item to a person and waits for a clear answer (K10, K10a). Uses rich."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.frontends.child_lines import place
from pluggableharness.kernel.frontends.dialogue import Dialogue
from pluggableharness.kernel.frontends.drawing import Drawing
from pluggableharness.kernel.frontends.editing import Editing
from pluggableharness.kernel.frontends.endings import with_arguments
from pluggableharness.kernel.frontends.lines import boxed, exact, fold, hang
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.reply import Reply, chosen, clear_yes, understood
from pluggableharness.kernel.frontends.text import shown

_WITHIN_A_PARAGRAPH = re.compile(r"(?<=[^\n])\n(?=[^\W\d]|[`(])")
"""A line break that only says how wide its author's editor was: no list and no indent follow."""

_MOST_UNCLEAR = 3
_MOST_TYPED = 14
_ROOM_TO_ANSWER = 12


def risk_text(risk: Risk) -> Text:
    """A risk as it is always shown: the word, and its colour."""
    return Text(risk.value.replace("_", " "), f"risk.{risk.value}")


def item_lines(drawing: Drawing, item: PlanItem) -> list[Text]:
    """What a plan item would do: its arguments, or its preview and what that leaves out (P29).

    What the preview warns of comes first: nobody should find out below a diff that it would fail.
    """
    if item.preview is None:
        body = drawing.arguments(item.call.arguments)
    else:
        body = drawing.with_preview(item.call.arguments, item.preview)
    return body + drawing.notes()


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
    """One question about one item. `place` is empty or says which of how many it is, `changed`
    is empty or says why the item came back."""

    dialogue: Dialogue
    item: PlanItem
    changed: str
    place: str
    editing: Editing
    _whole: bool = False
    _hides: bool = False
    _unclear: int = 0

    async def ask(self) -> Answer:
        """The person's answer: three unclear ones, or the end of the input, are a no."""
        self._show(whole=False)
        for _ in range(_MOST_TYPED):
            answer = await self._answer(await self._typed())
            if answer is not None:
                return answer
            if self._unclear == _MOST_UNCLEAR:
                break
        self.dialogue.say("  no clear answer: denied", "error")
        return Answer(allow=False, reason="no clear answer was given")

    async def _answer(self, typed: str | None) -> Answer | None:
        """The answer that was typed; None when the question still stands."""
        reply, reason = understood(typed)
        match reply:
            case Reply.ALLOW:
                self.dialogue.say("allowed", "success")
                return Answer(allow=True)
            case Reply.DENY:
                return Answer(allow=False, reason=await self._denied(typed, reason))
            case Reply.SESSION:
                return await self._lasting(Lasting.SESSION, "session")
            case Reply.ALWAYS:
                return await self._lasting(Lasting.ALWAYS, "always")
            case Reply.EDIT:
                arguments = await self.editing.ask(self.changed)
                return None if arguments is None else Answer(allow=True, arguments=arguments)
            case Reply.HELP:
                self._help()
            case Reply.SHOW:
                self.dialogue.say("everything:")
                self._show(whole=True)
            case Reply.UNCLEAR:
                self._unclear += 1
                self.dialogue.say("not an answer", "warning")
        return None

    @property
    def _drawing(self) -> Drawing:
        screen = self.dialogue.screen
        return Drawing(screen.looks, screen.width - 2)

    def _show(self, *, whole: bool) -> None:
        """Draw the question, and note how, and whether something of it is hidden."""
        self._whole = whole
        drawing = replace(self._drawing, whole=whole)
        looks = drawing.looks
        again = self._again(drawing) if self.changed else []
        body = [*again, *item_lines(drawing, self.item)]
        why = hang(Text("asked: ", "faint"), Text(), self._why(), drawing.width, words=True)
        title = title_of(self.item, looks, self.place, place(self.item.call.context.path, looks))
        rows = len((title, *body, *why, "the keys"))
        if 0 < self.dialogue.screen.height < rows:
            body += [*again, *self._reminder(drawing, title)]
        for line in boxed(title, [*body, *why], looks):
            self.dialogue.say(line)
        self._hides = drawing.remarks.hidden

    def _reminder(self, drawing: Drawing, title: Text) -> list[Text]:
        """The head of a question that a window has no room for, said once more above its keys."""
        preview = self.item.preview
        warnings = [] if preview is None else drawing.warnings(preview)
        head = with_arguments(title.copy(), self.item.call, drawing.looks, drawing.width)
        return [*warnings, *fold(head, drawing.width, words=True)]

    def _again(self, drawing: Drawing) -> list[Text]:
        lines = [exact(line, drawing.looks).text for line in self.changed.split("\n")]
        drawn = [Text.assemble("asked again: ", lines[0]), *lines[1:]]
        for line in drawn:
            line.style = "warning"
        return [piece for line in drawn for piece in fold(line, drawing.width, words=True)]

    def _why(self) -> Text:
        verdict = self.item.verdict
        why = f"{verdict.decided_by}: {verdict.reason}" if verdict.reason else verdict.decided_by
        text = exact(why, self.dialogue.screen.looks).text
        text.style = "faint"
        return text

    async def _typed(self) -> str | None:
        lasting = [("s", "session"), ("k", "always")] if self.item.scopes else []
        more = [("v", "show all")] if self._hides else []
        keys = [("a", "allow"), *lasting, ("d", "deny"), ("e", "edit"), *more, ("?", "help")]
        room = self.dialogue.screen.width - _ROOM_TO_ANSWER
        wide = (f" {self.dialogue.screen.looks.glyphs.dot} ", "  ", " ")
        offers = [_offered(keys, between) for between in wide]
        fitting = (one for one in offers if sum(len(text) for text, _ in one) <= room)
        offered = next(fitting, offers[-1])
        return await self.dialogue.key(*offered, again=lambda: self._show(whole=self._whole))

    async def _lasting(self, lasting: Lasting, name: str) -> Answer | None:
        """What the answer is to cover, of what is offered; None when the person goes back."""
        scopes, dialogue = self.item.scopes, self.dialogue
        if not scopes:
            dialogue.say("this can only be allowed once", "warning")
            return None
        dialogue.say(name)
        how_long = f"for {'this ' * (lasting is Lasting.SESSION)}{name}"
        dialogue.bar(f"allow {how_long}:")
        for number, scope in enumerate(scopes, 1):
            dialogue.bar(f"{number}  {scope.covers}")
        numbers = "1" if len(scopes) == 1 else f"1-{len(scopes)}"
        typed = await dialogue.key(f"{numbers}, or Return to go back > ")
        picked = chosen(typed or "", [scope.covers for scope in scopes], several=False)
        if not picked:
            dialogue.say("nothing allowed yet", "warning")
            return None
        scope = next(scope for scope in scopes if scope.covers == picked[0])
        if lasting is Lasting.ALWAYS and not await self._confirmed(scope):
            return None
        dialogue.say(f"allowed {how_long}", "success")
        return Answer(allow=True, lasting=lasting, scope=scope)

    async def _confirmed(self, scope: Scope) -> bool:
        """Whether the rule is to be written, exactly as shown (K10)."""
        self.dialogue.say("this rule will be written:")
        self.dialogue.bar(scope.rule.rstrip("\n"))
        if clear_yes(await self.dialogue.key("y to write it, anything else to go back > ")):
            return True
        self.dialogue.say("nothing written", "warning")
        return False

    async def _denied(self, typed: str | None, reason: str) -> str:
        self.dialogue.say("denied", "error")
        if typed is None:
            return "the input ended before an answer came"
        if reason or not typed.strip("\x04\r\n ") or not self.dialogue.keys.is_terminal:
            return reason
        return (await self.dialogue.line("why? (Return for no reason) > ") or "").strip()

    def _help(self) -> None:
        operation = self.item.call.operation
        about = _WITHIN_A_PARAGRAPH.sub(" ", f"{operation.full_name}: {operation.description}")
        lines = (
            "a, y  allow: the call runs, exactly as shown",
            "d, n  deny: it does not run; you may say why, and the model reads it",
            *(_LASTING_HELP if self.item.scopes else ()),
            "e     edit the arguments, in $VISUAL or $EDITOR where one is set; the call is checked "
            "and asked about again before it runs",
            *(("v     show everything, however long it is",) if self._hides else ()),
            "?     this help; Return alone and the end of the input count as no",
        )
        self.dialogue.say("help")
        for line in lines:
            self.dialogue.bar(Text(line), words=True)
        self.dialogue.bar("")
        for drawn in self._drawing.prose(about):
            self.dialogue.bar(drawn)


_LASTING_HELP = (
    "s     allow for this session; you choose what that covers",
    "k     allow for always: a rule is shown, and kept beside agent.hcl",
)


def _offered(keys: Sequence[tuple[str, str]], between: str) -> list[tuple[str, str]]:
    """The keys that answer, each with its word."""
    styled = [part for key, word in keys for part in ((key, "key"), (f" {word}{between}", "faint"))]
    return [*styled[:-1], (f" {keys[-1][1]} ", "faint"), ("> ", "")]
