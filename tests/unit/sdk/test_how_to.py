"""The lines of the how-to for authors run."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.sdk import Context, Provider
from pluggableharness.sdk.testing import Progress, opened

ROOT = Path(__file__).parents[3]
HOW_TO = (ROOT / "docs/how-to/write-a-provider.md").read_text()


def block(start: Any) -> Any:
    (code,) = re.findall(rf"```python\n({re.escape(start)}.*?)```\n", HOW_TO, re.DOTALL)
    return code


async def run(lines: Any, **names: Any) -> Any:
    """Run lines that await, as the body of a coroutine function."""
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    scope: dict[str, Any] = {"asyncio": asyncio, "Progress": Progress, "opened": opened, **names}
    exec(f"async def body():\n{body}", scope)
    return await scope["body"]()


@pytest.mark.req("P25", "P32")
async def test_the_lines_on_events_cancelling_and_testing_run(tmp_path: Path) -> Any:
    provider = Provider("sample", version="1")

    @provider.data_source()
    async def greet(ctx: Context[None], name: str) -> dict[str, Any]:
        """Greet."""
        return {"text": f"Hello, {name}!"}

    @provider.resource(risk="low", streaming=True)
    async def convert(ctx: Context[None], paths: list[str]) -> dict[str, Any]:
        """Convert."""

        async def convert_one(path: Any) -> None:
            if path == "b":
                await run(block("await ctx.progress"), ctx=ctx, data=b"", hits=[], code=0)
                await asyncio.Event().wait()

        await run(block("done = []"), ctx=ctx, convert=convert_one, paths=paths)
        return {}

    test = block("async with opened").replace(', settings={"strict": True}', "")
    await run(test, provider=provider, tmp_path=tmp_path)
