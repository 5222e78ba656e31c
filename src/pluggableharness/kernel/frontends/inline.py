"""Running text to styled pieces while it streams: the inline marks of Markdown. Pure.

Held back is only what may still become a marked piece, within a line and a bounded length, so
that nothing has to be drawn again. Marks that turn out to be none stand as they were written.
"""

import re
from collections.abc import Iterator

Piece = tuple[str, str]
"""A text and its style, "" for none."""

_MOST_HELD = 240
_MARK = re.compile(r"[`*_\[]")
_WHOLE = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<two>\*\*|__)(?=\S)(?P<strong>.+?)(?<=\S)(?P=two)(?![*_\w])"
    r"|(?P<one>[*_])(?![\s*_])(?P<emphasis>[^*_]+?)(?<=\S)(?P=one)(?![*_\w])"
    r"|\[(?P<label>[^\]\[]+)\]\((?P<url>[^()\s]+)\)"
)
_NEVER = re.compile(r"[*_]{1,3}(?:\s|\Z)|\[[^\]]*\][^(]")


class Inline:
    """The pieces of one line after another; call `finish` at the end of each."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain after the next part of a line."""
        return self._pieces(text, final=False)

    def finish(self) -> list[Piece]:
        """What was held back, at the end of the line."""
        pieces = self._pieces("", final=True)
        self._before = ""
        return pieces

    def _pieces(self, text: str, *, final: bool) -> list[Piece]:
        text, self._held = self._held + text, ""
        pieces: list[Piece] = []
        at = 0
        while at < len(text):
            mark = _MARK.search(text, at)
            start = mark.start() if mark else len(text)
            if start > at:
                pieces.append((text[at:start], ""))
                self._before = text[start - 1]
                at = start
                continue
            # Nothing further on can decide a mark, so that each costs a bounded search.
            taken = self._marked(text[at : at + _MOST_HELD + 1], final=final)
            if taken is None:
                self._held = text[at:]
                break
            length, found = taken
            pieces += found
            at += length
            self._before = text[at - 1]
        return pieces

    def _marked(self, text: str, *, final: bool) -> tuple[int, list[Piece]] | None:
        """How much a mark takes, and as what; None while more text could decide it."""
        run = len(text) - len(text.lstrip(text[0])) if text[0] != "[" else 1
        literal = run, [(text[:run], "")]
        if text[0] == "_" and self._before.isalnum():
            return literal
        final = final and len(text) <= _MOST_HELD
        found = _WHOLE.match(text)
        # What follows a closing mark may still make it none, and is not there yet.
        if found and (final or found.end() < len(text)):
            return found.end(), list(_styled(found))
        if final or len(text) > _MOST_HELD or (run < len(text) and _NEVER.match(text)):
            return literal
        return None


def inline(text: str) -> list[Piece]:
    """The pieces of a whole line."""
    stream = Inline()
    return [*stream.feed(text), *stream.finish()]


def _styled(found: re.Match[str]) -> Iterator[Piece]:
    parts = found.groupdict()
    if parts["code"] is not None:
        yield parts["code"], "code"
    elif parts["strong"] is not None:
        # Of what stands within a strong text, code alone is drawn; two styles would not be told.
        for text, style in inline(parts["strong"]):
            yield text, style if style == "code" else "strong"
    elif parts["emphasis"] is not None:
        yield parts["emphasis"], "emphasis"
    else:
        yield parts["label"], "link"
        if parts["url"] != parts["label"]:
            yield f" ({parts['url']})", "faint"
