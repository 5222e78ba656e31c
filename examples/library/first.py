"""A session from code: a written model proposes, and this program answers its plans."""

import asyncio
import sys
from pathlib import Path

from pluggableharness import Answer, PlanItem, Risk, answering, opened, project, script


def decide(item: PlanItem) -> Answer:
    if item.call.operation.risk in (Risk.HIGH, Risk.CRITICAL):
        return Answer(False, "this program lets nothing risky through")
    return Answer(True)


async def main(directory: str) -> None:
    model = script(Path(__file__).with_name("first.yaml"))
    async with (
        opened(project(directory)) as kernel,
        kernel.session(model, answering(decide)) as session,
    ):
        end = await session.run("Leave a note, and look at who is logged in")
    print(f"{end.status.value}: {end.final_text}")


if len(sys.argv) != 2:
    sys.exit("usage: first.py DIRECTORY")
asyncio.run(main(sys.argv[1]))
