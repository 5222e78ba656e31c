"""The provider of R6: it is given a secret, and says it in every way that it can think of."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pluggableharness.sdk import Context, ExecutionFailed, HookEvent, Provider, Secret
from pluggableharness.sdk.render import Text


@dataclass(frozen=True, slots=True)
class Settings:
    token: Annotated[str, Secret] = ""


provider = Provider("leaky", settings=Settings)

Deed = Literal[
    "say", "print", "fail", "refuse", "raise", "misshape", "crash", "dawdle", "wait", "record"
]


@provider.resource(risk="low", streaming=True, safe=True, default_timeout=2.0)
async def do(ctx: Context[Settings], how: Deed) -> dict[str, Any]:
    """Do something with the secret."""
    token = ctx.settings.token
    match how:
        case "say":
            await _say(ctx, token)
        case "print":
            print(f"on stdout: {token}", flush=True)
            print(f"on stderr: {token}", file=sys.stderr, flush=True)
        case "fail":
            raise ExecutionFailed(f"no luck with {token}", details={"used": [token, {token: 1}]})
        case "refuse":
            raise PermissionError(f"not with {token}")
        case "raise":
            raise RuntimeError(f"a bug that holds {token}")
        case "misshape":
            return {"text": {"not": "a text", "but": token, "nan": float("nan")}}
        case "crash":
            print(f"last words: {token}", file=sys.stderr, flush=True)
            os.abort()
        case "dawdle" | "wait":
            ctx.report = {"while using": token}
            await ctx.progress(f"thinking of {token}")
            await asyncio.Event().wait()
        case "record":
            await ctx.log("error", f"logged {token}", used=token)
            await ctx.emit("message", f"emitted {token}".encode(), "leaky.v1")
    return {"text": f"{token} {token.encode().hex()}"}


async def _say(ctx: Context[Settings], token: str) -> None:
    half = len(token) // 2
    await ctx.output(token.encode())
    await ctx.output(f"begun {token[:half]}".encode())
    await ctx.output(f"{token[half:]} ended".encode())
    for byte in token.encode():
        await ctx.output(bytes([byte]), "stderr")
    await ctx.progress(f"half-way with {token}", 0.5)
    await ctx.partial({"so far": [token, {"key": token}]})


@do.preview
async def _(ctx: Context[Settings], how: Deed) -> Text:
    if how == "raise":
        raise RuntimeError(f"no preview with {ctx.settings.token}")
    return Text(f"would {how} with {ctx.settings.token}")


@do.render
def _(payload: dict[str, Any]) -> Text:
    return Text(str(payload))


@provider.data_source(safe=True)
async def hold(ctx: Context[Settings], name: str) -> dict[str, Any]:
    """Let the processes be looked at meanwhile."""
    Path(ctx.working_directory, name).touch()
    while not Path(ctx.working_directory, f"{name}.seen").exists():
        await asyncio.sleep(0.01)
    return {"looked": name}


@provider.hook("pre-tool-call", mode="observe")
async def watch(event: HookEvent[Settings]) -> None:
    """Fail with the secret in the reason."""
    raise RuntimeError(f"the hook holds {event.settings.token}")


@provider.hook("pre-model-call", mode="veto")
async def judge(event: HookEvent[Settings]) -> bool:
    """Say the secret, and allow it."""
    print(f"judging with {event.settings.token}", file=sys.stderr, flush=True)
    return True


if __name__ == "__main__":
    provider.serve()
