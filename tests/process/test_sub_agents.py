"""Sessions below sessions through the whole kernel: real providers, written models (K22-K24)."""

from pathlib import Path

import pytest
from process.harness import Harness, lines

from pluggableharness.kernel.codec.record import read_outcome
from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.domain.message import Role
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.store.reading import read_events, read_meta, verify

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
