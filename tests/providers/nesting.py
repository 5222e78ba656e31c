"""A provider whose operations start child sessions, with and without a lock of its own."""

import asyncio
from dataclasses import dataclass

from pluggableharness.sdk import Context, Provider

provider = Provider("nesting")
looked = asyncio.Event()


@dataclass(frozen=True, slots=True)
class Said:
    """What came of it."""

    text: str


@provider.resource(risk="low", safe=False)
async def alone(ctx: Context[None], profile: str) -> Said:
    """Run a child while holding the whole process."""
    return Said((await ctx.run_session(profile, "go")).final_message)


@provider.resource(risk="low", safe=True, default_timeout=3.0)
async def hurried(ctx: Context[None], profile: str) -> Said:
    """Run a child within a deadline that is shorter than the child."""
    return Said((await ctx.run_session(profile, "go")).final_message)


@provider.resource(risk="low", safe=True)
async def beside(
    ctx: Context[None],
    profile: str,
    depth: int | None = None,
    cost: float | None = None,
    providers: tuple[str, ...] = (),
) -> Said:
    """Run a child beside other calls."""
    end = await ctx.run_session(
        profile, "go", providers=providers, max_depth=depth, max_cost_usd=cost
    )
    return Said(end.final_message)


@provider.resource(risk="low", safe=True)
async def leave(ctx: Context[None], profile: str) -> Said:
    """Answer as soon as the child has looked, and wait no longer for it."""
    child = asyncio.create_task(ctx.run_session(profile, "go"))
    child.add_done_callback(asyncio.Task.exception)
    await looked.wait()
    return Said("left it alone")


@provider.data_source(safe=True)
async def look(ctx: Context[None]) -> Said:
    """Answer at once."""
    looked.set()
    return Said("seen")


@provider.resource(risk="low", safe=False)
async def change(ctx: Context[None]) -> Said:
    """Need the whole process."""
    return Said("changed")


if __name__ == "__main__":
    provider.serve()
