"""A call that is another than it was takes the whole way again: who is asked, and how often."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from unit.turn.doubles import CONTEXT, FakeFrontend, FakeProviders, calls, operation, ports

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.hook import BeforeCall, HookEnd, HookPayload, PlanMade
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.render import RenderNode, TextNode
from pluggableharness.kernel.domain.verdict import (
    Decision,
    Opined,
    Opinion,
    Review,
    Reviewer,
    Verdict,
)
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.turn import run_turn

WRITE = operation("write", Kind.RESOURCE)
READ = operation("read")
ASK = Verdict(Decision.ASK, "rule r")
REVIEW = Verdict(Decision.ASK, "rule r", review=Review(Reviewer(profile="careful"), ASK))
PLACE = "/work/x"

Says = Callable[[str, Call], bool]
"""Whether one of those asked forbids a call."""


@dataclass
class Everyone:
    """All who have a say in a call; `no` makes them forbid it, `asked` is who was asked of what."""

    no: Says = lambda who, call: False
    asked: list[str] = field(default_factory=list)
    opinion: Decision = Decision.ASK

    def _forbids(self, who: str, call: Call) -> bool:
        self.asked.append(f"{who} {call.arguments.get('x', '')}".strip())
        return self.no(who, call)

    async def run(self, payload: HookPayload) -> HookEnd:
        match payload:
            case BeforeCall(call):
                who = "before"
            case PlanMade(plan):
                who, call = "plan", plan.items[0].call
            case _:
                return HookEnd(payload)
        forbids = self._forbids(who, call)
        return HookEnd(payload, Verdict(Decision.DENY, who, "no") if forbids else None)

    def decide(self, call: Call) -> Verdict:
        return Verdict(Decision.DENY, "policy", "no") if self._forbids("policy", call) else REVIEW

    async def review(self, call: Call, review: Review) -> Verdict:
        if self._forbids("reviewer", call):
            return Verdict(Decision.DENY, "reviewer", "no")
        opinion = Opinion(Opined(self.opinion.value), "so it is")
        return Verdict(self.opinion, "reviewer", opinion=opinion)

    def person(self, *answers: Answer) -> FakeFrontend:
        waiting = list(answers)

        def answer(item: PlanItem, changed: str) -> Answer:
            self._forbids("person", item.call)
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        return FakeFrontend(answer)

    def ports(
        self, name: str, *answers: Answer, providers: FakeProviders | None = None
    ) -> TurnPorts:
        given, *_ = ports(
            calls(name, arguments={"x": "old"}),
            providers=providers,
            frontend=self.person(*answers),
            decide=self.decide,
        )
        return replace(given, hooks=self, review=self.review)


EDIT = Answer(True, arguments={"x": "new"})
YES = Answer(True)


async def run(given: TurnPorts) -> Outcome:
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, (WRITE, READ))
    (result,) = (block for block in history[-1].blocks if isinstance(block, ToolResult))
    return result.outcome


@pytest.mark.req("K1", "K10", "K25")
@pytest.mark.parametrize("name", ["write", "read"])
async def test_an_edited_call_passes_all_that_a_call_passes_in_the_same_order(name: str) -> None:
    everyone = Everyone()
    assert isinstance(await run(everyone.ports(name, EDIT, YES)), Success)
    way = ["before", "policy", *(["plan"] if name == "write" else []), "reviewer", "person"]
    assert everyone.asked == [f"{who} {x}" for x in ("old", "new") for who in way]


@pytest.mark.req("K1", "K10", "K25", "K8")
@pytest.mark.parametrize(
    ("name", "who"),
    [
        *(("write", who) for who in ("before", "policy", "plan", "reviewer")),
        *(("read", who) for who in ("before", "policy", "reviewer")),
    ],
)
async def test_whoever_may_forbid_a_call_may_forbid_what_a_person_made_of_it(
    name: str, who: str
) -> None:
    everyone = Everyone(lambda asked, call: asked == who and call.arguments["x"] == "new")
    providers = FakeProviders()
    outcome = await run(everyone.ports(name, EDIT, YES, providers=providers))
    assert isinstance(outcome, Failure)
    assert outcome.message == f"Denied by {who}: no"
    assert everyone.asked.count("person old") == 1 and "person new" not in everyone.asked
    assert providers.trace == []


@pytest.mark.req("K8", "K10")
async def test_an_edit_that_a_reviewer_allows_is_shown_and_the_record_has_its_word() -> None:
    everyone = Everyone()
    given, _, record, _ = ports(
        calls("write", arguments={"x": "old"}),
        frontend=everyone.person(EDIT, Answer(False, "no more")),
        decide=everyone.decide,
    )

    async def review(call: Call, review: Review) -> Verdict:
        everyone.opinion = Decision.ALLOW if call.arguments["x"] == "new" else Decision.ASK
        return await everyone.review(call, review)

    outcome = await run(replace(given, review=review))
    assert isinstance(outcome, Failure) and outcome.message == "Denied by person: no more"
    verdicts = [v for kind, v in record.filed if kind == "decision" and isinstance(v, Verdict)]
    assert [(v.decision, v.decided_by) for v in verdicts] == [
        (Decision.ASK, "reviewer"),
        (Decision.ALLOW, "reviewer"),
        (Decision.DENY, "person"),
    ]


def ticking() -> Callable[[Call], RenderNode]:
    """Previews of which no two are the same."""
    ticks = count()
    return lambda call: TextNode(f"tick {next(ticks)}")


def wandering(given: TurnPorts) -> TurnPorts:
    """With a path that leads elsewhere at each look."""
    looks = count()

    async def locate(call: Call) -> Call:
        return replace(call, places={PLACE: f"/work/{next(looks)}"})

    return replace(given, locate=locate)


@pytest.mark.req("K10a", "K8", "K25")
@pytest.mark.parametrize("who", ["policy", "plan", "reviewer"])
@pytest.mark.parametrize("change", ["preview", "place"])
async def test_a_call_that_would_do_something_else_than_approved_is_put_to_all_again(
    who: str, change: str
) -> None:
    """Its preview, or where its paths lead, is what they judge by."""
    seen: list[str] = []

    def no(asked: str, call: Call) -> bool:
        seen.append(asked)
        return asked == who and "person" in seen

    everyone = Everyone(no)
    providers = FakeProviders()
    if change == "preview":
        providers.previews = ticking()
    given = everyone.ports("write", YES, providers=providers)
    outcome = await run(wandering(given) if change == "place" else given)
    assert isinstance(outcome, Failure) and outcome.message == f"Denied by {who}: no"
    assert seen.count("person") == 1 and providers.trace == []


@pytest.mark.req("K10a")
@pytest.mark.parametrize("name", ["write", "read"])
@pytest.mark.parametrize("change", ["preview", "place", "declaration"])
async def test_what_is_never_twice_the_same_ends_denied_however_often_it_is_approved(
    name: str, change: str
) -> None:
    everyone = Everyone()
    providers = FakeProviders(declared=change != "declaration")
    if change == "preview":
        providers.previews = ticking()
    given = everyone.ports(name, YES, providers=providers)
    outcome = await run(wandering(given) if change == "place" else given)
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("Denied by changed since it was approved: ")
    told = {
        "preview": "what this call would do has changed",
        "place": "leads to",
        "declaration": "the provider now declares this operation differently",
    }
    assert told[change] in outcome.message
    assert everyone.asked.count("person old") == 5
    assert providers.trace == []


@pytest.mark.req("K10a", "K27")
@pytest.mark.parametrize("name", ["write", "read"])
async def test_a_rule_that_lets_a_call_run_where_it_leads_now_is_the_one_in_the_record(
    name: str,
) -> None:
    def decide(call: Call) -> Verdict:
        return Verdict(Decision.ALLOW, f"rule for {call.places[PLACE]}")

    given, providers, record, _ = ports(calls(name), decide=decide)
    looks = iter(["/a", "/b", "/b", "/b"])

    async def locate(call: Call) -> Call:
        return replace(call, places={PLACE: next(looks)})

    assert isinstance(await run(replace(given, locate=locate)), Success)
    filed = [v for kind, v in record.filed if kind == "decision" and isinstance(v, Verdict)]
    assert [one.decided_by for one in filed] == ["rule for /a", "rule for /b"]
    assert providers.trace == [f"start {name}", f"end {name}"]


@pytest.mark.req("K10a")
async def test_a_rule_never_lets_a_call_run_that_leads_elsewhere_at_each_look() -> None:
    given, providers, *_ = ports(calls("write"))
    outcome = await run(wandering(given))
    assert isinstance(outcome, Failure) and "leads to" in outcome.message
    assert providers.trace == []
