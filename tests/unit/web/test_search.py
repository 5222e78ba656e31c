"""Search engines, each against a local server that answers as its documentation says."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import pytest
from unit.web.world import PUBLIC, WAIT, Server, World, answer, redirect, serving

from pluggableharness.providers.web import provider as web
from pluggableharness.providers.web.connecting import Limits
from pluggableharness.sdk import Category, InvalidArguments
from pluggableharness.sdk.render import Listing
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C18")

KEY = "tvly-hunter2-canary"
JSON = "Content-Type: application/json"

SEARXNG = {
    "query": "q", "number_of_results": 0, "answers": [], "infoboxes": [], "suggestions": [],
    "unresponsive_engines": [["qwant", "timeout"]],
    "results": [
        {"url": "https://one.test/", "title": "One &amp; only", "content": "First <b>hit</b>",
         "engine": "bing", "engines": ["bing"], "score": 1.0, "category": "general"},
        {"url": "javascript:alert(1)", "title": "Bad", "content": ""},
        {"url": "https://two.test/", "title": "Two", "content": None},
        {"url": "https://one.test/", "title": "One again", "content": "x"},
    ],
}  # fmt: skip
BRAVE = {
    "type": "search", "query": {"original": "q"},
    "web": {"type": "search", "results": [
        {"title": "One", "url": "https://one.test/", "description": "First <strong>hit</strong>"},
        {"title": "Two", "url": "https://two.test/", "description": "2 < 3"},
    ]},
}  # fmt: skip
TAVILY = {
    "query": "q", "answer": None, "images": [], "response_time": 1.2,
    "results": [
        {"title": "One", "url": "https://one.test/", "content": "First hit", "score": 0.9},
        {"title": "Two", "url": "https://two.test/", "content": "Second", "score": 0.8},
    ],
}  # fmt: skip
DUCKDUCKGO = b"""<html><body><div class="serp__results"><div id="links" class="results">
<div class="result results_links web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://one.test/">One</a></h2>
<a class="result__snippet" href="https://one.test/">First <b>hit</b></a></div></div>
<div class="result results_links web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Ftwo.test%2F&amp;rut=1">Two</a></h2>
<a class="result__snippet"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Ftwo.test%2F&amp;rut=1">2nd</a>
</div></div>
<div class="result result--ad"><div class="links_main links_deep result__body">
<h2><a href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=x">Buy</a></div></div>
</div></div></body></html>"""

ENGINES: Mapping[str, tuple[dict[str, str], str, bytes]] = {
    "searxng": ({"engine": "searxng"}, "/search", answer(json.dumps(SEARXNG).encode(), JSON)),
    "brave": (
        {"engine": "brave", "api_key": KEY},
        "/res/v1/web/search",
        answer(json.dumps(BRAVE).encode(), JSON),
    ),
    "tavily": (
        {"engine": "tavily", "api_key": KEY},
        "/search",
        answer(json.dumps(TAVILY).encode(), JSON),
    ),
    "duckduckgo": (
        {"engine": "duckduckgo"},
        "/html/",
        answer(DUCKDUCKGO, "Content-Type: text/html; charset=UTF-8"),
    ),
}


def settings(engine: str, url: str) -> dict[str, Any]:
    chosen, path, _ = ENGINES[engine]
    return {"search": {**chosen, "url": url + ("" if engine == "searxng" else path)}}


async def search(
    world: World, engine: str, raw: bytes | None = None, **arguments: Any
) -> tuple[Outcome, Server]:
    """Search through an engine on this machine, which the configuration names."""
    async with serving({"*": ENGINES[engine][2] if raw is None else raw}) as server:
        world.servers["127.0.0.1", 8888] = server
        chosen = settings(engine, "http://127.0.0.1:8888")
        async with opened(web.provider, settings=chosen) as tool, asyncio.timeout(WAIT):
            return await tool("web_search", **{"query": "a b", **arguments}), server


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_gives_titles_addresses_and_snippets(world: World, engine: str) -> None:
    payload = (await search(world, engine))[0].payload
    assert payload["engine"] == engine
    first, second = payload["results"]
    assert (first["url"], second["url"]) == ("https://one.test/", "https://two.test/")
    assert first["title"].startswith("One") and first["snippet"].endswith("First hit")
    assert all(set(one) == {"title", "url", "snippet"} for one in payload["results"])


@pytest.mark.parametrize("engine", ENGINES)
async def test_limit_and_site_reach_the_engine(world: World, engine: str) -> None:
    outcome, server = await search(world, engine, limit=1, site="Docs.Test")
    assert len(outcome.payload["results"]) == 1
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    method, path, _ = head.split(b"\r\n")[0].decode().split()
    if engine == "tavily":
        asked = json.loads(body)
        assert asked == {"query": "a b", "max_results": 1, "include_domains": ["docs.test"]}
        assert server.header("authorization") == [f"Bearer {KEY}"]
    else:
        query = parse_qs(body.decode() if method == "POST" else path.partition("?")[2])
        assert query["q"] == ["a b site:docs.test"]
        if engine == "brave":
            assert query["count"] == ["1"] and server.header("x-subscription-token") == [KEY]
        if engine == "searxng":
            assert query["format"] == ["json"] and path.startswith("/search?")


@pytest.mark.parametrize("site", ["not a host", "https://x.test/", "x.test/path", ""])
async def test_a_site_is_a_host(world: World, site: str) -> None:
    outcome, _ = await search(world, "searxng", site=site)
    assert outcome.error is not None
    assert outcome.error.category is Category.INVALID_ARGUMENTS
    assert "site" in outcome.error.message and world.dialled == []


@pytest.mark.parametrize("engine", ENGINES)
async def test_nothing_found_is_a_result(world: World, engine: str) -> None:
    raw = answer(b"{}", JSON) if engine != "duckduckgo" else answer(b"<p>No results.</p>")
    assert (await search(world, engine, raw))[0].payload["results"] == []


@pytest.mark.req("P16")
@pytest.mark.parametrize(
    ("engine", "raw", "said"),
    [
        ("searxng", answer(status="403 Forbidden"), "search.formats"),
        ("searxng", answer(b"<html>", "Content-Type: text/html"), "no JSON"),
        ("searxng", answer(b"[" * 5000, JSON), "no JSON"),
        ("brave", answer(status="422 Unprocessable"), "search.api_key"),
        ("brave", answer(status="429 Too Many Requests"), "429"),
        ("tavily", answer(status="401 Unauthorized"), "search.api_key"),
        ("tavily", answer(status="432 Quota"), "quota"),
        ("duckduckgo", answer(b'<div class="anomaly-modal">', status="202 Accepted"), "202"),
        ("duckduckgo", answer(b'<div class="anomaly-modal"></div>'), "robot"),
        ("brave", redirect("http://elsewhere.test/"), "302"),
        ("brave", b"", "broke the connection off"),
    ],
)
async def test_an_engine_that_does_not_work_says_why_and_how_to_configure_one(
    world: World, engine: str, raw: bytes, said: str
) -> None:
    outcome, server = await search(world, engine, raw)
    assert outcome.error is not None
    assert outcome.error.category is Category.EXECUTION_FAILED
    assert said in outcome.error.message
    for word in ("agent.hcl", 'provider "web"', "search = {", "env(", "searxng"):
        assert word in outcome.error.message
    assert server.opened == 1 and set(world.dialled) == {("127.0.0.1", 8888)}


@pytest.mark.req("P31")
@pytest.mark.parametrize("engine", ["brave", "tavily"])
async def test_the_key_is_in_no_answer_that_echoes_it(world: World, engine: str) -> None:
    for raw in (
        answer(KEY.encode(), "Content-Type: text/plain", status="500 Oops"),
        answer(b"", f"X: {KEY}", status=f"500 {KEY}"),
        answer(json.dumps({**TAVILY, "web": BRAVE["web"]}).replace("One", KEY).encode(), JSON),
    ):
        outcome, _ = await search(world, engine, raw)
        assert KEY not in str(outcome.error) + str(outcome.events)


async def test_without_a_configuration_it_is_duckduckgo_and_an_inner_address_is_refused(
    world: World, tool: Tool
) -> None:
    world.name("html.duckduckgo.com", ["10.0.0.1"])
    outcome = await tool("web_search", query="q")
    assert outcome.error is not None
    assert outcome.error.message.startswith("duckduckgo gave no results: html.duckduckgo.com")
    assert world.dialled == []


async def test_a_search_has_a_deadline(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(head: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(web, "network", world.network(Limits(total_s=0.3)))
    async with serving({"*": never}) as server:
        world.servers[PUBLIC, 80] = server
        world.name("engine.test", [PUBLIC])
        chosen = settings("searxng", "http://engine.test")
        async with opened(web.provider, settings=chosen) as tool, asyncio.timeout(WAIT):
            outcome = await tool("web_search", query="q")
            await server.closed.wait()
    assert outcome.error is not None
    assert outcome.error.category is Category.TIMEOUT


@pytest.mark.req("P28")
@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"search": {"engine": "searxng"}}, "url"),
        ({"search": {"engine": "brave"}}, "BRAVE_API_KEY"),
        ({"search": {"engine": "tavily", "api_key": ""}}, "TAVILY_API_KEY"),
        ({"search": {"engine": "google"}}, "search.engine"),
        ({"search": {"engine": "searxng", "url": "localhost:8888"}}, "url"),
        ({"search": {"engine": "brave", "api_key": "a\nb-hunter2"}}, "api_key"),
        ({"allowed_domains": ["http://x.test"]}, "allowed_domains"),
        ({"denied_domains": [""]}, "denied_domains"),
        ({"allow_private": "yes"}, "allow_private"),
    ],
)
async def test_a_wrong_setting_is_named_when_it_is_read(block: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArguments) as refusal:
        async with opened(web.provider, settings=block):
            pass
    assert said in refusal.value.message and "hunter2" not in refusal.value.message


@pytest.mark.req("P30")
async def test_recorded_results_are_drawn_as_a_list(world: World, tool: Tool) -> None:
    payload = (await search(world, "brave"))[0].payload
    node = tool.render("web_search", payload)
    assert isinstance(node, Listing) and len(node.items) == 2
