"""A file in which something was found: what it is called, and how its bytes are shown (C9)."""

import os
from dataclasses import dataclass, field

from pluggableharness.providers.search import messages
from pluggableharness.providers.search.area import Area


@dataclass(slots=True)
class SearchedFile:
    """The file that ripgrep is talking about."""

    area: Area
    path: str
    """As ripgrep names it."""
    hits: int = 0
    _decoding: messages.Decoding | None = field(default=None, init=False)

    @property
    def shown(self) -> str:
        """Its path, for a reader and for the next call."""
        return self.area.shown_file or self.area.shown(self.path)

    def codec(self, raw: bytes) -> str:
        """Name the codec that shows bytes of it as read_file does."""
        if raw.isascii():
            return "ascii"
        if self._decoding is None:
            self._decoding = self._look()
        return self._decoding.codec(raw)

    def vouches_for(self, line: messages.Line) -> bool:
        """Tell whether a line can be believed to be in it."""
        return self.area.vouches_for_text(self.path, line.absolute_offset, line.lines.raw)

    def _look(self) -> messages.Decoding:
        try:
            descriptor = self.area.open(self.path)
        except OSError:  # it is gone, and what was found in it tells the rest
            return messages.Decoding(b"", is_whole=True)
        try:
            head = os.pread(descriptor, messages.HEAD, 0)
        finally:
            os.close(descriptor)
        return messages.Decoding(head, is_whole=len(head) < messages.HEAD)
