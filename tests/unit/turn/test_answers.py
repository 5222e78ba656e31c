"""Answers: edits that come back, answers that last, reviewers, and reads that are gated."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from unit.turn.doubles import ANYTHING, CONTEXT, FakeFrontend, calls, operation, ports

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.news import News, PlanReady
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Review, Reviewer, Verdict
from pluggableharness.kernel.turn.edits import told_edit
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.turn import run_turn

EDIT = operation("edit", Kind.RESOURCE)
READ = operation("read")
ASK = Verdict(Decision.ASK, "default for resource")
SCOPE = Scope("every edit", "", 'policy "granted" {}')


@dataclass
class FakeGrants:
    """Grants that cover every call, once there is one."""

    fails: bool = False
    given: list[tuple[Scope, Lasting]] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def count(self) -> int:
        return len(self.given)

    def scopes(self, call: Call) -> tuple[Scope, ...]:
        return (SCOPE,)

    def add(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        if self.fails:
            raise GrantNotKept("the file cannot be written")
        self.given.append((scope, lasting))
        self.more.set()

    async def beyond(self, count: int) -> None:
        await self.more.wait()

    def decide(self, call: Call) -> Verdict:
        return Verdict(Decision.ALLOW, "grant g") if self.given else ASK


async def run(given: TurnPorts) -> list[Outcome]:
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, (EDIT, READ))
    return [block.outcome for block in history[-1].blocks if isinstance(block, ToolResult)]


def answering(*answers: Answer) -> tuple[FakeFrontend, list[tuple[PlanItem, str]]]:
    """A frontend that gives these answers in turn, and what it was asked."""
    asked: list[tuple[PlanItem, str]] = []
    waiting = list(answers)

    def answer(item: PlanItem, changed: str) -> Answer:
        asked.append((item, changed))
        return waiting.pop(0)

    return FakeFrontend(answer), asked


@pytest.mark.req("K10")
async def test_an_edited_call_is_shown_again_and_runs_as_edited() -> None:
    frontend, asked = answering(Answer(True, arguments={"x": "new"}), Answer(True))
    given, providers, record, _ = ports(
        calls("edit", arguments={"x": "old"}), frontend=frontend, decide=lambda call: ASK
    )
    ran: list[object] = []

    async def behaviour(call: Call) -> Outcome:
        ran.append(call.arguments)
        return Success({})

    providers.behaviour = behaviour
    await run(given)
    assert [item.call.arguments for item, _ in asked] == [{"x": "old"}, {"x": "new"}]
    assert asked[1][1] == "its arguments were edited; this is what would run now"
    assert asked[0][0].call.id == asked[1][0].call.id
    assert ran == [{"x": "new"}]
    sent = [call for kind, call in record.filed if kind == "call"]
    assert [call.arguments for call in sent if isinstance(call, Call)] == [{"x": "new"}]


async def told(given: TurnPorts) -> tuple[Outcome, str]:
    """How the one call of a turn ended, and what the model reads beside that."""
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, (EDIT, READ))
    (result,) = (block for block in history[-1].blocks if isinstance(block, ToolResult))
    return result.outcome, result.note


@pytest.mark.req("K10")
@pytest.mark.parametrize("name", ["edit", "read"])
async def test_the_model_and_the_record_are_told_what_a_person_changed(name: str) -> None:
    """However often it was edited, and whether it was a resource or a gated read."""
    edits = (Answer(True, arguments={"x": "typo"}), Answer(True, arguments={"x": "new"}))
    frontend, _ = answering(*edits, Answer(True))
    given, _, record, _ = ports(
        calls(name, arguments={"x": "old"}), frontend=frontend, decide=lambda call: ASK
    )
    outcome, note = await told(given)
    assert isinstance(outcome, Success)
    assert note == (
        'A person changed the arguments of this call: x is now "new" (was "old"). '
        "This is what came of the call as it was changed."
    )
    verdicts = [v for kind, v in record.filed if kind == "decision" and isinstance(v, Verdict)]
    assert verdicts[-1] == Verdict(Decision.ALLOW, "person", edited=note)


@pytest.mark.req("K10")
async def test_a_call_that_is_denied_once_it_was_edited_is_told_as_edited() -> None:
    frontend, _ = answering(Answer(True, arguments={"x": "bad"}))
    given, *_ = ports(
        calls("edit", arguments={"x": "old"}),
        frontend=frontend,
        decide=lambda call: (
            Verdict(Decision.DENY, "rule never", "no") if call.arguments["x"] == "bad" else ASK
        ),
    )
    outcome, note = await told(given)
    assert isinstance(outcome, Failure)
    assert outcome.message == "Denied by rule never: no"
    assert 'x is now "bad" (was "old")' in note


@pytest.mark.req("K10")
async def test_an_edit_that_changes_nothing_in_the_end_is_not_told() -> None:
    edits = (Answer(True, arguments={"x": "new"}), Answer(True, arguments={"x": "old"}))
    frontend, _ = answering(*edits, Answer(True))
    given, *_ = ports(
        calls("edit", arguments={"x": "old"}), frontend=frontend, decide=lambda call: ASK
    )
    assert (await told(given))[1] == ""


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (
            Verdict(Decision.DENY, "rule never push", "ask ops"),
            "Denied by rule never push: ask ops",
        ),
        (Verdict(Decision.DENY, "rule bare"), "Denied by rule bare: no reason was given"),
    ],
)
async def test_the_model_reads_the_rule_and_the_reason_of_a_denial(
    verdict: Verdict, words: str
) -> None:
    given, *_ = ports(calls("edit"), decide=lambda call: verdict)
    outcome, note = await told(given)
    assert isinstance(outcome, Failure)
    assert (outcome.message, note) == (words, "")


@pytest.mark.req("K10")
async def test_the_model_reads_the_reason_that_a_person_gives() -> None:
    frontend, _ = answering(Answer(False, "use the staging host"))
    given, *_ = ports(calls("edit"), frontend=frontend, decide=lambda call: ASK)
    outcome, _ = await told(given)
    assert isinstance(outcome, Failure)
    assert outcome.message == "Denied by person: use the staging host"


@pytest.mark.req("K10")
def test_whatever_was_changed_of_the_arguments_is_named_and_bounded() -> None:
    written: JsonObject = {"same": 1, "old": "a" * 500, "gone": [1], "typed": 1}
    ran: JsonObject = {"same": 1, "old": "b" * 20_000, "typed": True, "new": {"k": "é"}}
    note = told_edit(written, ran)
    assert "same" not in note
    assert "gone is no longer given (was [1])" in note
    assert "typed is now true (was 1)" in note
    assert 'new is now {"k": "é"} (was not given)' in note
    assert "(502 characters)" in note
    assert "(20002 characters)" in note
    assert len(note) < 11_000


@pytest.mark.req("K10a")
async def test_arguments_that_a_frontend_changes_do_not_run_and_are_asked_about_again() -> None:
    asked: list[str] = []

    def answer(item: PlanItem, changed: str) -> Answer:
        asked.append(changed)
        if not changed:
            item.call.arguments["x"] = "swapped"  # type: ignore[index]  # what nobody may do
        return Answer(True)

    given, _, record, _ = ports(
        calls("edit", arguments={"x": "shown"}),
        frontend=FakeFrontend(answer),
        decide=lambda call: ASK,
    )
    outcome, _ = await told(given)
    assert isinstance(outcome, Success)
    assert asked == ["", "its arguments were changed meanwhile; these are the ones that were shown"]
    (sent,) = [call for kind, call in record.filed if kind == "call"]
    assert isinstance(sent, Call)
    assert sent.arguments == {"x": "shown"}


@pytest.mark.req("K10a")
@pytest.mark.parametrize("answers", [True, False])
async def test_arguments_changed_behind_a_rule_that_allowed_them_are_a_persons_matter(
    answers: bool,
) -> None:
    """Somebody who hears the news and holds the object, with a person there and without."""

    class Swapping(FakeFrontend):
        async def hear(self, news: News) -> None:
            if isinstance(news, PlanReady):
                news.plan.items[0].call.arguments["x"] = "swapped"  # type: ignore[index]

    asked: list[PlanItem] = []

    def answer(item: PlanItem, changed: str) -> Answer:
        asked.append(item)
        return Answer(True)

    frontend = Swapping(answer if answers else None)
    given, providers, record, _ = ports(calls("edit", arguments={"x": "a"}), frontend=frontend)
    await run(given)
    assert len(asked) == answers
    sent = [call.arguments for kind, call in record.filed if isinstance(call, Call)]
    assert sent == ([{"x": "a"}] if answers else [])
    assert bool(providers.trace) == answers


@pytest.mark.req("K10a")
async def test_who_proposed_a_call_cannot_change_it_while_the_question_is_open() -> None:
    arguments: dict[str, Any] = {"x": "shown", "deep": [{"y": 1}]}

    def answer(item: PlanItem, changed: str) -> Answer:
        arguments["x"], arguments["deep"][0]["y"] = "swapped", 2
        return Answer(True)

    open_edit = replace(EDIT, input_schema=ANYTHING)
    given, _, record, _ = ports(
        calls("edit", arguments=arguments), frontend=FakeFrontend(answer), decide=lambda call: ASK
    )
    await run_turn(given, CONTEXT, [], (open_edit,))
    (sent,) = [call for kind, call in record.filed if isinstance(call, Call)]
    assert sent.arguments == {"x": "shown", "deep": [{"y": 1}]}


@pytest.mark.req("K10", "P8")
async def test_an_edit_that_does_not_fit_the_schema_is_refused_and_asked_again() -> None:
    frontend, asked = answering(Answer(True, arguments={"x": 5}), Answer(False, "no"))
    given, *_ = ports(calls("edit"), frontend=frontend, decide=lambda call: ASK)
    (outcome,) = await run(given)
    assert "not taken over" in asked[1][1]
    assert asked[1][0].call.arguments == {}
    assert isinstance(outcome, Failure)


@pytest.mark.req("K10")
async def test_an_edit_is_judged_by_policy_and_cannot_get_past_a_deny() -> None:
    def decide(call: Call) -> Verdict:
        return Verdict(Decision.DENY, "rule never") if call.arguments.get("x") == "bad" else ASK

    frontend, asked = answering(Answer(True, arguments={"x": "bad"}))
    given, providers, _, _ = ports(calls("edit"), frontend=frontend, decide=decide)
    (outcome,) = await run(given)
    assert isinstance(outcome, Failure)
    assert "rule never" in outcome.message
    assert len(asked) == 1
    assert providers.trace == []


@pytest.mark.req("K10")
@pytest.mark.parametrize("lasting", [Lasting.SESSION, Lasting.ALWAYS])
async def test_a_new_grant_answers_every_waiting_item_that_it_covers(lasting: Lasting) -> None:
    grants = FakeGrants()
    waiting: list[PlanItem] = []
    all_wait = asyncio.Event()
    withdrawn: list[str] = []

    class OneAnswers(FakeFrontend):
        attended = True

        async def decide(self, item: PlanItem, changed: str) -> Answer | None:
            waiting.append(item)
            if len(waiting) == 3:
                all_wait.set()
            await all_wait.wait()
            if item is waiting[0]:
                return Answer(True, lasting=lasting, scope=item.scopes[0])
            try:
                await asyncio.Event().wait()
            finally:
                withdrawn.append(item.id)
            return None

    given, _, record, _ = ports(
        calls("edit", "edit", "edit"), frontend=OneAnswers(), decide=grants.decide
    )
    async with asyncio.timeout(10):
        outcomes = await run(replace(given, grants=grants))
    assert all(isinstance(outcome, Success) for outcome in outcomes)
    assert len(withdrawn) == 2
    assert ("grant", (SCOPE, lasting)) in record.filed
    verdicts = [v for kind, v in record.filed if kind == "decision" and isinstance(v, Verdict)]
    assert sorted(v.decided_by for v in verdicts) == ["grant g", "grant g", "person"]


@pytest.mark.req("K10")
async def test_an_answer_that_cannot_be_kept_is_no_answer() -> None:
    always = Answer(True, lasting=Lasting.ALWAYS, scope=SCOPE)
    frontend, asked = answering(always, Answer(False, "then not"))
    given, providers, record, _ = ports(calls("edit"), frontend=frontend, decide=lambda c: ASK)
    await run(replace(given, grants=FakeGrants(fails=True)))
    assert asked[1][1] == "the file cannot be written"
    assert providers.trace == []
    assert "grant" not in record.kinds()


@pytest.mark.req("K10")
async def test_a_scope_that_was_not_shown_is_not_granted() -> None:
    grants = FakeGrants()
    other = Answer(True, lasting=Lasting.SESSION, scope=Scope("all", "", ""))
    frontend, asked = answering(other, Answer(False))
    given, *_ = ports(calls("edit"), frontend=frontend, decide=grants.decide)
    await run(replace(given, grants=grants))
    assert "not offered" in asked[1][1]
    assert grants.given == []


@pytest.mark.req("K6")
@pytest.mark.parametrize("allowed", [True, False])
async def test_a_gated_read_waits_for_the_person(allowed: bool) -> None:
    frontend, asked = answering(Answer(allowed, "why"))
    given, providers, record, _ = ports(calls("read"), frontend=frontend, decide=lambda c: ASK)
    (outcome,) = await run(given)
    assert [item.call.operation.name for item, _ in asked] == ["read"]
    assert isinstance(outcome, Success) == allowed
    assert bool(providers.trace) == allowed
    verdicts = [v for kind, v in record.filed if kind == "decision" and isinstance(v, Verdict)]
    assert [v.decision for v in verdicts] == [
        Decision.ASK,
        Decision.ALLOW if allowed else Decision.DENY,
    ]


def reviewed(otherwise: Verdict) -> Verdict:
    review = Review(Reviewer(profile="careful"), otherwise)
    return Verdict(Decision.ASK, "rule review", review=review)


def with_reviewer(given: TurnPorts, answer: Callable[[Review], Verdict]) -> TurnPorts:
    async def review(call: Call, review: Review) -> Verdict:
        return answer(review)

    return replace(given, review=review)


@pytest.mark.req("K8")
@pytest.mark.parametrize("decision", [Decision.ALLOW, Decision.DENY])
async def test_a_reviewer_decides_in_the_persons_place(decision: Decision) -> None:
    frontend, asked = answering()
    given, providers, record, _ = ports(
        calls("edit"), frontend=frontend, decide=lambda call: reviewed(ASK)
    )
    verdict = Verdict(decision, "reviewer careful", "because")
    await run(with_reviewer(given, lambda review: verdict))
    assert asked == []
    assert ("decision", verdict) in record.filed
    assert bool(providers.trace) == (decision is Decision.ALLOW)


@pytest.mark.req("K8")
async def test_without_a_reviewer_the_person_is_asked_and_headless_it_is_a_denial() -> None:
    frontend, asked = answering(Answer(True))
    given, providers, _, _ = ports(
        calls("edit"), frontend=frontend, decide=lambda call: reviewed(ASK)
    )
    await run(given)
    assert len(asked) == 1
    assert providers.trace != []
    denied = Verdict(Decision.DENY, "rule review", downgraded_from=Decision.ASK)
    given, providers, *_ = ports(calls("edit"), decide=lambda call: reviewed(denied))
    await run(with_reviewer(given, lambda review: review.otherwise))
    assert providers.trace == []
