"""Pipes, devices and links among the logs: nothing waits for them, and each is told (R10)."""

import faulthandler
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store_logs import SESSION

from pluggableharness.kernel.store.errors import LogUnreadable, LogWriteError
from pluggableharness.kernel.store.export import export
from pluggableharness.kernel.store.index import UNREADABLE, summaries
from pluggableharness.kernel.store.lock import lock_path, take_lock
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_meta, verify

pytestmark = pytest.mark.req("R10")

WAIT = 60.0


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """An open that waits within SQLite can be ended in no gentler way."""
    faulthandler.dump_traceback_later(WAIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


KINDS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a directory": Path.mkdir,
    "a socket": _socket,
}


@pytest.fixture(params=KINDS)
def strange(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    # A socket's name may have 107 bytes, so it is bound by a short one.
    monkeypatch.chdir(folder)
    return folder


async def a_log(folder: Path) -> Path:
    log = EventLog.create(folder, SESSION)
    await log.close()
    return log.path


def place(strange: str, path: Path) -> None:
    path.unlink(missing_ok=True)
    KINDS[strange](Path(path.name))


async def test_a_list_names_it_and_goes_on(folder: Path, strange: str) -> None:
    await a_log(folder)
    place(strange, folder / "0.sqlite")
    first, second = summaries(folder)
    assert (first.session_id, first.status) == ("0", UNREADABLE)
    assert f"0.sqlite is {strange} and no file" in first.prompt
    assert second.session_id == SESSION and second.status != UNREADABLE


@pytest.mark.parametrize("end", ["", "-journal", "-wal", "-shm"])
async def test_it_is_read_in_no_way(folder: Path, strange: str, end: str) -> None:
    log = await a_log(folder)
    place(strange, folder / (log.name + end))
    for read in (read_meta, verify, EventLog.open, lambda path: export(path, folder / "copy")):
        with pytest.raises(LogUnreadable, match=f"{end} is {strange} and no file"):
            read(log)


async def test_an_index_that_is_none_is_made_anew(folder: Path, strange: str) -> None:
    await a_log(folder)
    place(strange, folder / "index")
    place(strange, folder / f"index.{os.getpid()}")
    assert [one.session_id for one in summaries(folder)] == [SESSION]


def test_links_to_nothing_are_passed_over(folder: Path) -> None:
    (folder / "0.sqlite").symlink_to("nowhere")
    (folder / "1.sqlite").symlink_to("1.sqlite")
    assert summaries(folder) == []


def test_a_lock_that_is_no_file_is_not_taken(folder: Path, strange: str) -> None:
    log = folder / "0.sqlite"
    place(strange, lock_path(log))
    with pytest.raises(LogWriteError):
        take_lock(log)


async def test_nothing_is_copied_into_it(folder: Path) -> None:
    log = await a_log(folder)
    os.mkfifo(folder / "copy")
    with pytest.raises(LogUnreadable, match="is a pipe and no file"):
        export(log, folder / "copy")


@pytest.mark.req("K33")
def test_the_command_ends(tmp_path: Path) -> None:
    folder = tmp_path / "pluggableharness" / "sessions"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "0.sqlite")
    (folder / "1.sqlite").symlink_to("/dev/zero")
    command = [sys.executable, "-m", "pluggableharness.cli", "sessions", "list", "--all"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "is a pipe" in done.stdout and "is a device" in done.stdout
