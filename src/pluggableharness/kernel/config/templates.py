"""Quoted strings and heredocs: texts with `${…}` in them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pluggableharness.kernel.config.scanner import NotTaken, Scanner, SyntaxProblem
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Expression, Template

HEREDOC: Final = re.compile(r"<<(-?)([^\W\d][\w-]*)\r?\n")
_PLAIN = re.compile(r'[^"\\$%\r\n]+')
_PLAIN_LINE = re.compile(r"(?:[^$%\r\n]|\r(?=\n))+")
_ESCAPE = re.compile(r'\\(?:(["\\nrt])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))')
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}

Part = str | Expression
Inner = Callable[[], Expression]


@dataclass(frozen=True, slots=True)
class _Inserted:
    """`${value}`; a `~` inside a brace strips the blanks on that side of it."""

    value: Expression
    strips_before: bool
    strips_after: bool


_Raw = str | _Inserted


def quoted_template(scanner: Scanner, inner: Inner) -> Template:
    """The quoted string that starts here; `inner` parses the expressions in it."""
    start = scanner.at
    scanner.at += 1
    parts: list[_Raw] = []
    while not scanner.text.startswith('"', scanner.at):
        if scanner.at >= len(scanner.text) or scanner.text[scanner.at] in "\r\n":
            message = "this string is not closed on its line; for several lines use a heredoc"
            raise SyntaxProblem(Span(start, start + 1), message)
        _add(parts, _quoted_part(scanner, inner))
    scanner.at += 1
    return Template(scanner.since(start), _finished(parts))


def heredoc(scanner: Scanner, opening: "re.Match[str]", inner: Inner) -> Template:
    """The heredoc that was opened; what stands here is the newline after its end marker."""
    indented, marker = opening.groups()
    scanner.at = opening.end()
    lines: list[list[_Raw]] = []
    while True:
        line_end = scanner.text.find("\n", scanner.at)
        if line_end < 0:
            message = f"this heredoc is not closed by a line that says {marker}"
            raise SyntaxProblem(Span(*opening.span()), message)
        line = scanner.text[scanner.at : line_end]
        if line.removesuffix("\r").strip(" \t") == marker:
            scanner.at = line_end - line.endswith("\r")
            break
        lines.append(_heredoc_line(scanner, inner))
    if indented:
        _flush(lines)
    parts: list[_Raw] = []
    for one in lines:
        for part in one:
            _add(parts, part)
    return Template(Span(opening.start(), scanner.at), _finished(parts), quoted=False)


def literal(scanner: Scanner) -> str:
    """The quoted string that starts here, in which `${` is no more than two characters."""
    start = scanner.at

    def refused() -> Expression:
        message = "a name in quotes is fixed text: ${ } and %{ } have no place in it"
        raise SyntaxProblem(Span(start, scanner.at), message)

    return quoted_template(scanner, refused).text or ""


def _quoted_part(scanner: Scanner, inner: Inner) -> _Raw:
    plain = _PLAIN.match(scanner.text, scanner.at)
    if plain:
        scanner.at = plain.end()
        return plain.group()
    if scanner.text[scanner.at] == "\\":
        return _escape(scanner)
    return _dollar_or_percent(scanner, inner)


def _escape(scanner: Scanner) -> str:
    found = _ESCAPE.match(scanner.text, scanner.at)
    character = _escaped(found) if found else None
    if found is None or character is None:
        wrong = Span(scanner.at, min(scanner.at + 2, len(scanner.text)))
        message = 'no such escape; there are \\n \\r \\t \\" \\\\ \\uNNNN \\UNNNNNNNN'
        raise SyntaxProblem(wrong, message)
    scanner.at = found.end()
    return character


def _escaped(found: "re.Match[str]") -> str | None:
    """The character; None for a number that is none, or half of one."""
    letter, short, long = found.groups()
    if letter:
        return _ESCAPED[letter]
    number = int(short or long, 16)
    return None if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF else chr(number)


def _dollar_or_percent(scanner: Scanner, inner: Inner) -> _Raw:
    text, at = scanner.text, scanner.at
    if text[at] == "\r":
        raise SyntaxProblem(
            Span(at, at + 1), "a line ends with a line feed, not with a return alone"
        )
    mark = text[at]
    if text.startswith(f"{mark}{mark}{{", at):
        scanner.at += 3
        return f"{mark}{{"
    if not text.startswith("{", at + 1):
        scanner.at += 1
        return mark
    scanner.at += 2
    if mark == "%":
        message = "%{ } is not taken in agent.hcl; write ${ condition ? a : b }"
        raise NotTaken(Span(at, at + 2), message)
    return _interpolation(scanner, inner)


def _interpolation(scanner: Scanner, inner: Inner) -> _Inserted:
    before = scanner.text.startswith("~", scanner.at)
    scanner.at += before
    with scanner.newlines(count=False):
        value = inner()
        after = scanner.takes("~}")
        if not after and not scanner.takes("}"):
            raise scanner.expected("} to end ${")
    return _Inserted(value, before, after)


def _heredoc_line(scanner: Scanner, inner: Inner) -> list[_Raw]:
    """The parts of one line with its newline; one that holds `${` may go over several."""
    parts: list[_Raw] = []
    while True:
        if scanner.at >= len(scanner.text):
            return parts
        plain = _PLAIN_LINE.match(scanner.text, scanner.at)
        if plain:
            scanner.at = plain.end()
            _add(parts, plain.group())
        elif scanner.text[scanner.at] == "\n":
            scanner.at += 1
            _add(parts, "\n")
            return parts
        else:
            _add(parts, _dollar_or_percent(scanner, inner))


def _add(parts: list[_Raw], part: _Raw) -> None:
    """Append, texts beside each other as one."""
    if isinstance(part, str) and parts and isinstance(last := parts[-1], str):
        parts[-1] = last + part
    else:
        parts.append(part)


def _finished(raw: list[_Raw]) -> tuple[Part, ...]:
    """The parts without the blanks that a `~` beside them removes."""
    kept: list[Part] = []
    strips = False
    for part in raw:
        if isinstance(part, str):
            kept.append(_stripped_start(part) if strips else part)
            strips = False
            continue
        if part.strips_before and kept and isinstance(last := kept[-1], str):
            kept[-1] = _stripped_end(last)
        kept.append(part.value)
        strips = part.strips_after
    return tuple(part for part in kept if part != "")


def _stripped_start(text: str) -> str:
    """Without the blanks that it starts with, the first end of a line included."""
    line, end, rest = text.partition("\n")
    return line.lstrip() + end + rest if line.strip() else rest


def _stripped_end(text: str) -> str:
    """Without the blanks that its last line ends with."""
    rest, end, line = text.rpartition("\n")
    return rest + end + line.rstrip()


def _flush(lines: list[list[_Raw]]) -> None:
    """Take from every line the blanks that all of them start with."""
    worded = [one for one in lines if len(one) > 1 or not isinstance(one[0], str) or one[0].strip()]
    shared = min((_indent(line[0]) for line in worded), default=0)
    for line in worded:
        if isinstance(first := line[0], str):
            line[0] = first[shared:]


def _indent(first: _Raw) -> int:
    return len(first) - len(first.lstrip(" \t")) if isinstance(first, str) else 0
