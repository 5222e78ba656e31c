"""Directories for us alone: what is in use stays, what was left goes (K16)."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pluggableharness.kernel import private
from pluggableharness.kernel.private import PREFIX, PrivateDirectory

pytestmark = pytest.mark.req("K16")

LEFT = """
import os, signal
from pluggableharness.kernel.private import PrivateDirectory
place = PrivateDirectory()
open(place.path + "/kernel", "w").close()
print(place.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # As short as a socket's path has to be.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="t-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def left(temporary: Path) -> Path:
    """What a killed kernel leaves."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", LEFT]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60)
    return Path(done.stdout.strip())


def clear() -> None:
    """What the first launch of a process does."""
    private.clear_abandoned.__wrapped__()


def test_a_place_is_private_and_goes_with_all_that_is_in_it() -> None:
    place = PrivateDirectory()
    assert os.stat(place.path).st_mode & 0o777 == 0o700
    Path(place.path, "kernel").touch()
    place.remove()
    place.remove()
    assert not os.path.exists(place.path)


def test_what_a_killed_kernel_left_goes_and_what_is_in_use_stays(temporary: Path) -> None:
    abandoned, used = left(temporary), PrivateDirectory()
    assert (abandoned / "kernel").exists()
    clear()
    assert os.listdir(temporary) == [Path(used.path).name]
    used.remove()


def test_what_others_put_there_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").touch()
    os.mkfifo(temporary / f"{PREFIX}pipe")
    clear()
    abandoned = left(temporary)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    clear()
    assert abandoned.exists() and (elsewhere / "kept").exists()
    assert len(os.listdir(temporary)) == 5


def test_a_place_that_is_cleared_away_before_it_is_locked_is_made_anew(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = temporary / f"{PREFIX}taken"
    taken.mkdir()
    other = os.open(taken, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    gone = temporary / f"{PREFIX}gone"
    made = private._made
    paths = iter([str(taken), str(gone)])
    monkeypatch.setattr(private, "_made", lambda longest: next(paths, None) or made(longest))
    place = PrivateDirectory()
    assert place.path not in (str(taken), str(gone)) and os.path.isdir(place.path)
    os.close(other)
    place.remove()


def test_where_nothing_can_be_locked_nothing_is_taken_for_left(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    place = PrivateDirectory()
    clear()
    assert os.listdir(temporary) == [Path(place.path).name]
    place.remove()
    assert os.listdir(temporary) == []
