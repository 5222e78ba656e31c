"""The first prompt of a conversation is typed while its providers start."""

import os
import sys
from collections.abc import Sequence

import pytest
from model_server import Reply
from process.harness import Harness
from process.talking import said, talking
from process_tree import eventually

SLOW = """\
#!{python}
import sys
from pluggableharness.sdk import Provider
with open({gate!r}) as gate:
    if gate.read() == "fail":
        sys.exit("no provider today")
Provider("slow").serve()
"""


class Slow:
    """A provider that starts when it is told to, or fails when it is told that."""

    def __init__(self, harness: Harness) -> None:
        self._gate = harness.state / "gate"
        os.mkfifo(self._gate)
        program = harness.project / "slow.py"
        program.write_text(SLOW.format(python=sys.executable, gate=str(self._gate)))
        program.chmod(0o700)
        (harness.project / "agent.hcl").write_text(
            'required_providers {\n  slow = { source = "./slow.py" }\n}\n'
        )

    def tell(self, word: str) -> None:
        eventually(lambda: self._told(word), "the provider listens")

    def _told(self, word: str) -> bool:
        try:
            descriptor = os.open(self._gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        with open(descriptor, "w") as gate:
            gate.write(word)
        return True


@pytest.mark.req("K32")
def test_a_prompt_is_taken_while_providers_still_start(harness: Harness) -> None:
    slow = Slow(harness)
    with talking(harness, [Reply("Hello to you.")]) as (talk, server):
        talk.ready()
        talk.prompt("hello")
        assert server.requests == []
        slow.tell("start")
        talk.expect("Hello to you")
        talk.ready()
        talk.prompt("/quit")
        assert talk.left() == 0
    assert said(harness) == ["hello", "Hello to you."]


@pytest.mark.req("K32")
@pytest.mark.parametrize("keys", [["\x04"], ["\x03", "\x03"], ["hello\r", "\x03", "\x04"]])
def test_who_leaves_while_providers_start_waits_for_none(
    harness: Harness, keys: Sequence[str]
) -> None:
    Slow(harness)
    with talking(harness, []) as (talk, _):
        talk.ready()
        for key in keys[:-1]:
            talk.process.send(key)
            if key == "\x03":
                talk.ready()
            else:
                eventually(talk.interrupts_are_signals, "the line is taken")
        talk.process.send(keys[-1])
        assert talk.left() == 0
    assert harness.logs() == []


@pytest.mark.req("K32", "P2")
def test_a_provider_that_cannot_start_is_told_before_anything_is_typed(harness: Harness) -> None:
    slow = Slow(harness)
    with talking(harness, []) as (talk, _):
        talk.ready()
        slow.tell("fail")
        talk.expect("no provider today")
        assert talk.left() == 2
    assert harness.logs() == []
