"""Sessions below sessions through the whole kernel: real providers, written models (K22-K24)."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from process.harness import Harness, lines
from process_tree import alive, descendants, eventually, seconds, with_word

from pluggableharness.kernel.codec.record import read_outcome
from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.domain.message import Role
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.store.reading import read_events, read_meta, verify

pytestmark = pytest.mark.providers("agent", "exec", "filesystem")

TWO_AT_ONCE = """
messages:
  - calls:
      - {id: one, tool: agent.spawn_subagent, arguments: {profile: writer, prompt: Be the first}}
      - {id: two, tool: agent.spawn_subagent, arguments: {profile: reader, prompt: Be the second}}
  - say: "${one.final_message} and ${two.status}"
agents:
  writer:
    tools: [filesystem.write_file]
    messages:
      - say: Nobody above hears this.
        calls: [{tool: filesystem.write_file, arguments: {path: a.txt, content: from below}}]
      - say: I wrote it
  reader:
    messages: [{say: done}]
"""


def outcomes(log: Path) -> list[Outcome]:
    """Every result that a log holds, in its order."""
    return [
        read_outcome(event.payload).outcome
        for event in read_events(log)
        if event.kind == "tool_result"
    ]


def first_prompt(log: Path) -> str:
    (first, *_) = [event for event in read_events(log) if event.kind == "message"]
    message = read_message(first.payload).reply.message
    assert message.role is Role.USER
    return message.text


def family(harness: Harness) -> tuple[Path, list[Path]]:
    """The root's log, and those of all others."""
    logs = harness.logs()
    assert all(verify(log).ok for log in logs)
    (root,) = [log for log in logs if "parent" not in read_meta(log)]
    return root, [log for log in logs if log != root]


@pytest.mark.req("K22", "K23", "C20")
def test_children_start_fresh_and_only_their_last_message_comes_back(harness: Harness) -> None:
    done = harness.run("run", "--script", harness.script(TWO_AT_ONCE), "--allow-all", "--json")
    assert done.returncode == 0, done.stderr
    assert (harness.project / "a.txt").read_text() == "from below"
    own = [line for line in lines(done.stdout) if "child_session_id" not in line]
    assert [line["text"] for line in own if line["type"] == "message"][-1] == (
        "I wrote it and completed"
    )
    root, children = family(harness)
    assert {read_meta(child)["parent"] for child in children} == {root.stem}
    assert {read_meta(child)["profile"] for child in children} == {"writer", "reader"}
    assert {first_prompt(child) for child in children} == {"Be the first", "Be the second"}
    assert b"Nobody above hears this" not in b"".join(one.payload for one in read_events(root))
    assert [type(outcome) for outcome in outcomes(root)] == [Success, Success]


FOUR_AT_WORK = """
messages:
  - calls:
      - {tool: agent.spawn_subagent, arguments: {profile: one, prompt: Mend one}}
      - {tool: agent.spawn_subagent, arguments: {profile: two, prompt: Mend two}}
      - {tool: agent.spawn_subagent, arguments: {profile: three, prompt: Mend three}}
      - {tool: agent.spawn_subagent, arguments: {profile: four, prompt: Mend four}}
  - say: Never reached.
agents:
"""

NAMES = ("one", "two", "three", "four")

AGENT = """
  NAME:
    tools: [filesystem.*, exec.bash]
    messages:
      - calls:
          - {tool: filesystem.read_file, arguments: {path: NAME.txt}}
      - calls:
          - {tool: filesystem.edit_file, arguments: {path: NAME.txt, old_str: old, new_str: new}}
          - {tool: exec.bash, arguments: {command: "cat NAME.txt; echo $$ > NAME.pid; REST"}}
      - say: mended NAME
"""


def four(harness: Harness, rest: str) -> str:
    """A script of four agents that each edit a file and test it, then do the rest."""
    for name in NAMES:
        (harness.project / f"{name}.txt").write_text("old\n")
    agents = "".join(AGENT.replace("NAME", name).replace("REST", rest) for name in NAMES)
    return harness.script(FOUR_AT_WORK + agents)


def four_asleep(harness: Harness) -> "subprocess.Popen[str]":
    """A session whose four agents run a command that does not end."""
    script = four(harness, f"sleep {seconds(316)}")
    running = harness.start("run", "--script", script, "--allow-all", "--json")
    eventually(
        lambda: all((harness.project / f"{name}.pid").exists() for name in NAMES),
        "all four run their command",
    )
    return running


@pytest.mark.req("K22", "K24", "C20")
def test_four_agents_edit_and_test_at_the_same_time(harness: Harness) -> None:
    done = harness.run("run", "--script", four(harness, "true"), "--allow-all")
    assert done.returncode == 0, done.stderr
    assert {(harness.project / f"{name}.txt").read_text() for name in NAMES} == {"new\n"}
    _, children = family(harness)
    saw = [one.payload["output"] for log in children for one in outcomes(log)
           if isinstance(one, Success) and "output" in one.payload]  # fmt: skip
    assert saw == ["new\n"] * 4


@pytest.mark.req("K17", "C20", "K2")
def test_cancelling_four_agents_half_way_ends_them_all_and_every_record_says_so(
    harness: Harness,
) -> None:
    """Case agent-user-task-03: nothing of the children goes on running."""
    running = four_asleep(harness)
    everyone = descendants(running.pid)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert not any(alive(pid) for pid in everyone)
    assert not with_word(seconds(316))
    root, children = family(harness)
    assert [read_meta(log)["status"] for log in (root, *children)] == ["cancelled"] * 5
    for log in (root, *children):
        filed = [event.kind for event in read_events(log)]
        assert filed.count("tool_call") == filed.count("tool_result"), log
    ends = {failure.category.value for log in (root, *children) for failure in outcomes(log)
            if isinstance(failure, Failure)}  # fmt: skip
    assert ends == {"cancelled"}


@pytest.mark.req("K17", "P15")
def test_when_the_agent_provider_dies_its_children_end_and_the_session_goes_on(
    harness: Harness,
) -> None:
    running = four_asleep(harness)
    guards = with_word("run_from_arguments")
    (provider,) = with_word("providers.agent") & descendants(running.pid) - guards
    os.kill(provider, signal.SIGKILL)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 0, err
    assert not with_word(seconds(316))
    root, children = family(harness)
    assert [read_meta(log)["status"] for log in children] == ["cancelled"] * 4
    assert read_meta(root)["status"] == "completed"


@pytest.mark.req("K23", "K24")
def test_an_agent_that_always_spawns_stops_at_its_depth_with_an_error_to_the_model(
    harness: Harness,
) -> None:
    """Case agent-user-task-02: a fixed depth ends it."""
    script = harness.script("""
messages:
  - calls: [{id: a, tool: agent.spawn_subagent, arguments: {profile: loop, prompt: Go}}]
  - say: "${a.final_message}"
agents:
  loop:
    tools: [agent.*, filesystem.read_file]
    depth: 9
    messages:
      - calls: [{id: a, tool: agent.spawn_subagent, arguments: {profile: loop, prompt: Go}}]
      - say: over
""")
    done = harness.run("run", "--script", script, "--allow-all", "--json")
    assert done.returncode == 0, done.stderr
    _, children = family(harness)
    assert len(children) == 3
    (refused,) = [one for log in children for one in outcomes(log) if isinstance(one, Failure)]
    assert refused.category.value == "not_found"
    assert "filesystem.read_file" in refused.message


DEEP = """
messages:
  - calls: [{id: a, tool: agent.spawn_subagent, arguments: {profile: middle, prompt: Go}}]
  - say: over
agents:
  middle:
    tools: [agent.*]
    depth: 1
    messages:
      - calls: [{id: a, tool: agent.spawn_subagent, arguments: {profile: leaf, prompt: Go}}]
      - say: over
  leaf:
    tools: [filesystem.*]
    messages: [{say: done}]
"""


@pytest.mark.req("K23", "K30", "P16")
@pytest.mark.parametrize("prompt", [(), ("And now write a file",)])
def test_a_sub_agents_session_is_not_resumed_alone_since_nothing_would_bound_it(
    harness: Harness, prompt: tuple[str, ...]
) -> None:
    script = harness.script(DEEP)
    assert harness.run("run", "--script", script, "--allow-all").returncode == 0
    root, children = family(harness)
    rows = {log: verify(log).rows for log in harness.logs()}
    for child in children:
        words = ("sessions", "resume", child.stem, *prompt, "--script", script, "--allow-all")
        refused = harness.run(*words)
        assert refused.returncode == 2
        assert f"is a sub-agent of {read_meta(child)['parent']}" in refused.stderr
        assert f"harness sessions resume {root.stem}" in refused.stderr
    assert {log: verify(log).rows for log in harness.logs()} == rows
