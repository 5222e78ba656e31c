"""The filesystem provider as a host meets it: a process that speaks the wire."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.protobuf import json_format
from provider_host import WAIT, Host, served

from pluggableharness.providers import filesystem
from pluggableharness.wire import tool_pb2

PROGRAM = Path(filesystem.__file__).with_name("__main__.py")


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async with served(PROGRAM) as started:
        yield started


async def terminal(
    host: Host, folder: Path, tool: str, session: str = "session-1", **arguments: object
) -> tool_pb2.ToolEvent:
    call = host.invoke(tool, arguments, session_id=session, working_directory=str(folder))
    async with asyncio.timeout(WAIT):
        events: list[tool_pb2.ToolEvent] = [response.event async for response in call]
    assert len(events) == 1
    return events[0]


@pytest.mark.req("C2", "C3", "C4")
async def test_the_operations_are_declared_as_the_catalog_has_them(host: Host) -> None:
    resource, data_source = tool_pb2.TOOL_KIND_RESOURCE, tool_pb2.TOOL_KIND_DATA_SOURCE
    moderate, read_only = tool_pb2.RISK_CLASS_MODERATE, tool_pb2.RISK_CLASS_READ_ONLY
    edited = ["new_str", "old_str", "path"]
    assert await host.declared() == {
        "read_file": (data_source, read_only, True, [], True, False, ["path"]),
        "write_file": (resource, moderate, True, ["path"], True, False, ["content", "path"]),
        "edit_file": (resource, moderate, True, ["path"], False, False, edited),
    }


@pytest.mark.req("P9", "C3", "C4")
async def test_a_file_is_made_edited_and_read_in_the_working_directory_of_the_call(
    host: Host, tmp_path: Path
) -> None:
    await terminal(host, tmp_path, "write_file", path="d/f", content="a\nb\n")
    await terminal(host, tmp_path, "edit_file", path="d/f", old_str="b", new_str="c")
    read = await terminal(host, tmp_path, "read_file", path="d/f")
    payload = json_format.MessageToDict(read.result.payload)
    assert payload["content"] == "1|a\n2|c"
    assert (tmp_path / "d" / "f").read_text() == "a\nc\n"


@pytest.mark.req("C5")
async def test_parallel_edits_over_the_wire_are_all_there(host: Host, tmp_path: Path) -> None:
    """Case concurrency-01, with the sessions of one process."""
    count = 40
    (tmp_path / "f").write_text("".join(f"<{number}>\n" for number in range(count)))
    (tmp_path / "link").symlink_to("f")
    await asyncio.gather(
        *(
            terminal(
                host,
                tmp_path,
                "edit_file",
                session=f"session-{number % 4}",
                path=("f", "link", "./f")[number % 3],
                old_str=f"<{number}>",
                new_str=f"done {number}",
            )
            for number in range(count)
        )
    )
    assert (tmp_path / "f").read_text() == "".join(f"done {n}\n" for n in range(count))


@pytest.mark.req("C1")
async def test_a_path_that_leads_out_is_refused_over_the_wire(host: Host, tmp_path: Path) -> None:
    (tmp_path / "leak").symlink_to("/etc/passwd")
    event = await terminal(host, tmp_path, "read_file", path="leak")
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_PERMISSION_DENIED
    assert str(tmp_path) in event.error.message


@pytest.mark.req("C6", "P29")
async def test_a_preview_comes_as_a_diff(host: Host, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    call = tool_pb2.ToolCall(
        id="call-1",
        tool_name="edit_file",
        call_context={"session_id": "s", "turn_id": "t", "working_directory": str(tmp_path)},
    )
    call.arguments.update({"path": "f", "old_str": "a", "new_str": "b"})
    answer = await host.tools.Preview(tool_pb2.PreviewRequest(call=call), timeout=WAIT)
    (hunk,) = answer.preview.root.diff.hunks
    assert [line.text for line in hunk.lines] == ["a", "b"]
    assert (tmp_path / "f").read_text() == "a\n"
