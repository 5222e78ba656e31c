#!/usr/bin/env python3
"""Commands that speak when they are told to, so that what a person sees is always the same.

Each writes a line for every line that it reads from the named pipe `TARGET.pipe`, which lies
in the working directory, and ends with it.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, Provider

provider = Provider("ci", version="1.0.0")


@dataclass(frozen=True, slots=True)
class Built:
    exit_code: Annotated[int, Doc("As of a command")]


@provider.data_source(streaming=True)
async def build(ctx: Context[None], target: Annotated[str, Doc("What to build")]) -> Built:
    """Build a target."""
    with await asyncio.to_thread(open, ctx.working_directory / f"{target}.pipe", "rb") as pipe:
        while line := await asyncio.to_thread(pipe.readline):
            await ctx.output(target.encode() + b": " + line)
    return Built(0)


if __name__ == "__main__":
    provider.serve()
