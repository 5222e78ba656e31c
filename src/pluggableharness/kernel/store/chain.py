"""The hash chain of a log (K29): pure, and all there is to say about its encoding.

A row's hash is SHA-256 over a header of fixed size and the row's fields. The header holds
the hash of the row before and the length of every field, so that no two different rows
encode to the same bytes. The producer enters by its content, not by its number in a table
that could be rewritten.
"""

import hashlib
import struct
from functools import lru_cache

from pluggableharness.kernel.domain.event import Producer

_HEADER = struct.Struct(">32sqq32sQQQQ")
_FORMAT = b"pluggableharness session log 1"


def first_link(session_id: str) -> bytes:
    """What stands in for the row before the first: bound to the session, so that rows of one
    log never pass for those of another."""
    return hashlib.sha256(_FORMAT + b"\0" + session_id.encode()).digest()


@lru_cache(maxsize=1024)
def producer_digest(producer: Producer) -> bytes:
    """A producer's part in the hashes of its rows."""
    texts = (producer.name, producer.version, producer.source, producer.category)
    fields = [text.encode() for text in texts]
    header = struct.pack(">QQQQq", *map(len, fields), producer.protocol_version)
    return hashlib.sha256(header + b"".join(fields)).digest()


def link(
    previous: bytes,
    sequence: int,
    time: int,
    producer: bytes,
    event_id: str,
    kind: str,
    schema_version: str,
    payload: bytes,
) -> bytes:
    """The hash of a row: `previous` is that of the row before, `producer` a producer_digest.

    Raises UnicodeEncodeError when a text holds a lone surrogate, which no row can.
    """
    identity, name, version = event_id.encode(), kind.encode(), schema_version.encode()
    header = _HEADER.pack(
        previous,
        sequence,
        time,
        producer,
        len(identity),
        len(name),
        len(version),
        len(payload),
    )
    return hashlib.sha256(b"".join((header, identity, name, version, payload))).digest()
