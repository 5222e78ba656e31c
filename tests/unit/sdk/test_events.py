"""The events before a call's end: their order, what is refused, how output is bundled."""

import asyncio
from typing import Any, Literal

import pytest

from pluggableharness.sdk import Category, Context, Misuse, Provider
from pluggableharness.sdk.events import (
    Event,
    ExitStatus,
    OutputChunk,
    PartialResult,
    Progress,
    Result,
)
from pluggableharness.sdk.outlet import HOLD_BYTES, MAX_CHUNK_BYTES
from pluggableharness.sdk.stream import EventStream
from pluggableharness.sdk.testing import Outcome, opened

WAIT = 5.0


def provider_of(function: Any, streaming: bool = True) -> Provider[None]:
    provider = Provider("sample", version="1")
    function.__doc__ = "Act."
    provider.resource(risk="low", name="act", streaming=streaming)(function)
    return provider


async def outcome_of(function: Any, streaming: bool = True) -> Outcome:
    async with opened(provider_of(function, streaming)) as tool:
        return await tool("act")


@pytest.mark.req("P10", "P32")
async def test_events_arrive_as_sent_and_the_result_is_last() -> Any:
    async def act(ctx: Context[None]) -> dict[str, Any]:
        await ctx.output(b"one")
        await ctx.progress("half", 0.5)
        await ctx.output(b"two", "stderr")
        await ctx.output(b"three")
        await ctx.partial({"hit": 1})
        await ctx.exit_status(137, "SIGKILL")
        await ctx.progress("done")
        return {"ok": True}

    outcome = await outcome_of(act)
    assert outcome.events == [
        OutputChunk(b"one", "stdout"),
        Progress("half", 0.5),
        OutputChunk(b"two", "stderr"),
        OutputChunk(b"three", "stdout"),
        PartialResult({"hit": 1}),
        ExitStatus(137, "SIGKILL"),
        Progress("done"),
        Result({"ok": True}),
    ]
    assert outcome.output() == b"onetwothree"
    assert outcome.output("stderr") == b"two"


MISUSES = {
    "a second exit status": (
        lambda ctx: ctx.exit_status(0),
        "ctx.exit_status() of act: a call has one exit status, and it was sent",
    ),
    "an exit status out of range": (
        lambda ctx: ctx.exit_status(2**31),
        "ctx.exit_status() of act: ",
    ),
    "a fraction above one": (
        lambda ctx: ctx.progress("x", 1.01),
        "ctx.progress() of act: the fraction is 1.01, expected 0 to 1",
    ),
    "a fraction below zero": (
        lambda ctx: ctx.progress("x", -0.1),
        "ctx.progress() of act: the fraction is -0.1, expected 0 to 1",
    ),
    "a fraction that is no number": (
        lambda ctx: ctx.progress("x", float("nan")),
        "ctx.progress() of act: the fraction is nan, expected 0 to 1",
    ),
    "a fraction that is text": (
        lambda ctx: ctx.progress("x", "1"),
        "ctx.progress() of act: the fraction is '1', expected 0 to 1",
    ),
    "no message": (
        lambda ctx: ctx.progress(None),
        "ctx.progress() of act: expected a message, got NoneType",
    ),
    "an unknown stream": (
        lambda ctx: ctx.output(b"x", "stdin"),
        "ctx.output() of act: the stream is 'stdin', expected stdout or stderr",
    ),
    "output that is text": (
        lambda ctx: ctx.output("x"),
        "ctx.output() of act: expected bytes, got str",
    ),
    "a partial result that is a list": (
        lambda ctx: ctx.partial([1]),
        "ctx.partial() of act: expected an object, got list",
    ),
    "a partial result that JSON does not have": (
        lambda ctx: ctx.partial({"a": {1}}),
        "ctx.partial() of act: a: a set is no JSON value",
    ),
}


@pytest.mark.req("P10", "P11", "P32")
@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES.keys())
async def test_a_broken_event_is_told_to_the_author_and_never_sent(misuse: Any) -> Any:
    use, message = misuse
    sent = []

    async def act(ctx: Context[None]) -> dict[str, Any]:
        await ctx.exit_status(0)
        await use(ctx)
        return {}

    async with opened(provider_of(act)) as tool:
        call = tool.start("act")
        with pytest.raises(Misuse) as told:
            await call
        sent += call.events
    assert str(told.value).startswith(message)
    assert sent == [ExitStatus(0)]


@pytest.mark.req("P11")
@pytest.mark.parametrize(
    "use",
    [
        lambda ctx: ctx.output(b"x"),
        lambda ctx: ctx.progress("x"),
        lambda ctx: ctx.partial({}),
        lambda ctx: ctx.exit_status(0),
    ],
    ids=["output", "progress", "partial", "exit_status"],
)
async def test_an_operation_that_is_not_declared_to_stream_sends_nothing_before_its_end(
    use: Any,
) -> Any:
    async def act(ctx: Context[None]) -> dict[str, Any]:
        await use(ctx)
        return {}

    with pytest.raises(Misuse, match="of act: it is declared without streaming=True"):
        await outcome_of(act, streaming=False)


@pytest.mark.req("P10", "P11")
async def test_nothing_can_be_sent_after_the_function_returned() -> Any:
    told = asyncio.get_running_loop().create_future()
    returned = asyncio.Event()

    async def late(ctx: Context[Any]) -> None:
        await returned.wait()
        try:
            await ctx.output(b"late")
        except Misuse as misuse:
            told.set_result(str(misuse))

    tasks = []

    async def act(ctx: Context[None]) -> dict[str, Any]:
        tasks.append(asyncio.create_task(late(ctx)))
        await ctx.output(b"in time")
        return {}

    outcome = await outcome_of(act)
    returned.set()
    async with asyncio.timeout(WAIT):
        assert await told == "ctx.output() of act: the function has returned"
    assert outcome.events == [OutputChunk(b"in time", "stdout"), Result({})]


@pytest.mark.req("P10")
async def test_output_that_is_held_back_goes_before_the_end_of_a_call_that_fails() -> None:
    async def act(ctx: Context[None]) -> dict[str, Any]:
        await ctx.output(b"first")
        await ctx.output(b"held")
        raise OSError("broken")

    outcome = await outcome_of(act)
    assert outcome.output() == b"firstheld"
    assert outcome.failure.category is Category.UNKNOWN
    assert outcome.events[-1] is outcome.failure


class Consumer:
    """Takes events, as slowly as a test wants."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.busy = False
        self.free = asyncio.Event()
        self.free.set()
        self.arrived = asyncio.Event()

    async def send(self, event: Event) -> None:
        assert not self.busy, "two events are sent at once, which gRPC does not take"
        self.busy = True
        await self.free.wait()
        await asyncio.sleep(0)
        self.events.append(event)
        self.arrived.set()
        self.busy = False

    @property
    def chunks(self) -> list[OutputChunk]:
        return [event for event in self.events if isinstance(event, OutputChunk)]

    @property
    def sizes(self) -> list[int]:
        return [len(chunk.data) for chunk in self.chunks]


@pytest.fixture
async def consumer() -> Consumer:
    return Consumer()


@pytest.fixture
async def stream(consumer: Consumer) -> EventStream:
    return EventStream("act", True, consumer.send)


@pytest.mark.req("P14")
async def test_many_small_chunks_travel_in_few_messages(
    stream: EventStream, consumer: Consumer
) -> None:
    for number in range(1000):
        await stream.output(b"%06d\n" % number, "stdout")
    await stream.finish()
    data = b"".join(chunk.data for chunk in consumer.chunks)
    assert data == b"".join(b"%06d\n" % number for number in range(1000))
    assert len(consumer.events) < 100


@pytest.mark.req("P14")
async def test_the_first_small_chunk_leaves_at_once_and_the_next_without_being_asked(
    stream: EventStream, consumer: Consumer
) -> None:
    await stream.output(b"a", "stdout")
    assert consumer.sizes == [1]
    consumer.arrived.clear()
    await stream.output(b"b", "stdout")
    assert consumer.sizes == [1]
    async with asyncio.timeout(WAIT):
        await consumer.arrived.wait()
    assert consumer.sizes == [1, 1]


@pytest.mark.req("P10", "P14")
async def test_a_large_chunk_leaves_at_once_behind_what_was_held(
    stream: EventStream, consumer: Consumer
) -> None:
    await stream.output(b"a", "stdout")
    await stream.output(b"b", "stdout")
    await stream.output(b"c" * 65536, "stdout")
    assert consumer.sizes == [1, 1, 65536]


@pytest.mark.req("P14")
async def test_a_huge_chunk_is_cut_to_what_any_receiver_takes(
    stream: EventStream, consumer: Consumer
) -> None:
    await stream.output(memoryview(b"x" * (2 * MAX_CHUNK_BYTES + 5)), "stdout")
    assert consumer.sizes == [MAX_CHUNK_BYTES, MAX_CHUNK_BYTES, 5]


@pytest.mark.req("P10", "P14")
async def test_streams_are_never_mixed_in_a_bundle(stream: EventStream, consumer: Consumer) -> None:
    for number in range(50):
        await stream.output(b"o%d" % number, "stdout")
        await stream.output(b"e%d" % number, "stderr")
        await stream.output(b"e-%d" % number, "stderr")
    await stream.finish()
    written = [(chunk.stream, chunk.data) for chunk in consumer.chunks]
    joined = b"|".join(data for _, data in written)
    assert joined == b"|".join(b"o%d|e%de-%d" % (n, n, n) for n in range(50))
    assert [stream for stream, _ in written] == ["stdout", "stderr"] * 50


@pytest.mark.req("P14")
async def test_a_slow_consumer_holds_the_function_up_and_no_more_than_a_bundle_is_kept(
    stream: EventStream, consumer: Consumer
) -> None:
    await stream.output(b"first", "stdout")
    consumer.free.clear()
    sent = 0

    async def produce() -> None:
        nonlocal sent
        while sent < 100 * HOLD_BYTES:
            await stream.output(b"x" * 1024, "stdout")
            sent += 1024

    producing = asyncio.create_task(produce())
    # With nothing to wait for but the consumer, the loop soon has nothing left to do.
    for _ in range(1000):
        await asyncio.sleep(0)
    assert sent <= HOLD_BYTES + 1024
    stuck = sent
    consumer.free.set()
    async with asyncio.timeout(WAIT):
        while sent < 10 * stuck + HOLD_BYTES:
            await asyncio.sleep(0)
    producing.cancel()


@pytest.mark.req("P10")
async def test_output_of_several_tasks_arrives_whole(
    stream: EventStream, consumer: Consumer
) -> None:
    async def write(name: bytes, stream_name: Literal["stdout", "stderr"]) -> None:
        for number in range(200):
            await stream.output(b"%b%d;" % (name, number), stream_name)
            if number % 7 == 0:
                await stream.output(b"%b" % name * 70000, stream_name)
            if number % 11 == 0:
                await stream.progress("on", None)

    await asyncio.gather(write(b"a", "stdout"), write(b"b", "stderr"))
    await stream.finish()
    for name, stream_name in ((b"a", "stdout"), (b"b", "stderr")):
        data = b"".join(e.data for e in consumer.chunks if e.stream == stream_name)
        expected = b"".join(
            b"%b%d;" % (name, n) + (name * 70000 if n % 7 == 0 else b"") for n in range(200)
        )
        assert data == expected


@pytest.mark.req("P10")
async def test_an_abandoned_stream_sends_nothing_more(
    stream: EventStream, consumer: Consumer
) -> None:
    await stream.output(b"a", "stdout")
    await stream.output(b"b", "stdout")
    stream.abandon("it was cancelled")
    with pytest.raises(Misuse, match="it was cancelled"):
        await stream.output(b"c", "stdout")
    assert consumer.sizes == [1]


async def test_an_empty_chunk_is_no_event(stream: EventStream, consumer: Consumer) -> None:
    await stream.output(b"", "stdout")
    await stream.finish()
    assert consumer.events == []
