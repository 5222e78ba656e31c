"""When a session has to end: bounds, the doom loop and the breaker, as pure decisions."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.planning.ends import PastCall, PastTurn, due_end

NOTHING = Spent()


def past(
    name: str = "toy.read", arguments: JsonObject | str | None = None, **how: bool
) -> PastCall:
    return PastCall(name, {"x": 1} if arguments is None else arguments, **how)


def status(turns: Sequence[PastTurn], bounds: Bounds | None = None) -> SessionStatus | None:
    stop = due_end(bounds or Bounds(), NOTHING, turns)
    return None if stop is None else stop.status


@pytest.mark.req("K20")
@pytest.mark.parametrize(
    ("bounds", "spent", "expected"),
    [
        (Bounds(max_turns=3), Spent(turns=3), SessionStatus.ERROR_MAX_TURNS),
        (Bounds(max_turns=3), Spent(turns=2, cost_usd=9, wall_clock_s=9), None),
        (Bounds(max_cost_usd=0.5), Spent(cost_usd=0.5), SessionStatus.ERROR_MAX_BUDGET_USD),
        (Bounds(max_cost_usd=0.5), Spent(99, 0.49, 99), None),
        (Bounds(max_wall_clock_s=60), Spent(wall_clock_s=60), SessionStatus.ERROR_MAX_WALL_CLOCK),
        (Bounds(max_wall_clock_s=60), Spent(99, 99, 59.9), None),
        (Bounds(), Spent(10**6, 10**6, 10**6), None),
    ],
)
def test_each_bound_is_reached_on_its_own(
    bounds: Bounds, spent: Spent, expected: SessionStatus | None
) -> None:
    stop = due_end(bounds, spent, [])
    assert (stop and stop.status) == expected


@pytest.mark.req("K18")
def test_the_same_call_three_times_in_a_row_ends_the_loop() -> None:
    assert status([[past()], [past()]]) is None
    assert status([[past()], [past()], [past()]]) is SessionStatus.FAILED
    assert status([[past(), past()], [past("toy.other"), past()], [past()]]) is None
    assert status([[past()] * 3]) is SessionStatus.FAILED
    assert status([[past()] * 4], Bounds(doom_loop=5)) is None
    assert status([[past()] * 5], Bounds(doom_loop=5)) is SessionStatus.FAILED
    assert status([[past()] * 9], Bounds(doom_loop=None)) is None


@pytest.mark.req("K18")
def test_questions_to_a_person_neither_repeat_nor_break_a_row_of_calls_that_do() -> None:
    asked = past("user.ask", interactive=True)
    assert status([[asked]] * 9) is None
    assert status([[past()], [asked], [past(), asked], [asked, past()]]) is SessionStatus.FAILED


@pytest.mark.req("K1", "K18", "K20")
def test_a_loop_is_told_before_the_bound_that_the_same_turn_reached() -> None:
    stop = due_end(Bounds(max_turns=3), Spent(turns=3), [[past()]] * 3)
    assert stop is not None
    assert stop.status is SessionStatus.FAILED
    assert "same call" in stop.reason


@pytest.mark.req("K18")
def test_arguments_are_compared_as_json() -> None:
    alike = [past(arguments={"a": 1, "b": [2]}), past(arguments='{"b": [2], "a": 1}')]
    assert status([[*alike, past(arguments={"b": [2], "a": 1})]]) is SessionStatus.FAILED
    assert status([[*alike, past(arguments={"b": [2], "a": True})]]) is None
    assert status([[past(arguments="no json")] * 3]) is SessionStatus.FAILED
    deep = "[" * 100_000
    assert status([[past(arguments=deep)] * 3]) is SessionStatus.FAILED


@pytest.mark.req("K19")
def test_three_turns_of_denials_in_a_row_break_the_session() -> None:
    denied = [past("toy.a", denied=True), past("toy.b", denied=True)]
    assert status([denied, denied]) is None
    assert status([denied, denied, denied]) is SessionStatus.FAILED
    assert status([denied, denied, [*denied, past("toy.c")]]) is None
    assert status([denied, denied, []]) is None


@pytest.mark.req("K19")
def test_a_denied_question_is_a_denied_call_and_an_answered_one_is_none() -> None:
    unasked = [past("user.ask", denied=True, interactive=True)]
    assert status([unasked] * 3) is SessionStatus.FAILED
    answered = [past("toy.a", denied=True), past("user.ask", interactive=True)]
    assert status([answered] * 3, Bounds(doom_loop=None)) is None


@pytest.mark.req("K19")
def test_three_crashes_of_one_provider_in_a_row_break_the_session() -> None:
    turns: list[PastTurn] = [[past(f"toy.{n}", crashed=True), past("ok.x")] for n in range(3)]
    assert status(turns[:2]) is None
    stop = due_end(Bounds(), NOTHING, turns)
    assert stop is not None
    assert "provider toy crashed" in stop.reason
    apart: list[PastTurn] = [turns[0], [past("ok.y")], turns[1], [past("ok.z")], turns[2]]
    assert status(apart) is SessionStatus.FAILED
    refused: list[PastTurn] = [turns[0], [past("toy.no", denied=True)], turns[1], turns[2]]
    assert status(refused) is SessionStatus.FAILED
    recovered: list[PastTurn] = [turns[0], turns[1], [past("toy.9")], turns[2]]
    assert status(recovered) is None
    answered = past("toy.ask", interactive=True)
    asked: list[PastTurn] = [[*turns[0], answered], [answered], [*turns[1], answered], turns[2]]
    assert status(asked) is SessionStatus.FAILED


@pytest.mark.req("K19")
def test_one_crash_that_ends_many_calls_at_once_is_one() -> None:
    assert status([[past(f"toy.{n}", crashed=True) for n in range(64)]]) is None


@pytest.mark.req("K18", "K19")
@given(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=8))
def test_calls_that_keep_changing_and_succeeding_never_end_a_session(
    numbers: list[list[int]],
) -> None:
    flat = iter(range(1000))
    turns = [[past(f"toy.{n}", arguments={"n": next(flat)}) for n in turn] for turn in numbers]
    assert status(turns) is None
