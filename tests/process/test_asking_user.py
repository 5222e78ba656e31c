"""ask_user from end to end: real sessions, a real terminal, and nobody at all (C21, P24)."""

import pexpect
import pytest
from process.harness import HARNESS, Harness

from pluggableharness.kernel.codec.record import read_outcome
from pluggableharness.kernel.domain.outcome import Failure, Success
from pluggableharness.kernel.store.reading import read_events

pytestmark = pytest.mark.providers("agent", "user")

ASKING = """
messages:
  - calls:
      - {id: which, tool: user.ask_user,
         arguments: {question: "Which colours?", options: [red, green, blue], multiple: true,
                     default: green}}
      - {id: why, tool: user.ask_user, arguments: {question: "Why?"}}
  - say: "You said ${which.answer}, because ${why.answer}."
"""

CHILDREN = """
messages:
  - calls:
      - {tool: agent.spawn_subagent, arguments: {profile: painter, prompt: paint}}
      - {tool: agent.spawn_subagent, arguments: {profile: mason, prompt: build}}
  - say: Both have asked.
agents:
  painter:
    tools: [user.ask_user]
    messages:
      - calls: [{id: a, tool: user.ask_user, arguments: {question: Painter asks}}]
      - say: "painter heard ${a.answer}"
  mason:
    tools: [user.ask_user]
    messages:
      - calls: [{id: a, tool: user.ask_user, arguments: {question: Mason asks}}]
      - say: "mason heard ${a.answer}"
"""


def outcomes(harness: Harness) -> list[str]:
    found = []
    for log in harness.logs():
        for event in read_events(log):
            if event.kind == "tool_result":
                outcome = read_outcome(event.payload).outcome
                assert isinstance(outcome, Success | Failure)
                found.append(
                    str(outcome.payload.get("answer", outcome.payload.get("message", "")))
                    if isinstance(outcome, Success)
                    else outcome.category.value
                )
    return found


def spawn(harness: Harness, script: str, *words: str) -> pexpect.spawn:
    return pexpect.spawn(
        HARNESS[0],
        [*HARNESS[1:], "run", "--script", harness.script(script), *words],
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "xterm", "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 100),
    )


@pytest.mark.req("C21")
def test_answers_become_results_in_the_order_asked(harness: Harness) -> None:
    terminal = spawn(harness, ASKING)
    terminal.expect("Which colours")
    terminal.expect("default.*> ")
    terminal.send("7\r")
    terminal.expect("1 to 3")
    terminal.send("c,1\r")
    terminal.expect("Why")
    terminal.expect("> ")
    terminal.send("so it is\r")
    terminal.expect("You said blue, red, because so it is")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.req("C21")
def test_the_end_of_the_input_is_no_answer_and_return_is_the_default(harness: Harness) -> None:
    terminal = spawn(harness, ASKING.replace("because ${why.answer}", "and no more"))
    terminal.expect("default.*> ")
    terminal.send("\r")
    terminal.expect("Why")
    terminal.expect("> ")
    terminal.send("\x04")
    terminal.expect("You said green, and no more")
    terminal.expect(pexpect.EOF)
    assert outcomes(harness) == ["green", "execution_failed"]


@pytest.mark.req("C21", "K14")
def test_a_question_ends_at_the_deadline_that_was_configured_for_it(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(
        'provider "user" {\n  timeout {\n    ask_user = "200ms"\n  }\n}\n'
    )
    script = """
    messages:
      - calls: [{id: which, tool: user.ask_user, arguments: {question: "Which colour?"}}]
      - say: "It was a ${which.error.category}."
    """
    terminal = spawn(harness, script)
    terminal.expect("nobody answered in 0.2 s")
    terminal.expect("It was a timeout")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert outcomes(harness) == ["timeout"]


@pytest.mark.req("C21", "P24", "K10")
def test_children_ask_one_after_another_with_their_place(harness: Harness) -> None:
    terminal = spawn(harness, CHILDREN, "--allow-all")
    asked = []
    for _ in range(2):
        terminal.expect(r"ask_user · (painter|mason)\r\n")
        asked.append(terminal.match[1])
        terminal.expect("> ")
        terminal.send(f"to {asked[-1]}\r")
    terminal.expect("Both have asked")
    terminal.expect(pexpect.EOF)
    assert sorted(asked) == ["mason", "painter"]
    assert {"to painter", "to mason"} <= set(outcomes(harness))


@pytest.mark.req("C21")
def test_with_nobody_there_it_fails_at_once(harness: Harness) -> None:
    """Case agent-user-task-04."""
    done = harness.run("run", "--script", harness.script(ASKING), "--json")
    assert done.returncode == 1, "the script refers to an answer that is not there"
    assert outcomes(harness) == ["execution_failed", "execution_failed"]
