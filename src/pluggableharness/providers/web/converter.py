"""The provider's side of `pages`: starts it on a page and takes what it prints."""

import json
import os
import sys
from dataclasses import dataclass
from typing import Final

from pluggableharness.sdk import ExecutionFailed
from pluggableharness.sdk.processes import Chunk, running

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
    command = (sys.executable, "-I", "-m", _MODULE, form, base_url)
    printed = bytearray()
    descriptor = os.memfd_create("page")
    try:
        _fill(descriptor, html.encode("utf-8", "replace"))
        async with running(command, cwd="/", env={}, stdin=descriptor) as child:
            async for event in child:
                if isinstance(event, Chunk) and event.stream == "stdout":
                    printed += event.data
    finally:
        os.close(descriptor)
    if child.ending is None or child.ending.exit_code != 0:
        raise ExecutionFailed(
            f"the page at {base_url} could not be converted in reasonable time and memory; "
            "format=raw gives its source"
        )
    said = json.loads(printed)
    return Page(said["content"], said.get("title"))


def _fill(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
