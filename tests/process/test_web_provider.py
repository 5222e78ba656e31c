"""The web provider as a host meets it: a process that speaks the wire."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from process.harness import Harness
from provider_host import WAIT, Host, served
from unit.web.world import Server, answer, serving

from pluggableharness.providers import web
from pluggableharness.wire import tool_pb2

PROGRAM = Path(web.__file__).with_name("__main__.py")
KEY = "tvly-canary-7c1f"

PRIVATE = {"allow_private": True}


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    """The provider, which may reach loopback."""
    async with served(PROGRAM, PRIVATE) as started:
        yield started


async def last_event(host: Host, tool: str, **arguments: Any) -> tool_pb2.ToolEvent:
    return (await host.events(tool, **arguments))[-1]


@pytest.mark.req("C16", "C17", "C18")
async def test_the_operations_are_declared_as_the_catalog_has_them(host: Host) -> None:
    data_source, read_only = tool_pb2.TOOL_KIND_DATA_SOURCE, tool_pb2.RISK_CLASS_READ_ONLY
    resource, high = tool_pb2.TOOL_KIND_RESOURCE, tool_pb2.RISK_CLASS_HIGH
    assert await host.declared() == {
        "web_fetch": (data_source, read_only, True, [], True, False, ["url"]),
        "web_search": (data_source, read_only, True, [], True, False, ["query"]),
        "http_request": (resource, high, True, ["url"], False, False, ["method", "url"]),
    }


@pytest.mark.req("C16")
async def test_a_page_is_fetched_and_converted_over_the_wire(host: Host) -> None:
    page = b"<title>T</title><h1>Hello</h1><script>x()</script>"
    async with serving({"/": answer(page, "Content-Type: text/html")}) as server:
        result = await host.result("web_fetch", url=f"http://127.0.0.1:{server.port}/")
    assert (result["title"], result["content"]) == ("T", "# Hello")
    assert result["status"] == 200 and result["fetched_at"].endswith("Z")


@pytest.mark.req("C16")
async def test_loopback_is_refused_by_default_and_no_connection_is_made() -> None:
    """Cases web-02 and web-03, with the system's resolver and a server that really is there."""
    async with serving({"*": answer(b"inside")}) as server, served(PROGRAM) as host:
        for spelling in ("127.0.0.1", "localhost", "0.0.0.0", "[::]", "2130706433", "0x7f.1"):
            event = await last_event(host, "web_fetch", url=f"http://{spelling}:{server.port}/")
            category = tool_pb2.TOOL_ERROR_CATEGORY_PERMISSION_DENIED
            assert event.error.category == category, (spelling, event)
        assert server.opened == 0


@pytest.mark.req("C16", "P25")
async def test_cancelling_the_call_closes_the_connection(host: Host) -> None:
    """Case web-15."""
    flowing = asyncio.Event()

    async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"x" * 1000)
            await writer.drain()
            flowing.set()
            await asyncio.sleep(0.01)

    async with serving({"/": endless}) as server, asyncio.timeout(WAIT):
        call = host.invoke("web_fetch", {"url": f"http://127.0.0.1:{server.port}/"})
        await flowing.wait()
        call.cancel()
        await server.closed.wait()
        # And the provider works on.
        event = await last_event(host, "web_fetch", url="ftp://x/")
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS


@pytest.mark.req("P31")
async def test_the_key_of_an_engine_is_in_nothing_that_the_provider_says() -> None:
    async def searched(server: Server) -> tuple[str, bytes]:
        url = f"http://127.0.0.1:{server.port}/search"
        block = {"search": {"engine": "tavily", "api_key": KEY, "url": url}}
        async with served(PROGRAM, block) as host:
            event = await last_event(host, "web_search", query="q")
            return json_format.MessageToJson(event), b"".join(host.stderr)

    echo = answer(f"no such key: {KEY}".encode(), "Content-Type: text/plain", status="500 Oops")
    async with serving({"*": echo}) as server:
        said, stderr = await searched(server)
    assert server.header("authorization") == [f"Bearer {KEY}"]
    assert "no such key: [secret]" in said
    assert KEY not in said and KEY.encode() not in stderr


@pytest.mark.req("C17", "F8")
@pytest.mark.providers("web")
def test_http_request_is_listed_only_where_agent_hcl_turns_it_on(harness: Harness) -> None:
    listed = harness.run("tools")
    assert "web.web_fetch" in listed.stdout and "web.http_request" not in listed.stdout
    refused = harness.run("call", "web.http_request", "method=POST", "url=http://127.0.0.1:9/")
    assert refused.returncode != 0
    harness.configure('provider "web" {\n  http_request = true\n}\n', "web")
    listed = harness.run("tools")
    assert "web.http_request" in listed.stdout, listed.stderr
    harness.configure('provider "web" {\n  http_request = false\n}\n', "web")
    assert "web.http_request" not in harness.run("tools").stdout


@pytest.mark.req("C18", "F6")
def test_a_key_is_written_as_a_variable_and_a_search_block_is_read(harness: Harness) -> None:
    block = 'provider "web" {{\n  search = {{ engine = "brave", api_key = {} }}\n}}\n'
    (harness.project / "agent.hcl").write_text(block.format('"literal"'))
    refused = harness.run("config", "check")
    assert refused.returncode != 0 and 'env("NAME")' in refused.stdout + refused.stderr
    (harness.project / "agent.hcl").write_text(block.format('env("PATH")'))
    checked = harness.run("config", "check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.req("C16")
async def test_what_only_a_call_needs_is_not_imported_at_the_start() -> None:
    """A provider starts as quickly as the SDK itself."""
    program = (
        "import json, sys; import pluggableharness.providers.web.provider;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WAIT):
        printed, _ = await process.communicate()
    heavy = {"h11", "idna", "chardet", "selectolax", "html_to_markdown", "ddgs", "lxml", "certifi"}
    assert not heavy & set(json.loads(printed))
