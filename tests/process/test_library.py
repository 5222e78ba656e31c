"""The kernel as a library: the examples run, and other agents' calls pass the gate (K34)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from agents import Model as AgentsModel
from agents import ModelResponse
from agents import Usage as AgentsUsage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from process.harness import Harness
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelResponse as SaidByModel
from pydantic_ai.models.function import AgentInfo, FunctionModel

import pluggableharness as ph

EXAMPLES = Path(__file__).parents[2] / "examples/library"

WRITE = ("filesystem__write_file", {"path": "a.txt", "content": "hello\n"})
READ = ("filesystem__read_file", {"path": "a.txt"})
BASH = ("exec__bash", {"command": "touch b.txt"})


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(harness.state))
    return harness.project


def no_bash(item: ph.PlanItem) -> ph.Answer:
    if item.call.operation.name == "bash":
        return ph.Answer(False, "no commands here")
    return ph.Answer(True)


@pytest.mark.req("K34")
def test_the_first_example_runs_and_is_short(harness: Harness) -> None:
    path = EXAMPLES / "first.py"
    assert len(path.read_text().splitlines()) < 30
    done = subprocess.run(
        [sys.executable, str(path), str(harness.project)],
        env=harness.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("completed: I wrote ")
    assert "this program lets nothing risky through" in done.stdout
    assert (harness.project / "note.txt").read_text() == "Written by a program's leave.\n"
    (log,) = harness.logs()
    assert ph.record(log).verify().ok


@pytest.mark.req("K34")
async def test_a_kernel_lists_previews_and_calls_from_values(project: Path) -> None:
    setup = ph.Setup(project, providers=(ph.first_party("filesystem"),))
    async with ph.opened(setup) as kernel:
        names = [operation.full_name for operation in await kernel.operations()]
        assert "filesystem.write_file" in names
        arguments = {"path": "a.txt", "content": "hello\n"}
        assert await kernel.preview("filesystem.write_file", arguments) is not None
        assert not (project / "a.txt").exists()
        outcome = await kernel.call("filesystem.write_file", arguments, ph.answering())
    assert isinstance(outcome, ph.Success)
    assert (project / "a.txt").read_text() == "hello\n"


@pytest.mark.req("K34", "K36")
async def test_any_object_with_a_reply_is_a_model_and_news_are_heard(project: Path) -> None:
    class Twice:
        name = "twice"

        async def reply(self, history: Any, offered: Any, heard: Any) -> ph.ModelReply:
            if len(history) > 1:
                return ph.ModelReply(ph.Message(ph.Role.ASSISTANT, (ph.Text("done"),)))
            call = ph.ProposedCall("1", "search.glob", {"pattern": "*"})
            return ph.ModelReply(ph.Message(ph.Role.ASSISTANT, (call,)))

    heard: list[ph.News] = []
    async with (
        ph.opened(ph.project(project)) as kernel,
        kernel.session(Twice(), ph.answering(hear=heard.append)) as session,
    ):
        end = await session.run("look")
    assert (end.status, end.final_text) == (ph.SessionStatus.COMPLETED, "done")
    assert isinstance(heard[-1], ph.SessionEnded)
    read = ph.record(end.session_id)
    assert read.verify(heard[-1].log_head).ok
    assert read.meta()["model"] == "twice"
    assert read.session().history[-1].text == "done"
    assert [type(told.piece).__name__ for told in read.story()][-1] == "SessionEnded"


@pytest.mark.req("K34")
def test_a_directory_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(ph.UsageError, match="not a directory"):
        ph.project(tmp_path / "nowhere")


def recorded(harness: Harness, caller: str) -> dict[str, ph.Outcome]:
    """What one record holds, by the names of the operations, once it is verified."""
    (log,) = harness.logs()
    read = ph.record(log)
    assert read.verify().ok
    assert read.meta()["model"] == caller
    assert read.meta()["status"] == "completed"
    return {
        block.name: block.outcome
        for message in read.session().history
        for block in message.blocks
        if isinstance(block, ph.ToolResult)
    }


def check_record(harness: Harness, caller: str) -> None:
    found = recorded(harness, caller)
    assert isinstance(found["filesystem.write_file"], ph.Success)
    assert isinstance(found["filesystem.read_file"], ph.Success)
    denied = found["exec.bash"]
    assert isinstance(denied, ph.Failure)
    assert denied.category is ph.ErrorCategory.PERMISSION_DENIED
    assert not (harness.project / "b.txt").exists()


@pytest.mark.req("K34")
async def test_a_pydantic_ai_agent_runs_gated_operations(harness: Harness, project: Path) -> None:
    read: list[str] = []

    def say(messages: list[ModelMessage], info: AgentInfo) -> SaidByModel:
        read.extend(
            str(part.content) for part in messages[-1].parts if isinstance(part, ToolReturnPart)
        )
        if len(messages) > 1:
            return SaidByModel([TextPart("done")])
        assert {"filesystem__write_file", "exec__bash"} <= {one.name for one in info.function_tools}
        return SaidByModel([ToolCallPart(name, made) for name, made in (WRITE, READ, BASH)])

    run = example("pydantic_ai_agent").run
    said = await run(FunctionModel(say), "go", str(project), ph.answering(no_bash))
    assert said == "done"
    assert (project / "a.txt").read_text() == "hello\n"
    wrote, there, denied = read
    assert json.loads(wrote)["path"].endswith("a.txt")
    assert "hello" in json.loads(there)["content"]
    assert "permission_denied" in denied
    assert "no commands here" in denied
    check_record(harness, "pydantic-ai")


class Listed(AgentsModel):
    """An OpenAI Agents model that makes the given calls, one each time it is asked."""

    def __init__(self) -> None:
        self.left = [WRITE, READ, BASH]
        self.read: list[str] = []

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:
        given = more.get("input", args[1] if len(args) > 1 else "")
        self.read = [
            str(one["output"])
            for one in given
            if isinstance(one, dict) and one.get("type") == "function_call_output"
        ]
        if not self.left:
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            said: Any = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            name, made = self.left.pop(0)
            number = str(len(self.left))
            said = ResponseFunctionToolCall(
                arguments=json.dumps(made), call_id=number, name=name, type="function_call"
            )
        return ModelResponse(output=[said], usage=AgentsUsage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> Any:
        raise AssertionError("not streamed")


@pytest.mark.req("K34")
async def test_an_openai_agent_runs_gated_operations(harness: Harness, project: Path) -> None:
    model = Listed()
    run = example("openai_agents").run
    said = await run(model, "go", str(project), ph.answering(no_bash))
    assert said == "done"
    assert (project / "a.txt").read_text() == "hello\n"
    wrote, there, denied = model.read
    assert json.loads(wrote)["path"].endswith("a.txt")
    assert "hello" in json.loads(there)["content"]
    assert "permission_denied" in denied
    assert "no commands here" in denied
    check_record(harness, "openai-agents")
