"""A page to text worth reading, in a process of its own (C16).

    python -I -m pluggableharness.providers.web.pages FORMAT BASE_URL < page.html

prints a JSON object with `content` and maybe `title`. Parsers of HTML are quadratic on some
inputs (50,000 attributes: 36 s), cannot be interrupted, and are native code that reads what
strangers wrote; so they run where memory and time end with the process.
"""

import json
import re
import resource
import sys
from typing import Final

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

_DROPPED: Final = (
    "script, style, template, iframe, frame, object, embed, applet, svg, canvas, audio, video, "
    "map, dialog:not([open]), input, select, textarea, [hidden], [aria-hidden=true]"
)
_UNSEEN: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0*\.?0*(?:;|!|$)"
    r"|font-size:0*\.?0*(?:px|pt|em|rem|%)?(?:;|!|$)|(?:text-indent|left|top):-\d{3,}"
)
_BLANKS: Final = re.compile(r"\s+")
_WORDLESS: Final = re.compile(r"\W+")
_LINES: Final = re.compile(r"\n{3,}")
_INVISIBLE: Final = re.compile(
    "[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Characters that nobody sees, in which a page can hide words for a model."""
_TITLE: Final = 300
_MEMORY: Final = 2 << 30
_CPU_S: Final = 20


def read_page(html: str, form: str, base_url: str) -> dict[str, str]:
    """Clean a page and turn it into markdown or text, with links made absolute for markdown."""
    parser = LexborHTMLParser(html)
    found = parser.css_first("title")
    title = _BLANKS.sub(" ", _INVISIBLE.sub("", found.text())).strip() if found else ""
    _clean(parser)
    content = _LINES.sub("\n\n", _INVISIBLE.sub("", _converted(parser, form, base_url))).strip()
    return {"content": content, "title": title[:_TITLE]} if title else {"content": content}


def _clean(parser: LexborHTMLParser) -> None:
    """Take out what a reader of the page would not see: it is where injected prompts stand."""
    for node in parser.css(_DROPPED):
        node.decompose()
    for node in parser.css("[style]"):
        if _UNSEEN.search(_BLANKS.sub("", (node.attributes.get("style") or "").lower())):
            node.decompose()
    for node in parser.css("img"):
        if (node.attributes.get("src") or "").startswith("data:"):
            node.replace_with(node.attributes.get("alt") or "")
    root = parser.root
    for node in _comments(root) if root is not None else ():
        node.decompose()


def _comments(root: LexborNode) -> list[LexborNode]:
    return [
        node for node in root.traverse(include_text=True) if node.tag in ("-comment", "_comment")
    ]


def _converted(parser: LexborHTMLParser, form: str, base_url: str) -> str:
    options = ConversionOptions(
        extract_metadata=False,
        output_format="plain" if form == "text" else "markdown",
        base_url=base_url,
    )
    content = convert(parser.html or "", options).content or ""
    text = parser.body.text(separator=" ", strip=True) if parser.body is not None else ""
    # The converter gives up on what is nested a thousand deep; the words are there all the same.
    return content if 2 * _words(content) >= _words(text) else text


def _words(text: str) -> int:
    return len(_WORDLESS.sub("", text))


def main() -> None:
    """Read a page in UTF-8 from stdin and print what it says."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    form, base_url = sys.argv[1:]
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.write(json.dumps(read_page(html, form, base_url)))


if __name__ == "__main__":
    main()
