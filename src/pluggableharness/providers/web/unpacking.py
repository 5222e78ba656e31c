"""A body's content encoding taken off while it comes, never more at a time than is kept (C16).

A megabyte can unpack to a gigabyte, so each layer hands on pieces of 64 KiB and stops for good
at the limit, whether or not the outermost layer has given anything.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from pluggableharness.sdk import ExecutionFailed

_PIECE: Final = 64 * 1024
_LAYERS: Final = 3
_ZLIB: Final = zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
_GZIP: Final = zlib.MAX_WBITS | 16


class Unpacker:
    """Takes the encodings off that a Content-Encoding header names."""

    def __init__(self, encodings: str, limit: int) -> None:
        """Prepare for the header's value.

        Raises:
            ExecutionFailed: it names an encoding that was not asked for, or too many.
        """
        names = [name.strip().lower() for name in encodings.split(",")]
        applied = [name for name in names if name not in ("", "identity")]
        unknown = [name for name in applied if name not in ("gzip", "x-gzip", "deflate")]
        if unknown or len(applied) > _LAYERS:
            raise ExecutionFailed(
                f"the body is encoded as {', '.join(applied)[:80]}; only gzip and deflate are "
                f"unpacked, {_LAYERS} times at most"
            )
        # The last one that was applied comes off first.
        self._layers = [_Layer(name, limit) for name in reversed(applied)]

    @property
    def cut(self) -> bool:
        """Whether some layer gave more than the limit, so that the rest was dropped."""
        return any(layer.left < 0 for layer in self._layers)

    @property
    def ended(self) -> bool:
        """Whether every layer came to its own end."""
        return all(layer.ended for layer in self._layers)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Unpack a chunk, piece by piece.

        Raises:
            ExecutionFailed: the body is not what its header says.
        """
        return _through(self._layers, data)


def _through(layers: Sequence["_Layer"], data: bytes) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    for piece in layers[0].pieces(data):
        yield from _through(layers[1:], piece)


class _Layer:
    """One encoding; `left` is how many bytes it may still give, below zero once it gave more."""

    __slots__ = ("_head", "_inflate", "_name", "_started", "ended", "left")

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._head = b""
        self._started = False
        self._inflate = zlib.decompressobj(_GZIP)
        self.left = limit
        self.ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if not self._started:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._head = self._head, b""
            self._start(data)
        more = True
        while more and self.left >= 0 and (not self.ended or self._restarts(data)):
            piece = self._piece(data)
            self.ended = self._inflate.eof
            data = self._inflate.unused_data if self.ended else self._inflate.unconsumed_tail
            # A full piece may leave output behind though all of the input is taken.
            more = bool(data) or (len(piece) == _PIECE and not self.ended)
            self.left -= len(piece)
            if piece:
                yield piece

    def _start(self, data: bytes) -> None:
        self._started = True
        if self._name == "deflate":
            # The name means zlib's format, and some servers send the bare one.
            is_zlib = data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._inflate = zlib.decompressobj(_ZLIB if is_zlib else _RAW)

    def _piece(self, data: bytes) -> bytes:
        try:
            return self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            raise ExecutionFailed(f"the body is not the {self._name} it claims: {error}") from None

    def _restarts(self, data: bytes) -> bool:
        """Whether another member of a gzip follows; anything else behind an end is dropped."""
        if self._name == "deflate" or not data.startswith(b"\x1f"):
            return False
        self._inflate = zlib.decompressobj(_GZIP)
        self.ended = False
        return True
