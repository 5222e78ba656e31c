"""edit_file: one exact text for another, and not a byte besides (C4)."""

import os
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.providers.filesystem.editing import check_texts
from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.events import Failure
from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("C4")


class File:
    """A file that is edited by its provider."""

    def __init__(self, tool: Tool, path: Path) -> None:
        self._tool = tool
        self.path = path

    async def edit(self, content: bytes, old: str, new: str, **more: Any) -> dict[str, Any]:
        """Edit a file of that content; the result."""
        self.path.write_bytes(content)
        outcome = await self._tool("edit_file", path="f", old_str=old, new_str=new, **more)
        return outcome.payload

    async def becomes(self, content: bytes, old: str, new: str, **more: Any) -> bytes:
        """Edit a file of that content; its new content."""
        await self.edit(content, old, new, **more)
        return self.path.read_bytes()

    async def refuses(self, content: bytes, old: str, new: str, **more: Any) -> Failure:
        """Edit a file of that content; the failure, which has left the file alone."""
        self.path.write_bytes(content)
        before = self.path.stat()
        outcome = await self._tool("edit_file", path="f", old_str=old, new_str=new, **more)
        assert outcome.error is not None
        after = self.path.stat()
        assert self.path.read_bytes() == content
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert os.listdir(self.path.parent) == ["f"]
        return outcome.error


@pytest.fixture
def file(tool: Tool, folder: Path) -> File:
    return File(tool, folder / "f")


async def test_an_edit_says_what_it_did(file: File) -> None:
    payload = await file.edit(b"a\nb\nc\n", "b", "B")
    path = str(file.path)
    assert payload == {
        "path": path,
        "replacements": 1,
        "diff": f"--- {path}\n+++ {path}\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    }


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        # filesystem-01: LF in the text, CR LF in the file
        (b"alpha\r\nbeta\r\ngamma", "alpha\nbeta", "ALPHA\nBETA", b"ALPHA\r\nBETA\r\ngamma"),
        # filesystem-04: CR LF in the text, LF in the file
        (b"l1\nl2\n", "l1\r\nl2", "L1\r\nL2", b"L1\nL2\n"),
        # new lines take the line end of the matched place
        (b"a\r\nb\r\n", "b", "b\nc\nd", b"a\r\nb\r\nc\r\nd\r\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\nb\nc\r\nd\r\n", "b", "b\nB", b"a\nb\nB\nc\r\nd\r\n"),
        (b"a\nb\nc\r\nd\r\n", "c", "c\nC", b"a\nb\nc\r\nC\r\nd\r\n"),
        (b"a\nb\nc\r\nd\r\n", "d", "d\r\nD\nE", b"a\nb\nc\r\nd\r\nD\r\nE\r\n"),
        (b"a\r\nb\nc", "a\nb\nc", "A\nB\nC", b"A\r\nB\nC"),
        (b"a\r\nb\nc\n", "a\nb\n", "A\nB\nC\nD\n", b"A\r\nB\nC\nD\nc\n"),
        # line ends at the edges of the match
        (b"a\r\n\r\nb\r\n", "\n\nb", "\nb", b"a\r\nb\r\n"),
        (b"a\r\nb\r\n", "a\n", "", b"b\r\n"),
        (b"a\r\nb\r\n", "\n", "\n\n", None),
        # a lone CR is a character
        (b"a\rb\nc\n", "a\rb", "a\rB", b"a\rB\nc\n"),
        (b"x\r\ny\n", "x", "X\rZ", b"X\rZ\r\ny\n"),
        # filesystem-13: a last line end is neither added nor removed
        (b"a\nb", "a", "A", b"A\nb"),
        (b"a\nb\n", "b\n", "c\n", b"a\nc\n"),
        (b"a\nb\n", "b", "c", b"a\nc\n"),
        # filesystem-28: tabs stay tabs
        (
            b"all:\n\techo hi\n\techo ho\n",
            "\techo hi",
            "\techo hey",
            b"all:\n\techo hey\n\techo ho\n",
        ),
        # filesystem-05 and 06: a mark stays, and none appears
        (
            b"\xef\xbb\xbfline one\r\nline two\r\n",
            "line one",
            "line ONE",
            b"\xef\xbb\xbfline ONE\r\nline two\r\n",
        ),
        (b"# t\r\n", "t", "u", b"# u\r\n"),
        (b"\xef\xbb\xbfx", "x", "y\nz", b"\xef\xbb\xbfy\nz"),
        # filesystem-07: bytes that are not UTF-8 stay what they are
        (
            b"const x = 1\n\xd6\xd0\xce\xc4\n",
            "const x = 1",
            "const y = 1",
            b"const y = 1\n\xd6\xd0\xce\xc4\n",
        ),
        (b"caf\xe9\n", "é", "è", b"caf\xe8\n"),
        ("Grüße\n".encode(), "ü", "ue", b"Gruesse\n".replace(b"ss", "ß".encode())),
        # everything can go
        (b"a", "a", "", b""),
    ],
)
async def test_bytes_outside_the_match_never_change(
    file: File, content: bytes, old: str, new: str, after: bytes | None
) -> None:
    """Cases filesystem-01, -04, -05, -06, -07, -13 and -28."""
    if after is None:
        assert (await file.refuses(content, old, new)).details == {"count": 2, "lines": [1, 2]}
    else:
        assert await file.becomes(content, old, new) == after


async def test_replace_all_uses_the_same_matcher(file: File) -> None:
    """Case filesystem-02."""
    content = b"a\r\nb\r\nX\r\na\r\nb\r\n"
    payload = await file.edit(content, "a\nb", "c\nd", replace_all=True)
    assert payload["replacements"] == 2
    assert file.path.read_bytes() == b"c\r\nd\r\nX\r\nc\r\nd\r\n"


async def test_replace_all_gives_each_place_its_own_line_ends(file: File) -> None:
    after = await file.becomes(b"x\r\nx\nx", "x", "y\nz", replace_all=True)
    assert after == b"y\r\nz\r\ny\nz\ny\nz"


@pytest.mark.parametrize("replace_all", [False, True])
async def test_the_same_text_twice_is_refused(file: File, replace_all: bool) -> None:
    """Case filesystem-03, also when only the line ends differ."""
    for old, new in (("x", "x"), ("a\nb", "a\r\nb")):
        error = await file.refuses(b"x\n", old, new, replace_all=replace_all)
        assert error.category == "invalid_arguments"
        assert "old_str and new_str are the same" in error.message


async def test_nothing_in_the_new_text_is_a_template(file: File) -> None:
    r"""Case filesystem-08: `$&` and `\1` mean themselves."""
    new = r"""log("$& $1 $$ $' \1 \g<0> \n");"""
    for replace_all in (False, True):
        after = await file.becomes(
            b'log("done");\r\n', 'log("done");', new, replace_all=replace_all
        )
        assert after == new.encode() + b"\r\n"


async def test_nothing_in_the_old_text_is_a_pattern(file: File) -> None:
    assert await file.becomes(b"a.c\r\nabc\r\n", "a.c\n", "x\n") == b"x\r\nabc\r\n"
    error = await file.refuses(b"abc\r\ndef\r\n", "a.c\ndef", "x")
    assert error.category == "execution_failed"


async def test_several_places_are_refused_with_their_lines(file: File) -> None:
    """Case filesystem-09."""
    content = b"def dev():\n    debug = True\n\ndef prod():\n    debug = True\n"
    old, new = "    debug = True", "    debug = False"
    error = await file.refuses(content, old, new)
    assert error.category == "execution_failed"
    assert "2 times, on lines 2, 5" in error.message
    assert error.details == {"count": 2, "lines": [2, 5]}
    payload = await file.edit(content, old, new, replace_all=True)
    assert payload["replacements"] == 2
    assert file.path.read_bytes() == content.replace(old.encode(), new.encode())


async def test_places_that_overlap_are_several(file: File) -> None:
    error = await file.refuses(b"x\nx\nx\n", "x\nx\n", "y\n")
    assert error.details == {"count": 2, "lines": [1, 2]}


async def test_very_many_places_are_counted_up_to_a_limit(file: File) -> None:
    error = await file.refuses(b"a\n" * 5_000, "a", "b")
    assert "1000 times or more, on lines 1, 2" in error.message
    assert error.details is not None
    assert len(error.details["lines"]) == 20


@pytest.mark.parametrize("replace_all", [False, True])
async def test_an_empty_old_text_is_refused(file: File, replace_all: bool) -> None:
    """Cases filesystem-11 and -12, for a file with content and one without."""
    for content in (b"abc", b""):
        error = await file.refuses(content, "", "X", replace_all=replace_all)
        assert error.category == "invalid_arguments"
        assert "old_str must not be empty" in error.message


async def test_a_file_that_is_not_there_is_not_made(tool: Tool, folder: Path) -> None:
    """Case filesystem-12."""
    for old in ("", "x"):
        outcome = await tool("edit_file", path="none", old_str=old, new_str="hello")
        assert outcome.error is not None
        assert outcome.error.category == ("not_found" if old else "invalid_arguments")
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    ("content", "old", "line", "differs_in"),
    [
        # filesystem-10: a space at the end
        (b"\tx = 1\n  x = 1\n", "x = 1 ", 1, "white space"),
        # filesystem-28: eight spaces for a tab
        (
            b"all:\n\techo hi\n\techo ho\n",
            "        echo hi",
            2,
            "white space (tabs versus spaces)",
        ),
        (b"def f():\n    return 1\n", "def f():\n  return 1", 1, "white space"),
        (b"one\ntwo \nthree\n", "two\nthree", 2, "white space"),
        # filesystem-21: composed and decomposed
        ("cafe\u0301\n".encode(), "caf\u00e9", 1, "the Unicode form"),
        ("x\n\u201chello\u201d\n".encode(), '"hello"', 2, "quotes"),
        (b"x\ny = 'a'\n", "y = \u2019a\u2019", 2, "quotes"),
        ("a\u00a0b\n".encode(), "a b", 1, "white space"),
        ("na\u200bme\n".encode(), "name", 1, "invisible"),
        (b"Hello World\n", "hello world", 1, "upper and lower case"),
        (b"a\nfoo bar\nbaz\n", "2|foo bar\n3|baz", 2, "the line numbers of read_file"),
        (b'a\nprint("x")\nb\n', 'print("x")\\nb', 2, "escapes"),
        ("x\n\tsay(\u201cHi\u201d)\n".encode(), '    SAY("Hi")', 2, "several"),
        (
            b"a\nresult = compute_total(items, tax)\nb\n",
            "result = compute_totals(items, tax)",
            2,
            "what is written there",
        ),
        (b"line\n" * 50 + b"k\nvalue = 12\nend\n", "k\nvalue = 13\nend", 51, "what is written"),
    ],
)
async def test_no_match_shows_the_closest_place_and_what_differs(
    file: File, content: bytes, old: str, line: int, differs_in: str
) -> None:
    """Cases filesystem-10, -21 and -28: exact is exact, and the error says why it was not."""
    error = await file.refuses(content, old, "y")
    assert error.category == "execution_failed"
    assert error.details is not None
    assert error.details["line"] == line
    assert error.details["differs_in"].startswith(differs_in)
    assert f"line {line}" in error.message


async def test_the_closest_place_is_shown_with_visible_escapes(file: File) -> None:
    error = await file.refuses(b"all:\n\techo hi\n", "        echo hi", "y")
    assert "the file has `\\techo hi` where old_str has `        echo hi`" in error.message
    error = await file.refuses("cafe\u0301\x1b[2J\n".encode(), "caf\u00e9\x1b[2J", "y")
    assert "cafe\\u0301\\x1b[2J" in error.message


async def test_nothing_similar_is_said_too(file: File) -> None:
    error = await file.refuses(b"alpha\nbeta\n", "zzz qqq", "y")
    assert "nothing in it comes close" in error.message
    assert error.details is None


@pytest.mark.parametrize(
    ("content", "old"),
    [
        (b"word " * 400_000, "word  word" * 200),
        (b"some words in a line\n" * 100_000, "some other words in a line\n" * 500),
        (b"a" * 2_000_000, "b" * 50_000),
        (("x = " + "(" * 60 + "\n").encode() * 30_000, "x = " + ")" * 60),
    ],
)
async def test_the_search_for_the_closest_place_is_bounded(
    file: File, content: bytes, old: str
) -> None:
    """Texts of megabytes that are nearly alike; what fails here is only a hang."""
    assert (await file.refuses(content, old, "y")).category == "execution_failed"


async def test_text_that_the_encoding_cannot_hold_is_refused(file: File) -> None:
    error = await file.refuses(b"caf\xe9 1\n", "1", "\u20ac")
    assert error.category == "invalid_arguments"
    assert "U+20AC" in error.message
    assert "latin-1" in error.message


async def test_half_of_a_surrogate_pair_is_refused(tool: Tool, folder: Path) -> None:
    """Case exec-15 for files. The wire cannot carry it, so it is asked of the check itself."""
    for old, new, field in (("a\ud800", "b", "old_str"), ("a", "b\udfff", "new_str")):
        with pytest.raises(InvalidArguments, match=f"{field} holds half of a surrogate pair"):
            check_texts(old, new)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
async def test_utf_16_keeps_its_mark_and_order(file: File, name: str) -> None:
    content = ("\ufeff" + "eins\r\nzwei\r\ndrei\r\n").encode(name)
    after = await file.becomes(content, "eins\nzwei", "1\n2\u00e4\n3")
    assert after == ("\ufeff" + "1\r\n2\u00e4\r\n3\r\ndrei\r\n").encode(name)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
async def test_the_diff_of_utf_16_has_its_lines(file: File, name: str) -> None:
    """Next to each other, U+0A41 and U+4100 hold the bytes of a line feed without being one."""
    content = "\ufeff\u0a41\u4100\u0a41\r\nx\r\n\u4100\u0a41\u4100\r\n".encode(name)
    payload = await file.edit(content, "x", "y")
    assert payload["diff"].splitlines()[2:] == [
        "@@ -1,3 +1,3 @@",
        " \u0a41\u4100\u0a41",
        "-x",
        "+y",
        " \u4100\u0a41\u4100",
    ]


async def test_utf_16_is_not_matched_between_characters(file: File) -> None:
    """In U+4100 U+0041 the bytes of U+0041 stand at an odd place first."""
    content = "\ufeff\u4100\u4100A".encode("utf-16-be")
    assert await file.becomes(content, "A", "B") == "\ufeff\u4100\u4100B".encode("utf-16-be")
    error = await file.refuses("\ufeff\u4100\u4100".encode("utf-16-be"), "A", "B")
    assert error.category == "execution_failed"


async def test_text_far_behind_a_head_of_utf_8_is_edited_as_it_was_read(file: File) -> None:
    head = b"plain\n" * 200_000
    after = await file.becomes(head + b"caf\xe9\n", "café", "thé")
    assert after == head + b"th\xe9\n"


async def test_the_diff_shows_context_and_line_numbers_deep_in_a_file(file: File) -> None:
    lines = [b"line %d\n" % n for n in range(1, 100_001)]
    payload = await file.edit(b"".join(lines), "line 70000\n", "changed\nadded\n")
    assert payload["diff"].splitlines()[2:] == [
        "@@ -69997,7 +69997,8 @@",
        *(f" line {n}" for n in range(69_997, 70_000)),
        "-line 70000",
        "+changed",
        "+added",
        *(f" line {n}" for n in range(70_001, 70_004)),
    ]


async def test_the_diff_has_a_hunk_for_each_place(file: File) -> None:
    content = b"".join(b"%d\n" % n for n in range(1, 31)).replace(b"5\n", b"x\n")
    payload = await file.edit(content, "x\n", "y\nz\n", replace_all=True)
    assert [line for line in payload["diff"].splitlines() if line.startswith("@@")] == [
        "@@ -2,7 +2,8 @@",
        "@@ -12,7 +13,8 @@",
        "@@ -22,7 +24,8 @@",
    ]


async def test_the_diff_of_very_many_places_is_cut_and_says_so(file: File) -> None:
    payload = await file.edit(b"a b\n" * 50_000, "a", "c", replace_all=True)
    assert payload["replacements"] == 50_000
    assert file.path.read_bytes() == b"c b\n" * 50_000
    assert "more lines" in payload["diff"]
    assert "the rest is not shown" in payload["diff"]
    assert len(payload["diff"]) < 10_000


async def test_a_missing_last_line_end_shows_in_the_diff(file: File) -> None:
    payload = await file.edit(b"a\nb", "b", "c")
    mark = "\\ No newline at end of file"
    assert payload["diff"].splitlines()[3:] == [" a", "-b", mark, "+c", mark]


async def test_a_file_too_large_to_hold_is_refused_unread(tool: Tool, folder: Path) -> None:
    (folder / "f").write_bytes(b"a")
    os.truncate(folder / "f", (256 << 20) + 1)
    error = (await tool("edit_file", path="f", old_str="a", new_str="b")).error
    assert error is not None
    assert "268435457 bytes" in error.message


async def test_editing_needs_no_read(tool: Tool, folder: Path) -> None:
    """An exact match is proof enough; only write_file refuses (C3)."""
    (folder / "f").write_text("a")
    assert (await tool("edit_file", path="f", old_str="a", new_str="b")).payload[
        "replacements"
    ] == 1
