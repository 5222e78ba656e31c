"""Running a command to its end, as a provider's author does it."""

import asyncio
import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from process_tree import with_word

from pluggableharness.sdk import processes
from pluggableharness.sdk.processes import Child, Chunk, Ending, running

WAIT_S = 30.0
ENVIRONMENT: Mapping[str, str] = {"PATH": os.environ["PATH"]}


async def rest(child: Child) -> list[Chunk | Ending]:
    async with asyncio.timeout(WAIT_S):
        return [event async for event in child]


@pytest.mark.parametrize("first", ["stdout", "stderr"])
async def test_streams_are_read_in_the_order_in_which_they_were_written(
    tmp_path: Path, first: str
) -> None:
    """Also when both were written before anyone looked."""
    os.mkfifo(tmp_path / "done")
    out, err = ("echo out", "echo err >&2")
    script = f"{out}; {err}" if first == "stdout" else f"{err}; {out}"
    argv = ["bash", "-c", f"{script}; echo >done; read <done"]
    async with running(argv, cwd=tmp_path, env=ENVIRONMENT) as child:
        await asyncio.to_thread((tmp_path / "done").read_text)
        events = [await anext(child), await anext(child)]
    out_chunk, err_chunk = Chunk(b"out\n", "stdout"), Chunk(b"err\n", "stderr")
    assert events == ([out_chunk, err_chunk] if first == "stdout" else [err_chunk, out_chunk])


async def test_nothing_is_left_in_a_pipe_that_holds_more_than_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "READ_BYTES", 4)
    async with running(["seq", "5000"], cwd=tmp_path, env=ENVIRONMENT) as child:
        chunks = [event for event in await rest(child) if isinstance(event, Chunk)]
    lines = b"".join(b"%d\n" % number for number in range(1, 5001))
    assert b"".join(chunk.data for chunk in chunks) == lines
    assert max(len(chunk.data) for chunk in chunks) == 4


async def test_what_is_left_behind_is_heard_until_it_is_ended_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    script = "(trap 'echo late; exit' TERM; echo >go; sleep 600 & wait) & "
    argv = ["bash", "-c", script + "read <go; echo early; exit 4"]
    async with running(argv, cwd=tmp_path, env=ENVIRONMENT) as child:
        events = await rest(child)
    chunks = [event for event in events if isinstance(event, Chunk)]
    assert b"".join(chunk.data for chunk in chunks) == b"early\nlate\n"
    assert len(events) == len(chunks) + 1 and isinstance(events[0], Chunk)
    assert child.ending == Ending(4) and not child.timed_out


async def test_a_block_that_is_left_early_leaves_nothing_running(tmp_path: Path) -> None:
    word = f"child-{uuid4().hex}"
    argv = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)", word]
    async with running(argv, cwd=tmp_path, env=ENVIRONMENT) as child:
        assert await anext(child) == Chunk(b"1\n", "stdout")
        assert with_word(word)
    assert not with_word(word)


async def test_a_task_that_is_cancelled_leaves_nothing_running(tmp_path: Path) -> None:
    word = f"child-{uuid4().hex}"
    argv = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)", word]
    begun = asyncio.Event()

    async def run() -> None:
        async with running(argv, cwd=tmp_path, env=ENVIRONMENT) as child:
            async for _ in child:
                begun.set()

    task = asyncio.create_task(run())
    async with asyncio.timeout(WAIT_S):
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not with_word(word)


async def test_a_command_that_is_out_of_time_is_stopped_and_says_so(tmp_path: Path) -> None:
    argv = ["bash", "-c", "echo begun; exec sleep 600"]
    async with running(argv, cwd=tmp_path, env=ENVIRONMENT, timeout_s=0.5) as child:
        events = await rest(child)
    assert child.timed_out
    assert events == [Chunk(b"begun\n", "stdout"), Ending(143, "SIGTERM")]


async def test_a_pipe_that_someone_else_holds_does_not_hold_the_end(tmp_path: Path) -> None:
    """A descriptor can be handed to a process that is no descendant, which no guard ends."""
    async with running(["echo", "hi"], cwd=tmp_path, env=ENVIRONMENT) as child:
        held = [os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY) for pipe in child._outputs._streams]
        events = await rest(child)
    assert events == [Chunk(b"hi\n", "stdout"), Ending(0)]
    for write_end in held:
        os.close(write_end)


@pytest.mark.req("K10a")
async def test_in_another_folder_than_the_one_meant_nothing_is_run(tmp_path: Path) -> None:
    """However it is reached: what counts is the folder in which the command would find itself."""
    (tmp_path / "meant").mkdir()
    (tmp_path / "other").mkdir()
    status = (tmp_path / "meant").stat()
    meant = (status.st_dev, status.st_ino)
    link = tmp_path / "link"
    link.symlink_to("meant")
    argv = ["bash", "-c", "echo x >made"]
    async with running(argv, cwd=link, env=ENVIRONMENT, folder=meant) as child:
        await rest(child)
    link.unlink()
    link.symlink_to("other")
    with pytest.raises(OSError) as refused:
        async with running(argv, cwd=link, env=ENVIRONMENT, folder=meant):
            pytest.fail("it ran")
    assert refused.value.errno == errno.ESTALE
    assert (tmp_path / "meant/made").exists() and not (tmp_path / "other/made").exists()
