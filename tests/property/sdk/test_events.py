"""Whatever a function does with its context, what leaves keeps the contract."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.sdk import Misuse
from pluggableharness.sdk.events import ExitStatus, OutputChunk, Progress
from pluggableharness.sdk.stream import EventStream

streams = st.sampled_from(["stdout", "stderr", "stdin"])
fractions = st.none() | st.floats() | st.sampled_from([0, 1, "1", True])
actions = st.one_of(
    st.tuples(st.just("output"), st.binary(max_size=5) | st.just(b"x" * 70000), streams),
    st.tuples(st.just("progress"), st.text(max_size=3), fractions),
    st.tuples(st.just("partial"), st.dictionaries(st.text(max_size=2), st.floats())),
    st.tuples(st.just("exit_status"), st.integers(), st.none()),
    st.tuples(st.just("pause")),
    st.tuples(st.just("finish")),
)


async def carried_out(actions: Any, streaming: Any) -> Any:
    """Return the events that left, and the output that was accepted."""
    sent, accepted, finished_at = [], [], None

    async def send(event: Any) -> None:
        await asyncio.sleep(0)
        sent.append(event)

    stream = EventStream("act", streaming, send)
    for name, *arguments in actions:
        if name == "pause":
            await asyncio.sleep(0)
            continue
        try:
            await getattr(stream, name)(*arguments)
        except Misuse:
            continue
        if name == "finish":
            finished_at = len(sent) if finished_at is None else finished_at
        elif name == "output" and arguments[0]:
            accepted.append(tuple(arguments))
    await stream.finish()
    assert finished_at in (None, len(sent))
    return sent, accepted


@pytest.mark.req("P10", "P11")
@given(st.lists(actions, max_size=30), st.booleans())
def test_no_sequence_of_calls_breaks_the_contract(actions: Any, streaming: Any) -> None:
    sent, accepted = asyncio.run(carried_out(actions, streaming))
    assert streaming or not sent
    assert sum(isinstance(event, ExitStatus) for event in sent) <= 1
    for event in sent:
        if isinstance(event, Progress):
            assert event.fraction is None or 0 <= event.fraction <= 1
        if isinstance(event, OutputChunk):
            assert event.data
            assert event.stream in ("stdout", "stderr")
    for name in ("stdout", "stderr"):
        chunks = (e for e in sent if isinstance(e, OutputChunk) and e.stream == name)
        assert b"".join(c.data for c in chunks) == b"".join(d for d, s in accepted if s == name)
