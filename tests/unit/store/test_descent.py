"""Which sessions may be resumed by themselves (K23, K30)."""

from pathlib import Path

import pytest

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.store.descent import check_root
from pluggableharness.kernel.store.log import KERNEL, EventLog
from pluggableharness.kernel.store.session_record import SessionLog


async def started(directory: Path, session_id: str, parent: str = "") -> Path:
    log = EventLog.create(directory, session_id)
    SessionLog(log, lambda name: KERNEL, "coder", parent).started("/work", "test")
    await log.close()
    return log.path


@pytest.mark.req("K30")
async def test_a_session_that_a_person_started_may_be_resumed(tmp_path: Path) -> None:
    check_root(await started(tmp_path / "logs", ulid()))


@pytest.mark.req("K23", "P16")
async def test_a_child_is_refused_with_the_topmost_session_of_which_there_is_a_log(
    tmp_path: Path,
) -> None:
    gone, root, middle, leaf = ulid(), ulid(), ulid(), ulid()
    logs = tmp_path / "logs"
    path = await started(logs, leaf, middle)
    with pytest.raises(UsageError, match=f"resume {middle};"):
        check_root(path)
    await started(logs, middle, root)
    await started(logs, root)
    with pytest.raises(UsageError, match=f"sub-agent of {middle}, .* resume {root};"):
        check_root(path)
    (logs / f"{root}.sqlite").unlink()
    await started(logs, root, gone)
    with pytest.raises(UsageError, match=f"resume {gone};"):
        check_root(path)


@pytest.mark.req("K23")
async def test_logs_that_name_each_other_as_parents_end_the_search(tmp_path: Path) -> None:
    one, other = ulid(), ulid()
    path = await started(tmp_path / "logs", one, other)
    await started(tmp_path / "logs", other, one)
    with pytest.raises(UsageError, match=f"resume {other};"):
        check_root(path)
