"""Type annotations read as the shapes that the contract's schema subset can say (P6).

Owns the one walk over an author's types. A shape is a plain value: `schemas` turns it into a
wire schema, `arguments` explains with it what is wrong with a value, `settings` makes of it a
configuration schema. Everything that the subset cannot say is a problem with a path, and all
problems of a declaration are found at once (P2).
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta, Struct, field

from pluggableharness.sdk.annotations import Secret

_MAX_NESTING: Final = 32


class Kind(Enum):
    """The five types of the schema subset."""

    OBJECT = "object"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"


class Limits(Struct, frozen=True):
    """What the author's types say beyond the schema subset; checked by the SDK alone (P8)."""

    whole: bool = False
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


class Shape(Struct, frozen=True):
    """One node of a declared type."""

    kind: Kind
    core: Any
    """The bare type: a class, or a generic with its arguments."""
    constraints: tuple[Meta, ...] = ()
    description: str = ""
    nullable: bool = False
    secret: bool = False
    properties: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    closed: bool = False
    """Whether the object declares its properties; one that does not is an open map."""
    items: Shape | None = None
    """Of an array its items, of an open map its values (None: anything)."""
    enum_values: tuple[str, ...] = ()
    limits: Limits = Limits()

    @property
    def target(self) -> Any:
        """What msgspec converts a value to that is there: the annotation without its `None`."""
        return Annotated[(self.core, *self.constraints)] if self.constraints else self.core


class Unshapely(Exception):
    """Collects the problems of one declaration, each as text that starts with its path."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(*problems)
        self.problems = tuple(problems)


class Direction(Enum):
    """Which way values of a shape go; it decides what an absent property means."""

    IN = "in"
    """Arguments and settings: what has a default may be absent."""
    OUT = "out"
    """Results: a field is always there, and left out only when it is None."""


def shape_of(annotation: Any, path: str, direction: Direction) -> Shape:
    """Read one annotation.

    Raises:
        Unshapely: with every problem found below `path`.
    """
    problems: list[str] = []
    shape = _Reader(problems, direction).read(annotation, path, ())
    if problems or shape is None:
        raise Unshapely(problems)
    return shape


class _Reader(Struct, frozen=True):
    problems: list[str]
    direction: Direction

    def read(self, annotation: Any, path: str, around: tuple[Any, ...]) -> Shape | None:
        """Return the shape, or None after noting a problem; `around` are the objects above."""
        if len(around) > _MAX_NESTING:
            return self.refuse(path, f"is nested deeper than {_MAX_NESTING} levels")
        core, metas, nullable = _unwrap(annotation)
        shape = self.core(core, path, around)
        if shape is None:
            return None
        return self.dressed(shape, core, metas, nullable, path)

    def refuse(self, path: str, problem: str) -> Shape | None:
        self.problems.append(f"{path} {problem}")
        return None

    def dressed(
        self, shape: Shape, core: Any, metas: Sequence[Any], nullable: bool, path: str
    ) -> Shape | None:
        constraints = [meta for meta in metas if isinstance(meta, Meta)]
        limits = _limits(shape, constraints)
        problem = _limits_problem(shape.kind, limits)
        if problem:
            return self.refuse(path, problem)
        return Shape(
            kind=shape.kind,
            core=core,
            constraints=tuple(constraints),
            description=_description(constraints),
            nullable=nullable,
            secret=Secret in metas,
            properties=shape.properties,
            required=shape.required,
            closed=shape.closed,
            items=shape.items,
            enum_values=shape.enum_values,
            limits=limits,
        )

    def core(self, core: Any, path: str, around: tuple[Any, ...]) -> Shape | None:
        simple = _SIMPLE.get(core) if isinstance(core, type) else None
        if simple is not None:
            return simple
        origin = get_origin(core)
        if origin is Literal:
            return self.literal(core, path)
        if origin in _ARRAYS:
            return self.array(core, path, around)
        if origin in _MAPS:
            return self.open_map(core, path, around)
        if is_dataclass(core) or typing.is_typeddict(core):
            return self.record(core, path, around)
        return self.refuse(path, _advice(core))

    def literal(self, core: Any, path: str) -> Shape | None:
        values = get_args(core)
        if not all(isinstance(value, str) for value in values):
            return self.refuse(path, f"is {_name(core)}; only strings can be enumerated")
        return Shape(Kind.STRING, core, enum_values=values)

    def array(self, core: Any, path: str, around: tuple[Any, ...]) -> Shape | None:
        arguments = get_args(core)
        if get_origin(core) is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
            return self.refuse(path, f"is {_name(core)}; write tuple[T, ...] or list[T]")
        items = self.read(arguments[0], f"{path}[]", (*around, core))
        if items is None:
            return None
        if items.nullable:
            return self.refuse(f"{path}[]", "may not be None; leave such items out")
        return Shape(Kind.ARRAY, core, items=items)

    def open_map(self, core: Any, path: str, around: tuple[Any, ...]) -> Shape | None:
        key, value = get_args(core)
        if key is not str:
            return self.refuse(path, f"has keys of type {_name(key)}; JSON objects have strings")
        if value in (Any, object):
            return Shape(Kind.OBJECT, core)
        items = self.read(value, f"{path}.*", (*around, core))
        return items and Shape(Kind.OBJECT, core, items=items)

    def record(self, core: Any, path: str, around: tuple[Any, ...]) -> Shape | None:
        if core in around:
            return self.refuse(path, f"holds {_name(core)} within itself; the subset cannot say it")
        try:
            members = tuple(_members(core))
        except NameError as error:
            return self.refuse(path, f"is {_name(core)}, whose annotations cannot be read: {error}")
        if not members:
            return self.refuse(path, f"is {_name(core)}, which has no fields; use dict[str, Any]")
        shapes: dict[str, Shape] = {}
        required: list[str] = []
        for name, annotation, bare in members:
            shape = self.read(annotation, f"{path}.{name}", (*around, core))
            if shape is None:
                continue
            shapes[name] = shape
            if self.needed(core, shape, bare, f"{path}.{name}"):
                required.append(name)
        return Shape(Kind.OBJECT, core, properties=shapes, required=tuple(required), closed=True)

    def needed(self, core: Any, shape: Shape, bare: bool, path: str) -> bool:
        if self.direction is Direction.OUT:
            return not shape.nullable and (bare or is_dataclass(core))
        if bare and shape.nullable:
            self.refuse(path, "may be None, so it needs a default (NotRequired in a TypedDict)")
        return bare


_SIMPLE: Final[Mapping[type, Shape]] = {
    str: Shape(Kind.STRING, str),
    int: Shape(Kind.NUMBER, int, limits=Limits(whole=True)),
    float: Shape(Kind.NUMBER, float),
    bool: Shape(Kind.BOOLEAN, bool),
}
_ARRAYS: Final = (list, tuple, Sequence)
_MAPS: Final = (dict, Mapping)


def _unwrap(annotation: Any) -> tuple[Any, list[Any], bool]:
    """Take `Annotated` and `| None` off, in whichever order; return what is inside first."""
    metas: list[Any] = []
    nullable = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            metas = [*annotation.__metadata__, *metas]
            annotation = annotation.__origin__
        elif origin in (typing.Required, typing.NotRequired):
            (annotation,) = get_args(annotation)
        elif origin in (Union, types.UnionType):
            rest = tuple(arm for arm in get_args(annotation) if arm is not types.NoneType)
            nullable = nullable or len(rest) < len(get_args(annotation))
            if len(rest) != 1:
                return annotation, metas, nullable
            (annotation,) = rest
        else:
            return annotation, metas, nullable


def _members(core: Any) -> typing.Iterator[tuple[str, Any, bool]]:
    """Yield name, annotation and whether a value is needed, of a dataclass or TypedDict."""
    hints = typing.get_type_hints(core, include_extras=True)
    if typing.is_typeddict(core):
        for name, annotation in hints.items():
            yield name, annotation, name in core.__required_keys__
        return
    for member in fields(core):
        bare = member.default is MISSING and member.default_factory is MISSING
        yield member.name, hints[member.name], bare


def _limits(shape: Shape, constraints: Sequence[Meta]) -> Limits:
    found: dict[str, Any] = {"whole": shape.limits.whole}
    for meta in constraints:
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern"):
            value = getattr(meta, name)
            if value is not None:
                found[name] = value
    return Limits(**found)


def _limits_problem(kind: Kind, limits: Limits) -> str:
    ranged = (limits.ge, limits.gt, limits.le, limits.lt) != (None, None, None, None)
    if ranged and kind is not Kind.NUMBER:
        return f"has a range, which fits a number and not a {kind.value}"
    sized = (limits.min_length, limits.max_length) != (None, None)
    if sized and kind in (Kind.NUMBER, Kind.BOOLEAN):
        return f"has a length, which does not fit a {kind.value}"
    if limits.pattern is not None and kind is not Kind.STRING:
        return f"has a pattern, which does not fit a {kind.value}"
    return ""


def _description(constraints: Sequence[Meta]) -> str:
    """Return the outermost: an alias may have one that its use says better."""
    return next((meta.description for meta in reversed(constraints) if meta.description), "")


def _advice(core: Any) -> str:
    name = _name(core)
    if core in (list, tuple):
        return f"is a bare {name}; say what it holds: {name}[str]"
    if core is dict:
        return "is a bare dict; write dict[str, Any] for an open map, a dataclass for a known one"
    if core in (bytes, bytearray):
        return f"is {name}; JSON has no bytes, so decide on a text form"
    if core is Any or core is object:
        return "may be anything; the subset wants one of str, int, float, bool, list, an object"
    if get_origin(core) in (Union, types.UnionType):
        return f"is {name}; the subset has no unions but `X | None`"
    return (
        f"is {name}; expected str, int, float, bool, Literal of strings, list[T], "
        "dict[str, Any], a dataclass or a TypedDict"
    )


def _name(core: Any) -> str:
    return core.__name__ if isinstance(core, type) and not get_args(core) else str(core)
