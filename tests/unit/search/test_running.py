"""How a search runs: beside others, in bounded memory, and until it is told to stop (C9)."""

import asyncio
import os
import threading
import tracemalloc
from pathlib import Path
from random import Random

import pytest
from unit.search.trees import NOTHING_SKIPPED, globbed, grepped, put, refusal

from pluggableharness.providers.search import confined, ripgrep
from pluggableharness.sdk import landlock
from pluggableharness.sdk.testing import PartialResult, Tool

WAIT_S = 5.0
"""Five times what the cases allow, which only a hang takes."""
ENDLESS = "needle|[ab]*a[ab]{1000}c"
"""A pattern that takes minutes for the forty megabytes of `endless`."""


def endless(folder: Path, matches: int = 5_000) -> Path:
    """A file that begins with matches, fewer than a search is ended at, and then gives none."""
    random = Random(1)
    lines = ["".join(random.choices("ab", k=2_000)) + "\n" for _ in range(1_000)]
    return put(folder, "endless.txt", "needle\n" * matches + "".join(lines) * 20)


def ripgreps() -> list[str]:
    """The ripgreps that this process has started and not yet buried."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            stat = Path(f"/proc/{entry}/stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        name, _, fields = stat.partition("(")[2].rpartition(") ")
        if name == "rg" and int(fields.split()[1]) == os.getpid():
            found.append(entry)
    return found


@pytest.mark.req("C9", "P25")
@pytest.mark.parametrize("path", ["endless.txt", None])
async def test_a_cancelled_search_leaves_no_ripgrep(
    tool: Tool, folder: Path, path: str | None
) -> None:
    endless(folder)
    running = tool.start("grep", pattern=ENDLESS, path=path)
    await running.until(lambda event: isinstance(event, PartialResult))
    [ripgrep] = ripgreps()
    assert Path(f"/proc/{ripgrep}/environ").read_bytes() == b""
    async with asyncio.timeout(WAIT_S):
        outcome = await running.cancel()
    assert outcome.cancelled
    assert outcome.report is not None
    assert outcome.report["total"] > 0
    assert ripgreps() == []


@pytest.mark.req("C9")
async def test_a_search_that_has_counted_enough_is_stopped(tool: Tool, folder: Path) -> None:
    """Case search-21: what follows would take minutes."""
    endless(folder, matches=20_000)
    async with asyncio.timeout(WAIT_S):
        payload = (await tool("grep", pattern=ENDLESS, mode="count")).payload
    assert payload["total_is_minimum"] is True
    assert ripgreps() == []


@pytest.mark.req("C8", "C9")
async def test_others_have_their_turn_meanwhile(tool: Tool, folder: Path) -> None:
    """Case search-24: neither a search nor a listing holds the loop."""
    endless(folder)
    for number in range(400):
        put(folder, f"many/{number}.txt", "needle\n")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    searching = tool.start("grep", pattern=ENDLESS)
    assert len(await globbed(tool, "many/*.txt", limit=1_000)) == 400
    assert len(await globbed(tool, "many/*.txt", sort="mtime", limit=1_000)) == 400
    await searching.until(lambda event: isinstance(event, PartialResult))
    assert ticks > 100
    async with asyncio.timeout(WAIT_S):
        await searching.cancel()
    ticking.cancel()


@pytest.mark.req("C8", "C9", "P25")
@pytest.mark.parametrize(("operation", "pattern"), [("glob", "*.txt"), ("grep", "needle")])
async def test_a_walk_that_comes_to_no_end_is_given_up_at_once(
    tool: Tool, folder: Path, operation: str, pattern: str
) -> None:
    """Case search-24: ripgrep waits for somebody to write what is to be ignored."""
    put(folder, "a.txt")
    os.mkfifo(folder / ".ignore")
    running = tool.start(operation, pattern=pattern)
    # A walk within the loop would end only when it is let go.
    letting_go = threading.Timer(4 * WAIT_S, os.open, (folder / ".ignore", os.O_RDWR))
    letting_go.start()
    try:
        async with asyncio.timeout(3 * WAIT_S):
            while not ripgreps():
                await asyncio.sleep(0)
            assert (await running.cancel()).cancelled
    finally:
        letting_go.cancel()
    assert ripgreps() == []


@pytest.mark.req("C9", "P14")
async def test_a_consumer_that_waits_makes_ripgrep_wait(tool: Tool, folder: Path) -> None:
    for name in ("a", "b"):
        put(folder, name, "needle\n" * 9_000)
    root = os.open(folder, os.O_PATH)
    arguments = ["--json", "--sort=path", "needle", "./"]
    async with ripgrep.running(arguments, folder=root, readable=[root]) as run:
        first = await run.read()
        # It has written what the pipe holds, which is not all, and has not ended.
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert not run._is_over()
        rest = [chunk async for chunk in run.chunks()]
        assert (await run.ended()).code == 0
    os.close(root)
    assert (first + b"".join(rest)).count(b'"type":"match"') == 18_000


@pytest.mark.req("C9", "P14")
async def test_memory_is_bounded_however_much_there_is(tool: Tool, folder: Path) -> None:
    put(folder, "a.txt", ("needle" * 50 + "\n") * 200_000)
    for number in range(20_000):
        (folder / f"{number:040}").touch()
    await grepped(tool, "needle")
    tracemalloc.start()
    try:
        await grepped(tool, "needle", limit=10)
        await globbed(tool, "*", limit=10)
        await globbed(tool, "*", limit=10, sort="mtime")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


@pytest.mark.req("C8", "C9")
async def test_calls_run_side_by_side_and_leave_nothing_open(tool: Tool, folder: Path) -> None:
    put(folder, "a.txt")
    await grepped(tool, "needle")
    await globbed(tool, "*.txt", sort="mtime")
    before = sorted(os.listdir("/proc/self/fd"))
    calls = [tool.start("grep", pattern="needle") for _ in range(10)]
    calls += [tool.start("glob", pattern="*.txt", sort="mtime") for _ in range(10)]
    calls += [tool.start("glob", pattern="a.txt"), tool.start("grep", pattern="a(")]
    outcomes = [await call for call in calls]
    assert [outcome.payload["total"] for outcome in outcomes[:-1]] == [1] * 21
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert ripgreps() == []


@pytest.mark.req("C9")
@pytest.mark.parametrize("signal", [9, 15])
async def test_a_ripgrep_that_somebody_ends_is_an_error_and_no_empty_result(
    tool: Tool, folder: Path, signal: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "a")
    start = confined.start

    def start_and_end(*arguments: object, **named: object) -> object:
        process = start(*arguments, **named)  # type: ignore[arg-type]
        os.kill(process.pid, signal)
        return process

    monkeypatch.setattr(ripgrep, "start", start_and_end)
    category, message = await refusal(tool, "grep", pattern="zzz")
    assert category == "execution_failed"
    assert f"signal {signal}" in message
    assert (await refusal(tool, "glob", pattern="*.x"))[0] == "execution_failed"


@pytest.mark.req("C9")
async def test_a_ripgrep_that_cannot_start_is_an_error(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = put(tmp_path, "rg", "no program")
    monkeypatch.setattr(ripgrep, "installed", lambda: ripgrep.Ripgrep(str(broken), True))
    category, message = await refusal(tool, "grep", pattern="x")
    assert category == "execution_failed"
    assert str(broken) in message


@pytest.mark.req("C8", "C9")
async def test_what_cannot_be_read_is_a_warning_and_the_rest_a_result(
    tool: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("open/a.txt", "closed/b.txt", "shut.txt"):
        put(folder, name)
    readable = os.open(folder / "open", os.O_PATH)
    allow = landlock.allow

    def allow_less(rules: int, descriptor: int, access: int) -> None:
        """Refuse what modes would refuse to anybody but root."""
        if access & landlock.READ_FOLDER:
            allow(rules, readable, landlock.READ_FILE)
            access = landlock.READ_FOLDER
        allow(rules, descriptor, access)

    monkeypatch.setattr(landlock, "allow", allow_less)
    payload = (await tool("grep", pattern="needle")).payload
    assert [match["path"] for match in payload["matches"]] == ["open/a.txt"]
    assert payload["warnings"] == [
        "closed/b.txt: Permission denied (os error 13)",
        "shut.txt: Permission denied (os error 13)",
    ]
    assert payload["skipped"] == NOTHING_SKIPPED
    for number in range(30):
        put(folder, f"closed/{number}.txt")
    many = (await tool("grep", pattern="needle")).payload["warnings"]
    assert (len(many), many[-1]) == (21, "and 12 more like these")
    os.close(readable)
