"""A kernel with two providers and a call in flight in each, there to be killed."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rogue_host import Host, rogue


async def main() -> None:
    host = Host(rogue(mark=sys.argv[1]), rogue("deaf", mark=sys.argv[1], deaf=True))
    await host.load()
    started = asyncio.Semaphore(0)

    async def hear(event: object) -> None:
        started.release()

    calls = [
        asyncio.ensure_future(host.invoke(host.make(name, ("progress", "in"), ("hang",)), hear))
        for name in ("rogue.run", "deaf.run")
    ]
    for _ in calls:
        await started.acquire()
    print("ready", flush=True)
    await asyncio.gather(*calls)


asyncio.run(main())
