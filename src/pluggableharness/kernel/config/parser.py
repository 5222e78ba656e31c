"""From a file's text to its tree; strict where HCL2 is."""

import re

from pluggableharness.kernel.config.expressions import expression
from pluggableharness.kernel.config.scanner import Scanner, SyntaxProblem
from pluggableharness.kernel.config.source import ConfigError, Problem, Source, Span
from pluggableharness.kernel.config.syntax import Block, Body, Setting
from pluggableharness.kernel.config.templates import literal

_EQUALS = re.compile("=(?![=>])")
_CLOSING = re.compile("}")
_QUOTE = re.compile('"')
_WITHOUT_SECRETS = frozenset(["policy", "examples", "hook", "agent_profile"])
"""Blocks in whose attributes no secret has a place; an excerpt of any other hides its texts."""


def parse(source: Source, repeated: list[Problem]) -> Body:
    """The tree of a file; every attribute that is written twice is noted in `repeated`.

    Raises:
        ConfigError: with the one place from which on the text is no HCL2.
    """
    scanner = Scanner(source)
    try:
        body = _body(scanner, 0, repeated)
        if not scanner.ended():
            raise scanner.expected("a block or an attribute")
    except SyntaxProblem as problem:
        raise ConfigError(source, [_told(scanner, problem)]) from None
    return body


def _told(scanner: Scanner, problem: SyntaxProblem) -> Problem:
    """The problem as it is to be shown: with the block that is still open where the file ends."""
    opened = scanner.opened
    message = problem.message
    if opened and problem.span.start >= len(scanner.text):
        line, _ = scanner.source.place(opened[-1].start)
        message += f"; '{scanner.source.cut(opened[-1])}', opened in line {line}, is not closed"
    return Problem(problem.span, message, secret=_may_hold_secrets(scanner))


def _may_hold_secrets(scanner: Scanner) -> bool:
    """Whether a secret may stand where the scanner is, if only by a mistake (F6)."""
    kinds = {scanner.source.cut(head).split()[0] for head in scanner.opened}
    return not kinds or not kinds <= _WITHOUT_SECRETS


def _body(scanner: Scanner, start: int, repeated: list[Problem]) -> Body:
    """What stands up to the closing brace or the end of the file."""
    settings: dict[str, Setting] = {}
    blocks: list[Block] = []
    while not scanner.ended() and not scanner.next(_CLOSING):
        if scanner.newline():
            continue
        found = _member(scanner, repeated)
        if isinstance(found, Block):
            blocks.append(found)
        elif found.name in settings:
            repeated.append(_repeated(scanner, settings[found.name], found))
        else:
            settings[found.name] = found
        if not scanner.ended() and not scanner.newline():
            raise scanner.expected("the end of the line")
    return Body(scanner.since(start), tuple(settings.values()), tuple(blocks))


def _repeated(scanner: Scanner, first: Setting, second: Setting) -> Problem:
    line, _ = scanner.source.place(first.span.start)
    message = f"'{second.name}' is set twice, first in line {line}; keep one of them"
    return Problem(second.span, message, secret=_may_hold_secrets(scanner))


def _member(scanner: Scanner, repeated: list[Problem]) -> Setting | Block:
    start = scanner.skip()
    name = scanner.word()
    if name is None:
        raise scanner.expected("a block or an attribute")
    span = scanner.since(start)
    if scanner.take(_EQUALS):
        return Setting(span, name, expression(scanner))
    labels, label_spans = _labels(scanner)
    head = Span(start, label_spans[-1].end if labels else span.end)
    if not scanner.takes("{"):
        raise scanner.expected("'{'" if labels else "'=' and a value, or '{'")
    scanner.opened.append(head)
    body = _block_body(scanner, repeated)
    scanner.opened.pop()
    return Block(span, name, labels, label_spans, body)


def _labels(scanner: Scanner) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    labels: list[str] = []
    spans: list[Span] = []
    while True:
        start = scanner.skip()
        label = literal(scanner) if scanner.next(_QUOTE) else scanner.word()
        if label is None:
            return tuple(labels), tuple(spans)
        labels.append(label)
        spans.append(scanner.since(start))


def _block_body(scanner: Scanner, repeated: list[Problem]) -> Body:
    """Lines between braces, or a single attribute in one line with them."""
    start = scanner.at - 1
    with scanner.newlines(count=True):
        lines = scanner.newline()
        body = _body(scanner, start, repeated) if lines else _one_line(scanner, start)
        if not scanner.takes("}"):
            raise scanner.expected("'}'")
    return body


def _one_line(scanner: Scanner, start: int) -> Body:
    if scanner.next(_CLOSING):
        return Body(scanner.since(start), (), ())
    found = _member(scanner, [])
    if isinstance(found, Block):
        message = "a block within a block starts on a line of its own"
        raise SyntaxProblem(found.span, message)
    if not scanner.next(_CLOSING):
        raise scanner.expected("'}', or each attribute on a line of its own")
    return Body(scanner.since(start), (found,), ())
