"""Markdown as it streams: drawn once, whatever way it was cut, and never more than text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from pluggableharness.kernel.frontends.inline import inline
from pluggableharness.kernel.frontends.looks import UNICODE, Looks
from pluggableharness.kernel.frontends.markdown_text import MarkdownText

LOOKS = Looks(colour=True, cursor=True)

SAMPLE = """# The plan

I **will** edit `money.py`, *not* the tests:

- first `split`, which rounds every share on its own and so cannot balance
- then the `report`
12. and a number

```python
shares = [round(x) for x in **weights]

# not a heading
```
| file | lines |
| --- | ---: |
| money.py | **20** |
| a_b_c.py | 3 |

> quoted text
---
See [the docs](https://example.org/a) and 2 * 3 * 4, snake_case_name, **open"""


def drawn(*pieces: str, width: int = 60) -> Text:
    stream = MarkdownText(LOOKS)
    out = Text()
    for piece in pieces:
        out.append_text(stream.feed(piece, width))
    return out.append_text(stream.finish(width))


def styled(text: Text, style: str) -> list[str]:
    return [text.plain[span.start : span.end] for span in text.spans if span.style == style]


@pytest.mark.req("K32")
def test_headings_lists_code_tables_and_quotes_are_drawn() -> None:
    text = drawn(SAMPLE)
    assert text.plain.split("\n") == [
        "The plan",
        "",
        "I will edit money.py, not the tests:",
        "",
        "• first split, which rounds every share on its own and so",
        "  cannot balance",
        "• then the report",
        "12. and a number",
        "",
        "  shares = [round(x) for x in **weights]",
        "  ",
        "  # not a heading",
        "  file      lines",
        "  money.py  20",
        "  a_b_c.py  3",
        "",
        "  > quoted text",
        "─" * 40,
        "See the docs (https://example.org/a) and 2 * 3 * 4,",
        "snake_case_name, **open",
    ]
    assert styled(text, "strong")[:3] == ["The", "plan", "will"]
    assert styled(text, "emphasis")[0] == "not"
    assert styled(text, "code")[0] == "money.py"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=400), st.integers(20, 90))
def test_however_the_text_was_cut_it_is_drawn_the_same(cuts: list[int], width: int) -> None:
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(SAMPLE[at : at + cut])
        at += cut
    pieces.append(SAMPLE[at:])
    one, many = drawn(SAMPLE, width=width), drawn(*pieces, width=width)
    assert one.plain == many.plain


@settings(deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab *_`#->|[]()1.~\n✓│┌└"), max_size=12), max_size=20),
    st.integers(20, 60),
)
def test_nothing_is_lost_but_marks_and_no_line_begins_as_ours_do(
    pieces: list[str], width: int
) -> None:
    text = drawn(*pieces, width=width).plain
    letters = re.sub(r"[^ab]", "", "".join(pieces))
    # What stands behind an opening fence names a language, and is not drawn.
    if not re.search(r"(?:```|~~~)", "".join(pieces)):
        assert sorted(re.sub(r"[^ab]", "", text)) == sorted(letters)
    for line in text.split("\n"):
        assert not re.match(f"[{re.escape(UNICODE.ours)}](?: |$)", line), line
        assert Text(line.rstrip()).cell_len <= width


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("a `b*c*` d", [("a ", ""), ("b*c*", "code"), (" d", "")]),
        ("**a `b`**", [("a ", "strong"), ("b", "code")]),
        ("2 * 3 * 4", [("2 ", ""), ("*", ""), (" 3 ", ""), ("*", ""), (" 4", "")]),
        ("a_b_c", [("a", ""), ("_", ""), ("b", ""), ("_", ""), ("c", "")]),
        ("_b_!", [("b", "emphasis"), ("!", "")]),
        ("[x](y)", [("x", "link"), (" (y)", "faint")]),
        ("[x] (y)", [("[", ""), ("x] (y)", "")]),
        ("**open", [("**", ""), ("open", "")]),
    ],
)
def test_marks_within_a_line(line: str, pieces: list[tuple[str, str]]) -> None:
    assert inline(line) == pieces
