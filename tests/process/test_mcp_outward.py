"""`harness mcp` under the mcp package's own client: both generations of the protocol (K35)."""

import asyncio
import json
import sys
from pathlib import Path

import mcp_types as types
import pytest
from process.harness import Harness
from process.mcp_clients import (
    MODES,
    WRITE,
    Decide,
    accepts,
    category,
    connected,
    record,
    text,
)

import pluggableharness as ph

pytestmark = pytest.mark.providers("exec", "filesystem")


@MODES
@pytest.mark.req("K35", "K3")
async def test_operations_are_listed_as_tools_that_say_how_they_are_held(
    harness: Harness, mode: str
) -> None:
    async with connected(harness, mode) as there:
        tools = {tool.name: tool for tool in (await there.client.list_tools()).tools}
    read, bash = tools["filesystem__read_file"], tools["exec__bash"]
    assert read.annotations is not None
    assert bash.annotations is not None
    assert read.annotations.read_only_hint is True
    assert (bash.annotations.read_only_hint, bash.annotations.destructive_hint) == (False, True)
    assert bash.annotations.idempotent_hint is False
    assert bash.meta is not None
    assert bash.meta["pluggableharness/kind"] == "resource"
    assert bash.meta["pluggableharness/risk"] == "high"
    assert "high risk" in (bash.description or "")
    assert bash.title == "exec.bash"
    assert read.input_schema["required"] == ["path"]
    assert read.output_schema is not None
    assert "content" in read.output_schema["properties"]


@MODES
@pytest.mark.req("K35", "K10")
async def test_a_read_runs_and_a_write_is_asked_as_at_the_gate(harness: Harness, mode: str) -> None:
    async with connected(harness, mode, accepts("allow")) as there:
        wrote = await there.call(*WRITE)
        read = await there.call("filesystem__read_file", {"path": "a.txt"})
    assert not wrote.is_error
    assert (harness.project / "a.txt").read_text() == "hello\n"
    assert read.structured_content["content"] == "1|hello"
    assert json.loads(text(read)) == read.structured_content
    (asked,) = there.asked
    assert asked.message.startswith("Allow filesystem.write_file? Risk: moderate.")
    assert "+ hello" in asked.message
    assert "no rule speaks of it" in asked.message
    story = [type(told.piece).__name__ for told in record(harness).story()]
    assert story.count("CallEnded") == 2
    assert record(harness).meta()["model"] == "mcp: mcp"


@MODES
@pytest.mark.req("K35", "K10")
@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (accepts("deny", "not on my watch"), "not on my watch"),
        (accepts("perhaps"), "the client sent no decision that was offered, but 'perhaps'"),
        (lambda message: types.ElicitResult(action="decline"), "the person declined"),
        (lambda message: types.ElicitResult(action="cancel"), "dismissed the question"),
    ],
    ids=["denied", "nonsense", "declined", "dismissed"],
)
async def test_whatever_is_no_clear_yes_denies(
    harness: Harness, mode: str, decide: Decide, said: str
) -> None:
    async with connected(harness, mode, decide) as there:
        result = await there.call(*WRITE)
    assert category(result) == "permission_denied"
    assert said in text(result)
    assert not (harness.project / "a.txt").exists()
    assert record(harness)


@MODES
@pytest.mark.req("K35", "K10")
async def test_an_answer_for_the_session_is_asked_for_once(harness: Harness, mode: str) -> None:
    async with connected(harness, mode, accepts("allow for this session")) as there:
        for content in ("one\n", "two\n"):
            wrote = await there.call(WRITE[0], {"path": "a.txt", "content": content})
            assert not wrote.is_error, text(wrote)
            await there.call("filesystem__read_file", {"path": "a.txt"})
    assert len(there.asked) == 1
    assert (harness.project / "a.txt").read_text() == "two\n"


@MODES
@pytest.mark.req("K35", "K10")
async def test_a_client_without_elicitation_is_denied_and_told_the_one_way_to_allow(
    harness: Harness, mode: str
) -> None:
    async with connected(harness, mode) as there:
        result = await there.call(*WRITE)
        gone = await there.call("filesystem__gone", {})
    assert category(result) == "permission_denied"
    assert "no elicitation" in text(result)
    assert 'match  = { provider = "filesystem", tool_name = "write_file" }' in text(result)
    assert text(result).count("policy ") == 1
    assert "--allow-all" not in text(result)
    assert "elicitation" not in text(gone)
    assert not (harness.project / "a.txt").exists()


RULES = """
required_providers {
  exec = { source = "builtin" }
}
policy "echo" {
  match  = { tool_name = "bash" }
  when   = "commands.all(c, c.program == 'echo')"
  action = "allow"
}
policy "no touch" {
  match  = { tool_name = "bash" }
  when   = "commands.exists(c, c.program == 'touch')"
  action = "forbid"
  reason = "nothing is touched here"
}
agent_profile "default" {
  tools = ["exec.*"]
}
agent_profile "none" {
  tools = []
}
"""


@MODES
@pytest.mark.req("K35", "K7", "K5")
async def test_the_rules_of_the_project_decide_first(harness: Harness, mode: str) -> None:
    (harness.project / "agent.hcl").write_text(RULES)
    async with connected(harness, mode) as there:
        names = [tool.name for tool in (await there.client.list_tools()).tools]
        allowed = await there.call("exec__bash", {"command": "echo hello"})
        forbidden = await there.call("exec__bash", {"command": "echo x && touch y"})
    assert names == ["exec__bash"]
    assert allowed.structured_content["output"] == "hello\n"
    assert [one.data for one in there.logged] == [{"stream": "stdout", "text": "hello\n"}]
    assert category(forbidden) == "permission_denied"
    assert "nothing is touched here" in text(forbidden)
    assert "elicitation" not in text(forbidden)
    assert not (harness.project / "y").exists()


@pytest.mark.req("K35", "F9")
async def test_a_profile_narrows_what_is_served(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(RULES)
    async with connected(harness, "legacy", None, "--profile", "none") as there:
        assert (await there.client.list_tools()).tools == []


@MODES
@pytest.mark.req("K35", "K6")
async def test_a_client_that_could_ask_is_not_told_that_it_cannot(
    harness: Harness, mode: str
) -> None:
    rule = 'policy "look" {\n  match  = { tool_name = "read_file" }\n  action = "ask"\n}\n'
    (harness.project / "agent.hcl").write_text(rule)
    async with connected(harness, mode, accepts("allow")) as there:
        result = await there.call("filesystem__read_file", {"path": "a.txt"})
    assert "gate_reads" in text(result)
    assert "elicitation" not in text(result)


@MODES
@pytest.mark.req("K35", "P8")
async def test_bad_arguments_and_unknown_tools_are_errors_that_say_what_would_do(
    harness: Harness, mode: str
) -> None:
    async with connected(harness, mode) as there:
        wrong = await there.call("filesystem__read_file", {"path": 5})
        unknown = await there.call("filesystem__raed_file", {})
    assert category(wrong) == "invalid_arguments"
    assert "expected a string, got the number 5" in text(wrong)
    assert category(unknown) == "not_found"
    assert "read_file" in text(unknown)


@MODES
@pytest.mark.req("K35", "K17", "K13")
@pytest.mark.providers("exec", "search")
async def test_a_cancelled_request_ends_its_call_and_no_other(harness: Harness, mode: str) -> None:
    async with connected(harness, mode, accepts("allow")) as there:
        command = "echo $$; exec sleep 1000"
        slow = asyncio.create_task(there.call("exec__bash", {"command": command}))
        await there.heard.wait()
        slow.cancel()
        await asyncio.wait([slow])
        listed = await there.call("search__glob", {"pattern": "*"})
        assert not listed.is_error
    (cut,) = [
        block.outcome
        for message in record(harness).session().history
        for block in message.blocks
        if isinstance(block, ph.ToolResult) and block.name == "exec.bash"
    ]
    assert isinstance(cut, ph.Failure)
    assert cut.category is ph.ErrorCategory.CANCELLED


@MODES
@pytest.mark.req("K35", "K10a")
async def test_what_changes_while_it_is_asked_about_is_asked_again(
    harness: Harness, mode: str
) -> None:
    target = harness.project / "a.txt"

    def decide(message: str) -> types.ElicitResult:
        if "Asked again" not in message:
            target.write_text("somebody else was here\n")
        return types.ElicitResult(action="accept", content={"decision": "allow"})

    async with connected(harness, mode, decide) as there:
        result = await there.call(*WRITE)
    first, second = there.asked
    assert "somebody else" not in first.message
    assert "somebody else" in second.message
    assert "has changed" in second.message
    assert "Read it with read_file first" in text(result)
    assert target.read_text() == "somebody else was here\n"


@MODES
@pytest.mark.req("K35", "P24")
@pytest.mark.providers("user")
async def test_a_question_of_the_model_reaches_the_person(harness: Harness, mode: str) -> None:
    def decide(message: str) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"answer": "blue", "more": "x"})

    asked = {"question": "Which colour?"}
    async with connected(harness, mode, decide) as there:
        result = await there.call("user__ask_user", asked)
    assert result.structured_content == {"answer": "blue"}
    assert there.asked[0].message == "question: Which colour?"
    assert there.asked[0].requested_schema["required"] == ["answer"]
    async with connected(harness, mode) as there:
        nobody = await there.call("user__ask_user", asked)
    assert category(nobody) == "execution_failed"


@MODES
@pytest.mark.req("K35", "P10")
async def test_progress_is_told_and_a_server_behind_the_gate_is_served_on(
    harness: Harness, mode: str
) -> None:
    """MCP in and out again: what the inner server says arrives, and so does the cancellation."""
    server = json.dumps([sys.executable, str(Path(__file__).parent / "mcp_server.py")])
    (harness.project / "agent.hcl").write_text(
        f'required_providers {{\n  tool = {{ source = "mcp", command = {server} }}\n}}\n'
    )
    told: list[tuple[float, float | None, str | None]] = []
    heard = asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        heard.set()

    async with connected(harness, mode) as there:
        looked = await there.call("tool__look", {"text": "x"})
        slow = asyncio.create_task(
            there.client.call_tool("tool__slow", {}, progress_callback=progress)
        )
        await heard.wait()
        slow.cancel()
        await asyncio.wait([slow])
    assert "look" in looked.structured_content["content"][0]["text"]
    assert told == [(0.25, 1.0, "a quarter")]
    assert record(harness)


@pytest.mark.req("K35", "F1")
async def test_a_configuration_that_cannot_be_used_ends_it_with_the_reason(
    harness: Harness,
) -> None:
    (harness.project / "agent.hcl").write_text("settings {\n retyr = 1\n}\n")
    done = await asyncio.to_thread(harness.run, "mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean retry?" in done.stderr


@pytest.mark.req("K35", "K10a")
async def test_an_answer_does_not_hold_for_another_call(harness: Harness) -> None:
    """A later client comes back with the answer: what it then asks for must be what was shown."""
    async with connected(harness, "2026-07-28", accepts("allow")) as there:
        session = there.client.session
        first = await session.call_tool(*WRITE, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        yes = types.ElicitResult(action="accept", content={"decision": "allow"})
        other = {"path": "a.txt", "content": "something else\n"}
        result = await session.call_tool(
            WRITE[0],
            other,
            input_responses={"question": yes},
            request_state=first.request_state,
            allow_input_required=True,
        )
    assert isinstance(result, types.CallToolResult)
    assert category(result) == "permission_denied"
    assert not (harness.project / "a.txt").exists()


@pytest.mark.req("K35", "K17")
async def test_a_client_that_leaves_a_question_open_leaves_nothing_behind(
    harness: Harness,
) -> None:
    async with connected(harness, "2026-07-28", accepts("allow")) as there:
        first = await there.client.session.call_tool(*WRITE, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
    record(harness)
    assert not (harness.project / "a.txt").exists()
