"""The index of sessions: right whatever happened to the logs, and no more than a copy."""

import os
from pathlib import Path

import pytest

from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Text, Usage
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.store import index
from pluggableharness.kernel.store.index import summaries
from pluggableharness.kernel.store.log import KERNEL, EventLog
from pluggableharness.kernel.store.session_record import SessionLog

FIRST, SECOND = "01JZ0000000000000000000001", "01JZ0000000000000000000002"


async def session(directory: Path, session_id: str, prompt: str = "do it") -> Path:
    log = EventLog.create(directory, session_id)
    record = SessionLog(log, lambda name: KERNEL)
    record.started("/work", "script")
    record.message(Message(Role.USER, (Text(prompt),)), NOTHING_USED, 0.0)
    record.message(Message(Role.ASSISTANT, (Text("done"),)), Usage(10, 1), 0.25)
    record.ended(SessionEnd(session_id, SessionStatus.COMPLETED))
    await log.close()
    return log.path


@pytest.mark.req("K27")
async def test_the_list_follows_logs_that_come_change_and_go(tmp_path: Path) -> None:
    directory = tmp_path / "sessions"
    assert summaries(directory) == []
    first = await session(directory, FIRST)
    (one,) = summaries(directory)
    assert (one.session_id, one.status, one.rows, one.cost_usd) == (FIRST, "completed", 4, 0.25)
    assert (one.prompt, one.working_directory, one.model) == ("do it", "/work", "script")
    await session(directory, SECOND, "and this")
    assert [found.prompt for found in summaries(directory)] == ["do it", "and this"]
    first.unlink()
    assert [found.session_id for found in summaries(directory)] == [SECOND]


@pytest.mark.req("K27")
async def test_a_known_log_is_not_opened_again_and_a_lost_index_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "sessions"
    await session(directory, FIRST)
    before = summaries(directory)
    with monkeypatch.context() as patch:
        patch.setattr(index, "_summary", lambda log: pytest.fail(f"{log} was opened"))
        assert summaries(directory) == before
    for content in (b"", b"torn \xff", b"\x81\xa1a\x01"):
        (directory / "index").write_bytes(content)
        assert summaries(directory) == before
    (directory / "index").unlink()
    assert summaries(directory) == before


@pytest.mark.req("K27")
async def test_a_session_that_is_open_is_running_and_one_whose_kernel_died_is_interrupted(
    tmp_path: Path,
) -> None:
    directory = tmp_path / "sessions"
    log = EventLog.create(directory, FIRST)
    record = SessionLog(log, lambda name: KERNEL)
    record.started("/work", "script")
    await record.durable()
    assert [one.status for one in summaries(directory)] == ["running"]
    record.message(Message(Role.USER, (Text("later"),)), NOTHING_USED, 0.0)
    await record.durable()
    assert [one.prompt for one in summaries(directory)] == ["later"]
    await log.close()
    assert [one.status for one in summaries(directory)] == ["interrupted"]


@pytest.mark.req("K27")
async def test_a_log_that_is_being_written_is_read_anew_whatever_its_stamp_says(
    tmp_path: Path,
) -> None:
    """What is written goes beside the file first, and its clock may be too coarse to tell."""
    directory = tmp_path / "sessions"
    path = await session(directory, FIRST)
    before = path.stat()
    assert [one.rows for one in summaries(directory)] == [4]
    log = EventLog.open(path)
    record = SessionLog(log, lambda name: KERNEL)
    record.resumed("script")
    for rows in (6, 7):
        record.message(Message(Role.USER, (Text("more"),)), NOTHING_USED, 0.0)
        await record.durable()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        assert [(one.rows, one.status) for one in summaries(directory)] == [(rows, "running")]
    await log.close()


@pytest.mark.req("K27", "R10")
async def test_an_index_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "sessions"
    await session(directory, FIRST)

    def refuse(*args: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert [one.session_id for one in summaries(directory)] == [FIRST]
    assert not (directory / "index").exists()
