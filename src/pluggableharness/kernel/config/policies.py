"""`policy` blocks, and what of them contradicts each other (K4, K5)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, TypeVar

from pluggableharness.kernel.config.matching import (
    There,
    argument_problems,
    operation_problem,
    provider_problem,
    split_names,
)
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Block, ObjectOf
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.domain.verdict import Reviewer
from pluggableharness.kernel.policy import (
    Action,
    BadCondition,
    Command,
    Example,
    Position,
    Rule,
    compiled,
    conflicts,
    without_match,
    wrong_examples,
)
from pluggableharness.kernel.schema.nearest import did_you_mean

_COMMAND_FIELDS: Final = tuple(Command("", ()).facts())
_FIELDS: Final = ("tool_name", "provider", "risk", "kind")

E_ = TypeVar("E_", bound=Enum)


def rules(
    reading: Reading,
    blocks: Iterable[Block],
    there: There | None = None,
    *,
    beside: Sequence[str] = (),
) -> list[tuple[Rule, Block]]:
    """The rules of a file, in its order, each with its block; those that contradict each other
    are noted, and a block that makes no rule.

    `there` are the providers that a rule may name; None lets it name any. `beside` are attributes
    that the caller reads.
    """
    read = ((_rule(reading, block, there, beside), block) for block in blocks)
    made = [(rule, block) for rule, block in read if rule is not None]
    found = [rule for rule, _ in made]
    places = {id(rule): block.span for rule, block in made}
    for conflict in conflicts(found):
        reading.wrong(places[id(conflict.second)], str(conflict))
    reading.warnings.extend(
        f"{rule.position}: {rule} names nothing in its match and so speaks of every call"
        for rule in without_match(found)
    )
    return made


def _rule(
    reading: Reading, block: Block, there: There | None, beside: Sequence[str]
) -> Rule | None:
    name, before = block.labels[0], len(reading.problems)
    what = f'policy "{name}"'
    attributes = ("match", "when", "action", "reason", "reviewer", *beside)
    fields = Fields(reading, block.body, what, attributes, ("examples",))
    match = _match(reading, fields, there)
    when = _when(reading, fields, match, there)
    reason = fields.string("reason") or ""
    examples = _examples(reading, fields.block("examples"))
    actions = [one.value for one in Action]
    action = fields.choice("action", actions, block.span)
    reviewer = _reviewer(reading, fields)
    if action is None:
        return None
    if (Action(action) is Action.REVIEW) is not (fields.setting("reviewer") is not None):
        message = f"{what}: 'reviewer' and action = \"review\" go together"
        reading.wrong(block.span, message)
    rule = Rule(
        name,
        Action(action),
        tool_name=match.get("tool_name"),
        provider=match.get("provider"),
        risk=_members(match.get("risk"), Risk),
        kind=_members(match.get("kind"), Kind),
        reason=reason,
        position=_position(reading, block.span),
        when=when,
        examples=examples,
        reviewer=reviewer,
    )
    if len(reading.problems) == before:
        _try_examples(reading, block.span, rule)
    return rule


def _try_examples(reading: Reading, span: Span, rule: Rule) -> None:
    """Note each example that comes out otherwise than it says (F11)."""
    for example, why in wrong_examples(rule):
        must = "must" if example.matches else "must not"
        told = json.dumps(example.arguments, ensure_ascii=False)
        reading.wrong(span, f'policy "{rule.name}" {must} match {told}: {why}')


def _when(
    reading: Reading, fields: Fields, match: Mapping[str, frozenset[str]], there: There | None
) -> str:
    """The condition, compiled once to see that it can be (K7)."""
    text = fields.string("when", "a condition in quotes")
    setting = fields.setting("when")
    if text is None or setting is None:
        return ""
    try:
        condition = compiled(text)
    except BadCondition as bad:
        reading.wrong(_within(reading, setting.value.span, text, bad), f"'when': {bad}")
        return text
    asked = condition.arguments
    for name in sorted(condition.command_fields.difference(_COMMAND_FIELDS)):
        # No mistake for certain: this goes by the text of the condition alone.
        where, meant = reading.source.where(setting.value.span), did_you_mean(name, _COMMAND_FIELDS)
        reading.warnings.append(f"{where}: no command has a field '{name}'{meant}")
    if there is not None:
        names, providers = match.get("tool_name", ()), match.get("provider", ())
        for problem in argument_problems(asked, names, providers, there):
            reading.wrong(setting.value.span, f"'when': {problem}")
    return text


def _within(reading: Reading, span: Span, text: str, bad: BadCondition) -> Span:
    """Where a condition is wrong, as far as its place in the file can be told."""
    offset = reading.source.cut(span).find(text)
    if offset < 0 or bad.line < 1:
        return span
    before = sum(len(line) + 1 for line in text.split("\n")[: bad.line - 1])
    start = span.start + offset + before + max(0, bad.column - 1)
    return Span(min(start, span.end - 1), min(start + 1, span.end))


def _examples(reading: Reading, block: Block | None) -> tuple[Example, ...]:
    """Calls that the rule must match and must not, as their arguments (F11)."""
    if block is None:
        return ()
    fields = Fields(reading, block.body, "examples", ("must_match", "must_not_match"))
    return tuple(
        Example(arguments, matches)
        for name, matches in (("must_match", True), ("must_not_match", False))
        for arguments in _calls(reading, fields, name)
    )


def _calls(reading: Reading, fields: Fields, name: str) -> list[JsonObject]:
    setting = fields.setting(name)
    if setting is None:
        return []
    value = reading.value(setting.value, json=True)
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return [one for one in value if isinstance(one, dict)]
    if value is not None:
        message = f"'{name}' is a list of calls' arguments: [{{ command = \"ls\" }}]"
        reading.wrong(setting.value.span, message)
    return []


def _reviewer(reading: Reading, fields: Fields) -> Reviewer | None:
    """An agent profile by name, or an executable as a list of words (K8)."""
    setting = fields.setting("reviewer")
    if setting is None:
        return None
    value = reading.value(setting.value)
    match value:
        case str() if value:
            return Reviewer(profile=value)
        case [str(), *_] if all(isinstance(word, str) and word for word in value):
            return Reviewer(command=tuple(str(word) for word in value))
        case None:
            return None
    message = "'reviewer' is an agent_profile's name, or a program and its arguments as a list"
    reading.wrong(setting.value.span, message)
    return None


def _position(reading: Reading, span: Span) -> Position:
    line, column = reading.source.place(span.start)
    return Position(reading.source.name, line, column)


def _match(reading: Reading, fields: Fields, there: There | None) -> dict[str, frozenset[str]]:
    setting = fields.setting("match")
    if setting is None:
        return {}
    value = reading.value(setting.value)
    if not isinstance(value, dict):
        if value is not None:
            reading.wrong(setting.value.span, "'match' is an object: match = { provider = \"…\" }")
        return {}
    written = setting.value.named if isinstance(setting.value, ObjectOf) else {}
    spans = {name: (item.key.span, item.value.span) for name, item in written.items()}
    found: dict[str, frozenset[str]] = {}
    for name, given in value.items():
        span, value_span = spans.get(name, (setting.span, setting.value.span))
        if name not in _FIELDS:
            reading.unknown(span, "field", name, _FIELDS, "match")
        elif values := _values(reading, value_span, name, given):
            found[name] = values
    value_spans = {name: span for name, (_, span) in spans.items()}
    return _named(reading, found, value_spans, setting.value.span, there)


def _named(
    reading: Reading,
    found: dict[str, frozenset[str]],
    spans: Mapping[str, Span],
    whole: Span,
    there: There | None,
) -> dict[str, frozenset[str]]:
    """The match with full names taken apart; names that do not exist are noted."""
    span = spans.get("tool_name", whole)
    try:
        tools, providers = split_names(
            sorted(found.get("tool_name", ())), sorted(found.get("provider", ()))
        )
    except ValueError as error:
        reading.wrong(span, str(error))
        return found
    if there is not None:
        for name in providers:
            if problem := provider_problem(name, there.operations):
                reading.wrong(spans.get("provider", span), problem)
        for name in tools:
            if problem := operation_problem(name, providers, there.operations):
                reading.wrong(span, problem)
    names = {"tool_name": frozenset(tools), "provider": frozenset(providers)}
    return {**found, **{field: values for field, values in names.items() if values}}


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
