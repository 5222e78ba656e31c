"""`harness sessions`: a recorded session found, shown, replayed, verified and exported."""

import json
from pathlib import Path
from typing import Any

import pytest
from process.harness import Harness, lines
from store_logs import direct

pytestmark = pytest.mark.providers("exec", "filesystem")

SCRIPT = """
prompt: Mend it
messages:
  - say: Mending it.
    calls:
      - {id: look, tool: filesystem.read_file, arguments: {path: a.txt}}
      - {tool: filesystem.nothing, arguments: {path: a.txt}}
      - {tool: filesystem.edit_file, arguments: {path: a.txt, old_str: old, new_str: new}}
      - {tool: exec.bash, arguments: {command: "cat a.txt; printf '\\\\033[31mred'"}}
  - say: "Found ${look.total_lines} line."
"""
STREAMED = {"text_delta", "output_chunk", "exit_status", "progress", "partial_result"}


def recorded(harness: Harness, *words: str) -> tuple[Path, list[dict[str, Any]]]:
    """A session's log, and what was told while it ran."""
    (harness.project / "a.txt").write_text("old\n")
    ran = harness.run("run", "--script", harness.script(SCRIPT), "--json", *words)
    assert ran.returncode in (0, 3), ran.stderr
    return harness.logs()[-1], lines(ran.stdout)


def by_call(told: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What was told, by call: calls that run at once may be told in either order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in told:
        found.setdefault(line.get("call_id", ""), []).append(line)
    return found


@pytest.mark.req("K30")
@pytest.mark.parametrize("words", [["--allow-all"], []])
def test_a_replay_tells_what_was_told_while_the_session_ran(
    harness: Harness, words: list[str]
) -> None:
    log, live = recorded(harness, *words)
    replay = harness.run("sessions", "replay", log.stem, "--json")
    assert replay.returncode == 0, replay.stderr
    told = [line for line in live if line["type"] not in STREAMED]
    assert by_call(lines(replay.stdout)) == by_call(told)
    assert [line["type"] for line in lines(replay.stdout)] != []


@pytest.mark.req("K30")
def test_nothing_runs_in_a_replay(harness: Harness) -> None:
    log, _ = recorded(harness, "--allow-all")
    (harness.project / "a.txt").write_text("old\n")
    before = log.read_bytes()
    for words in (["replay"], ["show"], ["export", "--format", "markdown"]):
        shown = harness.run("sessions", words[0], log.stem, *words[1:])
        assert shown.returncode == 0, shown.stderr
    assert (harness.project / "a.txt").read_text() == "old\n"
    assert log.read_bytes() == before


@pytest.mark.req("K30")
def test_a_session_is_shown_with_its_prompt_and_safe_to_look_at(harness: Harness) -> None:
    log, _ = recorded(harness, "--allow-all")
    shown = harness.run("sessions", "show", log.stem[:12])
    assert "> Mend it" in shown.stdout
    assert "Found 1 line." in shown.stdout
    assert "filesystem.nothing" in shown.stdout
    page = harness.run("sessions", "export", log.stem, "--format", "markdown").stdout
    assert "> Mend it" in page
    assert "```" in page
    assert "\x1b" not in shown.stdout + page


@pytest.mark.req("K27", "K30")
def test_sessions_are_listed_with_what_they_were_for(harness: Harness) -> None:
    first, _ = recorded(harness)
    second, _ = recorded(harness, "--allow-all")
    listed = harness.run("sessions", "list", "--json")
    found = lines(listed.stdout)
    assert [one["session_id"] for one in found] == [first.stem, second.stem]
    assert {one["status"] for one in found} == {"completed"}
    assert found[0]["prompt"] == "Mend it"
    assert found[0]["working_directory"] == str(harness.project)
    human = harness.run("sessions", "list", "--limit", "1").stdout
    assert human.startswith(second.stem[:10])
    assert first.stem[:10] not in human


@pytest.mark.req("K29")
def test_verify_finds_a_changed_row_and_one_that_was_cut_off(harness: Harness) -> None:
    log, live = recorded(harness)
    head = live[-1]["log_head"]
    good = harness.run("sessions", "verify", log.stem, "--head", head)
    assert (good.returncode, head in good.stdout) == (0, True)
    slip = harness.run("sessions", "verify", log.stem, "--head", "HEAD")
    assert (slip.returncode, "'HEAD' is no hash" in slip.stderr) == (2, True)
    with direct(log) as connection:
        connection.execute("DELETE FROM events WHERE sequence = (SELECT max(sequence) FROM events)")
    assert harness.run("sessions", "verify", log.stem).returncode == 0
    cut = harness.run("sessions", "verify", log.stem, "--head", head)
    assert (cut.returncode, "cut off" in cut.stderr) == (1, True)
    with direct(log) as connection:
        connection.execute("UPDATE events SET payload = x'00' WHERE sequence = 3")
    changed = harness.run("sessions", "verify", log.stem)
    assert (changed.returncode, "row 3" in changed.stderr) == (1, True)


@pytest.mark.req("K30")
def test_an_export_holds_every_row_as_a_line(harness: Harness) -> None:
    log, _ = recorded(harness)
    copy = harness.project / "copy.jsonl"
    done = harness.run("sessions", "export", log.stem, "--output", str(copy))
    assert done.returncode == 0, done.stderr
    exported = [json.loads(line) for line in copy.read_text().splitlines()]
    assert [row["sequence"] for row in exported] == list(range(1, len(exported) + 1))
    assert harness.run("sessions", "export", log.stem).stdout == copy.read_text()


@pytest.mark.req("P16")
def test_a_session_that_is_not_there_is_a_usage_error(harness: Harness) -> None:
    missing = harness.run("sessions", "show", "ZZZ")
    assert (missing.returncode, "no session 'ZZZ'" in missing.stderr) == (2, True)
    recorded(harness)
    recorded(harness)
    several = harness.run("sessions", "show", "0")
    assert (several.returncode, "may be" in several.stderr) == (2, True)
    broken = harness.state / "pluggableharness" / "sessions" / "01ZZ.sqlite"
    broken.write_bytes(b"no log at all, but long enough to be read" * 100)
    shown = harness.run("sessions", "show", "01ZZ")
    assert (shown.returncode, "no session log" in shown.stderr) == (1, True)
    listed = lines(harness.run("sessions", "list", "--all", "--json").stdout)
    assert listed[-1]["status"] == "unreadable"
