"""The provider's side of `pages`: starts it on a page and takes what it prints."""

import json
import os
import sys
from dataclasses import dataclass
from typing import Final

from pluggableharness.sdk import ExecutionFailed
from pluggableharness.sdk.processes import Chunk, GuardLost, running

_MODULE: Final = "pluggableharness.providers.web.pages"


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says."""

    content: str
    title: str | None


async def page_of(html: str, form: str, base_url: str) -> Page:
    """Convert a page to markdown or text; its process is gone once this has ended.

    Raises:
        ExecutionFailed: it could not be converted within a process's bounds.
    """
    descriptor = os.memfd_create("page")
    try:
        _fill(descriptor, html.encode("utf-8", "replace"))
        printed = await _printed((sys.executable, "-I", "-m", _MODULE, form, base_url), descriptor)
    except GuardLost:
        printed = None
    finally:
        os.close(descriptor)
    if printed is None:
        raise ExecutionFailed(
            f"the page at {base_url} could not be converted in reasonable time and memory; "
            "format=raw gives its source"
        )
    said = json.loads(printed)
    return Page(said["content"], said.get("title"))


async def _printed(command: tuple[str, ...], stdin: int) -> bytes | None:
    """What a command prints, or None where it did not end well."""
    printed = bytearray()
    async with running(command, cwd="/", env={}, stdin=stdin) as child:
        async for event in child:
            if isinstance(event, Chunk) and event.stream == "stdout":
                printed += event.data
    return bytes(printed) if child.ending and child.ending.exit_code == 0 else None


def _fill(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
