"""A provider whose hooks do what its settings say, and write down what they were told."""

import asyncio
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pluggableharness.sdk import Context, HookEvent, Provider


@dataclass(frozen=True, slots=True)
class Settings:
    told: str
    does: dict[str, str] = field(default_factory=dict)


provider = Provider("hooking", settings=Settings)
POINTS = (
    "session-start",
    "pre-model-call",
    "post-model-response",
    "pre-tool-call",
    "plan-ready",
    "post-tool-call",
    "post-apply",
    "session-end",
)


@dataclass(frozen=True, slots=True)
class Done:
    text: str


@provider.resource(risk="low", safe=True, idempotent=True)
async def change(ctx: Context[Settings], text: str = "") -> Done:
    """Succeed."""
    return Done("changed")


@provider.data_source()
async def look(ctx: Context[Settings], text: str = "") -> Done:
    """Succeed."""
    return Done("seen")


async def act(event: HookEvent[Settings], mode: str) -> str:
    """Write down the event and do what is set for the point and mode; say what that was."""
    with Path(event.settings.told).open("a") as told:
        told.write(json.dumps([event.point, mode, event.payload]) + "\n")
    does = event.settings.does.get(f"{event.point}.{mode}", "")
    if does == "raise":
        raise RuntimeError("a bug of the hook")
    if does == "hang":
        await asyncio.Event().wait()
    if does == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return does


def observer(point: Any) -> None:
    @provider.hook(point, mode="observe")
    async def observe(event: HookEvent[Settings]) -> None:
        await act(event, "observe")


def vetoer(point: Any) -> None:
    @provider.hook(point, mode="veto")
    async def veto(event: HookEvent[Settings]) -> Any:
        does = await act(event, "veto")
        return {"deny": False, "nonsense": "perhaps"}.get(does, True)


for point in POINTS:
    observer(point)
for point in ("session-start", "pre-model-call", "pre-tool-call", "plan-ready"):
    vetoer(point)


@provider.hook("pre-model-call", mode="transform")
async def rewrite(event: HookEvent[Settings]) -> Any:
    """Replace a word in every text, or answer what is no answer."""
    if await act(event, "transform") == "nonsense":
        return "no messages"
    text = json.dumps(event.payload["messages"])
    return json.loads(text.replace("secret", "[gone]"))


if __name__ == "__main__":
    provider.serve()
