"""No connection goes to an address that was not checked, however it is spelled or reached."""

import asyncio
from collections.abc import Sequence

import pytest
from unit.web.world import OTHER, PUBLIC, WAIT, World, answer, redirect, serving

from pluggableharness.providers.web import provider as web
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C16", "P16")


async def fetch(tool: Tool, url: str) -> Outcome:
    async with asyncio.timeout(WAIT):
        return await tool("web_fetch", url=url)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "[::]", "0", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1",
     "017700000001", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021", "127.0.0.1.",
     "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
     "[::127.0.0.1]", "[fe80::1]", "[fd00:ec2::254]", "10.0.0.1", "192.168.0.1", "172.16.3.4",
     "169.254.169.254", "2852039166", "100.100.100.200", "168.63.129.16", "224.0.0.1"],
)  # fmt: skip
async def test_an_internal_address_is_refused_in_every_spelling(
    world: World, tool: Tool, host: str
) -> None:
    """Cases web-02, web-03 and web-04."""
    outcome = await fetch(tool, f"http://{host}:8080/")
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert "private address" in outcome.error.message and "allow_private" in outcome.error.message
    assert world.dialled == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "inner.test"])
async def test_a_name_is_judged_by_what_it_resolves_to(world: World, tool: Tool, host: str) -> None:
    """Case web-04."""
    world.name("localhost", ["127.0.0.1"])
    world.name("inner.test", ["10.1.2.3"])
    outcome = await fetch(tool, f"http://{host}:8080/")
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert world.dialled == []


@pytest.mark.parametrize("addresses", [[PUBLIC, "10.0.0.1"], ["::1", PUBLIC]])
async def test_one_internal_address_among_several_refuses_them_all(
    world: World, tool: Tool, addresses: Sequence[str]
) -> None:
    world.name("mixed.test", addresses)
    outcome = await fetch(tool, "http://mixed.test/")
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert world.dialled == []


async def test_a_name_is_resolved_once_and_connected_to_as_checked(
    world: World, tool: Tool
) -> None:
    """Case web-05: the second answer would be loopback."""
    world.name("rebind.test", [PUBLIC], ["127.0.0.1"])
    async with serving({"/": answer(b"hello", "Content-Type: text/plain")}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool, "http://rebind.test/")
    assert outcome.payload["content"] == "hello"
    assert server.header("host") == ["rebind.test"]
    assert world.looked_up == ["rebind.test"]
    assert world.dialled == [(PUBLIC, 80)]


async def test_a_name_that_rebinds_between_redirects_is_refused_at_the_next(
    world: World, tool: Tool
) -> None:
    """Case web-05, with a redirect to the same host: each hop is looked up and checked again."""
    world.name("rebind.test", [PUBLIC], ["127.0.0.1"])
    async with serving({"/": redirect("/again")}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool, "http://rebind.test/")
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert outcome.error.message.startswith("redirect to a private address")
    assert world.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temp", "308 Perm"])
@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/meta-data/", "//169.254.169.254/", "http://2852039166/",
     "http://[::ffff:169.254.169.254]/", "/twice"],
)  # fmt: skip
async def test_a_redirect_to_an_internal_address_is_refused(
    world: World, tool: Tool, status: str, location: str
) -> None:
    """Case web-01, with relative locations and a chain of two."""
    world.name("a.test", [PUBLIC])
    paths = {"/": redirect(location, status), "/twice": redirect("http://169.254.169.254/", status)}
    async with serving(paths) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool, "http://a.test/")
    assert outcome.error is not None
    assert outcome.error.category is Category.PERMISSION_DENIED
    assert outcome.error.message.startswith("redirect to a private address")
    assert set(world.dialled) == {(PUBLIC, 80)}


async def test_an_allowed_domain_that_is_internal_is_refused_after_a_redirect_too(
    world: World,
) -> None:
    world.name("a.test", [PUBLIC])
    world.name("inner.test", ["10.0.0.1"])
    async with (
        serving({"/": redirect("http://inner.test/")}) as server,
        opened(web.provider, settings={"allowed_domains": ["a.test", "inner.test"]}) as tool,
    ):
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool, "http://a.test/")
    assert outcome.error is not None
    assert outcome.error.message.startswith("redirect to a private address")
    assert world.dialled == [(PUBLIC, 80)]


async def test_allow_private_lets_internal_addresses_pass(world: World) -> None:
    async with (
        serving({"/": answer(b"inside", "Content-Type: text/plain")}) as server,
        opened(web.provider, settings={"allow_private": True}) as tool,
    ):
        world.servers["127.0.0.1", server.port] = server
        outcome = await fetch(tool, f"http://127.1:{server.port}/")
    assert outcome.payload["content"] == "inside"


@pytest.mark.parametrize(
    "url",
    ["http://good.example:443@169.254.169.254/", "http://127.0.0.1\\@good.example/",
     " http://good.example/", "http://good.exam\tple/", "file:///etc/passwd"],
)  # fmt: skip
async def test_a_url_that_reads_in_two_ways_reaches_nobody(
    world: World, tool: Tool, url: str
) -> None:
    """Case web-06."""
    outcome = await fetch(tool, url)
    assert outcome.error is not None
    assert outcome.error.category is Category.INVALID_ARGUMENTS
    assert (world.looked_up, world.dialled) == ([], [])


async def test_what_stands_behind_a_hash_is_no_host(world: World, tool: Tool) -> None:
    """Case web-06."""
    world.name("good.example", [PUBLIC])
    async with serving({"/": answer(b"good", "Content-Type: text/plain")}) as server:
        world.servers[PUBLIC, 80] = server
        outcome = await fetch(tool, "http://good.example#@127.0.0.1/")
    assert (outcome.payload["content"], world.dialled) == ("good", [(PUBLIC, 80)])


async def test_the_environment_has_no_say_in_where_a_request_goes(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    world.name("a.test", [PUBLIC])
    async with serving({"/": answer(b"direct", "Content-Type: text/plain")}) as server:
        world.servers[PUBLIC, 80] = server
        assert (await fetch(tool, "http://a.test/")).payload["content"] == "direct"


async def test_the_next_address_is_tried_where_one_refuses(world: World, tool: Tool) -> None:
    world.name("two.test", ["2606:4700::1", PUBLIC])
    async with serving({"/": answer(b"second", "Content-Type: text/plain")}) as server:
        world.servers[PUBLIC, 80] = server
        assert (await fetch(tool, "http://two.test/")).payload["content"] == "second"


@pytest.mark.parametrize(
    ("settings", "host", "passes"),
    [
        ({"denied_domains": ["evil.test"]}, "evil.test", False),
        ({"denied_domains": ["evil.test"]}, "sub.evil.test", False),
        ({"denied_domains": ["evil.test"]}, "notevil.test", True),
        ({"denied_domains": ["*.evil.test"]}, "evil.test", False),
        ({"denied_domains": ["93.184.216.34"]}, "0x5db8d822", False),
        ({"denied_domains": ["EVIL.test."]}, "evil.TEST", False),
        ({"allowed_domains": ["a.test"]}, "a.test", True),
        ({"allowed_domains": ["a.test"]}, "www.a.test", True),
        ({"allowed_domains": ["www.a.test"]}, "a.test", True),
        ({"allowed_domains": ["a.test"]}, "sub.a.test", False),
        ({"allowed_domains": ["*.a.test"]}, "deep.sub.a.test", True),
        ({"allowed_domains": ["*.a.test"]}, "a.test", False),
        ({"allowed_domains": ["a.test"]}, "b.test", False),
        ({"allowed_domains": ["*.a.test"], "denied_domains": ["x.a.test"]}, "x.a.test", False),
    ],
)
async def test_domains_of_the_configuration_hold_before_anything_is_looked_up(
    world: World, settings: dict[str, list[str]], host: str, passes: bool
) -> None:
    world.name(host.lower(), [OTHER])
    async with (
        serving({"/": answer(b"x", "Content-Type: text/plain")}) as server,
        opened(web.provider, settings=settings) as tool,
    ):
        world.servers[OTHER, 80] = server
        outcome = await fetch(tool, f"http://{host}/")
    if passes:
        assert outcome.payload["content"] == "x"
    else:
        assert outcome.error is not None
        assert outcome.error.category is Category.PERMISSION_DENIED
        assert world.looked_up == []
