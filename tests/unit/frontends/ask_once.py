"""A process that asks one question on its own terminal, for the tests of the keys.

Says `ANSWER` and the answer; with `cancel` the question is cancelled by an interrupt, as the
command line does it; with `twice` it asks two questions at once.
"""

import asyncio
import signal
import sys

from unit.frontends.fakes import BASH, call, item

from pluggableharness.kernel.domain.news import CallEnded
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.frontends.terminal import Terminal


async def ask(frontend: Terminal, name: str) -> None:
    asked = call(BASH, name, command=f"run {name}")
    answer = await frontend.decide(item(asked), "")
    said = f"Answer(allow={answer.allow}, reason={answer.reason!r})" if answer else None
    print(f"ANSWER {name} {said}", flush=True)
    if answer:
        await frontend.hear(CallEnded(asked, Success({})))


async def main() -> None:
    frontend = Terminal()
    print(f"ATTENDED {frontend.attended}", flush=True)
    asked = asyncio.gather(*(ask(frontend, name) for name in sys.argv[1:]))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, asked.cancel)
    try:
        await asked
    except asyncio.CancelledError:
        print("CANCELLED", flush=True)
    finally:
        frontend.close()


asyncio.run(main())
