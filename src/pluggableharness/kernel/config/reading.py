"""Reading blocks: every mistake is noted at its place, and reading goes on (F1)."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pluggableharness.kernel.config.evaluate import Scope, Unfit, evaluate
from pluggableharness.kernel.config.source import Problem, Source, Span
from pluggableharness.kernel.config.syntax import Block, Body, Expression, ListOf, ObjectOf, Setting
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.schema.nearest import close, did_you_mean
from pluggableharness.kernel.schema.settings import kind_of

T = TypeVar("T")

_ADDRESS = re.compile(r"https?://[^\s/@]+(/\S*)?")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def is_address(text: str) -> bool:
    """Whether a text is the address of a server."""
    return _ADDRESS.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that is being read: its text, what expressions may ask for, what is wrong so far."""

    source: Source
    scope: Scope
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def wrong(self, span: Span, message: str, *, secret: bool = False) -> None:
        """Note a mistake."""
        self.problems.append(Problem(span, message, secret))

    def unknown(
        self, span: Span, what: str, name: str, known: Collection[str], within: str = ""
    ) -> None:
        """Note a name that does not exist, with the one that may be meant."""
        there = f" in {within}" if within else ""
        self.wrong(span, f"there is no {what} {in_quotes(name)}{there}{did_you_mean(name, known)}")

    def value(self, node: Expression, *, secret: bool = False, json: bool = False) -> Json:
        """The value of an expression; None, with the mistake noted, when it has none.

        Null is none, alone or within a list or an object: taken for absence, it would take out a
        rule or a bound without a word. With `json` it may stand within, as in a call's arguments.
        """
        try:
            value = evaluate(node, self.scope)
            nulls = dict.fromkeys(() if json and value is not None else _nulls(node, value))
        except Unfit as unfit:
            self.wrong(unfit.span, unfit.message, secret=secret)
            return None
        except RecursionError:
            self.wrong(node.span, "this expression goes too deep", secret=secret)
            return None
        for span in nulls:
            self.wrong(span, "this is null: give it a value, or leave it out", secret=secret)
        return None if nulls else value

    def labelled(self, block: Block, label: str) -> bool:
        """Whether a block has one label, which `label` describes; else that is noted."""
        if len(block.labels) == 1 and block.labels[0]:
            return True
        message = f"'{block.type}' needs one label, {label}: write {block.type} \"…\" {{"
        self.wrong(block.label_spans[-1] if block.label_spans else block.span, message)
        return False

    def repeats(self, block: Block, first: dict[tuple[str, tuple[str, ...]], Span]) -> bool:
        """Whether a block of its type and name came before, which is noted; `first` are those
        that did, and then this one too."""
        place = first.setdefault((block.type, block.labels), block.span)
        if place is block.span:
            return False
        line, _ = self.source.place(place.start)
        label = "".join(f' "{one}"' for one in block.labels)
        message = f"{block.type}{label} stands twice, first in line {line}; keep one of them"
        self.wrong(block.label_spans[0] if block.labels else block.span, message)
        return True


class Fields:
    """The attributes and blocks of one body, of which all but the named ones are mistakes."""

    def __init__(
        self,
        reading: Reading,
        body: Body,
        what: str,
        attributes: Sequence[str],
        blocks: Sequence[str] = (),
    ) -> None:
        """Note what does not belong here; `what` names the body in messages."""
        self.reading = reading
        self.what = what
        self._settings = {setting.name: setting for setting in body.settings}
        self._body = body
        for setting in body.settings:
            if setting.name in blocks:
                message = f"'{setting.name}' is a block: write {setting.name} {{ … }} without '='"
                reading.wrong(setting.span, message)
            elif setting.name not in attributes:
                reading.unknown(
                    setting.span, "attribute", setting.name, [*attributes, *blocks], what
                )
        for block in body.blocks:
            if block.type in attributes:
                message = f"'{block.type}' is an attribute: write {block.type} = …"
                reading.wrong(block.span, message)
            elif block.type not in blocks:
                reading.unknown(block.span, "block", block.type, [*blocks, *attributes], what)

    def setting(self, name: str) -> Setting | None:
        """The attribute as it is written."""
        return self._settings.get(name)

    def blocks(self, kind: str) -> list[Block]:
        """The blocks of a type, which take no label."""
        found = [block for block in self._body.blocks if block.type == kind]
        for block in found:
            for span in block.label_spans:
                self.reading.wrong(span, f"'{kind}' takes no name")
        return found

    def named(self, kind: str, label: str) -> dict[str, Block]:
        """The blocks of a type by their one label, which `label` describes; those without one,
        and those that stand twice, are noted and left out."""
        found = [block for block in self._body.blocks if block.type == kind]
        first: dict[tuple[str, tuple[str, ...]], Span] = {}
        return {
            block.labels[0]: block
            for block in found
            if self.reading.labelled(block, label) and not self.reading.repeats(block, first)
        }

    def block(self, kind: str) -> Block | None:
        """The only block of a type."""
        found = self.blocks(kind)
        for block in found[1:]:
            line, _ = self.reading.source.place(found[0].span.start)
            self.reading.wrong(block.span, f"'{kind}' stands twice, first in line {line}")
        return found[0] if found else None

    def required(self, place: Span, name: str, expected: str) -> str | None:
        """A text that must be there and not be empty; `place` is where its lack is noted."""
        value = self.string(name, expected, place)
        if value == "":
            self.reading.wrong(self._settings[name].value.span, f"'{name}' is empty: {expected}")
        return value or None

    def string(
        self, name: str, expected: str = "a string", place: Span | None = None
    ) -> str | None:
        """A text; one that must be there has a `place` where its lack is noted."""
        if place is not None and name not in self._settings:
            self.reading.wrong(place, f"{self.what} needs '{name}': {expected}")
        return self._typed(name, expected, lambda value: value if isinstance(value, str) else None)

    def boolean(self, name: str) -> bool | None:
        """True or false."""
        return self._typed(
            name, "true or false", lambda value: value if isinstance(value, bool) else None
        )

    def choice(self, name: str, choices: Sequence[str], place: Span | None = None) -> str | None:
        """One of some words; one that must be there has a `place` where its lack is noted."""
        value = self.string(name, "one of " + ", ".join(choices), place)
        if value is None or value in choices:
            return value
        message = f"'{name}' is one of {', '.join(choices)}, not {in_quotes(value)}"
        span = self._settings[name].value.span
        near = close(value, choices, wrong=1 / 2)
        self.reading.wrong(span, f"{message}; did you mean {near}?" if near else message)
        return None

    def address(self, name: str) -> str | None:
        """The address of a server."""
        expected = 'an address such as "http://localhost:4318"'
        value = self.string(name, expected)
        if value is None or is_address(value):
            return value
        # It may come from the environment, and is then not for everyone's eyes.
        self.reading.wrong(self._settings[name].value.span, f"'{name}' is {expected}")
        return None

    def whole(self, name: str, low: int, high: int | None = None) -> int | None:
        """A whole number within bounds."""
        expected = f"a whole number from {low}" + (f" to {high}" if high is not None else "")

        def fit(value: Json) -> int | None:
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                return None
            return value if high is None or value <= high else None

        return self._typed(name, expected, fit)

    def positive(self, name: str, unit: str) -> float | None:
        """A number above zero."""
        return self._typed(name, f"a number of {unit} above 0", _positive)

    def duration(self, name: str) -> float | None:
        """A time such as "30s", in seconds."""
        expected = 'a time such as "30s", "10m" or "1h"'
        value = self.string(name, expected)
        found = seconds(value)
        if value is not None and found is None:
            self.reading.wrong(self._settings[name].value.span, f"'{name}' is {expected}")
        return found

    def strings(self, name: str, expected: str = "a list of strings") -> list[tuple[str, Span]]:
        """A list of texts, each with its place."""
        setting = self._settings.get(name)
        if setting is None:
            return []
        value = self.reading.value(setting.value)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self._mismatch(setting, expected, value)
            return []
        spans = _spans(setting.value, len(value))
        return [(one, span) for one, span in zip(value, spans, strict=True) if isinstance(one, str)]

    def _typed(self, name: str, expected: str, fit: Callable[[Json], T | None]) -> T | None:
        """What `fit` makes of an attribute; None when it is absent, or noted as wrong."""
        setting = self._settings.get(name)
        if setting is None:
            return None
        value = self.reading.value(setting.value)
        if value is None:
            return None
        fitting = fit(value)
        if fitting is None:
            self._mismatch(setting, expected, value)
        return fitting

    def _mismatch(self, setting: Setting, expected: str, value: Json) -> None:
        found = repr(value) if isinstance(value, int | float) else kind_of(value)
        message = f"'{setting.name}' is {expected}, not {found}"
        self.reading.wrong(setting.value.span, message)


def _positive(value: Json) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    return None


def seconds(value: Json) -> float | None:
    """The seconds of a text such as "30s"; None when it is none, or no time at all."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    return float(found.group(1)) * _SECONDS[found.group(2)] or None


def _nulls(node: Expression, value: Json) -> Iterator[Span]:
    """Where null stands in a value: at the whole of what is computed."""
    match value:
        case None:
            yield node.span
        case list():
            items = node.items if isinstance(node, ListOf) else [node] * len(value)
            for item, one in zip(items, value, strict=True):
                yield from _nulls(item, one)
        case dict():
            written = node.named if isinstance(node, ObjectOf) else {}
            for name, one in value.items():
                yield from _nulls(written[name].value if name in written else node, one)


def _spans(node: Expression, count: int) -> list[Span]:
    """Where each element of a list stands; all of them at the whole where it is computed."""
    if isinstance(node, ListOf) and len(node.items) == count:
        return [item.span for item in node.items]
    return [node.span] * count
