"""Answers that never end: cut off before they fill the memory, and told as what they are (K21)."""

import gzip
from dataclasses import dataclass, replace

import pytest
from model_server import Call, ModelServer, Played, Reply
from unit.models.vendors import (
    ALL,
    ASKED,
    COMPATIBLE,
    TOOLS,
    Listener,
    Spoken,
    answering,
    one_reply,
)

from pluggableharness.kernel.models.fault import FaultKind, ModelFault

every_vendor = pytest.mark.parametrize("spoken", ALL, ids=lambda one: one.vendor.value)
TWO_MIB = ["x" * 2**16] * 32
MOST = 256


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte is enough to see it."""
    monkeypatch.setattr("pluggableharness.kernel.models.vendor.clients._MOST_MIB", 1)


@dataclass(frozen=True)
class Line(Reply):
    """A stream whose first line has not ended after two megabytes."""

    def blocks(self) -> list[str]:
        return ["data: ", *TWO_MIB]


@dataclass(frozen=True)
class Packed(Reply):
    """The same, and not a hundredth of it goes over the wire."""

    def blocks(self) -> list[str]:
        packed = gzip.compress("".join(Line().blocks()).encode())
        assert len(packed) < 10_000
        return [packed.decode(errors="surrogateescape")]


LONG = {
    "a line": Line(),
    "a packed line": Packed(headers={"Content-Encoding": "gzip"}),
    "an error": Reply(status=500, error={"message": "x" * 2**21}),
}


async def refused(spoken: Spoken, played: Played) -> ModelFault:
    """The fault that a reply ends with, which is asked for once."""
    with ModelServer([played]) as server:
        async with answering(spoken.choice(server)) as model:
            with pytest.raises(ModelFault) as raised:
                await model.reply([ASKED], TOOLS, Listener())
    assert len(server.requests) == 1
    assert raised.value.kind is FaultKind.HOPELESS
    return raised.value


@pytest.mark.req("K21", "F10")
@every_vendor
@pytest.mark.parametrize("played", LONG.values(), ids=LONG)
async def test_an_answer_that_brings_more_than_a_message_can_is_cut_off_and_not_asked_for_again(
    spoken: Spoken, played: Played
) -> None:
    fault = await refused(spoken, played)
    assert str(fault) == (
        f"{spoken.name} was cut off, since it sent more than 1 MiB in one message. Ask for less "
        "at once, or let another model answer."
    )


@pytest.mark.req("K21", "F10")
@pytest.mark.parametrize(
    "played",
    [
        Reply(TWO_MIB),
        Reply(calls=[Call("toy.look", raw="x" * 2**21)]),
        Reply(calls=[Call("toy.look", {"x": "y" * 2**15}, id=f"use-{n}") for n in range(64)]),
    ],
    ids=["text", "arguments", "calls"],
)
async def test_text_and_arguments_are_cut_off_as_well(played: Reply) -> None:
    assert "more than 1 MiB" in str(await refused(COMPATIBLE, played))


@pytest.mark.req("K36")
async def test_an_answer_that_was_packed_is_read_as_any() -> None:
    @dataclass(frozen=True)
    class Small(Reply):
        def blocks(self) -> list[str]:
            packed = gzip.compress("".join(super().blocks()).encode())
            return [packed.decode(errors="surrogateescape")]

    reply, _ = await one_reply(COMPATIBLE, Small("fine", headers={"Content-Encoding": "gzip"}))
    assert reply.message.text == "fine"


def many(count: int) -> Reply:
    return Reply(calls=[Call("toy.look", {"x": str(n)}, id=f"use-{n}") for n in range(count)])


@pytest.mark.req("K36", "K2")
async def test_all_the_calls_that_one_message_may_hold_arrive_in_their_order() -> None:
    reply, _ = await one_reply(COMPATIBLE, many(MOST))
    assert [call.arguments for call in reply.message.calls] == [{"x": str(n)} for n in range(MOST)]


@pytest.mark.req("K21", "F10")
async def test_a_message_of_more_calls_is_none_and_a_fallback_answers() -> None:
    listener = Listener()
    with ModelServer([many(MOST + 1), Reply("fine")]) as server:
        first = COMPATIBLE.choice(server)
        async with answering(first, replace(first, id="other")) as model:
            reply = await model.reply([ASKED], TOOLS, listener)
    assert reply.message.text == "fine"
    assert reply.message.calls == ()
    assert "was cut off, since it sent more than 256 calls and texts" in listener.notices[0]
