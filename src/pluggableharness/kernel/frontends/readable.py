"""Waiting until there is something to read, or room to write, without blocking the loop."""

import asyncio
from collections.abc import Callable


async def readable(descriptor: int) -> None:
    """Return once a read would not wait, be it for data or for the end.

    That is at once for a regular file and /dev/null, which never make anybody wait, and for a
    descriptor that is closed.
    """
    loop = asyncio.get_running_loop()
    await _ready(descriptor, loop.add_reader, loop.remove_reader)


async def writable(descriptor: int) -> None:
    """Return once a write would not wait, be it for room or for the error that nobody reads."""
    loop = asyncio.get_running_loop()
    await _ready(descriptor, loop.add_writer, loop.remove_writer)


async def _ready(
    descriptor: int,
    add: Callable[[int, Callable[[], None]], None],
    remove: Callable[[int], bool],
) -> None:
    ready = asyncio.Event()
    try:
        add(descriptor, ready.set)
    except OSError:
        return
    try:
        await ready.wait()
    finally:
        remove(descriptor)
