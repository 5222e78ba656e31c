"""bash with real commands: what they find, and what becomes of what they print."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from process.exec_calls import WAIT_S, context_of, let_go, payload, python, run

from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk import Category, Context, InvalidArguments
from pluggableharness.sdk.processes import READ_BYTES
from pluggableharness.sdk.testing import OutputChunk, Tool, opened

pytestmark = pytest.mark.req("C10")


@pytest.fixture
async def tool(tmp_path: Path) -> AsyncIterator[Tool]:
    """Without a sandbox, which would end what the guard is to end here."""
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "none"}) as tool:
        yield tool


@pytest.fixture
def silent_stdin() -> Iterator[None]:
    """Give this process a stdin that stays open and says nothing; pytest's own is empty."""
    before, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    yield
    os.dup2(before, 0)
    for descriptor in (before, reading, writing):
        os.close(descriptor)


@pytest.mark.usefixtures("silent_stdin")
@pytest.mark.parametrize(
    ("command", "output"), [("cat", ""), ("python3", ""), ("read x; echo got=$x", "got=\n")]
)
async def test_stdin_is_empty_at_once(tool: Tool, command: str, output: str) -> None:
    """Case exec-05, with a stdin of the provider's own that stays open."""
    result = await payload(tool, command)
    assert (result["exit_code"], result["output"]) == (0, output)


async def test_a_character_that_comes_byte_by_byte_arrives_whole(tool: Tool) -> None:
    """Case exec-06."""
    program = (
        "import sys, time\nfor byte in bytes([226, 137, 164]):\n"
        "    sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(.1)"
    )
    outcome = await run(tool, python(program))
    assert outcome.payload["output"] == "\u2264"
    assert outcome.output() == b"\xe2\x89\xa4"


async def test_fifty_thousand_wide_characters_arrive_whole(tool: Tool) -> None:
    """Case exec-06."""
    outcome = await run(tool, "printf '漢%.0s' {1..50000}")
    assert outcome.payload["output"] == "漢" * 50_000
    assert outcome.output() == "漢".encode() * 50_000


@pytest.mark.parametrize("command", [r"printf 'abc\xe2\x89'", r"printf '\xff\xfe\n'"])
async def test_half_a_character_at_the_end_is_marked(tool: Tool, command: str) -> None:
    """Case exec-07."""
    result = await payload(tool, command)
    assert result["exit_code"] == 0
    assert "\ufffd" in result["output"]


async def test_random_bytes_are_output_like_any_other(tool: Tool) -> None:
    """Case exec-07."""
    outcome = await run(tool, "head -c 100 /dev/urandom")
    assert outcome.payload["exit_code"] == 0
    assert outcome.payload["total_bytes"] == len(outcome.output()) == 100


@pytest.mark.parametrize(
    ("command", "total_bytes", "truncated"),
    [
        (python('print("x" * 70000)'), 70_001, True),
        ("head -c 10000000 /dev/zero | tr '\\0' a", 10_000_000, True),
    ],
)
async def test_a_line_may_be_as_long_as_it_likes(
    tool: Tool, command: str, total_bytes: int, truncated: bool
) -> None:
    """Case exec-09."""
    outcome = await run(tool, command)
    result = outcome.payload
    assert (result["exit_code"], result["total_bytes"]) == (0, total_bytes)
    assert len(outcome.output()) == total_bytes
    assert result["truncated"] is truncated


async def test_pagers_do_not_wait_for_a_person(tmp_path: Path, monkeypatch: Any) -> None:
    """Case exec-10: a pager in the repository's own configuration and in the environment."""
    monkeypatch.setenv("GIT_PAGER", "less")
    monkeypatch.setenv("PAGER", "less")
    git = "git -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false"
    command = (
        "git init -q . && git config core.pager 'sh -c \"sleep 100\"' && "
        f'for n in {{1..60}}; do {git} commit -q --allow-empty -m "number $n"; done; git log'
    )
    async with opened(provider, cwd=tmp_path) as tool:
        output = (await payload(tool, command))["output"]
        assert "number 1\n" in output and "number 60\n" in output
        edited = await payload(tool, f"{git} commit --allow-empty; echo code $?")
        assert "code 1\n" in edited["output"]


async def test_a_deleted_working_directory_does_not_lose_the_session(tmp_path: Path) -> None:
    """Case exec-11: the nearest folder that exists, and a note."""
    gone = tmp_path / "gone"
    async with opened(provider, cwd=gone) as tool:
        result = await payload(tool, "echo hi; pwd")
        assert result["output"] == f"hi\n{tmp_path}\n"
        assert f"{gone} does not exist any more: ran in {tmp_path}" in result["note"]
        named = await run(tool, "echo hi", working_directory="/no/such/folder")
        assert named.error and named.error.category is Category.NOT_FOUND


@pytest.mark.parametrize("length", [131_071, 131_072, 1_000_000])
async def test_a_command_may_be_longer_than_an_argument(tool: Tool, length: int) -> None:
    """Case exec-14: Linux takes 128 KiB as one argument."""
    command = "echo ".ljust(length, "x")
    assert (await payload(tool, command))["total_bytes"] == length - 4


async def test_a_long_script_finds_what_a_short_one_finds(tool: Tool) -> None:
    """Case exec-14: a here-document of 200 KB, stdin and descriptors as ever."""
    script = "cat >copy <<'END'\n" + "line\n" * 40_000 + "END\nread x || echo no stdin\n"
    script += "for n in {0..99}; do [ -e /proc/$$/fd/$n ] && echo -n $n; done; wc -l <copy"
    result = await payload(tool, script)
    assert result["exit_code"] == 0
    # 255 is where bash itself keeps its script, closed to what it starts.
    assert result["output"] == "no stdin\n01240000\n"


async def test_an_environment_that_is_too_long_is_told_as_that(tmp_path: Path) -> None:
    """Case exec-14: a big environment adds up as well."""
    env = {f"V{number}": "x" * 100_000 for number in range(60)}
    async with opened(provider, cwd=tmp_path, settings={"env": env}) as tool:
        outcome = await run(tool, "echo hi")
    assert outcome.error and outcome.error.category is Category.INVALID_ARGUMENTS
    assert "together longer" in outcome.error.message


async def test_half_a_character_in_a_command_is_an_argument_error(tool: Tool) -> None:
    """Case exec-15. The wire cannot carry it, so the function is called as it is."""
    function = provider.operations["bash"].function
    with pytest.raises(InvalidArguments, match=r"U\+D800"):
        await function(context_of(tool), command=json.loads('"echo \\ud800"'))


@pytest.mark.req("P14")
async def test_escapes_reach_the_stream_raw_and_the_model_not(tool: Tool) -> None:
    """Case exec-16."""
    command = r"printf '\033[31mred\033[0m\n10%%\r20%%\r100%%\n\033]0;title\007\033[2J'"
    outcome = await run(tool, command)
    assert outcome.payload["output"] == "red\n100%\n"
    assert outcome.output() == b"\x1b[31mred\x1b[0m\n10%\r20%\r100%\n\x1b]0;title\x07\x1b[2J"


async def test_both_streams_are_read_at_once(tool: Tool) -> None:
    """Case exec-18."""
    program = 'import sys; sys.stderr.write("e" * 200000); sys.stdout.write("o" * 200000)'
    outcome = await run(tool, python(program))
    assert (outcome.payload["exit_code"], outcome.payload["total_bytes"]) == (0, 400_000)
    assert outcome.output("stdout") == b"o" * 200_000
    assert outcome.output("stderr") == b"e" * 200_000


@pytest.mark.req("P14")
async def test_output_comes_without_waiting_for_a_newline(tool: Tool) -> None:
    call = tool.start("bash", command="mkfifo go; printf half; read <go; echo ' whole'")
    async with asyncio.timeout(WAIT_S):
        chunk = await call.until(lambda event: isinstance(event, OutputChunk))
        assert chunk == OutputChunk(b"half", "stdout")
        await asyncio.to_thread(let_go, Path(tool._cwd / "go"))
        assert (await call).payload["output"] == "half whole\n"


UNTIL_FULL = """
# Write until nobody has taken anything for a second, tell how much that was, write the rest.
import os, select
os.set_blocking(1, False)
left = 100_000_000
while left and select.select([], [1], [], 1)[1]:
    left -= os.write(1, bytes(min(left, 65_536)))
with open("go", "w") as report:
    print(100_000_000 - left, file=report)
os.set_blocking(1, True)
while left:
    left -= os.write(1, bytes(min(left, 65_536)))
"""


@pytest.mark.req("P14")
async def test_a_slow_consumer_slows_the_command(tool: Tool, tmp_path: Path) -> None:
    """No more is read than is taken; the rest waits in the command, however long."""
    release = asyncio.Event()
    (tmp_path / "full.py").write_text(UNTIL_FULL)
    os.mkfifo(tmp_path / "go")
    context = _Slow(context_of(tool), release)
    async with asyncio.timeout(WAIT_S):
        function = provider.operations["bash"].function
        call = asyncio.ensure_future(function(context, command=f"{sys.executable} full.py"))  # type: ignore[arg-type]
        written = await asyncio.to_thread((tmp_path / "go").read_text)
        assert int(written) <= 3 * READ_BYTES
        release.set()
        assert (await call).total_bytes == 100_000_000


class _Slow:
    """A context whose output waits to be released."""

    def __init__(self, context: Context[Any], release: asyncio.Event) -> None:
        self._context = context
        self._release = release

    async def output(self, data: bytes, stream: str) -> None:
        await self._release.wait()

    async def exit_status(self, code: int, signal: str | None) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


@pytest.mark.req("C13")
async def test_a_command_sees_nothing_of_the_provider_s_environment(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("CANARY", "secret")
    async with opened(provider, cwd=tmp_path, settings={"env": {"MINE": "yes"}}) as tool:
        output = (await payload(tool, "env"))["output"]
    names = {line.partition("=")[0] for line in output.splitlines()}
    assert "CANARY" not in names and "LC_CTYPE" not in names
    assert {"MINE", "PATH", "TERM", "GIT_PAGER"} <= names
    assert "TERM=dumb\n" in output


@pytest.mark.req("P9")
async def test_a_command_runs_in_the_call_s_working_directory(tool: Tool, tmp_path: Path) -> None:
    assert (await payload(tool, "pwd; cd /; x=1"))["output"] == f"{tmp_path}\n"
    assert (await payload(tool, "pwd; echo $x", working_directory="/usr"))["output"] == "/usr\n\n"


async def test_the_whole_output_is_kept_where_read_file_finds_it(
    tool: Tool, tmp_path: Path
) -> None:
    result = await payload(tool, "seq 100000")
    whole = (tmp_path / result["output_file"]).read_text()
    assert whole == "".join(f"{number}\n" for number in range(1, 100_001))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize("timeout_s", [0, -1, 600.5, "5"])
async def test_a_timeout_beyond_the_deadline_is_an_argument_error(
    tool: Tool, timeout_s: object
) -> None:
    outcome = await run(tool, "echo hi", timeout_s=timeout_s)
    assert outcome.error and outcome.error.category is Category.INVALID_ARGUMENTS
    assert "timeout_s" in outcome.error.message


@pytest.mark.parametrize("shell", ["sh", "/bin/sh"])
async def test_another_shell_can_be_configured(tmp_path: Path, shell: str) -> None:
    async with opened(provider, cwd=tmp_path, settings={"shell": shell}) as tool:
        assert (await payload(tool, "echo $0"))["output"] == f"{shell}\n"
        script = "# " + "x" * 200_000 + "\nread x; echo got=$x"
        assert (await payload(tool, script))["output"] == "got=\n"


async def test_a_shell_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path, settings={"shell": "no-such-shell"}) as tool:
        outcome = await run(tool, "echo hi")
    assert outcome.error and outcome.error.category is Category.EXECUTION_FAILED
    assert "'no-such-shell'" in outcome.error.message and "`shell`" in outcome.error.message
