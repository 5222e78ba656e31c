"""What a command under a guard finds when it starts, and how its end is told."""

import asyncio
import os
import subprocess
import sys
from uuid import uuid4

import pytest
from process.guards import (
    SLEEP,
    bare_guard,
    guard_of,
    guarded_process,
    printed,
)
from process_tree import PATIENCE_S, with_word

from pluggableharness.guard import Ending, guarded, start

OPEN_DESCRIPTORS = "for n in {0..99}; do [ -e /proc/$$/fd/$n ] && echo $n; done"


@pytest.fixture
def word() -> str:
    """Something to tell the processes of one test by, in their command lines."""
    return f"guarded-{uuid4().hex}"


@pytest.mark.req("K16")
@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("exit 0", Ending(0)),
        ("exit 3", Ending(3)),
        ("kill -9 $$", Ending(137, "SIGKILL")),
        ("kill -TERM $$", Ending(143, "SIGTERM")),
        ("bash -c 'kill -9 $$'; exit $?", Ending(137)),
    ],
)
async def test_the_end_of_a_command_is_told_as_it_was(script: str, ending: Ending) -> None:
    async with guarded_process("bash", "-c", script) as process:
        assert await process.ended() == ending


@pytest.mark.req("K16")
@pytest.mark.parametrize(
    ("argv", "code", "last_report"),
    [
        (("bash", "-c", "exit 3"), 3, b"exit 3"),
        (("bash", "-c", "kill -9 $$"), 137, b"signal 9"),
        (("no-such-program",), 127, b"failed 2"),
    ],
)
def test_a_guard_reports_and_exits_as_its_command_did(
    argv: tuple[str, ...], code: int, last_report: bytes
) -> None:
    exit_code, reports = bare_guard(*argv)
    assert (exit_code, reports.splitlines()[-1]) == (code, last_report)


@pytest.mark.req("K16", "C11")
def test_a_command_gets_its_three_streams_and_nothing_else() -> None:
    lifeline, held = os.pipe()
    status, other = os.pipe()
    argv = guarded(["bash", "-c", OPEN_DESCRIPTORS], lifeline=lifeline, status=other)
    done = subprocess.run(
        argv, pass_fds=(lifeline, held, status, other), stdout=subprocess.PIPE, timeout=PATIENCE_S
    )
    assert done.stdout.split() == [b"0", b"1", b"2"]
    for descriptor in (lifeline, held, status, other):
        os.close(descriptor)


@pytest.mark.req("K16")
async def test_a_stream_ends_when_the_command_closes_it() -> None:
    async with guarded_process("bash", "-c", "echo last words; exec >&-; read") as process:
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.read) == b"last words\n"
        assert process.ending is None


async def test_a_command_finds_every_signal_at_its_default() -> None:
    async with guarded_process("grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status") as process:
        lines = (await printed(process)).splitlines()
        # 32 and 33 are the C library's own: what was inherited of them no program can set.
        theirs = 0b11 << 31
        assert [int(line.split()[1], 16) & ~theirs for line in lines] == [0, 0]


async def test_a_command_leads_a_session_of_its_own_apart_from_its_guard() -> None:
    async with guarded_process("bash", "-c", "read") as process:
        guard = guard_of(process)
        assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
        assert os.getsid(guard) == guard != os.getsid(0)


async def test_the_environment_passes_through_byte_for_byte() -> None:
    given = {"A": "ü", "B": "\udcff", "C": "x=y", "D": "line\nline", "E": ""}
    process = await start(["/usr/bin/env", "-0"], env=given, stdout=subprocess.PIPE)
    await process.gone()
    assert process.stdout
    with process.stdout as stdout:
        found = stdout.read().split(b"\0")
    assert sorted(found) == sorted(
        [b"", b"A=\xc3\xbc", b"B=\xff", b"C=x=y", b"D=line\nline", b"E="]
    )


@pytest.mark.parametrize("argument", ["ü", "\udcff", "", " ", "line\nline", "--", "-c"])
async def test_arguments_pass_through_byte_for_byte(argument: str) -> None:
    async with guarded_process("printf", "%s|", argument, "end") as process:
        await process.gone()
        assert process.stdout
        assert process.stdout.read() == argument.encode("utf-8", "surrogateescape") + b"|end|"


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["no-such-program"], FileNotFoundError),
        (["/no/such/program"], FileNotFoundError),
        (["/etc/passwd"], PermissionError),
        (["/"], PermissionError),
        (["true", *["x" * 100_000] * 100], OSError),
    ],
)
async def test_what_cannot_be_executed_is_told_as_the_system_has_it(
    argv: list[str], error: type[OSError]
) -> None:
    with pytest.raises(error):
        await start(argv)


async def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        await start(["true"], cwd="/no/such/folder")
    assert caught.value.filename == "/no/such/folder"


async def test_a_start_that_is_cancelled_leaves_nothing(word: str) -> None:
    starting = asyncio.create_task(start([sys.executable, "-c", SLEEP, word]))
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not with_word(word)


@pytest.mark.req("K16")
@pytest.mark.parametrize("argv", [[], ["true\0"], ["no-such-program"]])
async def test_what_cannot_be_started_leaves_no_descriptor_behind(argv: list[str]) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises((ValueError, OSError)):
        await start(argv, stdout=subprocess.PIPE)
    assert os.listdir("/proc/self/fd") == before
