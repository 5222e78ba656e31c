"""Time, size and memory of a fetch are bounded, and a cancelled one lets go at once."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from unit.web.world import PUBLIC, WAIT, Serve, World, answer, redirect, serving

from pluggableharness.providers.web import answers
from pluggableharness.providers.web import provider as web
from pluggableharness.providers.web.connecting import Limits
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Outcome, Tool

pytestmark = pytest.mark.req("C16")

TEXT = "Content-Type: text/plain"
CAP = 4_000_000


async def fetch(tool: Tool, **arguments: Any) -> Outcome:
    async with asyncio.timeout(WAIT):
        return await tool("web_fetch", url="http://a.test/", **arguments)


def deflate(data: bytes) -> bytes:
    return zlib.compress(data)


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def gzip_twice(data: bytes) -> bytes:
    return gzip.compress(gzip.compress(data))


@pytest.mark.parametrize(
    ("pack", "encoding"),
    [(gzip.compress, "gzip"), (deflate, "deflate"), (bare_deflate, "deflate"),
     (gzip_twice, "gzip, gzip"), (gzip.compress, "x-gzip"), (bytes, "identity")],
)  # fmt: skip
async def test_the_cap_counts_unpacked_bytes(
    world: World, tool: Tool, pack: Callable[[bytes], bytes], encoding: str
) -> None:
    """Case web-09, with text in place of zeros so that what is kept can be seen."""
    world.name("a.test", [PUBLIC])
    body = pack(b"a" * 50_000_000)
    async with serving({"/": answer(body, TEXT, f"Content-Encoding: {encoding}")}) as server:
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool, max_bytes=CAP)).payload
    assert payload["truncated"] is True and f"{CAP} bytes" in payload["note"]
    assert payload["content"] == "a" * CAP


@pytest.mark.parametrize(
    ("pack", "encoding"), [(gzip.compress, "gzip"), (gzip_twice, "gzip, gzip")]
)
async def test_a_bomb_is_described_and_not_unpacked(
    world: World, tool: Tool, pack: Callable[[bytes], bytes], encoding: str
) -> None:
    """Case web-09."""
    world.name("a.test", [PUBLIC])
    body = pack(b"\0" * 200_000_000)
    async with serving({"/": answer(body, TEXT, f"Content-Encoding: {encoding}")}) as server:
        world.servers[PUBLIC, 80] = server
        tracemalloc.start()
        try:
            payload = (await fetch(tool, max_bytes=CAP)).payload
            grown = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert payload["truncated"] is True
    assert payload["content"] == "binary content, type text/plain, more than 4000000 bytes"
    assert grown < 2 * CAP


async def test_what_is_not_what_its_encoding_says_is_an_error(world: World, tool: Tool) -> None:
    world.name("a.test", [PUBLIC])
    for encoding, said in (("gzip", "gzip"), ("br", "br"), ("gzip, gzip, gzip, gzip", "3 times")):
        raw = answer(b"no such thing", TEXT, f"Content-Encoding: {encoding}")
        async with serving({"/": raw}) as server:
            world.servers[PUBLIC, 80] = server
            outcome = await fetch(tool)
        assert outcome.error is not None
        assert outcome.error.category is Category.EXECUTION_FAILED
        assert said in outcome.error.message


@pytest.mark.parametrize("size", [10, 70_000])
async def test_content_at_the_cap_is_whole(world: World, tool: Tool, size: int) -> None:
    world.name("a.test", [PUBLIC])
    for body, cut in ((b"x" * size, False), (b"x" * (size + 1), True)):
        async with serving({"/": answer(body, TEXT)}) as server:
            world.servers[PUBLIC, 80] = server
            payload = (await fetch(tool, max_bytes=size)).payload
        assert (len(payload["content"]), payload["truncated"]) == (size, cut)


async def test_a_character_is_not_cut_in_two(world: World, tool: Tool) -> None:
    world.name("a.test", [PUBLIC])
    raw = answer("\u00e9\u00e9\u00e9".encode(), f"{TEXT}; charset=utf-8")
    async with serving({"/": raw}) as server:
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool, max_bytes=3)).payload
    assert (payload["content"], payload["truncated"]) == ("\u00e9", True)


async def drip(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silence(head: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def drip_headers(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def redirect_slowly(head: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.2)
    writer.write(redirect("/"))


async def inform(head: bytes, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("slow", [drip, silence, drip_headers, redirect_slowly, inform])
async def test_one_deadline_holds_for_the_whole_fetch(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch, slow: Serve
) -> None:
    """Case web-10: a server that never falls silent is no faster for it."""
    monkeypatch.setattr(web, "network", world.network(Limits(total_s=0.5)))
    world.name("a.test", [PUBLIC])
    async with serving({"/": slow}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
        assert outcome.error is not None
        assert outcome.error.category is Category.TIMEOUT
        assert "0.5 s" in outcome.error.message
        if slow is not redirect_slowly:
            async with asyncio.timeout(WAIT):
                await server.closed.wait()


async def test_a_silent_server_is_given_up_before_the_deadline(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "network", world.network(Limits(read_s=0.1, total_s=1000)))
    world.name("a.test", [PUBLIC])
    async with serving({"/": silence}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.TIMEOUT
    assert "sent nothing for 0.1 s" in outcome.error.message


@pytest.mark.parametrize("stage", ["looking up", "connecting"])
async def test_looking_up_and_connecting_are_bounded(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    async def forever(host: str, port: int) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(world, "resolve" if stage == "looking up" else "dial", forever)
    monkeypatch.setattr(web, "network", world.network(Limits(connect_s=0.1, total_s=0.3)))
    world.name("a.test", [PUBLIC])
    outcome = await fetch(tool)
    assert outcome.error is not None
    assert ("0.3 s" if stage == "looking up" else "0.1 s") in outcome.error.message


async def flood(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b" " * 100)
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.req("P25")
async def test_a_cancelled_fetch_closes_its_connection(world: World, tool: Tool) -> None:
    """Case web-15."""
    world.name("a.test", [PUBLIC])
    flowing = asyncio.Event()

    async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
        flowing.set()
        await flood(head, writer)

    async with serving({"/": endless}) as server, asyncio.timeout(WAIT):
        world.servers[PUBLIC, 80] = server
        call = tool.start("web_fetch", url="http://a.test/")
        await flowing.wait()
        outcome = await call.cancel()
        await server.closed.wait()
    assert outcome.cancelled


async def test_headers_without_end_are_refused(world: World, tool: Tool) -> None:
    world.name("a.test", [PUBLIC])
    async with serving({"/": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.EXECUTION_FAILED


async def test_a_page_longer_than_what_is_read_says_so(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "PAGE_BYTES", 1000)
    world.name("a.test", [PUBLIC])
    page = b"<p>words</p>" + b"<!-- " + b"x" * 5000 + b" -->"
    async with serving({"/": answer(page, "Content-Type: text/html")}) as server:
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool)).payload
    assert (payload["content"], payload["truncated"]) == ("words", True)
    assert payload["note"] == "only the first 1000 bytes of the body were read"


async def test_a_server_that_never_shakes_hands_is_given_up_and_let_go(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case web-10, one layer below HTTP."""
    gone = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            pass
        writer.close()
        gone.set()

    monkeypatch.setattr(web, "network", world.network(Limits(connect_s=0.2)))
    world.name("a.test", [PUBLIC])
    listener = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with listener, serving({}) as server, asyncio.timeout(WAIT):
        server.port = listener.sockets[0].getsockname()[1]
        world.servers[PUBLIC, 443] = server
        outcome = await tool("web_fetch", url="https://a.test/")
        await gone.wait()
    assert outcome.error is not None
    assert "did not answer within 0.2 s" in outcome.error.message


@pytest.mark.parametrize("endless", [drip, flood])
async def test_nothing_is_waited_for_beyond_the_cap(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch, endless: Serve
) -> None:
    monkeypatch.setattr(answers, "PAGE_BYTES", 5)
    world.name("a.test", [PUBLIC])
    async with serving({"/": endless}) as server, asyncio.timeout(WAIT):
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool, max_bytes=5)).payload
        await server.closed.wait()
    assert payload["truncated"] is True
