"""An MCP server as a source, and what the file says of its operations (F3, K35)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.commands import command_problem, located, portable
from pluggableharness.kernel.config.config import Origin, OriginKind
from pluggableharness.kernel.config.reading import Fields, Reading, is_address
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Block, ObjectOf, variable_of
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.values import Json

ATTRIBUTES: Final = ("command", "address", "token")
"""Of a required provider whose source is "mcp", beside those that all have."""

KINDS: Final = (Kind.DATA_SOURCE.value, Kind.RESOURCE.value)
RISKS: Final = tuple(one.value for one in Risk if one is not Risk.READ_ONLY)

_COMMAND: Final = 'command = ["program", "argument"]'
_ADDRESS: Final = 'address = "https://…"'
_AS_VARIABLE: Final = "'token' is a secret and must be written exactly env(\"NAME\")"
_NOT_FOR_COMMANDS: Final = (
    "'token' is for an address; name the variables of a program by `environment` in its provider "
    "block"
)


def mcp_origin(
    reading: Reading, root: Path, given: Mapping[str, Json], written: ObjectOf, span: Span
) -> Origin | None:
    """The server that a requirement describes; None, with the mistake noted, when it does not.

    `written` is the requirement as it stands, and `span` the place of its source.
    """
    places = {name: item.value for name, item in written.named.items()}
    token = places.get("token")
    variable = None if token is None else variable_of(token)
    if token is not None and variable is None:
        reading.wrong(token.span, _AS_VARIABLE, secret=True)
        return None
    command, address = given.get("command"), given.get("address")
    if (command is None) == (address is None):
        reading.wrong(span, f"an MCP server has either {_COMMAND} or {_ADDRESS}")
        return None
    if command is not None:
        if token is not None:
            reading.wrong(token.span, _NOT_FOR_COMMANDS)
        return _started(reading, root, command, places["command"].span)
    if not isinstance(address, str) or not is_address(address):
        message = 'an address is written like "https://example.com/mcp"'
        reading.wrong(places["address"].span, message)
        return None
    return Origin(OriginKind.MCP, address=address, token_variable=variable or "")


def _started(reading: Reading, root: Path, command: Json, span: Span) -> Origin | None:
    words = command if isinstance(command, Sequence) and not isinstance(command, str) else ()
    texts = [word for word in words if isinstance(word, str)]
    if not texts or len(texts) != len(words):
        reading.wrong(span, f"a server is started by a list: {_COMMAND}")
        return None
    problem = command_problem(root, texts)
    if problem:
        reading.wrong(span, problem)
        return None
    return Origin(OriginKind.MCP, located(root, texts), portable(root, texts))


def overrides(fields: Fields) -> dict[str, dict[str, str]]:
    """What `operation "NAME" { kind = …  risk = … }` blocks say, by the names of operations."""
    blocks = fields.named("operation", "the name of an operation")
    return {name: _override(fields.reading, block, name) for name, block in blocks.items()}


def _override(reading: Reading, block: Block, name: str) -> dict[str, str]:
    fields = Fields(reading, block.body, f'operation "{name}"', ("kind", "risk"))
    said = {"kind": fields.choice("kind", KINDS), "risk": fields.choice("risk", RISKS)}
    if said["kind"] == Kind.DATA_SOURCE.value and said["risk"] is not None:
        reading.wrong(block.span, f'operation "{name}" only reads, so that it has no risk')
    if said == {"kind": None, "risk": None} and not block.body.settings:
        reading.wrong(block.span, f'operation "{name}" needs a kind or a risk')
    return {word: value for word, value in said.items() if value is not None}
