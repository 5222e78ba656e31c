"""One writer at a time for each real file, whatever spelling, link or session reaches it (C5)."""

import asyncio
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pluggableharness.providers.filesystem.known import PlaceKey


class _Entry:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class FileLocks:
    """Locks by place, first come, first served; a lock exists only while it is in use."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int, str], _Entry] = {}

    def __len__(self) -> int:
        """How many places are held or waited for."""
        return len(self._entries)

    @asynccontextmanager
    async def hold(self, place: PlaceKey) -> AsyncIterator[None]:
        """Wait for a place and keep it."""
        device, folder, name = place
        key = (device, folder, _any_spelling(name))
        entry = self._entries.setdefault(key, _Entry())
        entry.users += 1
        try:
            async with entry.lock:
                yield
        finally:
            entry.users -= 1
            if not entry.users:
                del self._entries[key]


def _any_spelling(name: bytes) -> str:
    """Give names one key that a folder which ignores case or Unicode form takes for one.

    Where the folder does tell them apart, they wait for each other, which does no harm.
    """
    return unicodedata.normalize("NFC", name.decode("utf-8", "replace")).casefold()
