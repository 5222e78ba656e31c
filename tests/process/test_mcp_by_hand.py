"""`harness mcp` under a client that writes its lines by hand, and may stop reading (K35)."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from typing import Any

import pytest
from process.harness import HARNESS, Harness
from process.mcp_clients import WAIT, WRITE, record
from process_tree import alive, descendants, eventually

pytestmark = pytest.mark.providers("exec", "filesystem")


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


async def begun(harness: Harness, **streams: Any) -> asyncio.subprocess.Process:
    """The command with a client that has said nothing yet."""
    given = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, **streams}
    return await asyncio.create_subprocess_exec(
        *HARNESS, "mcp", cwd=harness.project, env=harness.environment, limit=1 << 24, **given
    )


async def by_hand(harness: Harness, **capabilities: Any) -> asyncio.subprocess.Process:
    """The command with a client that has just got its list of tools."""
    process = await begun(harness)
    assert process.stdin is not None
    assert process.stdout is not None
    first = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": capabilities}}
    for message in (first, LIST):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        answer = json.loads(await process.stdout.readline())
        assert answer["id"] == message["id"], answer
    return process


@pytest.mark.req("K35", "K16")
@pytest.mark.parametrize("ending", ["end of input", "SIGTERM"])
async def test_the_end_of_the_connection_ends_session_and_providers(
    harness: Harness, ending: str
) -> None:
    async with asyncio.timeout(WAIT):
        process = await by_hand(harness)
        assert process.stdin is not None
        assert process.stdout is not None
        providers = descendants(process.pid)
        assert providers
        if ending == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        rest = await process.stdout.read()
        code = await process.wait()
    assert rest == b""
    assert code == (130 if ending == "SIGTERM" else 0)
    assert record(harness, "cancelled" if ending == "SIGTERM" else "completed")
    gone = (lambda: not any(map(alive, providers)), "no provider is left")
    await asyncio.to_thread(eventually, *gone)


@pytest.mark.req("K35", "P8")
async def test_what_cannot_be_read_is_answered_with_why_and_nothing_else_is_printed(
    harness: Harness,
) -> None:
    deep = "[" * 400 + "]" * 400
    arguments = [r'{"path": "\ud800"}', f'{{"path": {deep}}}', '{"path": "a", "path": "b"}']
    async with asyncio.timeout(WAIT):
        process = await by_hand(harness)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"no json\n\xff\xfe\n{}\n")
        for id_, given in enumerate(arguments, 10):
            params = f'{{"name": "filesystem__read_file", "arguments": {given}}}'
            line = f'{{"jsonrpc": "2.0", "id": {id_}, "method": "tools/call", "params": {params}}}'
            process.stdin.write(line.encode() + b"\n")
        process.stdin.write(json.dumps({**LIST, "id": 3}).encode() + b"\n")
        answers: list[dict[str, Any]] = []
        while not answers or answers[-1].get("id") != 3:
            answers.append(json.loads(await process.stdout.readline()))
        process.stdin.close()
        assert await process.wait() == 0
    assert [(one["id"], one["error"]["code"]) for one in answers[:-1]] == [
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (10, -32700),
        (11, -32700),
        (12, -32600),
    ]
    assert '"path" stands twice' in answers[-2]["error"]["message"]
    assert len(answers[-1]["result"]["tools"]) == 4


@pytest.mark.req("K35", "K10", "P8")
async def test_neither_an_id_in_use_nor_an_unreadable_answer_is_taken(harness: Harness) -> None:
    name, arguments = WRITE
    write = {"method": "tools/call", "params": {"name": name, "arguments": arguments}, "id": 3}
    async with asyncio.timeout(WAIT):
        process = await by_hand(harness, elicitation={})
        told, tell = process.stdout, process.stdin
        assert told is not None
        assert tell is not None
        tell.write(json.dumps({"jsonrpc": "2.0", **write}).encode() + b"\n")
        question = json.loads(await told.readline())
        assert question["method"] == "elicitation/create"
        tell.write(json.dumps({"jsonrpc": "2.0", **write, "id": "3"}).encode() + b"\n")
        second = json.loads(await told.readline())
        content = '{"decision": "deny", "decision": "allow"}'
        yes = f'{{"action": "accept", "content": {content}}}'
        said = f'{{"jsonrpc": "2.0", "id": {question["id"]}, "result": {yes}}}'
        tell.write(said.encode() + b"\n")
        first = json.loads(await told.readline())
        tell.write(json.dumps({**LIST, "id": 3}).encode() + b"\n")
        again = json.loads(await told.readline())
        tell.close()
        assert await process.wait() == 0
    assert (second["id"], second["error"]["code"]) == ("3", -32600)
    assert "still runs" in second["error"]["message"]
    assert first["id"] == 3
    assert first["result"]["isError"]
    assert "dismissed the question" in first["result"]["content"][0]["text"]
    assert not (harness.project / "a.txt").exists()
    assert again["result"]["tools"]


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """How it went, and what it said on stderr, at the end of a process that reads no more."""
    assert process.stderr is not None
    said = await process.stderr.read()
    return await process.wait(), said.decode()


@pytest.mark.req("K35", "K33", "K16")
async def test_a_client_that_reads_no_more_has_left(harness: Harness) -> None:
    read, write = os.pipe()
    async with asyncio.timeout(WAIT):
        process = await begun(harness, stdout=write, stderr=asyncio.subprocess.PIPE)
        os.close(write)
        os.close(read)
        assert process.stdin is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        assert await ended(process) == (0, "")


@pytest.mark.req("K35", "K33")
async def test_output_that_cannot_be_written_is_one_line(harness: Harness) -> None:
    async with asyncio.timeout(WAIT):
        with open("/dev/full", "wb") as full:
            process = await begun(harness, stdout=full, stderr=asyncio.subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        code, said = await ended(process)
    assert code == 1
    assert said == "harness: the output could not be written: No space left on device\n"


@pytest.mark.req("K35", "K33")
async def test_a_line_without_end_ends_it_with_the_reason(harness: Harness) -> None:
    async with asyncio.timeout(WAIT):
        process = await begun(harness, stderr=asyncio.subprocess.PIPE)
        assert process.stdin is not None
        with suppress(ConnectionError):
            while process.returncode is None:
                process.stdin.write(b"x" * (1 << 20))
                await process.stdin.drain()
        code, said = await ended(process)
    assert code == 2
    assert said == "harness: the MCP client wrote a line of more than 67,108,864 bytes\n"


@pytest.mark.req("K35", "K17")
async def test_a_client_that_does_not_read_delays_no_signal(harness: Harness) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with suppress(BlockingIOError):
        while True:
            os.write(write, bytes(4096))
    os.set_blocking(write, True)
    async with asyncio.timeout(WAIT):
        process = await begun(harness, stdout=write)
        assert process.stdin is not None
        for message in (INITIALIZE, LIST):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        # The session begins with the second request, when the first answer cannot be written.
        begins = (lambda: bool(harness.logs()), "the session begins")
        await asyncio.to_thread(eventually, *begins)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 130
    os.close(write)
    os.close(read)
