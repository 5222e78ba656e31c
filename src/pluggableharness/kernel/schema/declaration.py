"""Whether a schema itself keeps to the subset (P6), for the contract check at load."""

from dataclasses import dataclass

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.schema.nearest import nearest
from pluggableharness.kernel.schema.validate import MAX_DEPTH
from pluggableharness.kernel.schema.violation import Path, path_text, quoted


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that a declaration breaks (P2).

    `path` is where in the schema, like `properties.files.items`, empty for the root;
    `value` is what stands there and `rule` what must hold instead.
    """

    path: str
    value: str
    rule: str

    def __str__(self) -> str:
        """The problem as one line."""
        return f"{self.path or 'at the root'}: {self.value}: {self.rule}"


def declaration_problems(schema: Schema) -> tuple[Problem, ...]:
    """Every rule of P6 that an input or output schema breaks; empty when it may be used."""
    found: list[Problem] = []
    if schema.type is not SchemaType.OBJECT:
        found.append(Problem("", schema.type.value, "the root is an object"))
    _inspect(schema, None, 0, found)
    return tuple(found)


def _inspect(schema: Schema, path: Path, depth: int, found: list[Problem]) -> None:
    container = schema.type in (SchemaType.OBJECT, SchemaType.ARRAY)
    if container and depth == MAX_DEPTH:
        rule = f"schemas nest at most {MAX_DEPTH} deep"
        found.append(Problem(path_text(path), f"level {depth + 1}", rule))
        return
    _inspect_node(schema, path, found)
    for name, inner in schema.properties.items():
        _inspect(inner, ((path, "properties"), name), depth + 1, found)
    if schema.items is not None:
        _inspect(schema.items, (path, "items"), depth + 1, found)


def _inspect_node(schema: Schema, path: Path, found: list[Problem]) -> None:
    def report(keyword: str, value: str, rule: str) -> None:
        found.append(Problem(path_text((path, keyword)), value, rule))

    kind = schema.type.value
    if schema.properties and schema.type is not SchemaType.OBJECT:
        report("properties", kind, "only an object has properties")
    if schema.enum_values and schema.type is not SchemaType.STRING:
        report("enum_values", kind, "only a string has choices")
    if schema.items is not None and schema.type is not SchemaType.ARRAY:
        report("items", kind, "only an array has items")
    if schema.items is None and schema.type is SchemaType.ARRAY:
        report("items", "missing", "an array says what its items are")
    for name in schema.required:
        if name not in schema.properties:
            report("required", quoted(name), _undeclared(name, schema))


def _undeclared(name: str, schema: Schema) -> str:
    near = nearest(name, schema.properties)
    hint = f" (nearest: {quoted(near)})" if near else ""
    return f"required names only declared properties{hint}"
