"""What each search engine is asked, and how its answer is read (C18).

Engines differ in one request and one reading; sending is the same for all and stands elsewhere.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from pluggableharness.providers.web.exchange import Request
from pluggableharness.providers.web.settings import Search
from pluggableharness.providers.web.targets import Target, target_of
from pluggableharness.sdk import Doc, ExecutionFailed

LIMIT: Final = 20
USUAL_LIMIT: Final = 10
_SNIPPET: Final = 500
_TITLE: Final = 200
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for; `site` is a host."""

    text: str
    limit: int
    site: str | None = None

    @property
    def with_site(self) -> str:
        """The query in the words that most engines understand."""
        return f"{self.text} site:{self.site}" if self.site else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """One result."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Results:
    """What an engine found, the best first."""

    results: list[Hit]
    engine: Annotated[str, Doc("Who was asked")]


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine. `advice` says by status what a person can do about an error."""

    address: str
    request: Callable[[Search, Target, Query], Request]
    hits: Callable[[str, Query], Iterator[Hit]]
    advice: Mapping[int, str] = field(default_factory=dict)


def hit(title: Any, url: Any, snippet: Any) -> Hit:
    """A result in plain text, without tags and entities, of bounded length."""
    return Hit(_plain(title)[:_TITLE], str(url or ""), _plain(snippet)[:_SNIPPET])


def _plain(text: Any) -> str:
    return " ".join(unescape(_TAG.sub("", str(text or ""))).split())


def _at(base: Target, path: str, query: Mapping[str, str] | None = None) -> Target:
    """A path below the engine's address."""
    root = base.url.partition("?")[0].rstrip("/")
    return target_of(f"{root}{path}" + (f"?{urlencode(query)}" if query else ""))


def _listed(text: str, *path: str) -> list[dict[str, Any]]:
    """The list of objects at a path of a JSON text."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ExecutionFailed("the search engine's answer is no JSON") from None
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _ask_searxng(search: Search, base: Target, query: Query) -> Request:
    return Request("GET", _at(base, "/search", {"q": query.with_site, "format": "json"}))


def _read_searxng(text: str, query: Query) -> Iterator[Hit]:
    for one in _listed(text, "results"):
        yield hit(one.get("title"), one.get("url"), one.get("content"))


def _ask_brave(search: Search, base: Target, query: Query) -> Request:
    target = _at(base, "", {"q": query.with_site, "count": str(query.limit)})
    headers = (("accept", "application/json"), ("x-subscription-token", search.api_key))
    return Request("GET", target, headers)


def _read_brave(text: str, query: Query) -> Iterator[Hit]:
    for one in _listed(text, "web", "results"):
        yield hit(one.get("title"), one.get("url"), one.get("description"))


def _ask_tavily(search: Search, base: Target, query: Query) -> Request:
    asked: dict[str, Any] = {"query": query.text, "max_results": query.limit}
    if query.site:
        asked["include_domains"] = [query.site]
    headers = (
        ("authorization", f"Bearer {search.api_key}"),
        ("content-type", "application/json"),
    )
    return Request("POST", base, headers, json.dumps(asked).encode())


def _read_tavily(text: str, query: Query) -> Iterator[Hit]:
    for one in _listed(text, "results"):
        yield hit(one.get("title"), one.get("url"), one.get("content"))


def _duckduckgo() -> Any:
    # 0.2 s to import. The library knows the form and the page, which change; its client is not
    # used, as it asks other addresses than were checked and cannot be cancelled.
    from ddgs.engines.duckduckgo import Duckduckgo

    return Duckduckgo()


def _ask_duckduckgo(search: Search, base: Target, query: Query) -> Request:
    form = _duckduckgo().build_payload(query.with_site, "wt-wt", "moderate", None)
    headers = (
        ("content-type", "application/x-www-form-urlencoded"),
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
        ("accept", "text/html"),
        ("accept-language", "en"),
    )
    return Request("POST", base, headers, urlencode(form).encode())


def _read_duckduckgo(text: str, query: Query) -> Iterator[Hit]:
    if "anomaly-modal" in text or "challenge-form" in text:
        raise ExecutionFailed("DuckDuckGo takes this for a robot and asks for a proof")
    if not text.strip():
        return
    engine = _duckduckgo()
    for one in engine.post_extract_results(engine.extract_results(text)):
        yield hit(one.title, _direct(one.href), one.body)


def _direct(href: str) -> str:
    """The address behind a link that counts clicks."""
    if "duckduckgo.com/l/?" not in href:
        return href
    return parse_qs(urlsplit(href).query).get("uddg", [""])[0]


_KEY: Final = "it does not accept the key: check search.api_key of provider web"
ENGINES: Final = {
    "duckduckgo": Engine(
        "https://html.duckduckgo.com/html/",
        _ask_duckduckgo,
        _read_duckduckgo,
    ),
    "searxng": Engine(
        "",
        _ask_searxng,
        _read_searxng,
        {403: "the instance does not offer JSON: add json to search.formats in its settings.yml"},
    ),
    "brave": Engine(
        "https://api.search.brave.com/res/v1/web/search",
        _ask_brave,
        _read_brave,
        {401: _KEY, 403: _KEY, 422: _KEY},
    ),
    "tavily": Engine(
        "https://api.tavily.com/search",
        _ask_tavily,
        _read_tavily,
        {401: _KEY, 403: _KEY, 432: "the plan's quota is used up", 433: "the quota is used up"},
    ),
}
