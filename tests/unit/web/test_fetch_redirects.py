"""Redirects: followed by hand, within a host, and told where they lead elsewhere."""

import asyncio

import pytest
from unit.web.world import OTHER, PUBLIC, WAIT, World, answer, redirect, serving

from pluggableharness.providers.web import provider as web
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C16")

TEXT = "Content-Type: text/plain"


async def fetch(tool: Tool, url: str = "http://a.test/") -> Outcome:
    async with asyncio.timeout(WAIT):
        return await tool("web_fetch", url=url)


async def test_a_redirect_within_the_host_is_followed_and_told(world: World, tool: Tool) -> None:
    world.name("a.test", [PUBLIC])
    world.name("www.a.test", [PUBLIC])
    paths = {
        "/": redirect("http://www.a.test/x"),
        "/x": redirect("y?z"),
        "/y?z": answer(b"ok", TEXT),
    }
    async with serving(paths) as server:
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool)).payload
    assert (payload["url"], payload["final_url"]) == ("http://a.test/", "http://www.a.test/y?z")
    assert payload["content"] == "ok"


async def test_a_redirect_to_another_host_ends_with_its_target(world: World, tool: Tool) -> None:
    """Case web-08."""
    world.name("a.test", [PUBLIC])
    world.name("b.test", [OTHER])
    async with (
        serving({"/": redirect("http://b.test/page")}) as first,
        serving({"*": answer(b"b", TEXT)}) as second,
    ):
        world.servers[PUBLIC, 80], world.servers[OTHER, 80] = first, second
        outcome = await fetch(tool)
        assert outcome.error is not None and outcome.error.details is not None
        assert outcome.error.category is Category.PERMISSION_DENIED
        assert outcome.error.details["redirect"] == "http://b.test/page"
        assert "http://b.test/page" in outcome.error.message
        assert (second.opened, world.looked_up) == (0, ["a.test"])
        followed = await fetch(tool, outcome.error.details["redirect"])
    assert followed.payload["content"] == "b"


async def test_a_redirect_to_an_allowed_host_is_followed_without_anything_of_the_first(
    world: World,
) -> None:
    """Case web-07: no cookie and no authorization goes along, to another port neither."""
    world.name("a.test", [PUBLIC])
    world.name("b.test", [OTHER])
    leaving = answer(b"", "Location: http://b.test:81/", "Set-Cookie: s=1", status="302 Found")
    async with (
        serving({"/": leaving}) as first,
        serving({"/": answer(b"b", TEXT)}) as second,
        opened(web.provider, settings={"allowed_domains": ["a.test", "b.test"]}) as tool,
    ):
        world.servers[PUBLIC, 80], world.servers[OTHER, 81] = first, second
        assert (await fetch(tool)).payload["final_url"] == "http://b.test:81/"
    for name in ("authorization", "cookie", "referer"):
        assert first.header(name) == second.header(name) == []


async def test_a_redirect_to_a_denied_host_is_refused(world: World) -> None:
    world.name("a.test", [PUBLIC])
    settings = {"allowed_domains": ["a.test", "*.b.test"], "denied_domains": ["x.b.test"]}
    async with (
        serving({"/": redirect("http://x.b.test/")}) as server,
        opened(web.provider, settings=settings) as tool,
    ):
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert world.looked_up == ["a.test"]


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://user:hunter2@a.test/", "before @"),
        ("file:///etc/passwd", "'file'"),
        ("javascript:alert(1)", "'javascript'"),
        ("http://a.test\\@b.test/", "backslash"),
        ("http://a.test:0/", "1 to 65535"),
    ],
)
async def test_a_redirect_to_what_is_never_fetched_is_refused_without_its_password(
    world: World, tool: Tool, location: str, said: str
) -> None:
    """Cases web-06 and web-07."""
    world.name("a.test", [PUBLIC])
    async with serving({"/": redirect(location)}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert said in outcome.error.message and "hunter2" not in str(outcome.error)


async def test_a_loop_ends_after_five_redirects(world: World, tool: Tool) -> None:
    """Case web-14."""
    world.name("a.test", [PUBLIC])
    async with serving({"/": redirect("/b"), "/b": redirect("/")}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.EXECUTION_FAILED
    assert "more than 5 times" in outcome.error.message
    assert server.opened == 6


async def test_a_redirect_without_a_location_says_so_with_its_status(
    world: World, tool: Tool
) -> None:
    """Case web-14."""
    world.name("a.test", [PUBLIC])
    async with serving({"/": answer(b"", status="302 Found")}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool)
    assert outcome.error is not None
    assert outcome.error.category is Category.EXECUTION_FAILED
    assert "302" in outcome.error.message and "Location" in outcome.error.message


@pytest.mark.parametrize(
    ("raw", "status", "note"),
    [
        (answer(status="204 No Content", length=False), 204, "empty"),
        (answer(status="304 Not Modified", length=False), 304, "nothing has changed"),
        (answer(b"", TEXT), 200, "empty"),
        (answer(b"", TEXT, length=False), 200, "empty"),
        (answer(b"", TEXT, "Content-Length: 500", length=False), 200, "broke off after 0 bytes"),
        (answer(b"part", TEXT, "Content-Length: 500", length=False), 200, "after 4 bytes"),
        (answer(status="300 Multiple Choices"), 300, "empty"),
    ],
)
async def test_an_answer_without_a_body_is_a_result_with_its_status(
    world: World, tool: Tool, raw: bytes, status: int, note: str
) -> None:
    """Case web-14."""
    world.name("a.test", [PUBLIC])
    async with serving({"/": raw}) as server:
        world.servers[PUBLIC, 80] = server
        payload = (await fetch(tool)).payload
    assert payload["status"] == status and note in payload["note"]
    assert payload["truncated"] is ("broke" in note or "after" in note)
