"""`harness sessions list`: which of the recorded sessions it has, and how it names them."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from process.harness import Harness, lines

from pluggableharness.cli.slash_commands import recent
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Text
from pluggableharness.kernel.domain.session import BY_HAND, SessionEnd, SessionStatus
from pluggableharness.kernel.store.log import KERNEL, EventLog
from pluggableharness.kernel.store.session_record import SessionLog

pytestmark = pytest.mark.req("K27", "K30")


def filed(
    harness: Harness, directory: Path, prompt: str, model: str = "script", parent: str = ""
) -> str:
    """The id of a session that was begun in a directory, and has ended."""

    async def file() -> str:
        folder = harness.state / "pluggableharness" / "sessions"
        log = EventLog.create(folder, ulid(1_764_530_000_000 + 60_000 * len(harness.logs())))
        record = SessionLog(log, lambda name: KERNEL, "default", parent)
        record.started(str(directory), model)
        record.message(Message(Role.USER, (Text(prompt),)), NOTHING_USED, 0.0)
        record.ended(SessionEnd(log.session_id, SessionStatus.COMPLETED))
        await log.close()
        return log.session_id

    return asyncio.run(file())


def listed(harness: Harness, folder: Path, *words: str) -> str:
    """What the list has for somebody in a folder."""
    done = replace(harness, project=folder).run("sessions", "list", *words, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    return done.stdout


def ids(output: str) -> list[str]:
    return [line["session_id"] for line in lines(output)]


@pytest.fixture
def folders(harness: Harness) -> tuple[Path, Path, Path]:
    """The project, a folder in it, and another one."""
    below, other = harness.project / "below", harness.state / "other"
    below.mkdir()
    other.mkdir()
    (harness.project / "agent.hcl").write_text("settings {}\n")
    return harness.project, below, other


def test_it_has_the_sessions_of_the_project_one_is_in_and_all_on_request(
    harness: Harness, folders: tuple[Path, Path, Path]
) -> None:
    project, below, other = folders
    link = harness.state / "link"
    link.symlink_to(project)
    mine = [filed(harness, at, "Mend it") for at in (project, below, link)]
    others = filed(harness, other, "Break it"), filed(harness, Path(f"{project}s"), "Beside it")
    for folder in (project, below):
        assert ids(listed(harness, folder, "--json")) == mine
    assert ids(listed(harness, other, "--json")) == [others[0]]
    assert ids(listed(harness, project, "--json", "--limit", "2")) == mine[1:]
    assert ids(listed(harness, other, "--json", "--all")) == [*mine, *others]
    shown = [line.split("completed  ")[1] for line in listed(harness, below).splitlines()]
    assert shown == ["Mend it", "Mend it (below)", "Mend it"]
    shown = [line.split("completed  ")[1] for line in listed(harness, below, "--all").splitlines()]
    assert shown[3].startswith("Break it (/")


def test_calls_by_hand_and_sub_agents_are_no_sessions_that_somebody_began(
    harness: Harness, folders: tuple[Path, Path, Path]
) -> None:
    project, _, _ = folders
    own = filed(harness, project, "Mend it")
    sub = filed(harness, project, "Read it", parent=own)
    call = filed(harness, project, "harness call exec.bash", BY_HAND)
    client = filed(harness, project, "", "an MCP client")
    assert ids(listed(harness, project, "--json")) == [own, client]
    assert ids(listed(harness, project, "--json", "--all")) == [own, sub, call, client]
    assert listed(harness, project).splitlines()[1].endswith("completed  an MCP client")
    words = [line[30:39].strip() for line in listed(harness, project, "--all").splitlines()]
    assert words == ["completed", "completed", "by hand", "completed"]


def test_a_record_cannot_move_the_cursor_of_whoever_lists_it(
    harness: Harness, folders: tuple[Path, Path, Path]
) -> None:
    filed(harness, folders[0], "Mend \x1b[2J it", "mod\x1b[2Jel")
    with closing(sqlite3.connect(harness.logs()[-1])) as log, log:
        log.execute("UPDATE session_meta SET value = ? WHERE key = 'status'", ("com\x1b[2Jplete",))
    for words in ((), ("--all",), ("--json",)):
        assert "\x1b" not in listed(harness, folders[0], *words)


def test_a_conversation_offers_to_go_on_with_those_that_somebody_began_in_its_folder(
    harness: Harness, folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(harness.state))
    project, below, _ = folders
    first, second = filed(harness, project, "Mend it"), filed(harness, project, "Test it")
    filed(harness, project, "Read it", parent=first)
    filed(harness, project, "harness call exec.bash", BY_HAND)
    filed(harness, below, "Mend it here")
    own = filed(harness, project, "Ask")
    found = recent(str(project), besides=own)
    assert [one.session_id for one in found] == [second, first]


def test_where_there_is_nothing_to_list_it_says_what_there_is(
    harness: Harness, folders: tuple[Path, Path, Path]
) -> None:
    project, below, other = folders
    none = harness.run("sessions", "list")
    assert (none.returncode, none.stdout, none.stderr) == (0, "", "")
    filed(harness, other, "Break it")
    none = replace(harness, project=below).run("sessions", "list")
    assert (none.returncode, none.stdout) == (0, "")
    assert f"no session was begun in {project}. `harness sessions list --all` has 1" in none.stderr


def test_every_id_in_it_is_one_that_other_commands_take(
    harness: Harness, folders: tuple[Path, Path, Path]
) -> None:
    project, _, _ = folders
    first, last = filed(harness, project, "Mend it"), filed(harness, project, "And test it")
    log = harness.logs()[0]
    twin = f"{first[:10]}{'0' * 16}"
    log.with_stem(twin).write_bytes(log.read_bytes())
    names = [line.split()[0] for line in listed(harness, project).splitlines()]
    assert names == [twin, first, last[:10]]
    for name in names:
        assert harness.run("sessions", "show", name).returncode == 0
