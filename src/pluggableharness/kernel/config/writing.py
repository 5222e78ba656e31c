"""Values as HCL writes them, and files written whole."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from pluggableharness.kernel.domain.hcl import hcl_string, literal
from pluggableharness.kernel.domain.values import Json

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def written_value(value: Json) -> str:
    """A value in one line."""
    match value:
        case str():
            return hcl_string(value)
        case Mapping():
            return braced(
                f"{written_key(key)} = {written_value(one)}" for key, one in value.items()
            )
        case list() | tuple():
            return "[" + ", ".join(map(written_value, value)) + "]"
        case _:
            return json.dumps(value)


def braced(members: Iterable[str]) -> str:
    """An object of members that are written already."""
    inner = ", ".join(members)
    return f"{{ {inner} }}" if inner else "{}"


def written_key(name: str) -> str:
    """A name in an object, in quotes where it could be taken for something else."""
    plain = _WORD.fullmatch(name) and name not in ("for", "true", "false", "null")
    return name if plain else hcl_string(name)


def heredoc(marker: str, text: str, indent: int) -> str:
    """Lines of a text as a heredoc, indented by so many blanks and their end by two less; the
    marker is none of the lines."""
    lines = "".join(f"{' ' * indent}{line}\n" for line in literal(text).split("\n"))
    return f"<<-{marker}\n{lines}{' ' * (indent - 2)}{marker}"


def replace_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Put a text in a file's place; readers see the one or the other. Raises OSError."""
    with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        try:
            file.write(text)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
