"""Text safety: what comes from models, tools, files and arguments, made fit for a screen.

`shown` is for what somebody is about to approve: exact, with a visible escape for whatever
does not print. `live` and `LiveText` are for output that streams by: readable, with colours
and cursor movement taken out. Nothing that either returns can move a cursor, change a
terminal's state, hide itself or reorder its neighbours. Knows no terminal and no colours.
"""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

Line = TypeVar("Line")
Parts = tuple[Sequence[Line], Sequence[Line], Sequence[Line]]
"""The beginning, what is hidden, and the end."""

_LONGEST_NAME = 160
_MOST_MARKS = 2
_MOST_HELD = 1024
_MOST_LINE = 4096

# Printable by Python's tables, yet drawn as nothing: fillers, joiners, variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}

_PLAIN = re.compile(r"[ -~\n\t]*\Z")
# Nothing that may begin a sequence stands within one, so that no text is searched twice.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f\n]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-OQ-WYZ\\\\`-~]"
)
_UNFINISHED = re.compile(
    "(?:(?:\x1b\\[|\x9b)[0-?]*[ -/]*"
    "|(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f\n]*\x1b?"
    "|\x1b[ -/]*)\\Z"
)
_HARMLESS = re.compile("[\x00\x07\xad\u034f\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
_SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def escape(character: str) -> str:
    """How one character is written when it may not be drawn: `\\n`, `\\x1b`, `\\u202e`."""
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escaped(text: str, encoding: str = "utf-8") -> str | None:
    """The text with escapes for whatever does not print, or None when everything prints.

    Within a text that holds an escape, a backslash is doubled, so that the result can be read
    back in one way only. Characters that `encoding` cannot hold count as not printing.
    """
    if text.isascii() and text.isprintable():
        return None
    hidden = _hidden(text, encoding)
    if not any(hidden):
        return None
    return "".join(
        escape(character) if hide or character == "\\" else character
        for character, hide in zip(text, hidden, strict=True)
    )


def shown(text: str, encoding: str = "utf-8") -> str:
    """The text as one line, exact and unambiguous.

    What prints is shown as it is. Anything else (empty, surrounded by spaces, with characters
    that do not print) is put in double quotes with escapes, and so is a text that itself
    begins with a double quote: what stands bare always means itself.
    """
    written = escaped(text, encoding)
    bare = written is None and text and text == text.strip(" ") and not text.startswith('"')
    if bare:
        return text
    inner = written if written is not None else text.replace("\\", "\\\\")
    return '"' + inner.replace('"', '\\"') + '"'


def on_a_line(line: str, encoding: str = "utf-8") -> str:
    """A text of ours, as it is where everything prints, and else with escapes throughout."""
    written = escaped(line, encoding)
    return line if written is None else written


def nameable(name: str) -> str:
    """A name that somebody made up, cut where no operation's would still go on."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _hidden(text: str, encoding: str) -> list[bool]:
    """For each character whether it must be escaped; combining marks need a base to sit on."""
    hidden: list[bool] = []
    marks = _MOST_MARKS
    for character in text:
        prints, is_mark = _nature(character, encoding)
        marks = marks + 1 if is_mark else 0
        hide = not prints or marks > _MOST_MARKS
        if hide or character == " ":
            marks = _MOST_MARKS
        hidden.append(hide)
    return hidden


@lru_cache(maxsize=4096)
def _nature(character: str, encoding: str) -> tuple[bool, bool]:
    """Whether a character prints in the encoding, and whether it combines with its base."""
    is_mark = unicodedata.category(character) in ("Mn", "Me")
    if not character.isprintable() or _BLANK.match(character):
        return False, is_mark
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False, is_mark
    return True, is_mark


def clipped(lines: Sequence[Line], head: int, tail: int) -> Parts[Line]:
    """The first `head` lines, the hidden ones, and the last `tail`; a gap of one hides nothing."""
    if len(lines) <= head + tail + 1:
        return lines, (), ()
    end = len(lines) - tail
    return lines[:head], lines[head:end], lines[end:]


def clipped_line(line: str, head: int, tail: int) -> tuple[str, int, str]:
    """The start of a long line, how many characters are hidden, and its end ("" when none)."""
    if len(line) <= head + tail + 40:
        return line, 0, ""
    return line[:head], len(line) - head - tail, line[len(line) - tail :]


class LiveText:
    """Makes streaming text safe, piece by piece.

    Escape sequences go, also when they are cut between pieces; line feeds, tabs and carriage
    returns stay for whoever lays out the lines; what else does not print is escaped, and what
    is invisible without doing harm is dropped. Holds back at most an unfinished sequence of
    bounded length.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding
        self._held = ""

    def feed(self, text: str) -> str:
        """The safe form of the next piece."""
        if not self._held and _PLAIN.match(text):
            return text
        text, self._held = self._held + text, ""
        unfinished = _UNFINISHED.search(text)
        if unfinished and len(unfinished[0]) <= _MOST_HELD:
            self._held = unfinished[0]
            text = text[: unfinished.start()]
        return self._safe(_SEQUENCE.sub("", text))

    def finish(self) -> str:
        """What was held back, once nothing more comes; it shows its escapes."""
        rest, self._held = self._held, ""
        return self._safe(rest)

    def _safe(self, text: str) -> str:
        text = _SPACES.sub(" ", _HARMLESS.sub("", _struck_out(text)))
        if _PLAIN.match(text):
            return text
        return "".join(
            escape(character) if hide and character not in "\n\t\r" else character
            for character, hide in zip(text, _hidden(text, self._encoding), strict=True)
        )


class LiveLines:
    """Cuts streaming text into finished lines, as a terminal would show them.

    A carriage return starts its line over, so of a progress bar only the last state is left.
    `open_line` is the line so far. Lines beyond 4,096 characters are cut, so that memory stays
    bounded whatever comes.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self._text = LiveText(encoding)
        self._line = ""

    @property
    def open_line(self) -> str:
        """What the unfinished line shows at this moment."""
        return _last_state(self._line)

    def feed(self, text: str) -> list[str]:
        """The lines that the next piece finishes."""
        *finished, self._line = (self._line + self._text.feed(text)).split("\n")
        lines = [_last_state(line) for line in finished]
        if len(self._line) > _MOST_LINE:
            self._line = _restarted(self._line)
        whole = max(len(self._line) - 1, 0) // _MOST_LINE * _MOST_LINE
        lines += (self._line[at : at + _MOST_LINE] for at in range(0, whole, _MOST_LINE))
        self._line = self._line[whole:]
        return lines

    def finish(self) -> list[str]:
        """The last line, if it was left without an end."""
        rest, self._line = _last_state(self._line + self._text.finish()), ""
        return [rest] if rest else []


class LiveOutput:
    """`LiveLines` of a child's output: bytes, cut anywhere."""

    def __init__(self, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines = LiveLines(encoding)

    @property
    def open_line(self) -> str:
        """What the unfinished line shows at this moment."""
        return self._lines.open_line

    def feed(self, data: bytes) -> list[str]:
        """The lines that the next piece finishes."""
        return self._lines.feed(self._decoder.decode(data))

    def finish(self) -> list[str]:
        """The rest, once nothing more comes."""
        rest = self._lines.feed(self._decoder.decode(b"", final=True))
        return rest + self._lines.finish()


def live(text: str, encoding: str = "utf-8") -> str:
    """A whole text as `LiveLines` would show it."""
    lines = LiveLines(encoding)
    finished = lines.feed(text)
    return "\n".join([*finished, *(lines.finish() or [""])])


def _struck_out(text: str) -> str:
    """The text without its backspaces, and without what they take back of a line."""
    if "\b" not in text:
        return text
    kept: list[str] = []
    for character in text:
        if character != "\b":
            kept.append(character)
        elif kept and kept[-1] not in "\n\r":
            kept.pop()
    return "".join(kept)


def _last_state(line: str) -> str:
    """What is left of a line after its carriage returns; those at the end overwrite nothing."""
    return line.rstrip("\r").rpartition("\r")[2]


def _restarted(line: str) -> str:
    """A long line without the states that its carriage returns have overwritten."""
    kept = _last_state(line)
    return kept + "\r" if line.endswith("\r") else kept
