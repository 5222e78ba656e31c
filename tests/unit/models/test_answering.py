"""Asking again and asking another: pure logic over candidates, with time and chance given."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.models.vendors import ASKED, Listener
from unit.turn.doubles import operation, says

from pluggableharness.kernel.domain.message import ModelReply
from pluggableharness.kernel.models.answering import Answering, Asked, Pausing, Reach, TextHeard
from pluggableharness.kernel.models.fault import FaultKind, ModelFault
from pluggableharness.kernel.models.patience import PATIENT, Patience

TOOLS = (operation("look"),)
BUSY = ModelFault(FaultKind.PASSING, "it is busy")
LONG = ModelFault(FaultKind.TOO_LONG, "it is too long")
BAD_KEY = ModelFault(FaultKind.HOPELESS, "the key is wrong")


@dataclass
class Fake:
    """Plays faults and then messages; without any left it says its name."""

    name: str
    plays: list[ModelFault | str] = field(default_factory=list)
    window: int | None = None
    takes_tools: bool = True
    text_before_fault: str = ""
    asked: int = 0
    reached: int = 0
    told: list[str] = field(default_factory=list)

    async def reach(self) -> Reach:
        self.reached += 1
        return Reach(self.window, self.takes_tools)

    async def reply(self, asked: Asked, heard: TextHeard) -> ModelReply:
        self.asked += 1
        self.told.append(asked.instructions)
        played = self.plays.pop(0) if self.plays else self.name
        if isinstance(played, str):
            return ModelReply(says(played))
        if self.text_before_fault:
            await heard(self.text_before_fault)
        raise played


@dataclass
class Clock:
    """Time that only passes by being slept through."""

    slept: list[float] = field(default_factory=list)
    chance: float = 0.5

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @property
    def pausing(self) -> Pausing:
        return Pausing(self.sleep, lambda: self.chance)


async def asked(model: Answering, listener: Listener | None = None) -> str:
    reply = await model.reply([ASKED], TOOLS, listener or Listener())
    return reply.message.text


@pytest.mark.req("K32")
async def test_the_first_model_is_made_ready_without_being_asked_and_no_other_is() -> None:
    first, other = Fake("a"), Fake("b")
    await Answering([first, other]).prepare()
    assert (first.reached, first.asked, other.reached, other.asked) == (1, 0, 0, 0)


@pytest.mark.req("K21")
async def test_what_passes_is_asked_again_after_pauses_that_double() -> None:
    clock, listener = Clock(chance=1.0), Listener()
    model = Answering([Fake("a", [BUSY, BUSY, BUSY])], pausing=clock.pausing)
    assert await asked(model, listener) == "a"
    assert clock.slept == [1.0, 2.0, 4.0]
    assert listener.notices[0] == "it is busy. It is asked again in 1.0 s."
    assert len(listener.notices) == 3


@pytest.mark.req("K21")
async def test_what_was_never_reached_is_tried_twice_and_what_was_reached_once_as_all_else() -> (
    None
):
    gone = ModelFault(FaultKind.PASSING, "it cannot be reached", unreached=True)
    clock, model = Clock(), Fake("one", [gone] * 9)
    with pytest.raises(ModelFault, match=r"cannot be reached.*asked 2 times"):
        await asked(Answering([model], pausing=clock.pausing))
    assert model.asked == 2 and sum(clock.slept) <= 1.0
    model = Fake("one", ["here", *[gone] * 4, "back"])
    answering = Answering([model], pausing=clock.pausing)
    assert await asked(answering) == "here"
    assert await asked(answering) == "back"


@pytest.mark.req("K21")
async def test_the_limit_of_one_message_ends_it_and_the_reason_is_told() -> None:
    fake, clock = Fake("a", [BUSY] * 99), Clock()
    model = Answering([fake], Patience(retries=2), clock.pausing)
    with pytest.raises(ModelFault, match=r"^it is busy\. It was asked 3 times\.$"):
        await asked(model)
    assert fake.asked == 3


@pytest.mark.req("K21")
async def test_the_limit_of_the_session_holds_over_its_messages() -> None:
    fake, clock = Fake("a", [BUSY, "1", BUSY, "2", BUSY, "3"]), Clock()
    model = Answering([fake], Patience(session_retries=2), clock.pausing)
    assert [await asked(model), await asked(model)] == ["1", "2"]
    with pytest.raises(ModelFault, match="it is busy"):
        await asked(model)
    assert len(clock.slept) == 2


@pytest.mark.req("K21")
@pytest.mark.parametrize("fault", [BAD_KEY, LONG])
async def test_what_does_not_pass_is_not_asked_again(fault: ModelFault) -> None:
    fake, clock = Fake("a", [fault]), Clock()
    with pytest.raises(ModelFault, match=str(fault)):
        await asked(Answering([fake], pausing=clock.pausing))
    assert (fake.asked, clock.slept) == (1, [])


@pytest.mark.req("K21")
async def test_a_vendor_is_left_alone_for_as_long_as_it_wants_within_a_limit() -> None:
    soon = ModelFault(FaultKind.PASSING, "slow down", retry_after_s=40.0)
    late = ModelFault(FaultKind.PASSING, "slow down", retry_after_s=3600.0)
    clock = Clock(chance=0.0)
    assert await asked(Answering([Fake("a", [soon])], pausing=clock.pausing)) == "a"
    assert clock.slept == [40.0]
    with pytest.raises(ModelFault, match=r"slow down\. It wants to be left alone for 3600 s\."):
        await asked(Answering([Fake("a", [late])], pausing=clock.pausing))


@pytest.mark.req("K21")
@given(
    st.integers(1, 10**6),
    st.none() | st.floats(0, 10**6),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_pause_is_bounded_and_never_below_the_wish(
    attempt: int, wish: float | None, chance: float, other: float
) -> None:
    pause = PATIENT.pause_s(attempt, wish, chance)
    if wish is not None and wish > PATIENT.longest_asked_s:
        assert pause is None
        return
    assert pause is not None
    assert (wish or 0.0) <= pause <= max(PATIENT.longest_s, (wish or 0.0) + PATIENT.first_s)
    if wish is None:
        assert PATIENT.first_s / 2 <= pause
        elsewhere = PATIENT.pause_s(attempt, wish, other)
        assert elsewhere is not None
        assert (chance < other) <= (pause <= elsewhere)


@pytest.mark.req("K21")
async def test_text_of_a_message_that_broke_off_is_said_not_to_count() -> None:
    listener = Listener()
    fake = Fake("a", [BUSY], text_before_fault="half a")
    assert await asked(Answering([fake], pausing=Clock().pausing), listener) == "a"
    (notice,) = listener.notices
    assert notice.startswith("The message broke off, and what was shown of it does not count. ")


@pytest.mark.req("K17", "K21")
async def test_an_interrupt_ends_a_pause() -> None:
    waiting = asyncio.Event()

    async def forever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    fake = Fake("a", [BUSY])
    model = Answering([fake], pausing=Pausing(forever, lambda: 0.0))
    asking = asyncio.ensure_future(asked(model))
    await waiting.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert fake.asked == 1


@pytest.mark.req("F10")
@pytest.mark.parametrize("fault", [BUSY, BAD_KEY])
async def test_a_fallback_answers_when_the_first_cannot_and_it_is_told(fault: ModelFault) -> None:
    listener = Listener()
    first = Fake("a", [fault] * 2)
    model = Answering([first, Fake("b")], Patience(retries=1), Clock().pausing)
    assert await asked(model, listener) == "b"
    assert listener.notices[-1].endswith("For this turn b is to answer.")


@pytest.mark.req("F10")
async def test_every_turn_begins_with_the_first_whose_return_is_told() -> None:
    listener = Listener()
    first, second = Fake("a", [BAD_KEY, BAD_KEY, "back"]), Fake("b")
    model = Answering([first, second], pausing=Clock().pausing)
    said = [await asked(model, listener) for _ in range(3)]
    assert said == ["b", "b", "back"]
    assert [notice for notice in listener.notices if "is to answer" in notice] == [
        "the key is wrong. For this turn b is to answer."
    ], "the same reason is told once"
    assert listener.notices[-1] == "a answers again."


@pytest.mark.req("F10", "K21")
async def test_one_that_was_down_is_looked_at_once_and_not_waited_for_again() -> None:
    first, clock = Fake("a", [BUSY] * 99), Clock()
    model = Answering([first, Fake("b")], Patience(retries=3), clock.pausing)
    assert await asked(model) == "b"
    assert await asked(model) == "b"
    assert first.asked == 4 + 1


@pytest.mark.req("F10")
async def test_a_session_that_is_too_long_goes_to_a_larger_window_alone() -> None:
    small = Fake("a", [LONG], window=100)
    same, unknown = Fake("same", window=100), Fake("unknown")
    larger = Fake("larger", window=101)
    assert await asked(Answering([small, same, larger])) == "larger"
    assert same.asked == 0
    assert await asked(Answering([Fake("a", [LONG], window=100), same, unknown])) == "unknown"
    with pytest.raises(ModelFault, match="it is too long"):
        await asked(Answering([Fake("a", [LONG], window=100), same]))


@pytest.mark.req("F10")
async def test_where_tools_are_offered_a_fallback_takes_tools() -> None:
    without = Fake("without", takes_tools=False)
    assert await asked(Answering([Fake("a", [BAD_KEY]), without, Fake("with")])) == "with"
    reply = await Answering([Fake("a", [BAD_KEY]), without]).reply([ASKED], (), Listener())
    assert reply.message.text == "without"


@pytest.mark.req("F10", "K21")
async def test_when_none_answers_the_last_reason_is_given() -> None:
    model = Answering([Fake("a", [BUSY] * 9), Fake("b", [BAD_KEY])], Patience(retries=1),
                      Clock().pausing)  # fmt: skip
    with pytest.raises(ModelFault, match="the key is wrong"):
        await asked(model)


@pytest.mark.req("K1", "F10")
async def test_whoever_answers_is_told_the_same_and_it_is_settled_once_a_message() -> None:
    first, second = Fake("a", [BAD_KEY]), Fake("b")
    texts = iter(["one", "two"])
    model = Answering([first, second], instructions=lambda: next(texts))
    await asked(model)
    assert (first.told, second.told) == (["one"], ["one"])
    await asked(model)
    assert first.told == ["one", "two"]
