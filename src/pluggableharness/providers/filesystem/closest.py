"""Why a text was not found: the place that comes closest, and what differs there (C4; pure).

First the ways in which a text looks right and is not (white space, quotes, Unicode forms,
letter case), each by folding it away on both sides; then the most similar line. The work is
bounded by the amounts below, not by a clock, so that the answer is the same each time.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from typing import Final

from msgspec import Struct

from pluggableharness.sdk.jail import visible

LOOKED_AT: Final = 2 << 20
"""Characters of the file that are searched."""
_LINES: Final = 50_000
_CANDIDATES: Final = 20
_COMPARED: Final = 300
_LONGEST_OLD: Final = 1 << 16
_SHOWN: Final = 160
_ALIKE: Final = 0.6

_HORIZONTAL: Final = re.compile(r"[^\S\n]+")
_NUMBERED: Final = re.compile(r"^ *\d+\|", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_INDENTED: Final = re.compile(r"^ {2}", re.MULTILINE)

_QUOTES: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
    }
)
_INVISIBLE: Final = dict.fromkeys(
    (0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFE0E, 0xFE0F, 0xFEFF)
)


class Closest(Struct, frozen=True):
    """The place that comes closest."""

    line: int
    """Its first line, from 1."""
    differs_in: str
    """What differs, for a reader: "white space (tabs versus spaces)"."""
    there: str
    """A line of the file, with visible escapes, cut."""
    given: str
    """What the text asked for has in its place, likewise."""


class _Fold(Struct, frozen=True):
    """A difference that is easily overlooked, and how to make it go away."""

    name: str
    away: Callable[[str], str]


def _without_white(text: str) -> str:
    return _HORIZONTAL.sub("", text)


def _straight(text: str) -> str:
    return text.translate(_QUOTES)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _seen(text: str) -> str:
    return text.translate(_INVISIBLE)


_FOLDS: Final = (
    _Fold("white space", _without_white),
    _Fold("quotes or dashes", _straight),
    _Fold("the Unicode form of the same letters (composed or decomposed)", _composed),
    _Fold("compatibility forms of the same letters", _compatible),
    _Fold("invisible characters", _seen),
    _Fold("upper and lower case", str.casefold),
)


def _all_away(text: str) -> str:
    return _without_white(_seen(_straight(_compatible(text)))).casefold()


def closest(text: str, old: str) -> Closest | None:
    """Find the place in `text` that comes closest to `old`, which is not in it.

    Both have LF as their line ends. None when nothing is similar enough to be of use.
    """
    text, old = text[:LOOKED_AT], old[:_LONGEST_OLD]
    return _numbered(text, old) or _escaped(text, old) or _folded(text, old) or _similar(text, old)


def _numbered(text: str, old: str) -> Closest | None:
    bare = _NUMBERED.sub("", old)
    if bare == old or not bare or (at := text.find(bare)) < 0:
        return None
    return _at(text, at, old, "the line numbers of read_file, which are not in the file")


def _escaped(text: str, old: str) -> Closest | None:
    meant = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if meant == old or (at := text.find(meant)) < 0:
        return None
    return _at(text, at, old, "escapes: a backslash and a letter where the file has the character")


def _folded(text: str, old: str) -> Closest | None:
    for fold in (
        *_FOLDS,
        _Fold("several of white space, quotes, case and Unicode forms", _all_away),
    ):
        wanted = fold.away(old)
        if wanted.strip() and (at := (folded := fold.away(text)).find(wanted)) >= 0:
            return _on_line(text, folded.count("\n", 0, at), old, fold.name)
    return None


def _at(text: str, at: int, old: str, differs_in: str) -> Closest:
    return _on_line(text, text.count("\n", 0, at), old, differs_in)


def _on_line(text: str, before: int, old: str, differs_in: str) -> Closest:
    """Describe the place that begins after that many line ends."""
    wanted = old.split("\n")
    there = _some_lines(text, before, len(wanted))
    if differs_in == _FOLDS[0].name and _tabs_against_spaces("\n".join(there), old):
        differs_in += " (tabs versus spaces)"
    which = _first_difference(there, wanted)
    return Closest(before + 1, differs_in, _shown(there[which]), _shown(wanted[which]))


def _some_lines(text: str, before: int, count: int) -> list[str]:
    return text.split("\n", before + count)[before : before + count]


def _first_difference(there: Sequence[str], wanted: Sequence[str]) -> int:
    """Find the line to show: the first that is not in the file's line as it stands."""
    pairs = zip(there, wanted, strict=False)
    return next((at for at, (line, part) in enumerate(pairs) if part not in line), 0)


def _tabs_against_spaces(there: str, old: str) -> bool:
    if "\t" in there and "\t" not in old:
        return bool(_INDENTED.search(old))
    return "\t" in old and "\t" not in there


def _similar(text: str, old: str) -> Closest | None:
    """Find the line most like the longest line of `old`, and go by the place around it."""
    wanted = old.split("\n")
    key = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    best = _most_alike(text, wanted[key].strip()[:_COMPARED])
    if best is None:
        return None
    before = max(0, best - key)
    there = _some_lines(text, before, len(wanted))
    which = _first_difference(there, wanted)
    differs_in = "what is written there"
    return Closest(before + 1, differs_in, _shown(there[which]), _shown(wanted[which]))


def _most_alike(text: str, key: str) -> int | None:
    words = frozenset(_WORD.findall(key))
    candidates = nlargest(_CANDIDATES, _scored(text, words))
    if not candidates:
        return None
    # 2 ms to import, and only a failed search needs it.
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, "", key, autojunk=False)
    ratios: list[tuple[float, int]] = []
    for _, at, line in candidates:
        matcher.set_seq1(line)
        ratios.append((matcher.ratio(), at))
    ratio, at = max(ratios)
    return -at if ratio >= _ALIKE else None


def _scored(text: str, words: frozenset[str]) -> Iterator[tuple[float, int, str]]:
    """Give lines that share words a score, with their numbers negated: earlier ones first."""
    for at, line in enumerate(text.split("\n", _LINES)[:_LINES]):
        line = line.strip()[:_COMPARED]
        found = _WORD.findall(line)
        shared = len(words.intersection(found))
        if shared:
            yield shared / max(len(words), len(found)), -at, line


def _shown(line: str) -> str:
    return visible(line[:_SHOWN].replace("\t", "\\t")) + ("…" if len(line) > _SHOWN else "")
