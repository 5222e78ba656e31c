"""A process that asks about one call on its own terminal until it is answered for good, as the
kernel does: an edit brings the question back.

The arguments start as the JSON in the first word. An edit without `command` is not taken over.
"""

import asyncio
import json
import signal
import sys
from dataclasses import replace

from unit.frontends.fakes import BASH, call, item

from pluggableharness.kernel.frontends.terminal import Terminal


async def settled(frontend: Terminal) -> None:
    asked, changed = item(call(BASH, **json.loads(sys.argv[1]))), ""
    while True:
        answer = await frontend.decide(asked, changed)
        assert answer is not None
        if answer.arguments is None:
            break
        print(f"EDITED {json.dumps(answer.arguments)}", flush=True)
        if "command" in answer.arguments:
            asked = replace(asked, call=replace(asked.call, arguments=answer.arguments))
            changed = "its arguments were edited"
        else:
            changed = "the edit was not taken over:\n- command: expected a string, got nothing"
    print(f"ANSWER allow={answer.allow} {json.dumps(asked.call.arguments)}", flush=True)


async def main() -> None:
    frontend = Terminal()
    task = asyncio.ensure_future(settled(frontend))
    for ending in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(ending, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        print("CANCELLED", flush=True)
    finally:
        frontend.close()


asyncio.run(main())
