"""What a shell makes of a word: its quoting undone, or the reason why that is not certain."""

import re
from dataclasses import dataclass

_LITERAL_BRACES = re.compile(r"\{\}|[A-Za-z0-9_./@:^-]+\{[A-Za-z0-9_-]*\}[A-Za-z0-9_/@:^-]*")
_BREAKS = frozenset(" \t\n|&;<>()")
_ESCAPED_IN_DOUBLE = frozenset('$`"\\')
_AFTER_LITERAL_DOLLAR = frozenset('" )|')


def names(text: str) -> frozenset[str]:
    """The words of a text: long sets of names are read more easily as prose."""
    return frozenset(text.split())


class NotUnderstood(Exception):
    """Why a command line is not understood for certain."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command line.

    `fixed` says that it is exactly `value`, and one word. Otherwise `value` is as written: it
    holds a pattern that file names replace, which then begin as `value` does, or what another
    command prints.
    """

    value: str
    fixed: bool = True


def word(text: str) -> Word:
    """The word that bash makes of `text`, in which nothing is substituted.

    Raises NotUnderstood for variables, braces and tildes that expand, and for a pattern that
    could expand to an option.
    """
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a word once, from the left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._made: list[str] = []
        self._pattern: int | None = None

    def scan(self) -> Word:
        if self._text.startswith("#"):
            raise NotUnderstood("a word that starts with '#' may be a comment")
        while self._at < len(self._text):
            self._step(self._text[self._at])
        value = "".join(self._made)
        if self._pattern is not None and (self._pattern == 0 or value.startswith("-")):
            raise NotUnderstood(f"the pattern {self._text} may expand to an option")
        return Word(value, self._pattern is None)

    def _step(self, char: str) -> None:
        match char:
            case "'":
                self._single_quoted()
            case '"':
                self._double_quoted()
            case "\\":
                self._take(self._text[self._at + 1 : self._at + 2], 2)
            case "$" | "`":
                self._dollar()
            case "{" | "}":
                self._brace(char)
            case "~":
                self._tilde()
            case "*" | "?" | "[":
                if self._pattern is None:
                    self._pattern = sum(map(len, self._made))
                self._take(char, 1)
            case _ if char in _BREAKS:
                raise NotUnderstood(f"{char!r} within a word")
            case _:
                self._take(char, 1)

    def _take(self, value: str, length: int) -> None:
        if (not value and length == 2) or value == "\n":
            raise NotUnderstood("a word that ends in a backslash")
        self._made.append(value)
        self._at += length

    def _single_quoted(self) -> None:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise NotUnderstood("a quote that does not end")
        self._made.append(self._text[self._at + 1 : end])
        self._at = end + 1

    def _double_quoted(self) -> None:
        text, at = self._text, self._at + 1
        while at < len(text) and text[at] != '"':
            following = text[at + 1 : at + 2]
            if text[at] == "`" or (text[at] == "$" and following not in _AFTER_LITERAL_DOLLAR):
                raise NotUnderstood(f"{text} holds a variable or another expansion")
            if text[at] == "\\" and (following in _ESCAPED_IN_DOUBLE or following == "\n"):
                self._made.append(following.replace("\n", ""))
                at += 2
            else:
                self._made.append(text[at])
                at += 1
        if at >= len(text):
            raise NotUnderstood("a quote that does not end")
        self._at = at + 1

    def _dollar(self) -> None:
        if self._text[self._at :] != "$":
            raise NotUnderstood(f"{self._text} holds a variable or another expansion")
        self._take("$", 1)

    def _brace(self, char: str) -> None:
        # Whether bash expands braces depends on all that follows them, so the whole word counts.
        if _LITERAL_BRACES.fullmatch(self._text) is None or ".." in self._text:
            raise NotUnderstood(f"{self._text} holds braces that may expand")
        self._take(char, 1)

    def _tilde(self) -> None:
        if self._at == 0 or self._text[self._at - 1] in "=:":
            raise NotUnderstood(f"{self._text} holds a home directory")
        self._take("~", 1)
