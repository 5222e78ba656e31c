"""Calls and how they ended as lines: name, arguments, what came of it. Uses rich."""

from typing import assert_never

from rich.cells import cell_len
from rich.text import Text

from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.frontends.lines import fold
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.payloads import in_order
from pluggableharness.kernel.frontends.text import clipped, live, nameable, shown
from pluggableharness.kernel.frontends.words import brief, counted, cut, facts, glimpse, value_line

_MESSAGE_HEAD, _MESSAGE_TAIL = 12, 4
_MOST_CAME = 120


def announcement(call: Call, number: str, looks: Looks, width: int) -> list[Text]:
    """A call that runs; `number` tells it from others of its name."""
    line = _named(looks.glyphs.running, "faint", call.operation.full_name + number, looks)
    return [with_arguments(line, call, looks, width)]


def ending(
    call: Call, number: str | None, took: str, outcome: Outcome, looks: Looks, width: int
) -> list[Text]:
    """A call that has ended. `number` is None when it was not announced; `took` may be empty."""
    glyph, style, said = _verdict(outcome, looks, sent=bool(took))
    line = _named(glyph, style, call.operation.full_name + (number or ""), looks)
    words = "".join(f" {looks.glyphs.dot} {part}" for part in (*said, took) if part)
    tail = Text(words, "faint" if style == "success" else style)
    room = width - tail.cell_len
    # What came is worth more than what was asked for, of which a beginning tells which call it is.
    free = (room - line.cell_len) // (2 if number is None else 1)
    came = "" if said else _came(call, outcome, looks, free)
    if number is None:
        line = with_arguments(line, call, looks, room - cell_len(came))
    tail = Text.assemble(came, tail)
    message = outcome.message if isinstance(outcome, Failure) else ""
    return [
        *fold(Text.assemble(line, tail), width, words=True),
        *message_lines(message, looks, width),
    ]


def refusal(refused: RefusedCall, looks: Looks, width: int) -> list[Text]:
    """A proposed call that did not become one."""
    line = _named(looks.glyphs.failed, "error", nameable(refused.name), looks)
    tail = Text(f" {looks.glyphs.dot} refused", "error")
    room = min(width - line.cell_len - tail.cell_len - 1, _MOST_CAME)
    if refused.arguments and room > len(looks.glyphs.ellipsis):
        written = value_line(refused.arguments, looks.encoding)
        line.append(f" {cut(written, room, looks.glyphs.ellipsis)}")
    return [
        *fold(line.append_text(tail), width),
        *message_lines(refused.failure.message, looks, width),
    ]


def message_lines(message: str, looks: Looks, width: int) -> list[Text]:
    """A failure's message below its call; no lines for an empty one."""
    lines = live(message, looks.encoding).rstrip("\n").split("\n") if message else []
    head, hidden, tail = clipped(lines, _MESSAGE_HEAD, _MESSAGE_TAIL)
    gap = [f"[{counted(len(hidden), 'line')} hidden]"] if hidden else []
    return [
        Text.assemble("  ", piece)
        for line in [*head, *gap, *tail]
        for piece in fold(Text(line.expandtabs(8)), width - 2, words=True)
    ]


def _named(glyph: str, style: str, name: str, looks: Looks) -> Text:
    return Text.assemble((glyph, style), " ", (shown(name, looks.encoding), "bold"))


def with_arguments(line: Text, call: Call, looks: Looks, width: int) -> Text:
    """The line with as much of the arguments as fits beside it."""
    ellipsis = looks.glyphs.ellipsis
    room = max(width - line.cell_len - 1, len(ellipsis))
    arguments = cut(brief(call, ellipsis, looks.encoding), room, ellipsis)
    return line.append(f" {arguments}") if arguments else line


def _came(call: Call, outcome: Outcome, looks: Looks, room: int) -> str:
    """What came of a call that says nothing about itself in other words."""
    if not isinstance(outcome, Success):
        return ""
    arrow = f" {looks.glyphs.tab} "
    room = min(max(room, 16), _MOST_CAME) - len(arrow)
    payload = in_order(outcome.payload, call.operation)
    came = glimpse(payload, room, looks.glyphs.ellipsis, looks.encoding)
    return arrow + came if came else ""


def _verdict(outcome: Outcome, looks: Looks, *, sent: bool) -> tuple[str, str, list[str]]:
    """The sign, the style and the words for how a call ended."""
    match outcome:
        case Success():
            sign = (
                (looks.glyphs.done, "success")
                if outcome.went_well
                else (looks.glyphs.failed, "warning")
            )
            return (*sign, facts(outcome.payload))
        case Failure():
            style = "warning" if outcome.category is ErrorCategory.CANCELLED else "error"
            return looks.glyphs.failed, style, [_category(outcome.category, sent=sent)]
        case _:
            assert_never(outcome)


def _category(category: ErrorCategory, *, sent: bool) -> str:
    if category is ErrorCategory.PERMISSION_DENIED and not sent:
        return "denied"
    return category.value.replace("_", " ")
