"""What the tests of the search provider share beside their fixtures."""

import os
from pathlib import Path
from typing import Any

from pluggableharness.sdk.testing import Tool

NOTHING_SKIPPED = {"hidden": 0, "ignored": 0, "is_minimum": False}


def plant(folder: Path, **files: str | bytes) -> None:
    """Write files by path; `__` in a keyword stands for `/`."""
    for name, content in files.items():
        put(folder, name.replace("__", "/"), content)


def put(folder: Path, name: str | bytes, content: str | bytes = "needle\n") -> Path:
    """Write one file, and the folders above it."""
    path = folder / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


async def globbed(tool: Tool, pattern: str, **arguments: Any) -> list[str]:
    """The paths that a glob gives."""
    payload = (await tool("glob", pattern=pattern, **arguments)).payload
    paths: list[str] = payload["paths"]
    return paths


async def grepped(tool: Tool, pattern: str, **arguments: Any) -> list[dict[str, Any]]:
    """The matches that a grep gives."""
    payload = (await tool("grep", pattern=pattern, **arguments)).payload
    matches: list[dict[str, Any]] = payload["matches"]
    return matches


async def refusal(tool: Tool, operation: str, **arguments: Any) -> tuple[str, str]:
    """The category and the message of a call that has no result."""
    error = (await tool(operation, **arguments)).error
    assert error is not None
    return error.category.value, error.message
