"""`policy` blocks, and what of them contradicts each other (K4, K5)."""

from enum import Enum
from typing import Final, TypeVar

from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Block, ObjectOf, Template
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.policy import Action, Position, Rule, conflicts, without_match

_FIELDS: Final = ("tool_name", "provider", "risk", "kind")

E_ = TypeVar("E_", bound=Enum)


def rules(reading: Reading, blocks: list[Block]) -> tuple[Rule, ...]:
    """The rules of a file, in its order; those that contradict each other are noted."""
    made = [(rule, block) for block in blocks if (rule := _rule(reading, block)) is not None]
    found = tuple(rule for rule, _ in made)
    places = {id(rule): block.span for rule, block in made}
    for conflict in conflicts(found):
        reading.wrong(places[id(conflict.second)], str(conflict))
    reading.warnings.extend(
        f"{rule.position}: {rule} names nothing in its match and so speaks of every call"
        for rule in without_match(found)
    )
    return found


def _rule(reading: Reading, block: Block) -> Rule | None:
    name = block.labels[0]
    attributes = ("match", "when", "action", "reason")
    fields = Fields(reading, block.body, f'policy "{name}"', attributes)
    match = _match(reading, fields)
    when = fields.string("when", "a condition in quotes") or ""
    reason = fields.string("reason") or ""
    actions = [one.value for one in Action]
    if fields.setting("action") is None:
        reading.wrong(block.span, f"policy \"{name}\" needs 'action': one of {', '.join(actions)}")
    action = fields.choice("action", actions)
    if action is None:
        return None
    return Rule(
        name,
        Action(action),
        tool_name=match.get("tool_name"),
        provider=match.get("provider"),
        risk=_members(match.get("risk"), Risk),
        kind=_members(match.get("kind"), Kind),
        reason=reason,
        position=_position(reading, block.span),
        when=when,
    )


def _position(reading: Reading, span: Span) -> Position:
    line, column = reading.source.place(span.start)
    return Position(reading.source.name, line, column)


def _match(reading: Reading, fields: Fields) -> dict[str, frozenset[str]]:
    setting = fields.setting("match")
    if setting is None:
        return {}
    value = reading.value(setting.value)
    if not isinstance(value, dict):
        if value is not None:
            reading.wrong(setting.value.span, "'match' is an object: match = { provider = \"…\" }")
        return {}
    spans = _key_spans(setting.value) if isinstance(setting.value, ObjectOf) else {}
    found: dict[str, frozenset[str]] = {}
    for name, given in value.items():
        span, value_span = spans.get(name, (setting.span, setting.value.span))
        if name not in _FIELDS:
            reading.unknown(span, "field of a match", name, _FIELDS)
        elif values := _values(reading, value_span, name, given):
            found[name] = values
    return found


def _key_spans(node: ObjectOf) -> dict[str, tuple[Span, Span]]:
    return {
        item.key.text or "": (item.key.span, item.value.span)
        for item in node.items
        if isinstance(item.key, Template)
    }


def _values(reading: Reading, span: Span, name: str, given: Json) -> frozenset[str]:
    values = given if isinstance(given, list) else [given]
    texts = [one for one in values if isinstance(one, str)]
    if len(texts) < len(values) or not texts:
        reading.wrong(span, f"'{name}' is a string or a list of strings that is not empty")
        return frozenset()
    closed = {"risk": Risk, "kind": Kind}.get(name)
    if closed is not None:
        known = [one.value for one in closed]
        for text in texts:
            if text not in known:
                reading.unknown(span, name, text, known)
                return frozenset()
    return frozenset(texts)


def _members(values: frozenset[str] | None, kind: type[E_]) -> frozenset[E_] | None:
    return None if values is None else frozenset(kind(value) for value in values)
