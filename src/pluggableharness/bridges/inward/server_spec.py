"""Which server a bridge is for, as its one argument says it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server and how its tools are to be declared.

    `command` starts it, or `address` is where it listens. `environment` names variables of the
    bridge that the server gets; that of `token_variable` goes to an address as a bearer token.
    `overrides` say, by an operation's name, what its kind and risk are, whatever the server says.
    """

    name: str
    command: tuple[str, ...] = ()
    address: str = ""
    token_variable: str = ""
    environment: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def token(self) -> str:
        """The bearer token for the address; "" for none."""
        return os.environ.get(self.token_variable, "") if self.token_variable else ""

    @classmethod
    def from_json(cls, text: str) -> "ServerSpec":
        """Read what the kernel wrote. Raises ValueError for anything else."""
        try:
            given: dict[str, Any] = json.loads(text)
            return cls(
                name=given["name"],
                command=tuple(given.get("command", ())),
                address=given.get("address", ""),
                token_variable=given.get("token_variable", ""),
                environment=tuple(given.get("environment", ())),
                overrides=given.get("overrides", {}),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no description of an MCP server: {error!r}") from error
