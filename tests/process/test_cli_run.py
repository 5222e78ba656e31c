"""`harness run`: whole sessions with real providers, and how they end when things go wrong."""

import os
import signal

import pexpect
import pytest
from process.harness import HARNESS, Harness, lines
from process_tree import alive, descendants, eventually, seconds, with_word

from pluggableharness.kernel.codec.record import read_outcome
from pluggableharness.kernel.domain.outcome import Failure
from pluggableharness.kernel.store.reading import read_events, read_meta, verify

pytestmark = pytest.mark.providers("exec", "filesystem")

EDIT_AND_TEST = """
messages:
  - say: Mending it and running the tests at once.
    calls:
      - {id: edit, tool: filesystem.edit_file,
         arguments: {path: a.txt, old_str: old, new_str: new}}
      - {id: test, tool: exec.bash, arguments: {command: "cat a.txt"}}
  - say: "The command saw: ${test.output}"
"""

WHILE = seconds(317)
"""How long a command sleeps, which is also what it is found by."""
SLEEP = f"""
messages:
  - calls:
      - {{tool: filesystem.write_file, arguments: {{path: done.txt, content: whole}}}}
      - {{tool: exec.bash, arguments: {{command: "echo $$ > pid; sleep {WHILE}"}}}}
  - say: Never reached.
"""


def kinds(harness: Harness) -> list[str]:
    (log,) = harness.logs()
    assert verify(log).ok
    return [event.kind for event in read_events(log)]


def outcomes(harness: Harness) -> list[str]:
    (log,) = harness.logs()
    ended = [
        read_outcome(event.payload).outcome
        for event in read_events(log)
        if event.kind == "tool_result"
    ]
    return [one.category.value if isinstance(one, Failure) else "ok" for one in ended]


def started_sleeping(harness: Harness) -> bool:
    pid = harness.project / "pid"
    return pid.exists() and bool(with_word(WHILE))


@pytest.mark.req("K1", "K13a")
def test_a_command_in_the_same_message_sees_the_edit_before_it(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("old\n")
    done = harness.run("run", "--script", harness.script(EDIT_AND_TEST), "--allow-all", "--json")
    assert done.returncode == 0, done.stderr
    told = [line for line in lines(done.stdout) if line["type"] == "message"]
    assert "The command saw: new" in str(told[-1])


@pytest.mark.req("K11")
def test_in_plan_mode_nothing_that_changes_anything_is_offered(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("old\n")
    script = harness.script(
        "messages: [{calls: [{tool: filesystem.read_file, arguments: {path: a.txt}}, "
        "{tool: filesystem.edit_file, arguments: {path: a.txt, old_str: old, new_str: new}}]}]"
    )
    done = harness.run("run", "--script", script, "--allow-all", "--plan")
    assert done.returncode == 0, done.stderr
    assert sorted(outcomes(harness)) == ["not_found", "ok"]
    assert (harness.project / "a.txt").read_text() == "old\n"


@pytest.mark.req("K11", "K30", "K32")
def test_a_session_in_plan_mode_says_so_when_it_begins_and_when_it_is_resumed(
    harness: Harness,
) -> None:
    script, told = harness.script("messages: [{say: Seen.}]"), "plan mode: nothing is offered"
    begun = harness.run("run", "--script", script, "--plan", "look")
    session = harness.logs()[0].stem
    words = ("run", "--resume", session, "--script", script, "go on")
    again = harness.run(*words, "--plan")
    for done in (begun, again):
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(told) == 1
    assert told not in harness.run(*words).stdout
    assert harness.run("sessions", "replay", session).stdout.count(told) == 2


@pytest.mark.req("K4", "K10")
def test_without_anyone_to_ask_nothing_that_changes_anything_runs(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("old\n")
    done = harness.run("run", "--script", harness.script(EDIT_AND_TEST), "--json")
    assert (harness.project / "a.txt").read_text() == "old\n"
    assert done.returncode == 1, "the script refers to a result that is not there"
    assert outcomes(harness) == ["permission_denied", "permission_denied"]


def test_a_run_that_ends_well_though_something_was_denied_exits_3(harness: Harness) -> None:
    script = "messages: [{calls: [{tool: exec.bash, arguments: {command: ls}}]}, {say: fine}]"
    done = harness.run("run", "--script", harness.script(script))
    assert done.returncode == 3, done.stderr


@pytest.mark.req("K2")
def test_every_call_of_a_message_gets_its_result_whatever_became_of_it(
    harness: Harness,
) -> None:
    script = """
messages:
  - calls:
      - {tool: filesystem.read_file, arguments: {path: no.txt}}
      - {tool: filesystem.read, arguments: {}}
      - {tool: exec.bash, arguments: {comand: ls}}
      - {tool: exec.bash, arguments: {command: "exit 3"}}
  - say: done
"""
    done = harness.run("run", "--script", harness.script(script), "--allow-all")
    assert done.returncode == 0, done.stderr
    assert sorted(outcomes(harness)) == ["invalid_arguments", "not_found", "not_found", "ok"]


@pytest.mark.req("K10", "K10a")
def test_a_file_that_changed_between_diff_and_answer_comes_back_to_the_person(
    harness: Harness,
) -> None:
    path = harness.project / "a.txt"
    path.write_text("old\n")
    script = harness.script(
        "messages: [{calls: [{tool: filesystem.edit_file, "
        "arguments: {path: a.txt, old_str: old, new_str: new}}]}, {say: All done.}]"
    )
    terminal = pexpect.spawn(
        HARNESS[0],
        [*HARNESS[1:], "run", "--script", script],
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "dumb", "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=30,
        dimensions=(40, 100),
    )
    terminal.expect(r"allow.*\?")
    path.write_text("first line\nold\n")
    terminal.send("a")
    terminal.expect("changed")
    terminal.expect(r"allow.*\?")
    assert path.read_text() == "first line\nold\n", "nothing ran on the stale approval"
    terminal.send("a")
    terminal.expect("All done")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert path.read_text() == "first line\nnew\n"


@pytest.mark.req("K16", "P15")
def test_a_killed_provider_ends_its_call_and_leaves_no_process(harness: Harness) -> None:
    running = harness.start("run", "--script", harness.script(SLEEP), "--allow-all", "--json")
    eventually(lambda: started_sleeping(harness), "the command runs")
    guards = with_word("run_from_arguments")
    (provider,) = with_word("providers.exec") & descendants(running.pid) - guards
    os.kill(provider, signal.SIGKILL)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 0, err
    assert outcomes(harness) == ["ok", "process_crashed"]
    eventually(lambda: not with_word(WHILE), "the command is gone")


@pytest.mark.req("K16", "K27")
def test_a_killed_kernel_leaves_no_process_and_a_true_record(harness: Harness) -> None:
    running = harness.start("run", "--script", harness.script(SLEEP), "--allow-all", "--json")
    eventually(lambda: started_sleeping(harness), "the command runs")
    family = descendants(running.pid)
    assert len(family) >= 4
    running.kill()
    running.communicate(timeout=30)
    eventually(lambda: not any(alive(pid) for pid in family), "all descendants are gone")
    assert (harness.project / "done.txt").read_text() == "whole"
    (log,) = harness.logs()
    filed = kinds(harness)
    assert filed.count("tool_call") == 2
    assert filed.count("tool_result") == 1
    assert read_meta(log)["status"] == "running"


@pytest.mark.req("K16", "K17")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_cancels_in_order_and_the_record_says_so(
    harness: Harness, ending: signal.Signals
) -> None:
    running = harness.start("run", "--script", harness.script(SLEEP), "--allow-all", "--json")
    eventually(lambda: started_sleeping(harness), "the command runs")
    family = descendants(running.pid)
    running.send_signal(ending)
    running.communicate(timeout=30)
    assert running.returncode == 130
    assert not any(alive(pid) for pid in family)
    assert outcomes(harness) == ["ok", "cancelled"]
    (log,) = harness.logs()
    assert read_meta(log)["status"] == "cancelled"


@pytest.mark.req("K16")
def test_a_second_interrupt_leaves_at_once_and_still_leaves_no_process(
    harness: Harness,
) -> None:
    stubborn = f"""
messages:
  - calls:
      - tool: exec.bash
        arguments: {{command: "trap '' TERM; echo $$ > pid; sleep {WHILE}; sleep {WHILE}"}}
"""
    running = harness.start("run", "--script", harness.script(stubborn), "--allow-all", "--json")
    eventually(lambda: started_sleeping(harness), "the command runs")
    family = descendants(running.pid)
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    eventually(lambda: not any(alive(pid) for pid in family), "all descendants are gone")


@pytest.mark.req("K16")
def test_closing_the_terminal_in_mid_call_leaves_no_process(harness: Harness) -> None:
    terminal = pexpect.spawn(
        HARNESS[0],
        [*HARNESS[1:], "run", "--script", harness.script(SLEEP), "--allow-all"],
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "xterm"},
        timeout=30,
    )
    eventually(lambda: started_sleeping(harness), "the command runs")
    family = descendants(terminal.pid)
    os.close(terminal.fileno())
    eventually(lambda: not any(alive(pid) for pid in family), "all descendants are gone")
    eventually(lambda: not alive(terminal.pid), "the command itself is gone")
    assert "cancelled" in outcomes(harness)


@pytest.mark.req("K27")
def test_the_record_can_be_read_while_the_session_runs(harness: Harness) -> None:
    running = harness.start("run", "--script", harness.script(SLEEP), "--allow-all", "--json")
    eventually(lambda: started_sleeping(harness), "the command runs")
    filed = kinds(harness)
    assert filed.count("tool_call") == 2
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert len(kinds(harness)) > len(filed)
