"""Arguments of a call as a person writes them: NAME=VALUE, JSON, a file, or standard input."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.operation import Operation, Schema, SchemaType
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema.parse import parse_arguments


def read_arguments(
    operation: Operation | None, pairs: Sequence[str], text: str | None
) -> JsonObject | str:
    """The arguments that a command line gives: raw JSON text, pairs, or pairs over the JSON.

    A value is read as its property's type says. One that cannot be read so stays text, and
    the kernel then says what was expected, as it does to a model. Raises UsageError for a
    pair without "=" and for a file that cannot be read.
    """
    raw = None if text is None else _raw(text)
    if raw is not None and not pairs:
        return raw
    arguments: dict[str, Json] = dict(_parsed(raw)) if raw is not None else {}
    schema = operation.input_schema if operation else Schema(SchemaType.OBJECT)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{in_quotes(pair)} is not NAME=VALUE; for JSON use --args")
        arguments[name] = _read(schema.properties.get(name), value)
    return arguments


def _raw(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--args {in_quotes(text)}: cannot be read: {_why(error)}") from error


def _why(error: OSError | UnicodeDecodeError) -> str:
    """What is wrong, without the path, which the system repeats whole."""
    return str(error.strerror) if isinstance(error, OSError) else str(error)


def _parsed(raw: str) -> JsonObject:
    parsed = parse_arguments(raw)
    if isinstance(parsed, dict):
        return parsed
    raise UsageError(f"--args: {parsed}")


def _read(schema: Schema | None, value: str) -> Json:
    if schema is None or schema.type is SchemaType.STRING:
        return value
    try:
        decoded: Json = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return value
    return decoded
