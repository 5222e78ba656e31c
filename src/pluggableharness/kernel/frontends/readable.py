"""Waiting until there is something to read, without blocking the loop."""

import asyncio


async def readable(descriptor: int) -> None:
    """Return once a read would not wait, be it for data or for the end.

    That is at once for a regular file and /dev/null, which never make anybody wait, and for a
    descriptor that is closed.
    """
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except OSError:
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
