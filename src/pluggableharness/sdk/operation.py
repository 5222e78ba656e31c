"""One operation: a function, and all that is declared about it (P1).

Everything is derived from the function when its module is imported. What is wrong with it is
noted then and told with the mistakes of the others (P2). Calling it is not here: `calling` does.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from msgspec import Struct

from pluggableharness.sdk.arguments import ArgumentReader, refusal, violations, without_nulls
from pluggableharness.sdk.context import Context
from pluggableharness.sdk.failures import DeclarationError
from pluggableharness.sdk.results import result_encoder
from pluggableharness.sdk.shapes import Direction, Kind, Shape, Unshapely, shape_of

if TYPE_CHECKING:
    from pluggableharness.sdk.render import Node

P = ParamSpec("P")
R = TypeVar("R")
Previewer = TypeVar("Previewer", bound="Callable[..., Awaitable[Node | None]]")
Renderer = TypeVar("Renderer", bound="Callable[[dict[str, Any]], Node]")

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAME_RULE: Final = "its name may hold 1 to 64 letters, digits, '_' and '-' and nothing else"


class OperationKind(StrEnum):
    """Whether the gate applies."""

    RESOURCE = "resource"
    DATA_SOURCE = "data_source"
    INTERACTIVE = "interactive"


class Risk(StrEnum):
    """How far an action can reach."""

    READ_ONLY = "read_only"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"
    CRITICAL = "critical"


class Traits(Struct, frozen=True):
    """What an author declares beside the function itself."""

    kind: OperationKind
    risk: str
    streaming: bool = False
    safe: bool = False
    key_fields: tuple[str, ...] = ()
    default_timeout: float | None = None
    idempotent: bool = False
    terminates_turn: bool = False


class Operation(Generic[P, R]):
    """A declared operation; calling it calls the function.

    `preview` and `render` are decorators for what belongs to it (P29, P30).
    """

    def __init__(
        self,
        function: Callable[Concatenate[Context[Any], P], Awaitable[R]],
        name: str | None,
        traits: Traits,
        problems: list[str],
    ) -> None:
        """Derive everything; `problems` takes every violation of P1 to P6, now and later."""
        self.function = function
        self.name = name if name is not None else function.__name__
        self.traits = traits
        self.description = inspect.getdoc(function) or ""
        self.previewer: Callable[..., Awaitable[Node | None]] | None = None
        self.renderer: Callable[[dict[str, Any]], Node] | None = None
        self._problems = problems
        found = [*_naming_problems(self), *_trait_problems(traits)]
        declared = _Signature.read(function, found)
        found += _key_problems(traits.key_fields, declared.arguments)
        if not found:
            try:
                self._reader = ArgumentReader(declared.arguments, declared.defaults)
            except TypeError as error:
                found.append(f"its arguments cannot be checked: {error}")
        self._note(*found)
        self.arguments = declared.arguments
        self.result = declared.result
        self.payload = result_encoder(self.name, declared.result)

    def _note(self, *problems: str) -> None:
        self._problems += [f"operation {self.name!r}: {problem}" for problem in problems]

    def __call__(self, ctx: Context[Any], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        """Call the function as it is, without checks: for one operation that uses another."""
        return self.function(ctx, *args, **kwargs)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's keyword arguments for the arguments of a call (P8).

        Raises:
            InvalidArguments: naming each bad field, what was expected and what came.
        """
        return self._reader.read(arguments)

    def preview(self, function: Previewer) -> Previewer:
        """Decorate the coroutine function that describes what a call would do (P29).

        It takes what the operation takes and returns a node of `render`, or None.
        """
        is_async = inspect.iscoroutinefunction(function)
        if not is_async:
            self._note("its preview is not an async function")
        self.previewer = function
        return function

    def render(self, function: Renderer) -> Renderer:
        """Decorate the function that turns a recorded payload into a node of `render` (P30)."""
        if inspect.iscoroutinefunction(function):
            self._note("its render is async, expected plain")
        self.renderer = function
        return function


class GivenOperation(Operation[..., Mapping[str, Any]]):
    """An operation whose declaration is given and not derived: for bridges to other protocols.

    The function takes the arguments by name, checked against their shape, and returns the
    payload.
    """

    def __init__(
        self,
        function: Callable[..., Awaitable[Mapping[str, Any]]],
        name: str,
        traits: Traits,
        description: str,
        arguments: Shape,
        result: Shape,
    ) -> None:
        """Take the declaration. `arguments` and `result` are objects.

        Raises:
            DeclarationError: with every violation of P1 that lies outside the schemas.
        """
        self.function = function
        self.name = name
        self.traits = traits
        self.description = description
        self.previewer = None
        self.renderer = None
        problems = [*_naming_problems(self), *_trait_problems(traits)]
        if problems:
            raise DeclarationError(f"operation {name!r}", problems)
        self.arguments = arguments
        self.result = result
        self.payload = dict

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as they came, without the nulls of what is optional (P8).

        Raises:
            InvalidArguments: naming each bad field, what was expected and what came.
        """
        given = without_nulls(self.arguments, arguments)
        found = list(violations(self.arguments, given, ""))
        if found:
            raise refusal(found)
        return given


class _Signature(Struct, frozen=True):
    """What a function's parameters and its return say."""

    arguments: Shape
    result: Shape
    defaults: Mapping[str, Any]
    """What the optional parameters are when not given."""

    @classmethod
    def read(cls, function: Callable[..., Any], problems: list[str]) -> _Signature:
        nothing = Shape(Kind.OBJECT, dict)
        if not inspect.iscoroutinefunction(function):
            problems.append("is not an async function; put blocking work in asyncio.to_thread")
        try:
            hints = typing.get_type_hints(function, include_extras=True)
        except (NameError, TypeError) as error:
            problems.append(f"has annotations that cannot be read: {error}")
            return cls(nothing, nothing, {})
        parameters = list(inspect.signature(function).parameters.values())
        problems += _context_problems(parameters, hints)
        shapes, defaults = _parameter_shapes(parameters[1:], hints, problems)
        required = tuple(name for name in shapes if name not in defaults)
        arguments = Shape(Kind.OBJECT, dict, properties=shapes, required=required, closed=True)
        return cls(arguments, _result_shape(hints, problems) or nothing, defaults)


def _context_problems(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any]
) -> list[str]:
    if not parameters:
        return ["takes no parameters, expected the context first: async def f(ctx: Context, …)"]
    annotation = hints.get(parameters[0].name, Context)
    if (typing.get_origin(annotation) or annotation) is not Context:
        return [f"takes {parameters[0].name!r} first, expected the context: ctx: Context"]
    return []


def _parameter_shapes(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], problems: list[str]
) -> tuple[dict[str, Shape], dict[str, Any]]:
    shapes: dict[str, Shape] = {}
    defaults: dict[str, Any] = {}
    for parameter in parameters:
        name = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            problems.append(f"{name} cannot be passed by name; arguments are an object's fields")
            continue
        if name not in hints:
            problems.append(f"{name} has no type")
            continue
        try:
            shape = shape_of(hints[name], name, Direction.IN)
        except Unshapely as unshapely:
            problems += unshapely.problems
            continue
        shapes[name] = shape
        if parameter.default is not parameter.empty:
            defaults[name] = parameter.default
        elif shape.nullable:
            defaults[name] = None
    return shapes, defaults


def _result_shape(hints: Mapping[str, Any], problems: list[str]) -> Shape | None:
    if "return" not in hints:
        problems.append("has no return type; declare a dataclass, a TypedDict or dict[str, Any]")
        return None
    try:
        shape = shape_of(hints["return"], "its result", Direction.OUT)
    except Unshapely as unshapely:
        problems += unshapely.problems
        return None
    if shape.kind is not Kind.OBJECT or shape.nullable:
        problems.append("its result is no object; return a dataclass, a TypedDict or a dict")
    return shape


def _naming_problems(operation: Operation[..., Any]) -> list[str]:
    problems = []
    if not NAME.fullmatch(operation.name):
        problems.append(NAME_RULE)
    if not operation.description:
        problems.append("has no docstring; the model and the person at the gate read it")
    return problems


def _trait_problems(traits: Traits) -> list[str]:
    problems = []
    graded = [risk.value for risk in Risk if risk is not Risk.READ_ONLY]
    if traits.kind is OperationKind.RESOURCE and traits.risk not in graded:
        problems.append(f"its risk is {traits.risk!r}; a resource has one of {', '.join(graded)}")
    if traits.default_timeout is not None and not 0 < traits.default_timeout < float("inf"):
        problems.append(f"its default_timeout is {traits.default_timeout}; expected seconds, > 0")
    if traits.key_fields and not traits.safe:
        problems.append("key_fields have no effect without safe=True")
    return problems


def _key_problems(key_fields: Sequence[str], arguments: Shape) -> list[str]:
    known = ", ".join(arguments.properties) or "none"
    return [
        f"key_fields names {name!r}, which is no parameter; there are: {known}"
        for name in key_fields
        if name not in arguments.properties
    ]
