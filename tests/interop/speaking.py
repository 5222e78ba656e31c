"""A provider of ours for a foreign host: says much, and lingers until it is cancelled."""

import asyncio
from dataclasses import dataclass
from typing import Any

from pluggableharness.sdk import Context, Provider


@dataclass(frozen=True, slots=True)
class Said:
    said: str


provider = Provider("speaking", version="1")


@provider.data_source()
async def say(ctx: Context[Any], size: int) -> Said:
    """Say so many characters."""
    return Said("x" * size)


@provider.resource(risk="low", streaming=True)
async def linger(ctx: Context[Any]) -> Said:
    """Linger until cancelled, and report it."""
    ctx.report = {"lingered": True}
    await ctx.progress("lingering")
    await asyncio.Event().wait()
    return Said("never")


if __name__ == "__main__":
    provider.serve()
