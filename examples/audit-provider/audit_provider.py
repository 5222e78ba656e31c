"""A provider that watches a session and forbids what nobody should do by mistake (K25).

It appends a line of JSON for each call to a file, and vetoes calls that name a protected path.
docs/how-to/write-a-hook.md subscribes it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pluggableharness.sdk import Context, Doc, HookEvent, Provider


@dataclass(frozen=True, slots=True)
class Settings:
    log: Annotated[str, Doc("The file to append to")]
    protected: Annotated[list[str], Doc("No call may name a path that holds one of these")] = field(
        default_factory=list
    )


provider = Provider("audit", settings=Settings, version="1.0.0")


@provider.hook("pre-tool-call", mode="veto")
async def guard(event: HookEvent[Settings]) -> bool:
    """Object to a call when any text in its arguments names something protected."""
    texts = list(texts_in(event.payload["call"].get("arguments", {})))
    return not any(word in text for word in event.settings.protected for text in texts)


@provider.hook("post-tool-call", mode="observe")
async def note(event: HookEvent[Settings]) -> None:
    """Write down what was called and whether it worked."""
    call = event.payload["call"]
    line = {
        "session": call["call_context"]["session_id"],
        "operation": call["tool_name"],
        "error": event.payload.get("error", {}).get("category"),
    }
    with Path(event.settings.log).open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


@dataclass(frozen=True, slots=True)
class Entries:
    lines: Annotated[list[str], Doc("The latest lines, the newest last")]


@provider.data_source()
async def recent(ctx: Context[Settings]) -> Entries:
    """Show the latest twenty entries of the audit."""
    log = Path(ctx.settings.log)
    return Entries(log.read_text(encoding="utf-8").splitlines()[-20:] if log.exists() else [])


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


if __name__ == "__main__":
    provider.serve()
