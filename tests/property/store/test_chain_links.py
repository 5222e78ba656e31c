"""The hash chain over any rows: nothing that differs has the same hash."""

from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.domain.event import Event, Producer
from pluggableharness.kernel.store.chain import first_link, link, producer_digest
from pluggableharness.kernel.store.rows import fault

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
INT64 = st.integers(-(2**63), 2**63 - 1)
PRODUCERS = st.builds(Producer, TEXT, TEXT, TEXT, TEXT, st.integers(0, 2**32 - 1))
HASHES = st.binary(min_size=32, max_size=32)
EVENTS = st.builds(
    Event,
    sequence=INT64,
    id=TEXT,
    time=INT64,
    kind=TEXT,
    producer=PRODUCERS,
    schema_version=TEXT,
    payload=st.binary(max_size=6),
    hash=st.just(b""),
)


def linked(event: Event, before: bytes) -> bytes:
    return link(
        before,
        event.sequence,
        event.time,
        producer_digest(event.producer),
        event.id,
        event.kind,
        event.schema_version,
        event.payload,
    )


@pytest.mark.req("K29")
@given(EVENTS, HASHES, EVENTS, HASHES)
def test_rows_that_differ_have_different_hashes(
    one: Event, before_one: bytes, other: Event, before_other: bytes
) -> None:
    same = (one, before_one) == (other, before_other)
    assert (linked(one, before_one) == linked(other, before_other)) == same


@pytest.mark.req("K29")
@given(st.lists(TEXT, min_size=4, max_size=4), st.lists(TEXT, min_size=4, max_size=4))
def test_moving_text_between_fields_changes_the_hash(one: list[str], other: list[str]) -> None:
    def mark(texts: list[str]) -> bytes:
        event_id, kind, schema_version, payload = texts
        digest = bytes(32)
        return link(bytes(32), 1, 1, digest, event_id, kind, schema_version, payload.encode())

    assert (mark(one) == mark(other)) == (one == other)
    digests = [
        producer_digest(Producer(name, version, source, category))
        for name, version, source, category in (one, other)
    ]
    assert (digests[0] == digests[1]) == (one == other)


@pytest.mark.req("K29")
@given(EVENTS, HASHES)
def test_a_row_is_found_to_follow_only_the_one_it_was_written_behind(
    event: Event, before: bytes
) -> None:
    written = replace(event, hash=linked(event, before))
    assert fault(written, written.sequence, before) == ""
    assert fault(written, written.sequence + 1, before)
    assert fault(written, written.sequence, bytes(32) if any(before) else b"\1" * 32)


@pytest.mark.req("K29")
def test_logs_of_different_sessions_begin_differently() -> None:
    assert first_link("a") != first_link("b")


@pytest.mark.req("K29")
@given(st.lists(EVENTS, max_size=3), st.lists(EVENTS, max_size=3))
def test_chains_that_end_alike_are_alike(one: list[Event], other: list[Event]) -> None:
    def end(events: list[Event]) -> bytes:
        mark = first_link("session")
        for event in events:
            mark = linked(event, mark)
        return mark

    assert (end(one) == end(other)) == ([*map(astuple, one)] == [*map(astuple, other)])
