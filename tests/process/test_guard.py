"""The guard with real processes: whatever a command starts ends with it, and with its starter."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from uuid import uuid4

import pexpect
import pytest
from process.guards import (
    DETACHED,
    HEEDLESS,
    SLEEP,
    STUBBORN,
    bare_guard,
    detached,
    guard_of,
    guarded_process,
    line,
    parent_of,
    printed,
)
from process_tree import PATIENCE_S, alive, descendants, eventually, with_word

from bench.survive.hostile_programs import CHAINS
from pluggableharness.guard import Ending, GuardLost

LINEAGE = """
# Four generations, each in a session of its own, none of which ends or buries its child.
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork():
        break
    os.setsid()
else:
    print(flush=True)
time.sleep(600)
"""
NESTED = """
import asyncio
from pluggableharness.guard import start

async def main():
    process = await start(["bash", "-c", "sleep 600 & echo $$ $!; wait"], stdout=1)
    await process.gone()

asyncio.run(main())
"""
KERNEL = """
# Stands in for a kernel: two children, both deaf, one of them out of its session.
import asyncio, sys
from pluggableharness.guard import start

async def main():
    program, word, detached = sys.argv[1:]
    plain = await start([sys.executable, "-c", program, word])
    hidden = await start([sys.executable, "-c", detached + "\\nimport time; time.sleep(600)"])
    print("ready", flush=True)
    await asyncio.gather(plain.gone(), hidden.gone())

asyncio.run(main())
"""


@pytest.fixture
def word() -> str:
    """Something to tell the processes of one test by, in their command lines."""
    return f"guarded-{uuid4().hex}"


def kernel_argv(word: str) -> list[str]:
    hidden = DETACHED.format(program=STUBBORN, word=word)
    return [sys.executable, "-c", KERNEL, STUBBORN, word, hidden]


@pytest.mark.req("K16")
def test_a_lifeline_that_nobody_holds_ends_the_command_at_once() -> None:
    exit_code, reports = bare_guard("sleep", "600", held=False)
    assert (exit_code, reports.splitlines()[-1]) == (143, b"signal 15")


@pytest.mark.req("K16", "C11")
@pytest.mark.parametrize("program", [SLEEP, STUBBORN])
async def test_what_a_command_leaves_behind_ends_with_it(program: str, word: str) -> None:
    async with guarded_process(*detached(program, word), grace_s=0.2) as process:
        assert await process.ended() == Ending(0)
        await process.gone()
        assert not with_word(word)


@pytest.mark.req("K16", "C11")
async def test_a_process_that_heeds_no_term_is_killed_after_the_grace() -> None:
    program = f"{HEEDLESS}print(1, flush=True); {SLEEP}"
    async with guarded_process(sys.executable, "-c", program, grace_s=0.2) as process:
        assert await line(process) == "1"
        process.stop()
        assert await process.ended() == Ending(137, "SIGKILL")
        await process.gone()


@pytest.mark.req("C11")
async def test_a_process_may_clear_up_when_it_is_told_to_end() -> None:
    script = "trap 'echo cleared up; exit 7' TERM; echo ready; while :; do sleep 600 & wait; done"
    async with guarded_process("bash", "-c", script) as process:
        assert await line(process) == "ready"
        process.stop()
        assert await process.ended() == Ending(7)
        assert await printed(process) == "cleared up\n"


@pytest.mark.req("C11")
async def test_a_suspended_process_is_woken_to_end_and_not_killed() -> None:
    async with guarded_process("bash", "-c", "echo ready; kill -STOP $$", grace_s=30) as process:
        assert await line(process) == "ready"
        process.stop()
        assert await process.ended() == Ending(143, "SIGTERM")


@pytest.mark.req("K16")
async def test_a_term_to_the_guard_is_an_order_to_stop(word: str) -> None:
    async with guarded_process("bash", "-c", f"sleep 600; echo {word}") as process:
        os.kill(guard_of(process), signal.SIGTERM)
        assert await process.ended() == Ending(143, "SIGTERM")
        await process.gone()
        assert not with_word(word)


@pytest.mark.req("K16", "R7")
async def test_a_tree_that_forks_without_end_is_caught() -> None:
    async with guarded_process(sys.executable, "-c", CHAINS, grace_s=0.2) as process:
        guard = guard_of(process)
        await process.ended()
        await process.gone()
        assert not descendants(guard)


@pytest.mark.req("K16", "C11")
async def test_parents_and_children_in_different_sessions_all_end(word: str) -> None:
    async with guarded_process(sys.executable, "-c", LINEAGE, word, grace_s=0.2) as process:
        await line(process)
        process.stop()
        await process.gone()
        assert not with_word(word)


@pytest.mark.req("K16")
async def test_processes_of_others_are_left_alone(word: str) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", SLEEP, word], start_new_session=True)
    try:
        async with guarded_process(*detached(STUBBORN, word), grace_s=0.1) as process:
            await process.gone()
        assert with_word(word) == {stranger.pid}
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.req("K16")
def test_nothing_outlives_a_kernel_that_is_killed(word: str) -> None:
    """Case plugin-process-04: two plugins, deaf to end-of-file and TERM, and a SIGKILL."""
    kernel = subprocess.Popen(kernel_argv(word), stdout=subprocess.PIPE)
    assert kernel.stdout
    with kernel.stdout as stdout:
        assert stdout.readline() == b"ready\n"
    eventually(lambda: len(with_word(word)) >= 3, "both are running")
    tree = descendants(kernel.pid)
    kernel.kill()
    kernel.wait()
    eventually(lambda: not with_word(word), "the plugins are gone")
    eventually(lambda: not any(map(alive, tree)), "their guards are gone too")


def hears_hangups() -> None:
    """Whoever starts the tests may ignore them, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.req("K16")
def test_a_closed_terminal_ends_everything_and_no_guard_too_early(word: str) -> None:
    argv = kernel_argv(word)
    terminal = pexpect.spawn(argv[0], argv[1:], timeout=PATIENCE_S, preexec_fn=hears_hangups)
    terminal.expect("ready")
    tree = descendants(terminal.pid)
    assert len(tree) >= 4
    terminal.ptyproc.fileobj.close()  # its own close gives the kernel a tenth of a second to end
    eventually(lambda: not terminal.isalive(), "the kernel is gone")
    eventually(lambda: not with_word(word), "the plugins are gone")
    eventually(lambda: not any(map(alive, tree)), "their guards are gone too")


@pytest.mark.req("K16")
async def test_keys_pressed_in_a_terminal_do_not_end_a_guard() -> None:
    async with guarded_process("bash", "-c", "read; echo still here") as process:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
            os.kill(guard_of(process), number)
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert await process.ended() == Ending(0)
        assert await printed(process) == "still here\n"


@pytest.mark.req("K16")
async def test_stopping_does_not_wait_for_a_child_that_holds_the_pipe(word: str) -> None:
    """Case plugin-process-06: a plugin's own child inherits stdout and outlives its stop."""
    script = f"{sys.executable} -c {SLEEP!r} {word} & echo $!; wait"
    async with guarded_process("bash", "-c", script.replace("'", '"')) as process:
        child = int(await line(process))
        process.stop()
        await process.gone()
        assert not alive(child)
        assert await printed(process) == ""


@pytest.mark.req("K16")
async def test_a_command_does_not_outlive_a_guard_that_is_killed() -> None:
    async with guarded_process("sleep", "600") as process:
        os.kill(guard_of(process), signal.SIGKILL)
        with pytest.raises(GuardLost, match="sleep"):
            await process.ended()
        pid = process.pid
        eventually(lambda: not alive(pid), "the command is gone")


@pytest.mark.req("K16")
async def test_a_killed_guard_s_orphans_fall_to_the_guard_above_it() -> None:
    """A command's guard is below its provider's, which inherits what the first one loses."""
    async with guarded_process(sys.executable, "-c", NESTED) as process:
        command, child = map(int, (await line(process)).split())
        os.kill(parent_of(command), signal.SIGKILL)
        await process.ended()
        await process.gone()
        assert not alive(child)


def test_the_tools_of_this_file_see_processes(word: str) -> None:
    """What asserts that nothing is left must be able to find something."""
    process = subprocess.Popen([sys.executable, "-c", SLEEP, word])
    finds: Callable[[], bool] = lambda: with_word(word) == {process.pid}  # noqa: E731
    eventually(finds, "it is found")
    assert process.pid in descendants(os.getpid())
    process.kill()
    process.wait()
    assert not with_word(word)
