"""The provider's block in agent.hcl."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pluggableharness.providers.web.domains import Domains, allowed_names, denied_names
from pluggableharness.providers.web.targets import target_of
from pluggableharness.sdk import Doc, InvalidArguments, Secret


@dataclass(frozen=True, slots=True)
class Search:
    """Which engine web_search asks."""

    engine: Annotated[
        Literal["duckduckgo", "searxng", "brave", "tavily"], Doc("Who answers web_search")
    ] = "duckduckgo"
    url: Annotated[str, Doc("Address of the engine; needed for searxng, others have their own")] = (
        ""
    )
    api_key: Annotated[str, Secret, Doc("The key that brave and tavily ask for")] = ""

    def __post_init__(self) -> None:
        """Refuse what no search could be made with (P28)."""
        if self.engine == "searxng" and not self.url:
            raise ValueError('url: searxng needs the address of an instance, such as "http://…"')
        if self.engine in ("brave", "tavily") and not self.api_key:
            name = f"{self.engine.upper()}_API_KEY"
            raise ValueError(f'api_key: {self.engine} needs one; write api_key = env("{name}")')
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("api_key: it holds characters that no header can carry")
        try:
            target_of(self.url or "http://localhost")
        except InvalidArguments as refusal:
            raise ValueError(f"url: {refusal.message}") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the provider may go."""

    allowed_domains: Annotated[
        list[str],
        Doc(
            "Hosts that may be fetched and redirected to, any if empty; *.x.com is all below x.com"
        ),
    ] = field(default_factory=list)
    denied_domains: Annotated[list[str], Doc("Hosts never fetched, nor any below them")] = field(
        default_factory=list
    )
    allow_private: Annotated[
        bool, Doc("Whether addresses of this machine and of inner networks may be reached")
    ] = False
    http_request: Annotated[
        bool, Doc("Whether http_request, which can change things elsewhere, is offered")
    ] = False
    search: Annotated[Search | None, Doc("The search engine; DuckDuckGo if not given")] = None

    def __post_init__(self) -> None:
        """Refuse names that no host can have (P28)."""
        for name, domains, read in (
            ("allowed_domains", self.allowed_domains, allowed_names),
            ("denied_domains", self.denied_domains, denied_names),
        ):
            try:
                read(domains)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None

    @property
    def domains(self) -> Domains:
        """The named hosts, in the one spelling in which they are compared."""
        return Domains(allowed_names(self.allowed_domains), denied_names(self.denied_domains))
