"""The sandbox of an ordinary user, who has no right that root has (C14, R8)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.survive.attempts import EVERYWHERE
from bench.survive.scene import set_up
from pluggableharness.providers.exec import bubblewrap, seccomp

pytestmark = pytest.mark.req("C14")

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that nobody may enter; pytest's own are shut again by every run of it that starts."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def place(folder: Path) -> Path:
    """A folder that nobody owns."""
    made = folder / "project"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    return made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("command", "succeeds"),
    [
        ("echo x >here && rm here", True),
        ("echo x >/tmp/a && cat /tmp/a", True),
        ("[ $(id -u) = 65534 ]", True),
        ("[ $(ps -e | wc -l) -le 6 ]", True),
        ("echo x >/var/tmp/../lib/new", False),
        ("grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", False),
        ("unshare -U true", False),
        ("cat /proc/2000/environ", False),
        ("exec 3<>/dev/tcp/127.0.0.1/1", False),
    ],
)
def test_an_ordinary_user_is_confined_alike(
    place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, succeeds: bool
) -> None:
    program, machine = bubblewrap.find(), seccomp.machine()
    if not program or not machine or not shutil.which("setpriv"):
        pytest.skip("needs bubblewrap, setpriv and a filter for this processor")
    private = folder / "private"
    private.mkdir()
    os.chown(private, NOBODY, NOBODY)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    filter_ = os.memfd_create("filter")
    os.write(filter_, seccomp.assembled(machine, seccomp.NETWORK))
    os.lseek(filter_, 0, os.SEEK_SET)
    view = bubblewrap.view((place,), private, place, network=False)
    start = (program, *bubblewrap.NAMESPACES, *bubblewrap._rights(), *view)
    ended = subprocess.run(
        [*AS_NOBODY, *start, "--seccomp", str(filter_), "--", "bash", "-c", command],
        cwd=place,
        pass_fds=(filter_,),
        capture_output=True,
        text=True,
        timeout=60,
    )
    os.close(filter_)
    assert (ended.returncode == 0) is succeeds, ended.stderr
    assert "bwrap:" not in ended.stderr


TRY_ALL = """
import asyncio, json, sys
from pluggableharness.providers.exec import bubblewrap
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import opened

kind, folder, commands = sys.argv[1], sys.argv[2], json.load(sys.stdin)
if kind == "Landlock":
    bubblewrap.find = lambda: None

async def main():
    settings = {"sandbox": "workspace"}
    async with opened(provider, cwd=folder, settings=settings) as tool:
        for name, command in commands.items():
            outcome = await tool("bash", command=command, timeout_s=60)
            print(json.dumps([name, None if outcome.error else outcome.payload["exit_code"]]))

asyncio.run(main())
"""


@pytest.mark.req("R8")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("kind", ["bubblewrap", "Landlock"])
def test_an_ordinary_user_s_provider_refuses_every_way_out(place: Path, kind: str) -> None:
    """By the system's own interpreter, since a user's own is often for that user alone."""
    interpreter = f"/usr/bin/python3.{sys.version_info.minor}"
    if not shutil.which("setpriv") or not shutil.which(interpreter):
        pytest.skip("needs setpriv, and an interpreter of this version that everyone can run")
    scene = set_up()
    good = {"write here": "echo x >here", "temporary": 'echo x >"$TMPDIR/x"'}
    tries = {name: scene.fill(command) for name, command in EVERYWHERE.items()}
    tries = {name: one.replace(sys.executable, interpreter) for name, one in tries.items()}
    try:
        ended = subprocess.run(
            [*AS_NOBODY, interpreter, "-c", TRY_ALL, kind, str(place)],
            cwd=place,
            env={"PATH": "/usr/bin:/bin", "HOME": "/", "PYTHONPATH": ":".join(sys.path)},
            input=json.dumps({**good, **tries}),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ended.returncode == 0, ended.stderr
        codes = dict(json.loads(line) for line in ended.stdout.splitlines())
        assert {name for name, code in codes.items() if code == 0} == set(good)
        assert len(codes) == len(good) + len(tries) and None not in codes.values()
        assert scene.touched() == []
    finally:
        scene.close()
