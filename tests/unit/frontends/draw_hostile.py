"""A process that draws texts made to be slow, for the test that none of them is.

Each is so long that work which grows with the square of a length would take many minutes.
"""

from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.markdown_text import MarkdownText
from pluggableharness.kernel.frontends.text import LiveOutput

_LENGTH = 200_000


def _long(piece: str, length: int = _LENGTH) -> str:
    return piece * (length // len(piece))


OUTPUT = {
    "struck": "a" * _LENGTH + "\b" * _LENGTH,
    "struck in turn": _long("ab\b"),
    "struck at nothing": _long("\b"),
    **{
        repr(opener): _long(opener) + "\n"
        for opener in ("\x1b[", "\x1b]", "\x1b ", "\x85", "\x90", "\x9b", "\x9d", "\x9c")
    },
    "parameters": "\x1b[" + "0" * _LENGTH + "\xff",
    "spaces": "\x1b" + " " * _LENGTH + "\xff",
    "title": "\x1b]" + "x" * _LENGTH,
    "states": _long("a\r"),
    "one line": "x" * _LENGTH * 20,
}

MARKDOWN = {
    "growing ticks": "".join("`" * run + "a" for run in range(1, 400)),
    "strong without end": _long("**a", 2 * _LENGTH),
    **{
        repr(piece): _long(piece, _LENGTH // 10)
        for piece in (
            *("`", "`a", "*", "*a", "*a ", "**a ", "__a", "_a ", "[", "[a](", "[a](b)", "[a"),
            *("a ", "a", " ", "\n", "- ", "-", "#", "# ", "1. ", "> ", "`" * 100 + "a"),
            *("|", "|a", "| a | b |\n", "|" * 40 + "a\n", "|" * 15 + "a" * 400 + "\n"),
        )
    },
    "wide": "\n".join("|" * row + "a" * 2000 for row in range(200)),
}


def _draw(text: str) -> None:
    stream = MarkdownText(Looks(colour=True, cursor=True))
    stream.feed(text, 80)
    stream.finish(80)


if __name__ == "__main__":
    for name, text in OUTPUT.items():
        print(name, flush=True)
        LiveOutput("utf-8").feed(text.encode())
    for name, text in MARKDOWN.items():
        print(name, flush=True)
        _draw(text)
        _draw("x " + text)
