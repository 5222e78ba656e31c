"""A pipe whose reader takes nothing: the loop goes on, and nothing is lost or out of order."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from unit.frontends.fakes import READ, call
from unit.frontends.watching import BOUND_S

from pluggableharness.kernel.domain.news import CallEnded, Notice
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.call_output import CallOutput
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.outlet import Outlet

MORE_THAN_FITS = 1_000_000
COUNT = MORE_THAN_FITS + 1


@contextmanager
def unread() -> Iterator[tuple[int, Outlet]]:
    """A pipe that nobody reads from, and an outlet to it."""
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="utf-8") as out:
        yield read, Outlet(out)
    with suppress(OSError):
        os.close(read)


async def taken(read: int, count: int) -> bytes:
    """So many bytes from a pipe, whose reader is a thread."""

    def read_all() -> bytes:
        got = bytearray()
        while len(got) < count:
            got += os.read(read, count - len(got))
        return bytes(got)

    return await asyncio.to_thread(read_all)


@pytest.mark.req("P14", "K33")
async def test_whoever_writes_waits_for_a_slow_reader_and_the_loop_does_not() -> None:
    with unread() as (read, outlet):
        outlet.write("a" * MORE_THAN_FITS)
        waiting = [asyncio.ensure_future(outlet.room()) for _ in range(3)]
        outlet.write("b" * MORE_THAN_FITS)
        await asyncio.wait(waiting, timeout=0.1)
        assert not any(one.done() for one in waiting)
        async with asyncio.timeout(BOUND_S):
            got = await taken(read, 2 * MORE_THAN_FITS)
            await asyncio.gather(*waiting)
        assert got == b"a" * MORE_THAN_FITS + b"b" * MORE_THAN_FITS


@pytest.mark.req("K17", "K33")
async def test_what_was_told_when_the_wait_was_cancelled_leaves_in_the_end() -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reader, os.fdopen(write, "w", encoding="utf-8") as out:
        lines = JsonLines(out)
        telling = asyncio.ensure_future(lines.hear(Notice("info", "x" * MORE_THAN_FITS)))
        await asyncio.wait([telling], timeout=0.1)
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        reading = asyncio.ensure_future(asyncio.to_thread(reader.readline))
        await asyncio.to_thread(lines.close)
        async with asyncio.timeout(BOUND_S):
            line = await reading
    assert json.loads(line)["message"] == "x" * MORE_THAN_FITS


@pytest.mark.req("K33")
async def test_a_reader_that_leaves_while_it_is_waited_for_ends_the_waiting() -> None:
    with unread() as (read, outlet):
        outlet.write("x" * MORE_THAN_FITS)
        waiting = asyncio.ensure_future(outlet.room())
        await asyncio.wait([waiting], timeout=0.1)
        assert not waiting.done()
        os.close(read)
        await asyncio.wait_for(waiting, BOUND_S)
        assert isinstance(outlet.lost, BrokenPipeError)
        outlet.write("more")
        await asyncio.wait_for(outlet.room(), BOUND_S)


def test_what_a_loop_has_left_goes_before_what_is_written_after_it() -> None:
    async def within(outlet: Outlet) -> None:
        outlet.write("a" * MORE_THAN_FITS)

    with unread() as (read, outlet):
        asyncio.run(within(outlet))
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(asyncio.run(taken(read, COUNT))))
        reader.start()
        outlet.write("b")
        reader.join(BOUND_S)
    assert got == [b"a" * MORE_THAN_FITS + b"b"]


@pytest.mark.req("K32", "P14")
async def test_two_streams_to_one_pipe_keep_their_order_however_full_it_is() -> None:
    read, write = os.pipe()
    payload: JsonObject = {"content": "x" * MORE_THAN_FITS, "total_lines": 1}
    with os.fdopen(write, "w", encoding="utf-8") as out, os.fdopen(os.dup(write), "w") as err:
        shown = CallOutput(out, err)
        telling = asyncio.ensure_future(
            shown.hear(CallEnded(call(READ, path="a"), Success(payload)))
        )
        async with asyncio.timeout(BOUND_S):
            assert await taken(read, MORE_THAN_FITS) == b"x" * MORE_THAN_FITS
            await telling
        shown.close()
    with os.fdopen(read, "rb") as reader:
        assert reader.read() == b"\ntotal_lines: 1\n"
