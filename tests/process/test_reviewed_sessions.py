"""Reviewers through a whole kernel: who decides, what the record says, and what it costs (K8)."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from family import LIMIT_S, Watching, Written, calls, failure, kernel, results, says

from pluggableharness.kernel import judging
from pluggableharness.kernel.codec.record_facts import read_decision
from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.message import Message, Role, Text
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Opined, Opinion, Reviewer, Verdict
from pluggableharness.kernel.models.reviewer import Doors
from pluggableharness.kernel.policy import Action, Rule
from pluggableharness.kernel.store.reading import read_events, read_spent

NO_ANSWER = {
    "hangs": ("import time; time.sleep(600)", "no answer within 2 s"),
    "ignores TERM": (
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)",
        "no answer within 2 s",
    ),
    "crashes": ("import os; os.abort()", "ended with signal SIGABRT"),
    "fails": ("raise SystemExit(7)", "ended with status 7"),
    "fails after an allow": (
        'print(\'{"decision": "allow"}\', flush=True); raise SystemExit(1)',
        "ended with status 1",
    ),
    "talks nonsense": ("print('sure, go ahead')", "no JSON object with a decision"),
    "says two things": ('print(\'{"decision": "allow"}\\n{"decision": "deny"}\')', "no JSON"),
    "says nothing": ("", "no JSON object with a decision"),
    "prints megabytes": ("while True: print('x' * 100_000)", "says more than 64 KiB"),
    "does not exist": (None, "cannot be started"),
}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pluggableharness" / "sessions"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviewers have two seconds instead of ninety."""
    monkeypatch.setattr(judging, "Doors", partial(Doors, limit_s=2.0))


def judged_by(reviewer: Reviewer) -> Rule:
    provider = frozenset(["nesting"])
    return Rule("judged", Action.REVIEW, provider=provider, reviewer=reviewer)


def program(code: str | None) -> Reviewer:
    if code is None:
        return Reviewer(command=("/does/not/exist",))
    return Reviewer(command=(sys.executable, "-c", code))


async def reviewed(
    directory: Path,
    reviewer: Reviewer,
    person: Watching,
    name: str = "nesting.change",
    *,
    allow_all: bool = False,
) -> Outcome:
    rules = (judged_by(reviewer),)
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(directory, rules=rules, allow_all=allow_all, gate_reads=True) as made,
        made.session(Written([calls(name)]), person) as session,
    ):
        await session.run("go")
    (outcome,) = results(session.history)
    return outcome


def verdicts(state: Path) -> list[Verdict]:
    """What the record of the one session says was decided."""
    (log,) = state.glob("*.sqlite")
    decisions = [
        read_decision(one.payload) for one in read_events(log) if one.kind == EventKind.DECISION
    ]
    return [one.verdict for one in decisions if one.verdict is not None]


@pytest.mark.req("K8")
@pytest.mark.parametrize("name", ["nesting.change", "nesting.look"])
@pytest.mark.parametrize("answer", [Opined.ALLOW, Opined.DENY])
async def test_what_a_reviewer_decides_holds_and_nobody_else_is_asked(
    tmp_path: Path, state: Path, answer: Opined, name: str
) -> None:
    person = Watching(attended=True)
    code = f"""print('{{"decision": "{answer.value}", "reason": "it is late"}}')"""
    outcome = await reviewed(tmp_path, program(code), person, name)
    assert person.asked == []
    last = verdicts(state)[-1]
    assert last.opinion is not None
    assert (last.opinion.answer, last.opinion.reason) == (answer, "it is late")
    assert last.decided_by.startswith("reviewer ")
    if answer is Opined.ALLOW:
        assert isinstance(outcome, Success)
    else:
        assert failure(outcome).message == f"Denied by {last.decided_by}: it is late"


@pytest.mark.req("K8", "K10")
@pytest.mark.parametrize("attended", [True, False])
async def test_a_reviewer_that_wants_it_asked_leads_to_the_person_or_to_a_denial(
    tmp_path: Path, state: Path, attended: bool
) -> None:
    person = Watching(attended=attended)
    code = """print('{"decision": "ask", "reason": "who knows"}')"""
    outcome = await reviewed(tmp_path, program(code), person)
    assert isinstance(outcome, Success) == attended
    assert len(person.asked) == attended
    (said,) = [one for one in verdicts(state) if one.opinion is not None]
    assert said.opinion is not None
    assert (said.opinion.answer, said.opinion.reason) == (Opined.ASK, "who knows")
    assert said.decision is (Decision.ASK if attended else Decision.DENY)


@pytest.mark.req("K8", "K10")
@pytest.mark.parametrize("answer", [Opined.ASK, Opined.DENY])
async def test_allow_all_answers_for_the_person_and_not_for_the_reviewer(
    tmp_path: Path, state: Path, answer: Opined
) -> None:
    person = Watching(attended=True)
    code = f"""print('{{"decision": "{answer.value}", "reason": "it is late"}}')"""
    outcome = await reviewed(tmp_path, program(code), person, allow_all=True)
    assert person.asked == []
    last = verdicts(state)[-1]
    assert last.opinion == Opinion(answer, "it is late")
    if answer is Opined.DENY:
        assert failure(outcome).message == f"Denied by {last.decided_by}: it is late"
    else:
        assert isinstance(outcome, Success)
        assert last.decided_by == "--allow-all"


@pytest.mark.req("K8", "K10")
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("attended", [True, False])
@pytest.mark.parametrize("how", NO_ANSWER)
async def test_no_answer_is_unavailable_which_the_record_keeps_apart_from_a_denial(
    tmp_path: Path, state: Path, how: str, attended: bool
) -> None:
    code, why = NO_ANSWER[how]
    person = Watching(attended=attended)
    outcome = await reviewed(tmp_path, program(code), person)
    (said,) = [one for one in verdicts(state) if one.opinion is not None]
    assert said.opinion is not None
    assert said.opinion.answer is Opined.UNAVAILABLE
    assert why in said.opinion.reason
    if attended:
        (item,) = person.asked
        assert "was unavailable" in item.verdict.reason
        assert isinstance(outcome, Success)
    else:
        assert said.downgraded_from is Decision.ASK
        assert "was unavailable" in failure(outcome).message
        assert failure(outcome).message.startswith("Denied by rule judged: ")


@asynccontextmanager
async def with_model(
    directory: Path, reviewer: Written, root: Written, person: Watching, **bounds: float
) -> AsyncIterator[tuple[list[Outcome], SessionStatus, Path]]:
    profiles = [Profile("careful", ())]
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            directory,
            profiles,
            {"careful": reviewer},
            rules=(judged_by(Reviewer(profile="careful")),),
            allow_all=False,
            bounds=Bounds(**bounds),  # type: ignore[arg-type]
        ) as made,
        made.session(root, person) as session,
    ):
        end = await session.run("go")
    (log,) = (directory / "state" / "pluggableharness" / "sessions").glob("*.sqlite")
    yield results(session.history), end.status, log


@pytest.mark.req("K8", "K20")
async def test_what_a_reviewing_model_costs_is_in_the_ledger_and_in_no_budget(
    tmp_path: Path,
) -> None:
    """The reviewer costs ten times the budget; the session ends as if it cost nothing."""
    reviewer = Written([says('{"decision": "allow", "reason": "fine"}')], cost_usd=10.0)
    root = Written([calls("nesting.change"), calls("nesting.change"), says("done")], cost_usd=0.1)
    made = with_model(tmp_path, reviewer, root, Watching(), max_cost_usd=1.0)
    async with made as (outcomes, status, log):
        assert all(isinstance(one, Success) for one in outcomes)
        assert status is SessionStatus.COMPLETED
        spent, _ = read_spent(log)
        assert spent == pytest.approx(0.3)
        ledger = sqlite3.connect(f"file:{log}?mode=ro", uri=True)
        query = "SELECT account, sum(cost_usd) FROM cost_ledger GROUP BY account"
        assert dict(ledger.execute(query)) == pytest.approx({"review": 20.0, "session": 0.3})
        ledger.close()


@pytest.mark.req("K8")
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("how", ["nonsense", "hangs", "a call of its own", "a person"])
async def test_a_reviewing_model_without_an_answer_leads_to_the_person(
    tmp_path: Path, state: Path, how: str
) -> None:
    async def never() -> object:
        await asyncio.Event().wait()
        raise AssertionError

    said: dict[str, object] = {
        "nonsense": says("I would say yes"),
        "hangs": never,
        "a call of its own": calls("nesting.look"),
        "a person": Message(Role.USER, (Text('{"decision": "allow", "reason": "fine"}'),)),
    }
    person = Watching(attended=True)
    reviewer = Written([said[how]])  # type: ignore[list-item]
    async with with_model(tmp_path, reviewer, Written([calls("nesting.change")]), person) as made:
        assert isinstance(made[0][0], Success)
    assert len(person.asked) == 1
    assert reviewer.offered == [[]], how
    answers = [one.opinion.answer for one in verdicts(state) if one.opinion]
    assert answers == [Opined.UNAVAILABLE]


@pytest.mark.req("K8", "K17")
async def test_an_interrupt_ends_a_session_whose_reviewer_thinks(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"import time; open({str(started)!r}, 'w').close(); time.sleep(600)"
    asking = asyncio.create_task(reviewed(tmp_path, program(code), Watching(attended=True)))
    async with asyncio.timeout(LIMIT_S):
        while not started.exists():
            await asyncio.sleep(0)
    asking.cancel()
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(asyncio.CancelledError):
            await asking
