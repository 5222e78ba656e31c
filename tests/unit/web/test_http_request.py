"""Requests that change something: what is sent, what is refused, what the person sees."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from unit.web.world import OTHER, PUBLIC, WAIT, World, answer, redirect, serving

from pluggableharness.providers.web import provider as web
from pluggableharness.sdk import Category
from pluggableharness.sdk.operation import Risk
from pluggableharness.sdk.render import CodeBlock, Group, Node, Style, Table, Text
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C17")

JSON = "Content-Type: application/json"


@pytest.fixture
async def on(world: World) -> AsyncIterator[Tool]:
    """The provider with http_request turned on."""
    world.name("a.test", [PUBLIC])
    async with opened(web.provider, settings={"http_request": True}) as tool:
        yield tool


async def send(tool: Tool, method: str = "POST", **arguments: Any) -> Outcome:
    async with asyncio.timeout(WAIT):
        return await tool(
            "http_request", **{"method": method, "url": "http://a.test/", **arguments}
        )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_request_is_sent_with_its_headers_and_body(
    world: World, on: Tool, method: str
) -> None:
    async with serving({"/": answer(b'{"done": true}', JSON, status="201 Created")}) as server:
        world.servers[PUBLIC, 80] = server
        headers = {
            "Content-Type": "text/plain",
            "Authorization": "Bearer x",
            "X": "",
            "Y": "\u00fc",
        }
        payload = (await send(on, method, headers=headers, body="caf\u00e9")).payload
    [request] = server.requests
    assert request.startswith(f"{method} / HTTP/1.1\r\n".encode())
    assert request.endswith(b"\r\n\r\n" + "caf\u00e9".encode())
    assert server.header("authorization") == ["Bearer x"]
    assert server.header("content-length") == ["5"]
    assert (payload["status"], payload["content"]) == (201, '{"done": true}')


async def test_a_request_without_a_body_says_that_it_has_none(world: World, on: Tool) -> None:
    async with serving({"/": answer(b"")}) as server:
        world.servers[PUBLIC, 80] = server
        assert (await send(on, "DELETE")).payload["status"] == 200
    assert server.header("content-length") == ["0"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "CONNECT", "OPTIONS", "post"])
async def test_reading_methods_are_refused(world: World, on: Tool, method: str) -> None:
    outcome = await send(on, method)
    assert outcome.error is not None
    assert outcome.error.category is Category.INVALID_ARGUMENTS
    assert world.looked_up == []


async def test_it_is_off_until_the_configuration_turns_it_on(world: World, tool: Tool) -> None:
    world.name("a.test", [PUBLIC])
    outcome = await send(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert "http_request = true" in outcome.error.message
    assert world.looked_up == []


def test_it_is_declared_as_what_it_is() -> None:
    traits = web.http_request.traits
    assert (traits.risk, traits.safe, traits.key_fields) == (Risk.HIGH, True, ("url",))
    assert not traits.idempotent


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Host": "b.test"}, "Host"),
        ({"content-length": "5"}, "content-length"),
        ({"Transfer-Encoding": "chunked"}, "Transfer-Encoding"),
        ({"Connection": "upgrade"}, "Connection"),
        ({"Proxy-Authorization": "x"}, "Proxy-Authorization"),
        ({"X": "a\r\nY: b"}, "headers.X"),
        ({"X": "a\nb"}, "headers.X"),
        ({"X": "a\0b"}, "headers.X"),
        ({"X": "\u4e2d"}, "headers.X"),
        ({"X Y": "a"}, "name of a header"),
        ({"X:": "a"}, "name of a header"),
        ({"": "a"}, "name of a header"),
    ],
)
async def test_a_header_that_would_make_another_request_is_refused(
    world: World, on: Tool, headers: dict[str, str], said: str
) -> None:
    outcome = await send(on, headers=headers)
    assert outcome.error is not None
    assert outcome.error.category is Category.INVALID_ARGUMENTS
    assert said in outcome.error.message and world.dialled == []


@pytest.mark.parametrize(
    "url", ["http://127.1/", "http://[::ffff:10.0.0.1]/", "http://inner.test/"]
)
async def test_the_guards_of_a_fetch_hold(world: World, on: Tool, url: str) -> None:
    world.name("inner.test", ["10.0.0.1"])
    outcome = await send(on, url=url)
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert world.dialled == []


async def test_domains_hold(world: World) -> None:
    settings = {"http_request": True, "denied_domains": ["a.test"]}
    async with opened(web.provider, settings=settings) as tool:
        outcome = await send(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert world.looked_up == []


@pytest.mark.parametrize("status", ["302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_told_and_not_followed(world: World, on: Tool, status: str) -> None:
    """Case web-07: what was meant for one origin reaches no other."""
    world.name("b.test", [OTHER])
    async with (
        serving({"/": redirect("http://u:hunter2@b.test:81/x", status)}) as first,
        serving({"*": answer(b"b")}) as second,
    ):
        world.servers[PUBLIC, 80], world.servers[OTHER, 81] = first, second
        headers = {"Authorization": "Bearer x", "Cookie": "a=b"}
        payload = (await send(on, headers=headers, body="secret")).payload
    assert payload["status"] == int(status[:3])
    assert "http://b.test:81/x, which was not followed" in payload["note"]
    assert "hunter2" not in str(payload)
    assert (len(first.requests), second.opened) == (1, 0)


async def test_an_error_is_not_tried_again(world: World, on: Tool) -> None:
    async with serving(
        {"/": answer(b"busy", "Content-Type: text/plain", status="503 B")}
    ) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await send(on)
    assert outcome.error is not None
    assert (outcome.error.category, outcome.error.retryable) == (Category.EXECUTION_FAILED, False)


@pytest.mark.req("P26")
async def test_a_cancelled_request_reports_whether_it_was_sent(world: World, on: Tool) -> None:
    reached = asyncio.Event()

    async def never(head: bytes, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with serving({"/": never}) as server, asyncio.timeout(WAIT):
        world.servers[PUBLIC, 80] = server
        call = on.start("http_request", method="POST", url="http://a.test/")
        await reached.wait()
        outcome = await call.cancel()
        await server.closed.wait()
    assert outcome.report == {"method": "POST", "url": "http://a.test/", "request_sent": True}


@pytest.mark.req("P29")
async def test_the_preview_shows_method_address_headers_and_body_and_sends_nothing(
    world: World, on: Tool
) -> None:
    world.name("a.test", ["2606:4700::1", PUBLIC])
    node = await on.preview(
        "http_request", method="PUT", url="http://a.test/x", headers={"X": "1"}, body="b" * 5000
    )
    assert isinstance(node, Group)
    text, where, headers, body = node.children
    assert text == Text("PUT http://a.test/x", Style.BOLD)
    assert where == Text(f"to 2606:4700::1, {PUBLIC} port 80")
    assert headers == Table(("header", "value"), [("X", "1")])
    assert isinstance(body, CodeBlock) and body.content.endswith("… 1000 more characters")
    assert world.dialled == []


@pytest.mark.req("P29")
@pytest.mark.parametrize("url", ["http://127.1/", "http://unknown.test/", "http://u:p@a.test/"])
async def test_the_preview_says_what_would_fail(world: World, on: Tool, url: str) -> None:
    node: Node | None = await on.preview("http_request", method="POST", url=url)
    assert isinstance(node, Text)
    assert node.content.startswith("This would fail: ") and node.style is Style.WARNING
