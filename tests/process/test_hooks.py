"""Hooks through the whole kernel, with a provider that subscribes to everything (K25, K26)."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from family import LIMIT_S, Watching, Written, calls, failure, kernel, results, says

from pluggableharness.kernel.domain.hook import HookMode, HookPoint, Subscription
from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.outcome import ErrorCategory, Outcome, Success
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.store.reading import read_events

REWRITING = Path(__file__).parents[1] / "providers" / "rewriting.py"
HOOKING = Path(__file__).parents[1] / "providers" / "hooking.py"
AUDIT = Path(__file__).parents[2] / "examples" / "audit-provider" / "audit_provider.py"
EVERYWHERE = tuple(Subscription(point, "hooking", HookMode.OBSERVE) for point in HookPoint)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pluggableharness" / "sessions"


@dataclass
class Ran:
    """What a session with hooks came to."""

    end: SessionEnd
    history: list[Message]
    frontend: Watching
    model: Written

    @property
    def outcomes(self) -> list[Outcome]:
        return results(self.history)


@dataclass
class Reading(Written):
    """Keeps what it was given to read."""

    read: str = ""

    async def reply(self, history: Any, offered: Any, heard: Any) -> ModelReply:
        self.read += repr(history)
        return await super().reply(history, offered, heard)


async def run(directory: Path, *hooks: Subscription, does: Any = None, first: Any = None) -> Ran:
    """A session whose model makes one message of calls and then says something."""
    config = {"told": str(directory / "told"), "does": does or {}}
    spec = ProviderSpec("hooking", (sys.executable, str(HOOKING)), config)
    model = Reading([first or calls("hooking.look", "hooking.change"), says("over")])
    frontend = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(directory, providers=(spec,), hooks=hooks) as made,
        made.session(model, frontend) as session,
    ):
        end = await session.run("the secret word")
    return Ran(end, session.history, frontend, model)


def told(directory: Path) -> list[tuple[str, str, Any]]:
    return [tuple(json.loads(line)) for line in (directory / "told").read_text().splitlines()]


def hook_errors(state: Path) -> int:
    (log,) = state.glob("*.sqlite")
    return sum(event.kind == "hook_error" for event in read_events(log))


def veto(point: HookPoint, timeout_s: float = 5.0) -> Subscription:
    return Subscription(point, "hooking", HookMode.VETO, timeout_s)


TRANSFORM = Subscription(HookPoint.PRE_MODEL_CALL, "hooking", HookMode.TRANSFORM)


@pytest.mark.req("K1", "K25")
async def test_every_point_is_told_in_the_order_of_a_turn(tmp_path: Path) -> None:
    ran = await run(tmp_path, *EVERYWHERE)
    assert ran.end.status is SessionStatus.COMPLETED
    seen = told(tmp_path)
    assert [point for point, _, _ in seen] == [
        "session-start",
        "pre-model-call",
        "post-model-response",
        "pre-tool-call",
        "pre-tool-call",
        "plan-ready",
        "post-tool-call",
        "post-tool-call",
        "post-apply",
        "pre-model-call",
        "post-model-response",
        "session-end",
    ]
    payloads = [payload for _, _, payload in seen]
    assert payloads[0]["profile"] == "default"
    assert [payloads[n]["call"]["tool_name"] for n in (3, 4, 6, 7)] == ["look", "change"] * 2
    assert "plan_item" not in payloads[3]
    assert payloads[5]["plan"]["items"][0]["decision"] == "PLAN_DECISION_ALLOW"
    assert payloads[7]["result"]["payload"] == {"text": "changed"}
    assert payloads[11]["status"] == "SESSION_STATUS_COMPLETED"


@pytest.mark.req("K25", "K26")
async def test_a_transformer_changes_what_the_model_reads_and_nothing_else(
    tmp_path: Path,
) -> None:
    ran = await run(tmp_path, TRANSFORM)
    assert ran.end.status is SessionStatus.COMPLETED
    assert isinstance(ran.model, Reading)
    assert "the [gone] word" in ran.model.read
    assert "secret" not in ran.model.read
    assert ran.history[0].text == "the secret word"
    assert ran.outcomes == [Success({"text": "seen"}), Success({"text": "changed"})]


@pytest.mark.req("K2", "K25")
async def test_a_veto_before_a_call_is_that_calls_result(tmp_path: Path, state: Path) -> None:
    ran = await run(tmp_path, veto(HookPoint.PRE_TOOL_CALL), does={"pre-tool-call.veto": "deny"})
    assert ran.end.status is SessionStatus.COMPLETED
    assert [failure(one).category for one in ran.outcomes] == [ErrorCategory.PERMISSION_DENIED] * 2
    assert "hook pre-tool-call of hooking" in failure(ran.outcomes[0]).message
    assert hook_errors(state) == 0


@pytest.mark.req("K25")
async def test_a_veto_on_a_plan_denies_its_items_and_not_the_reads(tmp_path: Path) -> None:
    ran = await run(tmp_path, veto(HookPoint.PLAN_READY), does={"plan-ready.veto": "deny"})
    look, change = ran.outcomes
    assert look == Success({"text": "seen"})
    assert failure(change).category is ErrorCategory.PERMISSION_DENIED


@pytest.mark.req("K25")
@pytest.mark.parametrize("point", [HookPoint.SESSION_START, HookPoint.PRE_MODEL_CALL])
async def test_a_veto_before_the_model_ends_the_session_as_failed(
    tmp_path: Path, point: HookPoint
) -> None:
    ran = await run(tmp_path, veto(point), does={f"{point.value}.veto": "deny"})
    assert ran.end.status is SessionStatus.FAILED
    assert f"hook {point.value} of hooking" in ran.end.reason
    assert ran.model.offered == [], "the model was not asked"


@pytest.mark.req("K26")
@pytest.mark.parametrize("fault", ["raise", "hang", "nonsense", "die"])
async def test_a_veto_that_fails_in_any_way_forbids(
    tmp_path: Path, state: Path, fault: str
) -> None:
    one = veto(HookPoint.PRE_TOOL_CALL, timeout_s=0.5 if fault == "hang" else 20)
    ran = await run(tmp_path, one, does={"pre-tool-call.veto": fault}, first=calls("hooking.look"))
    (outcome,) = ran.outcomes
    assert failure(outcome).category is ErrorCategory.PERMISSION_DENIED
    assert hook_errors(state) == 1
    assert any(isinstance(news, Notice) and news.level == "error" for news in ran.frontend.heard)


@pytest.mark.req("K26")
@pytest.mark.parametrize("fault", ["raise", "nonsense"])
async def test_a_transformer_that_fails_is_filed_and_its_messages_do_not_go_out(
    tmp_path: Path, state: Path, fault: str
) -> None:
    ran = await run(tmp_path, TRANSFORM, does={"pre-model-call.transform": fault})
    assert ran.end.status is SessionStatus.FAILED
    assert hook_errors(state) == 1
    assert ran.model.offered == []


@pytest.mark.req("K26", "K10a")
@pytest.mark.parametrize("mode", [HookMode.TRANSFORM, HookMode.VETO])
@pytest.mark.parametrize("point", [HookPoint.PRE_TOOL_CALL, HookPoint.PLAN_READY])
async def test_a_hook_that_rewrites_a_call_is_an_error_and_nothing_runs(
    tmp_path: Path, state: Path, point: HookPoint, mode: HookMode
) -> None:
    """Case policy-and-schema-16: neither what it wanted nor what was proposed, rules or no."""
    spec = ProviderSpec("rewriting", (sys.executable, str(REWRITING)))
    model = Written([calls("rewriting.run", text="proposed"), says("over")])
    hook = Subscription(point, "rewriting", mode)
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, providers=(spec,), hooks=(hook,)) as made,
        made.session(model, Watching()) as session,
    ):
        await session.run("go")
    (outcome,) = results(session.history)
    assert failure(outcome).category is ErrorCategory.PERMISSION_DENIED
    assert f"Denied by hook {point.value} of rewriting" in failure(outcome).message
    assert not (tmp_path / "ran").exists()
    assert hook_errors(state) == 1


@pytest.mark.req("K26")
async def test_an_observer_that_fails_changes_nothing(tmp_path: Path, state: Path) -> None:
    does = {f"{point.value}.observe": "raise" for point in HookPoint}
    ran = await run(tmp_path, *EVERYWHERE, does=does)
    assert ran.end.status is SessionStatus.COMPLETED
    assert hook_errors(state) == 0


@pytest.mark.req("K26")
async def test_a_subscription_that_nobody_serves_forbids_when_it_is_a_veto(tmp_path: Path) -> None:
    strange = Subscription(HookPoint.PRE_TOOL_CALL, "nobody", HookMode.VETO)
    ran = await run(tmp_path, strange)
    assert "no such provider" in failure(ran.outcomes[0]).message


@pytest.mark.req("K25")
async def test_the_audit_example_observes_and_vetoes(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    audit = ProviderSpec(
        "audit", (sys.executable, str(AUDIT)), {"log": str(log), "protected": ["secrets/"]}
    )
    config = {"told": str(tmp_path / "told")}
    hooking = ProviderSpec("hooking", (sys.executable, str(HOOKING)), config)
    first = Message(
        calls().role,
        (
            *calls("hooking.look", text="secrets/key").blocks,
            *calls("hooking.look", "hooking.change", text="fine").blocks[1:],
        ),
    )
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            providers=(audit, hooking),
            hooks=(
                Subscription(HookPoint.PRE_TOOL_CALL, "audit", HookMode.VETO),
                Subscription(HookPoint.POST_TOOL_CALL, "audit", HookMode.OBSERVE),
            ),
        ) as made,
        made.session(Written([first, says("over")]), Watching()) as session,
    ):
        await session.run("go")
    forbidden, allowed = results(session.history)
    assert failure(forbidden).category is ErrorCategory.PERMISSION_DENIED
    assert allowed == Success({"text": "changed"})
    assert [json.loads(line)["operation"] for line in log.read_text().splitlines()] == ["change"]
