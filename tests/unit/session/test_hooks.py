"""The chain of a point's subscribers, with answers that the test writes (K25, K26)."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from family import Watching, calls, says
from unit.turn.doubles import CONTEXT, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hook import (
    FORBIDDABLE,
    AfterCall,
    BeforeCall,
    BeforeModel,
    HookAnswer,
    HookFailed,
    HookMode,
    HookPayload,
    HookPoint,
    HookTrouble,
    Subscription,
)
from pluggableharness.kernel.domain.message import Message, Role, ToolResult
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.session.hooks import SessionHooks, told_apart, unpaired

CALL = Call("call", operation("look"), {}, CONTEXT)
FAILS = HookFailed(HookTrouble.TIMEOUT, "no answer within 5 s")


def modes(*words: str, point: HookPoint = HookPoint.PRE_TOOL_CALL) -> list[Subscription]:
    """Subscriptions of these modes, whose providers are named by mode and place."""
    return [
        Subscription(point, f"{word}-{number}", HookMode(word)) for number, word in enumerate(words)
    ]


@dataclass
class Providers:
    """Answers as told by provider: a HookFailed, a bool for a veto, or messages."""

    answers: dict[str, object] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    filed: list[tuple[str, HookTrouble]] = field(default_factory=list)
    person: Watching = field(default_factory=Watching)

    async def dispatch(
        self, session_id: str, subscription: Subscription, payload: HookPayload
    ) -> HookAnswer:
        self.asked.append(subscription.provider)
        answer = self.answers.get(subscription.provider, True)
        if isinstance(answer, HookFailed):
            raise answer
        if isinstance(payload, BeforeModel) and isinstance(answer, Message):
            return HookAnswer(BeforeModel((*payload.messages, answer), payload.model))
        return HookAnswer(payload, answer is not False)

    def hook_failed(self, subscription: Subscription, trouble: HookTrouble, message: str) -> None:
        self.filed.append((subscription.provider, trouble))

    def hooks(self, subscriptions: Sequence[Subscription]) -> SessionHooks:
        return SessionHooks("session", subscriptions, self.dispatch, self, self.person.hear)


@pytest.mark.req("K25")
async def test_subscribers_are_asked_in_the_order_of_their_declaration() -> None:
    providers = Providers()
    chain = modes("veto", "observe", "veto", "observe")
    end = await providers.hooks(chain).run(BeforeCall(CALL))
    assert providers.asked == [one.provider for one in chain]
    assert end.denied is None


@pytest.mark.req("K25")
async def test_only_those_of_the_point_are_asked() -> None:
    providers = Providers()
    await providers.hooks(modes("veto")).run(AfterCall(CALL, Success({})))
    assert providers.asked == []


@pytest.mark.req("K25")
async def test_neighbouring_observers_run_at_the_same_time_and_nobody_overtakes_a_veto() -> None:
    running = asyncio.Barrier(2)
    providers = Providers()

    async def together(
        session_id: str, subscription: Subscription, payload: HookPayload
    ) -> HookAnswer:
        if subscription.mode is HookMode.OBSERVE:
            async with asyncio.timeout(10):
                await running.wait()
        providers.asked.append(subscription.mode.value)
        return HookAnswer(payload)

    chain = modes("observe", "observe", "veto", "observe", "observe")
    hooks = SessionHooks("session", chain, together, providers, providers.person.hear)
    await hooks.run(BeforeCall(CALL))
    assert providers.asked == ["observe", "observe", "veto", "observe", "observe"]


@pytest.mark.req("K25")
async def test_each_sees_what_the_one_before_it_left() -> None:
    providers = Providers({"transform-0": says("first"), "transform-1": says("second")})
    hooks = providers.hooks(modes("transform", "transform", point=HookPoint.PRE_MODEL_CALL))
    end = await hooks.run(BeforeModel((says("own"),), "model"))
    assert end.payload == BeforeModel((says("own"), says("first"), says("second")), "model")


@pytest.mark.req("K26")
async def test_an_observers_failure_is_logged_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    providers = Providers({"observe-0": FAILS})
    with caplog.at_level(logging.WARNING):
        end = await providers.hooks(modes("observe", "veto")).run(BeforeCall(CALL))
    assert (end.denied, providers.asked) == (None, ["observe-0", "veto-1"])
    assert "no answer within 5 s" in caplog.text
    assert (providers.filed, providers.person.heard) == ([], [])


@pytest.mark.req("K26")
async def test_a_transformers_failure_ends_the_chain_and_shows_as_an_error() -> None:
    providers = Providers({"transform-0": FAILS})
    hooks = providers.hooks(modes("transform", "transform", point=HookPoint.PRE_MODEL_CALL))
    end = await hooks.run(BeforeModel((says("own"),), "model"))
    assert providers.asked == ["transform-0"]
    assert providers.filed == [("transform-0", HookTrouble.TIMEOUT)]
    (notice,) = providers.person.heard
    assert isinstance(notice, Notice)
    assert "pre-model-call of transform-0" in notice.message
    assert end.denied is not None, "what it was to change does not go out as it is"


@pytest.mark.req("K26")
@pytest.mark.parametrize("then", ["veto", "observe"])
async def test_what_a_failed_transformer_was_to_change_does_not_happen(then: str) -> None:
    """Whoever would have been asked after it; a veto that was not asked is no yes either."""
    providers = Providers({"transform-0": FAILS})
    end = await providers.hooks(modes("transform", then)).run(BeforeCall(CALL))
    assert end.denied is not None
    assert "failed to change this" in end.denied.reason
    assert providers.asked == ["transform-0"]


@pytest.mark.req("K26")
@pytest.mark.parametrize("answer", [False, FAILS])
async def test_a_veto_forbids_by_its_word_and_by_its_failure(answer: object) -> None:
    providers = Providers({"veto-0": answer})
    end = await providers.hooks(modes("veto", "veto")).run(BeforeCall(CALL))
    assert end.denied is not None
    assert end.denied.decision is Decision.DENY
    assert "pre-tool-call of veto-0" in end.denied.decided_by
    assert providers.asked == ["veto-0"]


@pytest.mark.req("K2", "K26")
async def test_messages_that_do_not_pair_calls_with_results_are_a_failure() -> None:
    providers = Providers({"transform-0": calls("toy.look")})
    hooks = providers.hooks(modes("transform", point=HookPoint.PRE_MODEL_CALL))
    end = await hooks.run(BeforeModel((says("own"),), "model"))
    assert providers.filed == [("transform-0", HookTrouble.INVALID_RESPONSE)]
    assert end.denied is not None


def test_pairing_asks_for_one_result_for_each_call_in_the_next_message() -> None:
    asks = calls("toy.a", "toy.b")
    first, second = (ToolResult(f"use-{number}", "toy.a", Success({})) for number in range(2))
    assert unpaired([asks, Message(Role.USER, (second, first))]) == ""
    assert unpaired([asks])
    assert unpaired([asks, Message(Role.USER, (first,))])
    assert unpaired([asks, Message(Role.USER, (first, first, second))])
    twice = Message(Role.ASSISTANT, (*asks.calls, asks.calls[0]))
    assert unpaired([twice, Message(Role.USER, (first, second, first))]) == ""
    assert unpaired([twice, Message(Role.USER, (first, second))])
    assert unpaired([Message(Role.USER, (first,))])


@pytest.mark.req("K26")
@pytest.mark.parametrize("point", [point for point in HookPoint if point not in FORBIDDABLE])
def test_a_veto_after_the_fact_is_refused_at_the_start(point: HookPoint) -> None:
    with pytest.raises(UsageError, match=point.value):
        told_apart(modes("veto", point=point))


def test_several_subscriptions_of_one_provider_are_told_apart() -> None:
    chain = [
        Subscription(HookPoint.PRE_TOOL_CALL, "audit", HookMode.VETO),
        Subscription(HookPoint.POST_TOOL_CALL, "audit", HookMode.OBSERVE),
        Subscription(HookPoint.POST_TOOL_CALL, "other", HookMode.OBSERVE),
    ]
    ids = [one.id for one in told_apart(chain)]
    assert ids == ["pre-tool-call.veto", "post-tool-call.observe", ""]
