"""Starting guards in a test, and commands that are hard to end."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from process_tree import PATIENCE_S

from pluggableharness.guard import GuardedProcess, guarded, start

SLEEP = "import sys, time; time.sleep(600)"
HEEDLESS = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
STUBBORN = HEEDLESS + SLEEP
DETACHED = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", {program!r}, {word!r}])
    os._exit(0)
"""


def detached(program: str, word: str) -> list[str]:
    """A command that leaves its session twice removed from whoever started it, and exits."""
    return [sys.executable, "-c", DETACHED.format(program=program, word=word)]


@asynccontextmanager
async def guarded_process(*argv: str, grace_s: float = 2.0) -> AsyncIterator[GuardedProcess]:
    process = await start(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=2, grace_s=grace_s
    )
    assert process.stdin
    assert process.stdout
    try:
        async with asyncio.timeout(5 * PATIENCE_S):
            yield process
    finally:
        process.stop()
        async with asyncio.timeout(PATIENCE_S):
            await process.gone()
        process.stdin.close()
        process.stdout.close()


async def printed(process: GuardedProcess) -> str:
    """Wait until nothing is left, and return what was printed."""
    await process.gone()
    assert process.stdout
    return process.stdout.read().decode()


async def line(process: GuardedProcess) -> str:
    assert process.stdout
    return (await asyncio.to_thread(process.stdout.readline)).decode().strip()


def bare_guard(*argv: str, held: bool = True) -> tuple[int, bytes]:
    """Run a guard by its command line alone; returns its exit code and its reports."""
    lifeline_r, lifeline_w = os.pipe()
    status_r, status_w = os.pipe()
    if not held:
        os.close(lifeline_w)
    command_line = guarded(argv, lifeline=lifeline_r, status=status_w)
    guard = subprocess.Popen(command_line, pass_fds=(lifeline_r, status_w))
    os.close(lifeline_r)
    os.close(status_w)
    with os.fdopen(status_r, "rb") as status:
        reports = status.read()
    if held:
        os.close(lifeline_w)
    return guard.wait(PATIENCE_S), reports


def guard_of(process: GuardedProcess) -> int:
    return parent_of(process.pid)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
