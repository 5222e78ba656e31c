"""The provider that R1 kills: one call tells its process and hangs, another answers."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

from pluggableharness.sdk import Context, Provider

provider = Provider("victim", version="1")


@dataclass(frozen=True, slots=True)
class Alive:
    """Which process answered."""

    pid: int


@provider.data_source(streaming=True)
async def hang(ctx: Context[Any]) -> Alive:
    """Tell the process, and never end."""
    await ctx.progress(str(os.getpid()))
    await asyncio.Event().wait()
    return Alive(0)


@provider.data_source()
async def ping(ctx: Context[Any]) -> Alive:
    """Answer."""
    return Alive(os.getpid())


if __name__ == "__main__":
    provider.serve()
