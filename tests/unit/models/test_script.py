"""The script model: a written list of messages that can use earlier results."""

import os
from pathlib import Path

import pytest

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.errors import ModelFailed, UsageError
from pluggableharness.kernel.domain.message import Message, Role, ToolResult
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.models.script import ScriptModel, read_script

SCRIPT = """
prompt: Mend it
messages:
  - say: Looking first.
    calls:
      - {id: look, tool: toy.read, arguments: {path: a.py}}
  - say: It has ${look.lines} lines.
    calls:
      - tool: toy.edit
        arguments:
          count: ${look.lines}
          first: ${look.items.0.name}
          text: "literal $${x} and ${look.items}"
"""


async def ignore(text: str) -> None:
    return None


def model(tmp_path: Path, text: str = SCRIPT) -> ScriptModel:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    return ScriptModel(read_script(path))


def answered(outcome: Outcome) -> list[Message]:
    asked = ProposedCall("look", "toy.read", {"path": "a.py"})
    return [
        Message(Role.ASSISTANT, (asked,)),
        Message(Role.USER, (ToolResult("look", "toy.read", outcome),)),
    ]


@pytest.mark.req("K36")
async def test_messages_come_in_the_order_written_and_then_silence(tmp_path: Path) -> None:
    script = model(tmp_path, "messages: [{say: one}, {say: two}]")
    history: list[Message] = []
    texts = []
    for _ in range(3):
        reply = await script.reply(history, (), ignore)
        history.append(reply.message)
        texts.append(reply.message.text)
    assert texts == ["one", "two", ""]


@pytest.mark.req("K36")
async def test_a_call_may_use_what_an_earlier_one_gave_back(tmp_path: Path) -> None:
    result = Success({"lines": 12, "items": [{"name": "n"}]})
    reply = await model(tmp_path).reply(answered(result), (), ignore)
    assert reply.message.text == "It has 12 lines."
    (call,) = reply.message.calls
    assert call.arguments == {
        "count": 12,
        "first": "n",
        "text": 'literal ${x} and [{"name":"n"}]',
    }


async def test_a_reference_to_nothing_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed, match=r"message 2: \$\{look.lines\}.*there is: items"):
        await model(tmp_path).reply(answered(Success({"items": []})), (), ignore)


async def test_a_failed_call_is_known_by_its_error(tmp_path: Path) -> None:
    script = model(tmp_path, "messages: [{say: a}, {say: '${look.error.category}'}]")
    failed = Failure(ErrorCategory.NOT_FOUND, "no such file")
    reply = await script.reply(answered(failed), (), ignore)
    assert reply.message.text == "not_found"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("messages: [{sya: x}]", "unknown field `sya`"),
        ("messages: {", "not YAML"),
        ("messages: [{calls: [{tool: a.b, id: x}, {tool: a.b, id: x}]}]", "'x' is used twice"),
        ("prompt: hi", "the field `messages` is missing; a script has: messages, prompt, agents"),
        ("mesages: []", "yaml: unknown field `mesages`; did you mean messages"),
        (
            "messages: [{say: a}, {calls: [{tol: a.b}]}]",
            "yaml: message 2, call 1: unknown field `tol`; did you mean tool",
        ),
        ("messages: [{say: 3}]", "message 1, say: Expected `str`, got `int`"),
        ("messages: [{calls: {tool: a.b}}]", "message 1, calls: Expected a list"),
        ("[{say: a}]", "yaml: Expected a mapping"),
        (
            "{messages: [], agents: {t: {messages: [{}, {sya: x}]}}}",
            "agent t, message 2: unknown field `sya`; did you mean say",
        ),
    ],
)
def test_a_script_with_a_mistake_is_refused_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        model(tmp_path, text)


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yaml: cannot be read"):
        read_script(tmp_path / "nowhere.yaml")


@pytest.mark.req("K36", "P16")
def test_a_script_without_end_is_refused_and_a_pipe_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="larger than 16 MiB"):
        read_script(Path("/dev/zero"))
    reading, writing = os.pipe()
    os.write(writing, b"messages:\n  - say: hello\n")
    os.close(writing)
    assert read_script(Path(f"/dev/fd/{reading}")).messages[0].say == "hello"
    os.close(reading)
