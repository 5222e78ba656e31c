"""The spans of a session, from what passes through its ports (K31)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from unit.turn.doubles import (
    CONTEXT,
    FakeFrontend,
    FakeProviders,
    allow,
    ask_resources,
    calls,
    operation,
    ports,
    says,
)

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.hook import HookEnd, HookPayload, HookPoint
from pluggableharness.kernel.domain.message import Message
from pluggableharness.kernel.domain.news import SessionEnded
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Review, Reviewer, Verdict
from pluggableharness.kernel.telemetry.session import Traces
from pluggableharness.kernel.telemetry.spans import Attribute, Span
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.turn import run_turn

READ = operation("read")
WRITE = operation("write", Kind.RESOURCE)
ASK = operation("ask", Kind.INTERACTIVE)
OFFERED = (READ, WRITE, ASK)


@dataclass
class Noted:
    """A span as it was told."""

    name: str
    above: "Noted | None"
    attributes: dict[str, Attribute]
    failed: str = ""
    ended: int = 0

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        assert not self.ended
        self.attributes.update(attributes)

    def fail(self, why: str) -> None:
        assert not self.ended
        self.failed = why

    def end(self) -> None:
        self.ended += 1

    @property
    def path(self) -> str:
        """Its name behind those above it."""
        return f"{self.above.path} > {self.name}" if self.above else self.name


@dataclass
class Notes:
    """A tracer that keeps what it is told, in the order in which spans began."""

    spans: list[Noted] = field(default_factory=list)

    def start(self, name: str, above: Span | None, attributes: Mapping[str, Attribute]) -> Noted:
        assert above is None or isinstance(above, Noted)
        self.spans.append(Noted(name, above, dict(attributes)))
        return self.spans[-1]

    async def close(self) -> None:
        pass

    def named(self, name: str) -> list[Noted]:
        return [span for span in self.spans if span.name == name]

    @property
    def paths(self) -> list[str]:
        return [span.path for span in self.spans]


@dataclass
class Chain:
    """Hooks of which every point says the same."""

    denied: Verdict | None = None

    async def run(self, payload: HookPayload) -> HookEnd:
        return HookEnd(payload, self.denied)


async def traced(
    given: TurnPorts, points: frozenset[HookPoint] = frozenset(), times: int = 1
) -> Notes:
    """What a session notes whose turns run one after another."""
    notes, history = Notes(), list[Message]()
    with Traces(lambda: notes, points).session(given, "session", "coder") as watched:
        for number in range(times):
            context = replace(CONTEXT, turn_id=f"turn-{number}")
            await run_turn(watched, context, history, OFFERED)
    assert all(span.ended == 1 for span in notes.spans)
    return notes


@pytest.mark.req("K31")
async def test_each_step_of_a_turn_is_a_span_below_it_and_the_turn_below_the_session() -> None:
    frontend = FakeFrontend(answers=lambda item, changed: Answer(True))
    made, *_ = ports(calls("read", "write"), frontend=frontend, decide=ask_resources)
    every = frozenset(HookPoint)
    notes = await traced(replace(made, hooks=Chain()), every)
    turn = "invoke_agent coder > turn"
    assert notes.paths == [
        "invoke_agent coder",
        turn,
        f"{turn} > hook pre-model-call",
        f"{turn} > chat list",
        f"{turn} > hook post-model-response",
        f"{turn} > hook pre-tool-call",
        f"{turn} > hook pre-tool-call",
        f"{turn} > wait_for_lock",
        f"{turn} > execute_tool toy.read",
        f"{turn} > hook plan-ready",
        f"{turn} > wait_for_person",
        f"{turn} > wait_for_lock",
        f"{turn} > execute_tool toy.write",
        f"{turn} > hook post-tool-call",
        f"{turn} > hook post-tool-call",
        f"{turn} > hook post-apply",
    ]
    assert not any(span.failed for span in notes.spans)


@pytest.mark.req("K31", "P7")
async def test_what_belongs_to_a_call_carries_the_ids_of_session_turn_and_call() -> None:
    frontend = FakeFrontend(answers=lambda item, changed: Answer(True))
    made, _, record, _ = ports(calls("write"), frontend=frontend, decide=ask_resources)
    notes = await traced(replace(made, hooks=Chain()), frozenset(HookPoint))
    (call,) = [filed for kind, filed in record.filed if kind == "call"]
    assert isinstance(call, Call)
    hooks = ("hook pre-tool-call", "hook post-tool-call")
    for name in ("wait_for_person", "wait_for_lock", "execute_tool toy.write", *hooks):
        (span,) = notes.named(name)
        assert span.attributes["harness.session.id"] == "session"
        assert span.attributes["harness.turn.id"] == "turn-0"
        assert span.attributes["harness.call.id"] == call.id
        assert span.attributes["gen_ai.tool.name"] == "toy.write"
        assert span.attributes["harness.operation.kind"] == "resource"


@pytest.mark.req("K31", "P17")
async def test_each_attempt_at_a_call_is_a_span_with_its_category(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "pluggableharness.kernel.turn.calls.retry_delay",
        lambda operation, outcome, *limits: None if isinstance(outcome, Success) else 0.0,
    )
    left: list[Outcome] = [
        Failure(ErrorCategory.TIMEOUT, "the secret", retryable=True),
        Success({}),
    ]

    async def behave(call: Call) -> Outcome:
        return left.pop(0)

    made, *_ = ports(calls("read"), providers=FakeProviders(behave))
    notes = await traced(made)
    attempts = notes.named("execute_tool toy.read")
    assert [(one.attributes["harness.attempt"], one.failed) for one in attempts] == [
        (1, "timeout"),
        (2, ""),
    ]
    assert "the secret" not in repr(notes)


@pytest.mark.req("K31")
async def test_calls_that_are_never_sent_are_there_with_their_category_and_no_words() -> None:
    made, *_ = ports(
        calls("write", "gone", arguments={"x": "the secret"}),
        decide=lambda call: Verdict(Decision.DENY, "a rule", "the secret"),
    )
    notes = await traced(made)
    (refused,), (denied,) = notes.named("execute_tool"), notes.named("execute_tool toy.write")
    assert (refused.failed, denied.failed) == ("not_found", "permission_denied")
    assert denied.attributes["harness.attempt"] == 0
    assert "the secret" not in repr(notes)
    assert "toy.gone" not in repr(notes)


@pytest.mark.req("K31")
async def test_an_interactive_call_holds_the_wait_for_the_person() -> None:
    made, *_ = ports(
        calls("ask"),
        frontend=FakeFrontend(lambda item, changed: None, interactive_answer={"a": "the secret"}),
    )
    notes = await traced(made)
    assert notes.paths[-1].endswith("turn > execute_tool toy.ask > wait_for_person")
    assert "the secret" not in repr(notes)


@pytest.mark.req("K31")
async def test_a_hook_chain_that_nobody_subscribed_to_is_no_span_and_a_denial_is_one() -> None:
    denied = Verdict(Decision.DENY, "hook", "no")
    made, *_ = ports(calls("read"))
    points = frozenset({HookPoint.PRE_MODEL_CALL})
    notes = await traced(replace(made, hooks=Chain()), points)
    assert [span.name for span in notes.spans if span.name.startswith("hook")] == [
        "hook pre-model-call"
    ]
    with pytest.raises(Exception, match="not asked"):
        await traced(replace(made, hooks=Chain(denied)), points)


@pytest.mark.req("K31", "K8")
async def test_a_review_is_a_span() -> None:
    async def review(call: Call, review_of: Review) -> Verdict:
        return Verdict(Decision.ALLOW, "reviewer")

    asking = Review(Reviewer("someone"), Verdict(Decision.DENY, "nobody"))
    made, *_ = ports(
        calls("write"), decide=lambda call: Verdict(Decision.ASK, "rule", review=asking)
    )
    notes = await traced(replace(made, review=review))
    (span,) = notes.named("review")
    assert span.attributes["harness.decision"] == "allow"


@pytest.mark.req("K31", "K34")
async def test_turns_of_one_session_that_run_at_once_keep_their_own_spans() -> None:
    both, notes = asyncio.Barrier(2), Notes()

    async def meet(call: Call) -> Outcome:
        await both.wait()
        return Success({})

    made, *_ = ports(calls("read"), providers=FakeProviders(meet))
    with Traces(lambda: notes).session(made, "session", "coder") as watched:

        async def turn(turn_id: str) -> None:
            await run_turn(watched, CallContext("session", turn_id, "/work"), [], OFFERED)

        async with asyncio.timeout(30):
            await asyncio.gather(turn("one"), turn("two"))
    for span in notes.named("execute_tool toy.read"):
        assert span.above is not None
        assert span.above.name == "turn"
        assert span.above.attributes["harness.turn.id"] == span.attributes["harness.turn.id"]
    assert len({span.attributes["harness.turn.id"] for span in notes.named("turn")}) == 2


@pytest.mark.req("K31", "K17")
async def test_what_is_cancelled_ends_as_cancelled() -> None:
    runs = asyncio.Event()

    async def stay(call: Call) -> Outcome:
        runs.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")

    made, *_ = ports(calls("read"), providers=FakeProviders(stay))
    notes = Notes()

    async def session() -> None:
        with Traces(lambda: notes).session(made, "session", "coder") as watched:
            await run_turn(watched, CONTEXT, [], OFFERED)

    running = asyncio.create_task(session())
    async with asyncio.timeout(30):
        await runs.wait()
        running.cancel()
        await asyncio.wait([running])
    ends = {span.name: (span.failed, span.ended) for span in notes.spans}
    assert ends["execute_tool toy.read"] == ends["turn"] == ("cancelled", 1)
    assert ends["invoke_agent coder"] == ("cancelled", 1)


@pytest.mark.req("K31", "K22")
async def test_a_childs_session_is_below_the_call_that_waits_for_it() -> None:
    notes = Notes()
    traces = Traces(lambda: notes)
    child, *_ = ports(says("done"))

    async def spawn(call: Call) -> Outcome:
        with traces.session(child, "child", "leaf", "session", frozenset({call.id})) as watched:
            await run_turn(watched, CallContext("child", "below", "/work"), [], OFFERED)
        return Success({})

    made, *_ = ports(calls("write"), providers=FakeProviders(spawn))
    with traces.session(made, "session", "coder") as watched:
        await run_turn(watched, CONTEXT, [], OFFERED)
        two = frozenset({"one call", "another"})
        with traces.session(child, "other", "leaf", "session", two):
            pass
    first, second = notes.named("invoke_agent leaf")
    assert first.path.endswith("execute_tool toy.write > invoke_agent leaf")
    assert second.path == "invoke_agent coder > invoke_agent leaf"
    (below,) = [span for span in notes.spans if span.attributes.get("harness.turn.id") == "below"
                and span.name == "turn"]  # fmt: skip
    assert below.above is first


@pytest.mark.req("K31")
@pytest.mark.parametrize("status", list(SessionStatus))
async def test_a_session_says_how_it_ended(status: SessionStatus) -> None:
    made, *_ = ports()
    notes = Notes()
    with Traces(lambda: notes).session(made, "session", "coder") as watched:
        await watched.frontend.hear(SessionEnded(SessionEnd("session", status, "the secret")))
    (root,) = notes.spans
    assert root.attributes["harness.status"] == status.value
    assert root.failed == ("" if status is SessionStatus.COMPLETED else status.value)
    assert "the secret" not in repr(notes)


@pytest.mark.req("K31", "K10a")
async def test_a_wrapped_port_is_the_port_that_it_wraps() -> None:
    frontend = FakeFrontend(answers=lambda item, changed: Answer(True))
    providers = FakeProviders()
    made, *_ = ports(calls("write"), says("done"), frontend=frontend, providers=providers,
                     decide=allow)  # fmt: skip
    notes = await traced(made, times=2)

    assert providers.trace == ["start write", "end write"]
    assert len(notes.named("turn")) == 2
    assert [type(news).__name__ for news in frontend.heard][-1] == "MessageArrived"


@pytest.mark.req("K31")
async def test_without_a_tracer_the_ports_are_what_they_were() -> None:
    made, *_ = ports()
    traces = Traces(None)
    with traces.session(made, "session", "coder") as watched:
        assert watched is made
    await traces.close()
