"""Logs as lines of JSON, whole and torn."""

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from store_logs import file_rows

from pluggableharness.kernel.codec.record import outcome_payload
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.export import export
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events

NASTY = "a\nb\r\nc\u2028d\x00e\x1b[0m\x85\u2029"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "copy.jsonl"


def events(copy: Path) -> list[Event]:
    """The events of an export, as any tool would read them. Raises ValueError for what is none."""
    return [event(json.loads(line)) for line in copy.read_bytes().splitlines()]


def event(line: dict[str, Any]) -> Event:
    del line["content"]
    return Event(
        producer=Producer(**line.pop("producer")),
        payload=base64.b64decode(line.pop("payload")),
        hash=bytes.fromhex(line.pop("hash")),
        **line,
    )


@pytest.mark.req("K27")
async def test_an_export_holds_every_event_and_can_be_brought_up_to_date(
    log: EventLog, copy: Path
) -> None:
    file_rows(log, 3)
    await log.sync()
    assert export(log.path, copy) == 3
    file_rows(log, 2, 3)
    await log.sync()
    assert export(log.path, copy) == 2
    assert export(log.path, copy) == 0
    assert events(copy) == list(read_events(log.path))
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    "torn", [b'{"type":"assis', b'{"type":"assis\n', b'{"type":"assis\n\n', b"\n", b"\xff\xfe"]
)
async def test_a_torn_end_is_neither_kept_nor_glued_to_the_next_event(
    log: EventLog, copy: Path, torn: bytes
) -> None:
    """Case session-log-04."""
    file_rows(log, 2)
    await log.sync()
    export(log.path, copy)
    with copy.open("ab") as file:
        file.write(torn)
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|decode"):
        events(copy)
    file_rows(log, 1, 2)
    await log.sync()
    assert export(log.path, copy) == 1
    assert events(copy) == list(read_events(log.path))


@pytest.mark.req("K27")
async def test_a_torn_end_is_removed_even_when_nothing_is_added(log: EventLog, copy: Path) -> None:
    file_rows(log, 2)
    await log.sync()
    export(log.path, copy)
    whole = copy.read_bytes()
    copy.write_bytes(whole + b'{"seq')
    assert export(log.path, copy) == 0
    assert copy.read_bytes() == whole


@pytest.mark.req("K27")
async def test_an_export_cut_anywhere_is_made_whole(log: EventLog, copy: Path) -> None:
    file_rows(log, 2)
    await log.sync()
    export(log.path, copy)
    whole = copy.read_bytes()
    for length in range(len(whole)):
        copy.write_bytes(whole[:length])
        export(log.path, copy)
        assert copy.read_bytes() == whole


@pytest.mark.req("K27")
async def test_an_event_is_one_line_to_every_reader(log: EventLog, copy: Path) -> None:
    """Case session-log-05."""
    payload = outcome_payload("call", Success({"text": NASTY}))
    log.append(EventKind.TOOL_RESULT, payload, schema_version="event.v1")
    log.append(EventKind.MEMORY_WRITE, b"\xff\x00", schema_version="own")
    await log.sync()
    export(log.path, copy)
    first, second = copy.read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["content"]["result"]["payload"]["text"] == NASTY
    assert json.loads(second)["content"] is None
    assert [one.payload for one in events(copy)] == [payload, b"\xff\x00"]


@pytest.mark.req("K27")
@pytest.mark.parametrize("content", [b'{"my": "notes"}\n', b"[1]\n[2]\n"])
async def test_what_somebody_else_wrote_is_not_overwritten(
    log: EventLog, copy: Path, content: bytes
) -> None:
    file_rows(log, 1)
    await log.sync()
    copy.write_bytes(content)
    with pytest.raises(LogUnreadable, match="no export of that log"):
        export(log.path, copy)
    assert copy.read_bytes() == content
