"""Replay equals live: what a frontend heard can be told again from the record alone (K30)."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_logs import SESSION, TOY
from unit.turn.doubles import FakeFrontend, FakeProviders, operation, ports

from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.message import Message, Role, Text
from pluggableharness.kernel.domain.news import CallEnded, CallStarted, News, TextDelta
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.frontends.json_shapes import shape
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.store.story import Prompted, story

OFFERED = (
    operation("read"),
    operation("write", Kind.RESOURCE, safe=False),
    operation("put", Kind.RESOURCE, key_fields=("x",)),
    operation("ask", Kind.INTERACTIVE),
)
_NAMES = st.sampled_from(["toy.read", "toy.write", "toy.put", "toy.ask", "toy.gone"])
_ARGUMENTS = st.dictionaries(st.sampled_from("xy"), st.text(max_size=5) | st.integers())
_CALLS = st.tuples(_NAMES, _ARGUMENTS)
_SESSIONS = st.lists(st.tuples(st.text(max_size=8), st.lists(_CALLS, max_size=5)), max_size=4)
_OUTCOMES = st.lists(
    st.one_of(
        st.builds(Success, st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2)),
        st.builds(
            Failure,
            st.sampled_from([ErrorCategory.EXECUTION_FAILED, ErrorCategory.UNKNOWN]),
            st.text(max_size=9),
        ),
    ),
    min_size=1,
    max_size=5,
)
_VERDICTS = st.lists(
    st.builds(Verdict, st.sampled_from(Decision), st.just("rule r"), st.text(max_size=9)),
    min_size=1,
    max_size=5,
)


def message(number: int, text: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> Message:
    proposed = [
        ProposedCall(f"{number}-{place}", name, arguments)
        for place, (name, arguments) in enumerate(calls)
    ]
    return Message(Role.ASSISTANT, (*([Text(text)] if text else []), *proposed))


class AlwaysGranting(SessionLog):
    """Files a grant with every decision: a row that is no news."""

    def decision(self, call: Call, verdict: Verdict) -> None:
        super().decision(call, verdict)
        self.grant(call, Scope("this call", "", 'policy "granted" {}'), Lasting.SESSION)


def unless_alone(item: PlanItem, changed: str) -> Answer:
    return Answer(len(item.call.arguments) != 1, "so")


async def live_and_told(
    said: list[Message],
    outcomes: list[Outcome],
    verdicts: list[Verdict],
    directory: Path,
    answers: Callable[[PlanItem, str], Answer] = unless_alone,
) -> tuple[list[News], list[News]]:
    left = list(outcomes)

    async def behave(call: Call) -> Outcome:
        left.append(left.pop(0))
        return left[-1]

    def decide(call: Call) -> Verdict:
        verdict = verdicts[len(repr(sorted(call.arguments))) % len(verdicts)]
        gated = call.operation.kind is Kind.RESOURCE or verdict.decision is not Decision.ASK
        return verdict if gated else Verdict(Decision.ALLOW, "read")

    frontend = FakeFrontend(answers=answers, interactive_answer={"said": "yes"})
    providers = FakeProviders(behave, previews=lambda call: TextNode(call.operation.name))
    bound, *_ = ports(*said, providers=providers, frontend=frontend, decide=decide)
    log = EventLog.create(directory, SESSION)
    record = AlwaysGranting(log, lambda provider: replace(TOY, name=provider))
    session = Session(SESSION, "/work", OFFERED, replace(bound, record=record), record)
    await session.run("go")
    await log.close()
    pieces = [told.piece for told in story(read_events(log.path))]
    heard: list[News] = [news for news in frontend.heard if not isinstance(news, TextDelta)]
    return heard, [piece for piece in pieces if not isinstance(piece, Prompted)]


def by_call(news: list[News]) -> dict[Any, list[Any]]:
    """Shapes by the call that they are about: between calls that run at once no order is
    promised, since news of one may wait for the disk while the other's is told."""
    found: dict[Any, list[Any]] = {}
    for one in news:
        told = shape(one)  # type: ignore[arg-type]
        found.setdefault(told.get("call_id"), []).append(told)
    return found


@pytest.mark.req("K30")
@settings(deadline=None, max_examples=60)
@given(_SESSIONS, _OUTCOMES, _VERDICTS)
def test_a_replay_equals_what_was_heard_live(
    spoken: list[tuple[str, list[tuple[str, dict[str, Any]]]]],
    outcomes: list[Outcome],
    verdicts: list[Verdict],
) -> None:
    said = [message(number, text, calls) for number, (text, calls) in enumerate(spoken)]
    with tempfile.TemporaryDirectory() as directory:
        heard, told = asyncio.run(
            live_and_told(said, outcomes, verdicts, Path(directory) / "sessions")
        )
    assert by_call(told) == by_call(heard)


@pytest.mark.req("K10", "K30")
async def test_of_an_edited_call_is_told_what_ran_and_not_what_was_proposed(tmp_path: Path) -> None:
    def edit(item: PlanItem, changed: str) -> Answer:
        edited = item.call.arguments == {"x": "edited"}
        return Answer(True) if edited else Answer(True, arguments={"x": "edited"})

    said = [message(0, "", [("toy.write", {"x": "proposed"})]), message(1, "done", [])]
    asks = [Verdict(Decision.ASK, "rule r")]
    live, told = await live_and_told(said, [Success({})], asks, tmp_path, edit)
    for news in (live, told):
        ran = [one.call.arguments for one in news if isinstance(one, CallStarted | CallEnded)]
        assert ran == [{"x": "edited"}] * 2
