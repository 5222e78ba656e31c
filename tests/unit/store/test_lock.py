"""The lock file: one holder, whatever comes between."""

import fcntl
import os
from pathlib import Path

import pytest

from pluggableharness.kernel.store.errors import LogInUse, LogWriteError
from pluggableharness.kernel.store.lock import drop_lock, lock_path, take_lock


@pytest.mark.req("K27")
def test_a_lock_has_one_holder_and_leaves_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    held = take_lock(log)
    with pytest.raises(LogInUse, match=f"process {os.getpid()} has this session open"):
        take_lock(log)
    drop_lock(held, log)
    assert list(tmp_path.iterdir()) == []
    assert not held.left
    drop_lock(take_lock(log), log)


@pytest.mark.req("K27")
def test_the_lock_of_a_holder_that_died_is_taken_over_and_known_for_it(tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite"
    os.close(take_lock(log).descriptor)
    lock = take_lock(log)
    assert lock.left
    drop_lock(lock, log)


@pytest.mark.req("K27")
def test_a_lock_on_a_file_that_its_last_holder_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.sqlite"
    flock, removals = fcntl.flock, [1]

    def removed_first(descriptor: int, operation: int) -> None:
        if removals:
            removals.pop()
            lock_path(log).unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", removed_first)
    held = take_lock(log)
    with pytest.raises(LogInUse):
        take_lock(log)
    drop_lock(held, log)


@pytest.mark.req("K27")
def test_a_link_in_the_locks_place_is_not_followed(tmp_path: Path) -> None:
    log, target = tmp_path / "log.sqlite", tmp_path / "target"
    target.write_text("precious")
    lock_path(log).symlink_to(target)
    with pytest.raises(LogWriteError, match="lock file cannot be written"):
        take_lock(log)
    assert target.read_text() == "precious"
