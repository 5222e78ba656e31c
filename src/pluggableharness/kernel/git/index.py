"""Which submodules a git index names: their directories are repositories of their own."""

import os
from collections.abc import Iterator
from typing import Final

_GITLINK: Final = 0o160000
_MARK: Final = _GITLINK.to_bytes(4, "big")
_STAT: Final = 40
_EXTENDED: Final = 0x4000
_FOLDED: Final = b"sdir\0\0\0\0"
"""The mark of an index that names folders instead of what is in them."""


class NotUnderstood(Exception):
    """An index that is of no form known here."""


def gitlinks(data: bytes, hash_size: int) -> list[str]:
    """The paths of the submodules in an index. Raises NotUnderstood.

    Nearly every index has none, and then not even its entries are looked at.
    """
    if _FOLDED in data:
        raise NotUnderstood
    if _MARK not in data:
        return []
    try:
        return list(_gitlinks(data, hash_size))
    except (IndexError, ValueError):
        raise NotUnderstood from None


def _gitlinks(data: bytes, hash_size: int) -> Iterator[str]:
    version = int.from_bytes(data[4:8], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise NotUnderstood
    at, name = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        start = at
        mode = int.from_bytes(data[at + 24 : at + 28], "big")
        at += _STAT + hash_size
        extended = int.from_bytes(data[at : at + 2], "big") & _EXTENDED
        at += 4 if extended else 2
        kept = b""
        if version == 4:
            dropped, at = _number(data, at)
            kept = name[: len(name) - dropped]
        end = data.index(b"\0", at)
        name = kept + data[at:end]
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        if mode == _GITLINK:
            yield os.fsdecode(name)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number as git packs offsets, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
