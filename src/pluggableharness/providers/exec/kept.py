"""What is kept of a command's output: its head and its tail here, all of it in a file (C10)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.output_file import OutputFile
from pluggableharness.providers.exec.text import decode, readable, size_of, without_torn_start
from pluggableharness.sdk.processes import Chunk, Stream

END_BYTES: Final = 96 * 1024
"""Bytes kept in memory of the head, and of the tail."""
END_CHARACTERS: Final = 30_000
"""Characters that the model sees of each when not all is shown."""
_SEGMENT_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class Shown:
    """Output as the result tells it."""

    text: str
    truncated: bool
    total_bytes: int
    file: str | None = None
    note: str | None = None


class KeptOutput:
    """Takes chunks of both streams in the order of their arrival, in bounded memory.

    The file is begun when the two ends no longer hold everything. The middle is never decoded.
    """

    def __init__(self, working_directory: Path) -> None:
        self.total_bytes = 0
        self._working_directory = working_directory
        self._head = _Segments()
        self._tail = _Segments()
        self._file: OutputFile | None = None

    async def add(self, chunk: Chunk) -> None:
        """Take a chunk; waits while the file is behind by more than one."""
        data = chunk.data
        self.total_bytes += len(data)
        if self.total_bytes > 2 * END_BYTES:
            await self._spill()
        file = self._file
        room = END_BYTES - self._head.size
        if room > 0:
            self._head.add(chunk.stream, data[:room])
        if len(data) > room:
            self._tail.add(chunk.stream, data[max(room, len(data) - END_BYTES, 0) :])
            self._tail.keep_last(END_BYTES)
        if file:
            await file.write(data)

    async def shown(self) -> Shown:
        """Return what the model is to see, once the file is written."""
        if self._file is None:
            whole = decode((*self._head.parts, *self._tail.parts), ends=True)
            text = readable(whole)
            if len(text) <= 2 * END_CHARACTERS:
                return Shown(text, False, self.total_bytes)
            await self._spill()
            return await self._cut(whole[:END_CHARACTERS], whole[-END_CHARACTERS:])
        head = decode(self._head.parts, ends=False)
        tail = without_torn_start(decode(self._tail.parts, ends=True))
        return await self._cut(head[:END_CHARACTERS], tail[-END_CHARACTERS:])

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file:
            self._file.close()

    async def _cut(self, head: str, tail: str) -> Shown:
        assert self._file
        await self._file.settle()
        elided = self.total_bytes - size_of(head) - size_of(tail)
        name = self._file.name if self._file.exists else None
        where = f"; the whole output is in {name}" if name else ""
        mark = f"\n[… {elided:,} bytes left out{where} …]\n"
        text = readable(head) + mark + readable(tail)
        return Shown(text, True, self.total_bytes, name, self._file.problem)

    async def _spill(self) -> None:
        """Begin the file, if it is not begun, with all that is here."""
        if self._file is None:
            self._file = OutputFile(self._working_directory)
            await self._file.write(
                b"".join(data for _, data in (*self._head.parts, *self._tail.parts))
            )


class _Segments:
    """Pieces of output, each of one stream; neighbours are joined as long as they are small."""

    def __init__(self) -> None:
        self.parts: deque[tuple[Stream, bytearray]] = deque()
        self.size = 0

    def add(self, stream: Stream, data: bytes) -> None:
        last_stream, last = self.parts[-1] if self.parts else (None, bytearray())
        if last_stream == stream and len(last) + len(data) <= _SEGMENT_BYTES:
            last += data
        else:
            self.parts.append((stream, bytearray(data)))
        self.size += len(data)

    def keep_last(self, size: int) -> None:
        """Forget the oldest bytes beyond `size`."""
        while self.size > size:
            stream, oldest = self.parts.popleft()
            surplus = self.size - size
            self.size -= min(len(oldest), surplus)
            if len(oldest) > surplus:
                self.parts.appendleft((stream, oldest[surplus:]))
