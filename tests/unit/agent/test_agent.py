"""The agent provider: RunSession as an operation (C20)."""

from pathlib import Path

import pytest

from pluggableharness.providers.agent.provider import provider
from pluggableharness.sdk import PermissionDenied, SessionOutcome
from pluggableharness.sdk.callbacks import SessionRequest
from pluggableharness.sdk.testing import opened


@pytest.mark.req("C20")
async def test_the_child_gets_the_prompt_and_its_end_becomes_the_result(tmp_path: Path) -> None:
    asked: list[SessionRequest] = []

    async def run_session(request: SessionRequest) -> SessionOutcome:
        asked.append(request)
        return SessionOutcome("child", "completed", "All done.", 0.25, 10, 20)

    async with opened(provider, cwd=tmp_path, run_session=run_session) as tool:
        outcome = await tool(
            "spawn_subagent", profile="tester", prompt="Test it", providers=["exec"]
        )
    assert outcome.payload == {
        "session_id": "child",
        "status": "completed",
        "final_message": "All done.",
        "cost_usd": 0.25,
        "input_tokens": 10,
        "output_tokens": 20,
    }
    assert [(one.profile, one.prompt, list(one.providers)) for one in asked] == [
        ("tester", "Test it", ["exec"])
    ]


@pytest.mark.req("C20")
async def test_what_the_kernel_refuses_is_the_calls_error(tmp_path: Path) -> None:
    async def run_session(request: SessionRequest) -> SessionOutcome:
        raise PermissionDenied("depth 0: no further sub-agents")

    async with opened(provider, cwd=tmp_path, run_session=run_session) as tool:
        outcome = await tool("spawn_subagent", profile="tester", prompt="Test it")
    assert outcome.error is not None
    assert outcome.error.category == "permission_denied"
    assert "depth 0" in outcome.error.message


async def test_without_a_kernel_it_says_that_no_sub_agent_was_started(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        failure = (await tool("spawn_subagent", profile="tester", prompt="Test it")).failure
    assert failure.category == "execution_failed"
    assert failure.message.startswith("no sub-agent was started: ")
