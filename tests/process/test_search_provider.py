"""The search provider as a host meets it: a process that speaks the wire."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf import json_format
from process_tree import descendants, eventually
from provider_host import WAIT, Host, served

from pluggableharness.providers import search
from pluggableharness.wire import tool_pb2

PROGRAM = Path(search.__file__).with_name("__main__.py")


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async with served(PROGRAM) as started:
        yield started


async def events_of(
    host: Host, folder: Path, tool: str, **arguments: Any
) -> list[tool_pb2.ToolEvent]:
    call = host.invoke(tool, arguments, working_directory=str(folder))
    async with asyncio.timeout(WAIT):
        return [response.event async for response in call]


@pytest.mark.req("C8", "C9")
async def test_the_operations_are_declared_as_the_catalog_has_them(host: Host) -> None:
    data_source, read_only = tool_pb2.TOOL_KIND_DATA_SOURCE, tool_pb2.RISK_CLASS_READ_ONLY
    assert await host.declared() == {
        "glob": (data_source, read_only, True, [], True, False, ["pattern"]),
        "grep": (data_source, read_only, True, [], True, True, ["pattern"]),
    }


@pytest.mark.req("C8", "C9", "P9")
async def test_what_is_found_comes_over_the_wire(host: Host, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("needle\n")
    [listed] = await events_of(host, tmp_path, "glob", pattern="*.py")
    assert json_format.MessageToDict(listed.result.payload)["paths"] == ["src/a.py"]
    partial, found = await events_of(host, tmp_path, "grep", pattern="needle")
    payload = json_format.MessageToDict(found.result.payload)
    assert payload["matches"] == [{"path": "src/a.py", "line": 1, "column": 1, "text": "needle"}]
    sent = json_format.MessageToDict(partial.partial_result.payload)
    assert sent == {"matches": payload["matches"]}


@pytest.mark.req("P25", "C9")
async def test_a_call_that_the_host_cancels_ends_ripgrep(host: Host, tmp_path: Path) -> None:
    random = Random(1)
    lines = ["".join(random.choices("ab", k=2_000)) + "\n" for _ in range(1_000)]
    # Enough for a first part, and fewer than a search is ended at; the rest takes minutes.
    (tmp_path / "endless.txt").write_text("needle\n" * 5_000 + "".join(lines) * 20)
    arguments = {"pattern": "needle|[ab]*a[ab]{1000}c"}
    call = host.invoke("grep", arguments, working_directory=str(tmp_path))
    provider = host.process.pid
    async with asyncio.timeout(WAIT):
        assert (await call.read()).event.HasField("partial_result")
        assert descendants(provider)
        call.cancel()
        await asyncio.to_thread(eventually, lambda: not descendants(provider), "ripgrep has ended")
        [listed] = await events_of(host, tmp_path, "glob", pattern="*.txt")
    assert listed.HasField("result")
