"""A log as lines of JSON, one event each, for people and their tools.

The log is the truth and an export a copy of it: exporting again brings the copy up to date,
and repairs what a killed exporter left half written.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from pluggableharness.kernel.codec.json_text import json_value
from pluggableharness.kernel.codec.record_view import payload_view
from pluggableharness.kernel.domain.event import Event, Producer
from pluggableharness.kernel.regular import kind
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.reading import read_events

_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Ends of lines to Unicode, and so to some readers, but not to JSON."""


class _Line(msgspec.Struct):
    """A line: an event with its payload in base64, its hash in hex, and `content`, which is
    what the payload says, or null when only its producer can read it."""

    sequence: int
    id: str
    time: int
    kind: str
    producer: Producer
    schema_version: str
    payload: bytes
    hash: str
    content: Any = None


def export(log: Path, copy: Path) -> int:
    """Bring a copy of a log up to date, or start it, and return how many lines were written.

    A line that is no JSON, as a killed exporter leaves one, is replaced with all behind it.
    The copy is for its owner alone. Raises LogUnreadable for the log, and for a copy of
    anything else; OSError when the copy cannot be written.
    """
    written = 0
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(copy, flags, 0o600)
    strange = kind(os.fstat(descriptor).st_mode)
    if strange:
        os.close(descriptor)
        raise LogUnreadable(copy, f"is {strange} and no file, which a copy has to be")
    with open(descriptor, "r+b") as file:
        for line in _missing(copy, file, map(export_line, read_events(log))):
            file.write(line)
            written += 1
        file.flush()
        os.fsync(descriptor)
    return written


def export_line(event: Event) -> bytes:
    """The line of an event."""
    line = _Line(
        event.sequence,
        event.id,
        event.time,
        event.kind,
        event.producer,
        event.schema_version,
        event.payload,
        event.hash.hex(),
        payload_view(event),
    )
    # protobuf's maps come in another order in every process, and a line has to stay the same.
    text = msgspec.json.encode(line, order="deterministic").decode()
    for end, escape in _LINE_ENDS.items():
        text = text.replace(end, escape)
    return text.encode() + b"\n"


def _missing(copy: Path, file: BinaryIO, lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines that the copy does not have; the file then ends where they belong."""
    good = 0
    for line in lines:
        found = file.readline()
        if found == line:
            good += len(line)
            continue
        if not line.startswith(found):
            _refuse_json(copy, found)
        file.seek(good)
        file.truncate()
        yield line
        yield from lines
        return
    _refuse_json(copy, file.readline())
    file.seek(good)
    file.truncate()


def _refuse_json(copy: Path, line: bytes) -> None:
    """Pass over what is torn or blank; what somebody else wrote whole is not ours to remove."""
    try:
        json_value(line)
    except ValueError:
        return
    raise LogUnreadable(copy, "this is no export of that log. Choose another file")
