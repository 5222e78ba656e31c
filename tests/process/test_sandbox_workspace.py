"""What a sandboxed command can do: its project, its temporary files, its tools (C14)."""

import asyncio
import shutil
from pathlib import Path

import pytest
from process.sandboxes import bash, kind, output, tool  # noqa: F401  # fixtures

from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("C14")

NO_HOST = "python3 -c 'import socket; socket.create_connection((\"example.org\", 80))'"


async def test_it_writes_below_the_working_directory(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    await output(tool, "mkdir a && echo x >a/b && mv a/b c && ln c d && rm d && chmod 600 c")
    assert (tmp_path / "c").read_text() == "x\n"


async def test_temporary_files_last_from_one_command_to_the_next(tool: Tool) -> None:  # noqa: F811
    await output(tool, 'echo x >"$TMPDIR/kept"; cat <<END >"$TMPDIR/more"\ntext\nEND')
    assert await output(tool, 'cat "$TMPDIR/kept" "$TMPDIR/more"') == "x\ntext\n"


async def test_the_usual_devices_are_there(tool: Tool) -> None:  # noqa: F811
    command = "echo x >/dev/null; head -c 2 /dev/zero | wc -c; cat <(echo y); echo z >/dev/stdout"
    assert await output(tool, command) == "2\ny\nz\n"


async def test_roots_are_what_the_settings_say(kind: str, tmp_path: Path) -> None:  # noqa: F811
    for name in ("cwd", "one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "two")
    roots = [str(tmp_path / "one"), "../link"]
    settings = {"sandbox": "workspace", "roots": roots}
    async with opened(provider, cwd=tmp_path / "cwd", settings=settings) as tool:  # noqa: F811
        assert await output(tool, "echo x >../one/a; echo x >../two/a; pwd") == f"{tmp_path}/cwd\n"
        assert (await bash(tool, "echo x >here")).payload["exit_code"] != 0
    assert (tmp_path / "one/a").exists() and (tmp_path / "two/a").exists()


async def test_read_only_writes_nothing_but_temporary_files(kind: str, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "a").write_text("text")
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "read_only"}) as tool:  # noqa: F811
        assert await output(tool, 'cat a; echo x >"$TMPDIR/a"') == "text"
        assert (await bash(tool, "echo x >a")).payload["exit_code"] != 0
        assert (await bash(tool, "touch b")).payload["exit_code"] != 0
        shown = str(await tool.preview("bash", command="ls"))
    assert "read only, no network" in shown
    assert (tmp_path / "a").read_text() == "text"


async def test_the_network_is_there_when_it_is_configured(kind: str, tmp_path: Path) -> None:  # noqa: F811
    reached = asyncio.Event()

    def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    settings = {"sandbox": "workspace", "network": True}
    async with server, opened(provider, cwd=tmp_path, settings=settings) as tool:  # noqa: F811
        await output(tool, f"exec 3<>/dev/tcp/127.0.0.1/{port}")
        assert reached.is_set()
        named = "import socket; socket.socket(socket.AF_UNIX)"
        assert (await bash(tool, f"python3 -c '{named}'")).payload["exit_code"] != 0


TOOLS = {
    "git": "git init -q . && echo x >a && git add a && git -c user.name=a -c user.email=a@b.c "
    "commit -qm first && git checkout -qb other && git log --oneline | grep -q first",
    "python3": "python3 -c 'import subprocess, tempfile, socket; "
    'subprocess.run(["true"], check=True); tempfile.TemporaryFile(); socket.socketpair()\'',
    "node": 'node -e \'require("child_process").execSync("true"); '
    'require("fs").writeFileSync("a", "x")\'',
    "gcc": "echo 'int main(void) { return 0; }' >a.c && gcc -o a a.c && ./a",
    "go": "go version && echo 'module m' >go.mod && go list -m && go env GOCACHE",
    "make": "printf 'a:\\n\\techo x >a\\n' >Makefile && make -j2 && [ -e a ]",
    "tar": "mkdir d && echo x >d/a && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/a",
}


@pytest.mark.parametrize("name", TOOLS)
async def test_tools_work(tool: Tool, name: str) -> None:  # noqa: F811
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    await output(tool, TOOLS[name])


async def test_shared_memory_is_there_but_nobody_else_s(kind: str, tool: Tool) -> None:  # noqa: F811
    program = 'import multiprocessing as m; m.Lock(); print("locked")'
    outcome = await bash(tool, f"python3 -c '{program}'; ls /dev/shm")
    if kind == "bubblewrap":
        assert outcome.payload["output"] == "locked\n"
    else:
        assert "PermissionError" in outcome.payload["output"]


async def test_a_folder_that_is_hidden_can_be_run_in_but_not_written_to(
    kind: str,  # noqa: F811
    tool: Tool,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "a").write_text("text")
    assert await output(tool, "pwd; cat a", working_directory=str(other)) == f"{other}\ntext"
    failed = await bash(tool, "echo x >a", working_directory=str(other))
    assert failed.payload["exit_code"] != 0 and (other / "a").read_text() == "text"


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
async def test_a_folder_of_services_is_refused_with_a_way_out(tool: Tool) -> None:  # noqa: F811
    outcome = await bash(tool, "ls", working_directory="/run")
    assert outcome.error and outcome.error.category is Category.PERMISSION_DENIED
    assert "`roots`" in outcome.error.message


@pytest.mark.req("C11")
async def test_signals_and_codes_are_told_as_without(tool: Tool) -> None:  # noqa: F811
    killed = (await bash(tool, "kill -9 $$")).payload
    assert (killed["exit_code"], killed["signal"]) == (137, "SIGKILL")
    assert (await bash(tool, "exit 137")).payload.get("signal") is None


@pytest.mark.req("C11", "R7")
@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
async def test_a_fork_bomb_ends_with_its_namespace(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    """Each fork in a session of its own and deaf to TERM, up to a bound for this machine's sake."""
    program = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(7):\n    if os.fork() == 0:\n        os.setsid()\ntime.sleep(600)\n"
    )
    (tmp_path / "bomb.py").write_text(program)
    outcome = await tool("bash", command="python3 bomb.py", timeout_s=1)
    assert outcome.error and outcome.error.category is Category.TIMEOUT
    assert await output(tool, "ps -e | wc -l") == "5\n"


@pytest.mark.req("C14")
@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (NO_HOST, "network = true"),
        ("touch /usr/x", "writes only below"),
    ],
)
async def test_a_wall_of_the_sandbox_says_which_it_is(
    tool: Tool,  # noqa: F811
    command: str,
    told: str,
) -> None:
    failed = (await bash(tool, command)).payload
    assert failed["exit_code"] != 0
    assert told in failed["note"], failed["output"]
