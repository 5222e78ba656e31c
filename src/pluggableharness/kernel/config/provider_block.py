"""One `provider` block: the kernel's attributes in it, and the provider's own (F5, F6, F8, P28).

What the provider's own may be is known once it has declared them: of those that come along
from a list, of others when they run. Lines of a block are not shown where a secret may stand
in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pluggableharness.kernel.config.config import Known, OriginKind, ProviderConfig, Written
from pluggableharness.kernel.config.mcp_source import overrides
from pluggableharness.kernel.config.reading import Fields, Reading, seconds
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import (
    Block,
    Body,
    Expression,
    ObjectOf,
    reads_environment,
    variable_of,
)
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema.settings import setting_problems, with_defaults

_RESERVED: Final = ("instance", "environment", "disabled")
"""Attributes that are the kernel's; `timeout` is its block (F8), and for an MCP server
`operation` too."""


def provider_block(
    reading: Reading, block: Block, known: Known | None, given: ProviderConfig
) -> ProviderConfig:
    """What `given` becomes by its block; `known` None when it has not declared itself yet."""
    blocks = ("timeout", "operation") if given.origin.kind is OriginKind.MCP else ("timeout",)
    kernels, own = _split(block.body, blocks)
    what = f'provider "{given.name}"'
    fields = Fields(reading, kernels, what, _RESERVED, blocks)
    members = dict(_members(own, ""))
    if known is not None:
        _check_secrets(reading, known.settings, members)
    secret = known is None or next(_sensitive(known.settings, ""), None) is not None
    values = _values(reading, own, secret)
    if known is not None:
        _check_computed_secrets(reading, known.settings, members, values)
        _check_values(reading, block.span, known.settings, values, members, secret)
    return replace(
        given,
        config=values,
        written={path: _written(reading, *member) for path, member in members.items()},
        instance=fields.choice("instance", ("shared", "session")),
        timeouts=_timeouts(reading, fields, given.name, known),
        environment=_environment(reading, fields),
        disabled=_disabled(reading, fields, given.name, known),
        overrides=overrides(fields),
    )


def late_problems(
    written: Mapping[str, Written], settings: Sequence[Setting], config: JsonObject
) -> Iterator[str]:
    """What is wrong with a block by settings that were declared only now, places first (F6)."""
    for path in _sensitive(settings, ""):
        found = written.get(path)
        if found is None and _value_at(config, path) is not None:
            found = written.get(path.partition(".")[0])
            place = f"{found.place}: " if found else ""
            yield f"{place}{_MUST_NAME.format(path)}"
        elif found is not None and found.variable is None:
            yield f"{found.place}: {_MUST_NAME.format(path)}"
    for problem in setting_problems(settings, config):
        found = written.get(problem.path)
        yield f"{found.place}: {problem}" if found else str(problem)


def _value_at(config: Json, path: str) -> Json:
    for name in path.split("."):
        if not isinstance(config, Mapping):
            return None
        config = config.get(name)
    return config


_MUST_NAME: Final = (
    "'{0}' is a secret and must be written exactly env(\"NAME\"); "
    "put its value into an environment variable"
)


def _split(body: Body, blocks: Sequence[str]) -> tuple[Body, Body]:
    """The kernel's part of a block, with blocks of these types, and the provider's own."""
    kernels = Body(
        body.span,
        tuple(one for one in body.settings if one.name in (*_RESERVED, *blocks)),
        tuple(one for one in body.blocks if one.type in (*_RESERVED, *blocks)),
    )
    own = Body(
        body.span,
        tuple(one for one in body.settings if one not in kernels.settings),
        tuple(one for one in body.blocks if one not in kernels.blocks),
    )
    return kernels, own


def _members(body: Body, prefix: str) -> Iterator[tuple[str, tuple[Span, Expression]]]:
    """Every setting that is written out, by its path, objects and their members alike."""
    for setting in body.settings:
        yield from _member(f"{prefix}{setting.name}", setting.span, setting.value)
    for block in body.blocks:
        yield f"{prefix}{block.type}", (block.span, ObjectOf(block.body.span, ()))
        yield from _members(block.body, f"{prefix}{block.type}.")


def _member(
    path: str, span: Span, value: Expression
) -> Iterator[tuple[str, tuple[Span, Expression]]]:
    yield path, (span, value)
    for name, item in value.named.items() if isinstance(value, ObjectOf) else ():
        yield from _member(f"{path}.{name}", item.key.span, item.value)


def _values(reading: Reading, body: Body, secret: bool) -> dict[str, Json]:
    """The provider's own settings as one object; a block is an object as well."""
    values: dict[str, Json] = {}
    for setting in body.settings:
        values[setting.name] = reading.value(setting.value, secret=secret)
    for block in body.blocks:
        if block.labels:
            reading.wrong(block.span, f"'{block.type}' takes no name")
        if block.type in values:
            reading.wrong(block.span, f"'{block.type}' is set twice; keep one of them")
        values[block.type] = _values(reading, block.body, secret)
    return {name: value for name, value in values.items() if value is not None}


def _written(reading: Reading, span: Span, value: Expression) -> Written:
    text = reading.source.cut(value.span) if reads_environment(value) else None
    # Not each member of it is written out under a fixed name.
    computed = not isinstance(value, ObjectOf) or len(value.named) < len(value.items)
    return Written(reading.source.where(span), variable_of(value), text, computed)


def _sensitive(settings: Sequence[Setting], prefix: str) -> Iterator[str]:
    for setting in settings:
        if setting.sensitive:
            yield f"{prefix}{setting.name}"
        else:
            yield from _sensitive(setting.settings, f"{prefix}{setting.name}.")


def _check_secrets(
    reading: Reading,
    settings: Sequence[Setting],
    members: Mapping[str, tuple[Span, Expression]],
) -> None:
    """Refuse secrets by how they are written, before anything is evaluated (F6)."""
    for path in _sensitive(settings, ""):
        if path in members:
            span, value = members[path]
            if variable_of(value) is None:
                reading.wrong(span, _MUST_NAME.format(path), secret=True)


def _check_computed_secrets(
    reading: Reading,
    settings: Sequence[Setting],
    members: Mapping[str, tuple[Span, Expression]],
    values: JsonObject,
) -> None:
    """Refuse secrets that came out of an expression for the object around them (F6)."""
    for path in _sensitive(settings, ""):
        if path not in members and _value_at(values, path) is not None:
            span, _ = members[path.partition(".")[0]]
            reading.wrong(span, _MUST_NAME.format(path), secret=True)


def _check_values(
    reading: Reading,
    place: Span,
    settings: Sequence[Setting],
    values: JsonObject,
    members: Mapping[str, tuple[Span, Expression]],
    secret: bool,
) -> None:
    noted = {problem.span for problem in reading.problems}
    for problem in setting_problems(settings, with_defaults(settings, values)):
        span, value = members.get(problem.path, (place, None))
        # A value that could not be had is missing only because of that.
        if value is None or not any(_inside(one, value.span) for one in noted):
            reading.wrong(span, str(problem), secret=secret)


def _inside(span: Span, outer: Span) -> bool:
    return outer.start <= span.start and span.end <= outer.end


def _timeouts(reading: Reading, fields: Fields, name: str, known: Known | None) -> dict[str, float]:
    block = fields.block("timeout")
    found: dict[str, float] = {}
    if block is None:
        return found
    for inner in block.body.blocks:
        reading.wrong(inner.span, f'write {inner.type} = "30s", with an equals sign')
    for setting in block.body.settings:
        if known and setting.name not in known.operations:
            reading.unknown(setting.span, "operation", setting.name, known.operations, name)
        value = reading.value(setting.value)
        duration = seconds(value)
        if duration is not None:
            found[setting.name] = duration
        elif value is not None:
            message = 'a time-out is written like "30s", "10m" or "1h"'
            reading.wrong(setting.value.span, message)
    return found


def _environment(reading: Reading, fields: Fields) -> tuple[str, ...]:
    found = fields.strings("environment", "a list of the names of variables")
    for text, span in found:
        if not text or "=" in text or "\0" in text:
            reading.wrong(span, "list the names of variables; their values stay where they are")
    return tuple(text for text, _ in found)


def _disabled(reading: Reading, fields: Fields, name: str, known: Known | None) -> tuple[str, ...]:
    found = fields.strings("disabled", "a list of operations")
    for text, span in found:
        if known and text not in known.operations:
            reading.unknown(span, "operation", text, known.operations, name)
    return tuple(text for text, _ in found)
