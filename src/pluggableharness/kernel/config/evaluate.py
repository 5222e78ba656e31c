"""From expressions to values (F7). Pure: the environment and the paths are given.

Raises `Unfit` at the first thing that has no value; what an attribute may hold is not
known here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, assert_never

from pluggableharness.kernel.config.functions import FUNCTIONS, fits, text_of
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import (
    Attribute,
    Binary,
    Conditional,
    Expression,
    For,
    Index,
    Invocation,
    ListOf,
    Literal,
    Name,
    ObjectOf,
    Template,
    Unary,
)
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.schema.nearest import did_you_mean
from pluggableharness.kernel.schema.settings import kind_of


class Unfit(Exception):
    """An expression has no value; the message never shows one."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions can ask for: variables by name, and the environment for `env`."""

    environment: Mapping[str, str]
    variables: Mapping[str, Json] = field(default_factory=dict)

    def with_variables(self, **more: Json) -> "Scope":
        """The same with further variables."""
        return Scope(self.environment, {**self.variables, **more})


def evaluate(node: Expression, scope: Scope) -> Json:
    """The value of an expression.

    Raises:
        Unfit: it has none.
    """
    match node:
        case Literal(_, value):
            return value
        case Template():
            return _template(node, scope)
        case ListOf(_, items):
            return [evaluate(item, scope) for item in items]
        case ObjectOf():
            return _object(node, scope)
        case Name(span, name):
            return _variable(span, name, scope)
        case Attribute(span, target, name):
            return _member(span, evaluate(target, scope), name)
        case Index(span, target, key):
            return _member(span, evaluate(target, scope), evaluate(key, scope))
        case Invocation():
            return _invocation(node, scope)
        case Unary(_, operator, operand):
            return _unary(operator, operand, scope)
        case Binary():
            return _binary(node, scope)
        case Conditional(_, condition, yes, no):
            return evaluate(yes if _truth(condition, scope) else no, scope)
        case For():
            return _for(node, scope)
        case never:
            assert_never(never)


def _template(node: Template, scope: Scope) -> Json:
    if node.quoted and len(node.parts) == 1 and not isinstance(only := node.parts[0], str):
        return evaluate(only, scope)
    return "".join(
        part if isinstance(part, str) else _text(part, evaluate(part, scope)) for part in node.parts
    )


def _text(node: Expression, value: Json) -> str:
    try:
        return text_of(value)
    except ValueError as error:
        raise Unfit(node.span, str(error)) from None


def _object(node: ObjectOf, scope: Scope) -> Json:
    made: dict[str, Json] = {}
    for item in node.items:
        key = _text(item.key, evaluate(item.key, scope))
        if key in made:
            raise Unfit(item.key.span, f"{in_quotes(key)} stands twice in this object; keep one")
        made[key] = evaluate(item.value, scope)
    return made


def _variable(span: Span, name: str, scope: Scope) -> Json:
    if name in scope.variables:
        return scope.variables[name]
    meant = did_you_mean(name, (*scope.variables, "env", *FUNCTIONS))
    message = f"there is no variable '{name}'; for a text write \"{name}\" in quotes"
    raise Unfit(span, message + meant)


def _member(span: Span, target: Json, key: Json) -> Json:
    if isinstance(target, dict) and isinstance(key, str):
        if key in target:
            member: Json = target[key]
            return member
        raise Unfit(span, f"there is no {in_quotes(key)}{did_you_mean(key, target)}")
    if isinstance(target, list) and isinstance(key, int) and not isinstance(key, bool):
        if 0 <= key < len(target):
            element: Json = target[key]
            return element
        raise Unfit(span, f"the list has {len(target)} elements, counted from 0")
    raise Unfit(span, f"{kind_of(target)} has no such part")


def _invocation(node: Invocation, scope: Scope) -> Json:
    values = [evaluate(one, scope) for one in node.arguments]
    if node.expands:
        last = values.pop()
        if not isinstance(last, list):
            raise Unfit(node.arguments[-1].span, f"... needs a list, not {kind_of(last)}")
        values += last
    if node.name == "env":
        return _environment(node, values, scope)
    function = FUNCTIONS.get(node.name)
    if function is None:
        meant = did_you_mean(node.name, ("env", *FUNCTIONS))
        raise Unfit(node.span, f"there is no function '{node.name}'{meant}")
    kinds = [*function.takes, *([function.more] * len(values) if function.more else [])]
    fewer = len(values) < len(function.takes)
    if fewer or len(values) > len(kinds) or not all(map(fits, kinds, values)):
        raise Unfit(node.span, f"it is written {node.name}({function.shown})")
    try:
        return function.call(*values)
    except ValueError as error:
        raise Unfit(node.span, f"{node.name}: {error}") from None


def _environment(node: Invocation, values: list[Json], scope: Scope) -> str:
    match values:
        case [str() as name]:
            pass
        case _:
            raise Unfit(node.span, 'it is written env("NAME")')
    value = scope.environment.get(name)
    if value is None:
        message = f"the environment variable {name} is not set; set it before the harness starts"
        raise Unfit(node.span, message)
    return value


def _unary(operator: str, operand: Expression, scope: Scope) -> Json:
    if operator == "!":
        return not _truth(operand, scope)
    return -_number(operand, scope)


def _truth(node: Expression, scope: Scope) -> bool:
    value = evaluate(node, scope)
    if isinstance(value, bool):
        return value
    raise Unfit(node.span, f"expected true or false, found {kind_of(value)}")


def _number(node: Expression, scope: Scope) -> int | float:
    value = evaluate(node, scope)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise Unfit(node.span, f"expected a number, found {kind_of(value)}")


_ARITHMETIC: Final[Mapping[str, Callable[[float, float], Json]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "%": lambda left, right: left % right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def _binary(node: Binary, scope: Scope) -> Json:
    match node.operator:
        case "&&":
            return _truth(node.left, scope) and _truth(node.right, scope)
        case "||":
            return _truth(node.left, scope) or _truth(node.right, scope)
        case "==" | "!=":
            same = _same(evaluate(node.left, scope), evaluate(node.right, scope))
            return same is (node.operator == "==")
    left, right = _number(node.left, scope), _number(node.right, scope)
    try:
        value = _ARITHMETIC[node.operator](left, right)
    except (ZeroDivisionError, OverflowError):
        value = float("nan")
    if isinstance(value, float) and not isfinite(value):
        raise Unfit(node.span, "this has no finite value")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _same(left: Json, right: Json) -> bool:
    """Equality that keeps true and 1 apart."""
    return kind_of(left) == kind_of(right) and left == right


def _for(node: For, scope: Scope) -> Json:
    inner = [
        scope.with_variables(**{node.item: item}, **({node.key: key} if node.key else {}))
        for key, item in _elements(node, scope)
    ]
    chosen = [one for one in inner if node.condition is None or _truth(node.condition, one)]
    if node.result_key is None:
        return [evaluate(node.value, one) for one in chosen]
    made: dict[str, Json] = {}
    grouped: dict[str, list[Json]] = {}
    for one in chosen:
        key = _text(node.result_key, evaluate(node.result_key, one))
        if key in made and not node.groups:
            raise Unfit(
                node.result_key.span, f"two elements have the key {in_quotes(key)}; group with ..."
            )
        grouped.setdefault(key, []).append(evaluate(node.value, one))
        made[key] = grouped[key] if node.groups else grouped[key][0]
    return made


def _elements(node: For, scope: Scope) -> Iterator[tuple[Json, Json]]:
    collection = evaluate(node.collection, scope)
    if isinstance(collection, list):
        yield from enumerate(collection)
    elif isinstance(collection, dict):
        yield from collection.items()
    else:
        kind = kind_of(collection)
        raise Unfit(node.collection.span, f"expected a list or an object, found {kind}")
