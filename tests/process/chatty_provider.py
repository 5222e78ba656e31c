"""A provider for tests of serving: an operation for each thing that can happen on the wire."""

import asyncio
import ctypes
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pluggableharness.sdk import Context, Doc, ExecutionFailed, Provider, Secret
from pluggableharness.sdk.render import Text


@dataclass(frozen=True, slots=True)
class Settings:
    token: Annotated[str, Secret] = ""
    limit: Annotated[int, Doc("A number")] = 3


provider = Provider("chatty", settings=Settings, version="7.1")
output_sent = 0


@dataclass(frozen=True, slots=True)
class Said:
    text: str


@provider.resource(risk="low", streaming=True, default_timeout=1.5, safe=True, key_fields=["text"])
async def everything(ctx: Context[Settings], text: str) -> Said:
    """Send one event of each kind."""
    await ctx.output(b"out\xff")
    await ctx.output(b"err", "stderr")
    await ctx.progress("half-way", 0.5)
    await ctx.partial({"hits": [1, {"a": None}]})
    await ctx.exit_status(2, "SIGTERM")
    await ctx.progress("nearly")
    return Said(text)


@everything.preview
async def _(ctx: Context[Settings], text: str) -> Text | None:
    if text == "fail":
        raise ExecutionFailed(f"no preview with {ctx.settings.token}")
    if text == "break":
        raise RuntimeError(f"no preview with {ctx.settings.token}")
    return Text(f"would say {text} in {ctx.working_directory}") if text else None


@everything.render
def _(payload: dict[str, Any]) -> Text:
    return Text(payload["text"])


@provider.data_source()
async def where(ctx: Context[Settings]) -> dict[str, Any]:
    """Tell what the call and the process know."""
    return {
        "call": ctx.call_id,
        "session": ctx.session_id,
        "turn": ctx.turn_id,
        "directory": str(ctx.working_directory),
        "limit": ctx.settings.limit,
        "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
        "pid": os.getpid(),
    }


@provider.data_source()
async def sized(ctx: Context[Settings], size: int) -> Said:
    """Return a text of that many characters."""
    return Said("x" * size)


@provider.data_source(streaming=True)
async def broken(
    ctx: Context[Settings], how: Literal["raise", "leak", "twice", "nan", "cancel", "die"]
) -> dict[str, Any]:
    """Do what a provider must not."""
    if how == "raise":
        raise ValueError("boom")
    if how == "leak":
        raise ValueError(f"cannot use {ctx.settings.token}")
    if how == "twice":
        await ctx.exit_status(0)
        await ctx.exit_status(1)
    if how == "cancel":
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
    if how == "die":
        os._exit(3)
    return {"a": {"b": float("nan")}}


@provider.resource(risk="low", streaming=True)
async def wait(
    ctx: Context[Settings], swallow: bool = False, shout: bool = False
) -> dict[str, Any]:
    """Wait until cancelled; `shout` keeps printing meanwhile."""
    try:
        await ctx.progress("waiting")
        while shout:
            await ctx.output(b"x" * 1000)
            await asyncio.sleep(0)
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.sleep(0.01)
        ctx.report = {"written": ["a.txt"], "token": ctx.settings.token}
        if not swallow:
            raise
    return {"looks": "fine"}


@provider.data_source(streaming=True)
async def flood(ctx: Context[Settings], mib: int) -> dict[str, Any]:
    """Print that many MiB."""
    global output_sent
    chunk = b"x" * 65536
    for _ in range(mib * 16):
        await ctx.output(chunk)
        output_sent += len(chunk)
    return {}


@provider.data_source()
async def sent(ctx: Context[Settings]) -> dict[str, Any]:
    """Tell how many bytes `flood` has got rid of."""
    return {"bytes": output_sent}


@provider.data_source()
async def prints(ctx: Context[Settings], text: str, times: int = 1) -> dict[str, Any]:
    """Print to stdout and stderr, as a careless library does."""
    for _ in range(times):
        print(text)
    print(f"to stderr: {text}", file=sys.stderr)
    return {}


@provider.resource(risk="critical", streaming=True)
async def calls_back(ctx: Context[Settings], how: str) -> dict[str, Any]:
    """Call the kernel."""
    if how == "log":
        for number in range(500):
            await ctx.log("info", f"line {number}", number=number, token=ctx.settings.token)
        await ctx.log("warn", "odd", odd={1, 2})
        return {}
    if how == "emit":
        emitted = await ctx.emit("memory_write", b"\x00\xff", "9")
        return {"id": emitted.id, "sequence": emitted.sequence}
    await ctx.progress("asking")
    session = await ctx.run_session(
        "worker", "dig", providers=["search", "web"], max_depth=2, max_cost_usd=0.5
    )
    return {
        "id": session.session_id,
        "status": session.status,
        "message": session.final_message,
        "cost": session.cost_usd,
        "tokens": [session.input_tokens, session.output_tokens],
    }


if __name__ == "__main__":
    print("a library says hello at import")
    provider.serve()
