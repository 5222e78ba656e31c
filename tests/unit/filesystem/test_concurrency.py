"""Writers of one file, by whatever name; readers beside them; calls that are given up (C5)."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pluggableharness.providers.filesystem.locks import FileLocks
from pluggableharness.providers.filesystem.provider import access
from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("C5")


async def test_parallel_edits_through_every_spelling_are_all_there(
    tool: Tool, folder: Path
) -> None:
    """Case concurrency-01, across operations' sessions too."""
    (folder / "d").mkdir()
    (folder / "dirlink").symlink_to(".")
    (folder / "link.txt").symlink_to("t.txt")
    spellings = [
        "t.txt",
        "./t.txt",
        "d/../t.txt",
        str(folder / "t.txt"),
        "link.txt",
        "dirlink/t.txt",
        "dirlink/dirlink/link.txt",
    ]
    places = [f"<{number}>" for number in range(len(spellings) * 8)]
    (folder / "t.txt").write_text("\n".join(places))
    calls = [
        tool.start(
            "edit_file",
            path=spellings[number % len(spellings)],
            old_str=place,
            new_str=f"done {number}.",
            session_id=f"session-{number % 3}",
        )
        for number, place in enumerate(places)
    ]
    for call in calls:
        assert (await call).error is None
    expected = [f"done {number}." for number in range(len(places))]
    assert (folder / "t.txt").read_text().split("\n") == expected
    assert len(access.locks) == 0


async def test_writers_of_one_new_file_by_two_names_take_turns(tool: Tool, folder: Path) -> None:
    """None of them sees a file that it has not read, since each made it or comes later."""
    (folder / "link").symlink_to("new")
    calls = [
        tool.start("write_file", path=path, content=path * 1_000) for path in ("new", "link") * 4
    ]
    outcomes = [await call for call in calls]
    assert all(outcome.error is None for outcome in outcomes)
    assert [outcome.payload["created"] for outcome in outcomes].count(True) == 1
    assert (folder / "new").read_text() in ("new" * 1_000, "link" * 1_000)


@contextmanager
def reading(path: Path) -> Iterator[set[str]]:
    """Read a file over and over in a thread, from before the block begins; all that it held."""
    seen: set[str] = set()
    started, enough = threading.Event(), threading.Event()

    def keep_reading() -> None:
        while not enough.is_set():
            seen.add(path.read_text())
            started.set()

    reader = threading.Thread(target=keep_reading)
    reader.start()
    try:
        assert started.wait(10)
        yield seen
    finally:
        enough.set()
        reader.join(10)


async def test_a_reader_sees_only_whole_versions(unguarded: Tool, folder: Path) -> None:
    """Case concurrency-02: a file of a megabyte that grows and shrinks under its readers."""
    versions = {("short " * 100 + "\n") * 500, ("longer line " * 100 + "\n") * 900}
    path = folder / "f"
    path.write_text(min(versions))
    with reading(path) as seen:
        for version in [*versions] * 8:
            assert (await unguarded("write_file", path="f", content=version)).error is None
    assert seen <= versions


async def test_of_parallel_edits_a_reader_sees_each_whole_or_not_at_all(
    tool: Tool, folder: Path
) -> None:
    """Case concurrency-02: a file of a megabyte that edits lengthen and shorten by turns."""
    path = folder / "f"
    before = [f"<{number}>" + " text" * 20_000 for number in range(10)]
    after = [f"[{number}]" + " more" * 30_000 * (number % 2) for number in range(10)]
    path.write_text("\n".join(before))
    with reading(path) as seen:
        edits = zip(before, after, strict=True)
        calls = [tool.start("edit_file", path="f", old_str=old, new_str=new) for old, new in edits]
        for call in calls:
            assert (await call).error is None
    assert path.read_text().split("\n") == after
    for version in seen:
        lines = zip(version.split("\n"), before, after, strict=True)
        assert all(line in (old, new) for line, old, new in lines)


async def test_files_with_different_names_do_not_wait_for_each_other() -> None:
    """Case concurrency-04, here inside the provider."""
    locks = FileLocks()
    async with locks.hold((1, 1, b"a")):
        async with asyncio.timeout(5):
            async with locks.hold((1, 1, b"b")), locks.hold((1, 2, b"a")):
                assert len(locks) == 3


async def test_one_file_is_taken_in_order_of_arrival_and_let_go_when_its_holder_fails() -> None:
    locks = FileLocks()
    order: list[int] = []

    async def hold(number: int, fail: bool) -> None:
        async with locks.hold((1, 1, b"a")):
            order.append(number)
            await asyncio.sleep(0)
            if fail:
                raise ValueError

    results = await asyncio.gather(
        *(hold(number, number % 2 == 0) for number in range(6)), return_exceptions=True
    )
    assert order == list(range(6))
    assert sum(isinstance(result, ValueError) for result in results) == 3
    assert len(locks) == 0


async def test_names_that_some_folders_take_for_one_share_a_lock() -> None:
    locks = FileLocks()
    async with locks.hold((1, 1, "Caf\u00e9".encode())):
        waiting = asyncio.ensure_future(locks.hold((1, 1, "cafe\u0301".encode())).__aenter__())
        await asyncio.sleep(0)
        assert len(locks) == 1
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait((waiting,))


class _Gate:
    """Holds the provider's thread at a system call until the test lets it go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        real = getattr(os, name)

        def gated(*args: object, **more: object) -> object:
            self.reached.set()
            assert self.open.wait(10)
            return real(*args, **more)

        monkeypatch.setattr(os, name, gated)

    async def arrived(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 10)


@pytest.mark.req("P25")
async def test_a_cancelled_write_ends_before_its_lock_is_let_go(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "f").write_text("old")
    gate = _Gate(monkeypatch, "fsync")
    first = unguarded.start("write_file", path="f", content="first")
    await gate.arrived()
    cancelling = asyncio.ensure_future(first.cancel())
    second = unguarded.start("write_file", path="f", content="second")
    done, _ = await asyncio.wait((cancelling,), timeout=0.05)
    assert not done
    assert len(access.locks) == 1
    gate.open.set()
    outcome = await cancelling
    assert outcome.cancelled
    assert outcome.report is None
    assert (await second).error is None
    assert (folder / "f").read_text() == "second"
    assert os.listdir(folder) == ["f"]


@pytest.mark.req("P25", "P26")
async def test_a_write_that_was_cancelled_too_late_reports_what_it_did(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "f").write_text("old")
    gate = _Gate(monkeypatch, "rename")
    call = unguarded.start("write_file", path="f", content="new")
    await gate.arrived()
    cancelling = asyncio.ensure_future(call.cancel())
    await asyncio.sleep(0)
    gate.open.set()
    outcome = await cancelling
    assert outcome.cancelled
    assert outcome.report == {"path": str(folder / "f"), "bytes_written": 3}
    assert (folder / "f").read_text() == "new"


async def test_a_cancelled_read_of_a_large_file_stops_reading(
    tool: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "f").write_text("line\n" * 2_000_000)
    gate = _Gate(monkeypatch, "pread")
    call = tool.start("read_file", path="f")
    await gate.arrived()
    cancelling = asyncio.ensure_future(call.cancel())
    await asyncio.sleep(0)
    gate.open.set()
    assert (await cancelling).cancelled
