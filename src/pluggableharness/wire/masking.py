"""Secrets taken out of what is said, in every spelling that programs commonly give a text (P31).

Here, since a provider's SDK and the kernel both do it. Whatever belongs to an occurrence of a
secret is masked, also where occurrences overlap; each run of such text becomes one placeholder.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Sequence
from typing import AnyStr, Final

PLACEHOLDER: Final = "[secret]"
_SHORTEST: Final = 4
"""A shorter value is left alone: it is found in too many words, and is no secret."""
_SHORTEST_CODED: Final = 8
"""The same for characters of base64, and for the head of a secret before an ellipsis."""
_CUT: Final = "…"
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_MARKUP: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
)


class Mask:
    """Takes secrets out of texts, bytes, and streams of bytes. Without any it does nothing."""

    __slots__ = ("_bytes", "_texts", "active", "secrets")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = frozenset(secret for secret in secrets if len(secret) >= _SHORTEST)
        self._texts = sorted({text for secret in self.secrets for text in _spellings(secret)})
        self._bytes = [text.encode("utf-8", "surrogatepass") for text in self._texts]
        self.active = bool(self._texts)

    def text(self, text: str) -> str:
        """Return `text` without any secret, and without the head of one that was cut short."""
        if not self.active:
            return text
        runs = list(_runs(text, self._texts))
        if _CUT in text:
            runs = _merged([*runs, *_cut_heads(text, self._texts)])
        return _replaced(text, runs, PLACEHOLDER)

    def data(self, data: bytes) -> bytes:
        """Return `data` without any secret that lies whole in it."""
        return _replaced(data, _runs(data, self._bytes), PLACEHOLDER.encode())

    def blotted(self, data: bytes) -> bytes:
        """Return `data` with each secret overwritten in place, since its lengths may matter."""
        blotted = bytearray(data)
        for start, end in _runs(data, self._bytes):
            blotted[start:end] = b"*" * (end - start)
        return bytes(blotted)

    def stream(self) -> MaskedStream:
        """Return a masker for bytes that come piece by piece."""
        return MaskedStream(self._bytes)


class MaskedStream:
    """Masks secrets in bytes that come cut anywhere; what comes out joined is `Mask.data` of all.

    Holds back only what may be the beginning of a secret, which is shorter than the longest one.
    """

    __slots__ = ("_held", "_told", "_wanted")

    def __init__(self, wanted: Sequence[bytes]) -> None:
        self._wanted = wanted
        self._held = b""
        self._told = 0
        """How many of the bytes held belong to a secret whose placeholder is out already."""

    def feed(self, data: bytes) -> bytes:
        """Return what can be told by now."""
        data = self._held + data
        return self._tell(data, _beginning(data, self._wanted))

    def end(self) -> bytes:
        """Return what was held back: nothing more comes."""
        return self._tell(self._held, len(self._held))

    def _tell(self, data: bytes, until: int) -> bytes:
        """Mask what lies before `until`, where each secret that begins is whole; hold the rest."""
        told, done = [], self._told
        for start, end in _runs(data, self._wanted):
            if start >= until:
                break
            if start >= done:
                told += [data[done:start], PLACEHOLDER.encode()]
            done = max(done, end)
        if done < until:
            told.append(data[done:until])
        self._held = data[until:]
        self._told = max(done - until, 0)
        return b"".join(told)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as it stands within JSON, Python, URLs, HTML, hex, base64."""
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    for escaped in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        yield escaped
        yield escaped.replace("/", "\\/")
    yield repr(secret)[1:-1]
    yield repr(data)[2:-1]
    yield secret.translate(_MARKUP)
    for safe in ("", "/", "!*'()"):
        for form in ("%{:02X}", "%{:02x}"):
            quoted = _quoted(data, _UNRESERVED.union(safe), form)
            yield quoted
            yield quoted.replace("%20", "+")
    yield data.hex()
    yield data.hex().upper()
    yield from _coded(data)


def _quoted(data: bytes, safe: frozenset[str], form: str) -> str:
    return "".join(chr(byte) if chr(byte) in safe else form.format(byte) for byte in data)


def _coded(data: bytes) -> Iterator[str]:
    """Yield those characters of its base64 that do not depend on what stands around it.

    Its first byte may be the first, second or third of a group, as in "user:password".
    """
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        coded = b2a_base64(bytes(before) + data, newline=False).decode()[first:last]
        if len(coded) >= _SHORTEST_CODED:
            yield coded
            yield coded.replace("+", "-").replace("/", "_")


def _runs(within: AnyStr, wanted: Sequence[AnyStr]) -> Iterator[tuple[int, int]]:
    """Yield start and end of what belongs to anything that is wanted, in order, disjoint."""
    found = [run for one in wanted for run in _occurrences(within, one)]
    yield from _merged(found) if found else ()


def _occurrences(within: AnyStr, one: AnyStr) -> list[tuple[int, int]]:
    """Where it is; those that overlap each other as one, or a text of one letter takes memory."""
    found: list[tuple[int, int]] = []
    at = within.find(one)
    while at >= 0:
        if found and at < found[-1][1]:
            found[-1] = found[-1][0], at + len(one)
        else:
            found.append((at, at + len(one)))
        at = within.find(one, at + 1)
    return found


def _merged(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _replaced(within: AnyStr, runs: Iterable[tuple[int, int]], by: AnyStr) -> AnyStr:
    parts: list[AnyStr] = []
    done = 0
    for start, end in runs:
        parts += (within[done:start], by)
        done = end
    if not parts:
        return within
    parts.append(within[done:])
    return within[:0].join(parts)


def _beginning(within: AnyStr, wanted: Sequence[AnyStr]) -> int:
    """Where the longest end of `within` begins with which something wanted begins; else its end."""
    first = len(within)
    for one in wanted:
        at = within.find(one[:1], max(0, len(within) - len(one) + 1))
        while 0 <= at < first:
            if one.startswith(within[at:]):
                first = at
            at = within.find(one[:1], at + 1)
    return first


def _cut_heads(text: str, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the heads of secrets that stand before an ellipsis, where somebody cut a value."""
    longest = max(map(len, wanted))
    end = text.find(_CUT)
    while end >= 0:
        from_ = max(0, end - longest)
        start = from_ + _beginning(text[from_:end], wanted)
        if end - start >= _SHORTEST_CODED:
            yield start, end
        end = text.find(_CUT, end + 1)
