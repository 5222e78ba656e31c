"""grep: text in files, as ripgrep finds it (C9)."""

from pathlib import Path
from typing import Any

import pytest
from unit.search.trees import NOTHING_SKIPPED, grepped, plant, put, refusal

from pluggableharness.providers.filesystem.provider import provider as filesystem
from pluggableharness.sdk.testing import PartialResult, Tool, opened

pytestmark = pytest.mark.req("C9")


async def test_a_match_is_a_place_and_its_line(tool: Tool, folder: Path) -> None:
    plant(folder, src__a="one\ntwo needle, needle\n", b="nothing\n", c="needle")
    assert (await tool("grep", pattern="needle")).payload == {
        "matches": [
            {"path": "c", "line": 1, "column": 1, "text": "needle"},
            {"path": "src/a", "line": 2, "column": 5, "text": "two needle, needle"},
        ],
        "total": 2,
        "total_is_minimum": False,
        "files": 2,
        "truncated": False,
        "skipped": NOTHING_SKIPPED,
        "warnings": [],
    }


async def test_nothing_found_is_a_result(tool: Tool, folder: Path) -> None:
    """Case search-14."""
    put(folder, "a")
    payload = (await tool("grep", pattern="zzz_not_there")).payload
    assert (payload["matches"], payload["total"], payload["files"]) == ([], 0, 0)
    assert await grepped(tool, "x", glob="nowhere/*.py") == []


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        (b"caf\xe9 needle\n", 6, "café needle"),
        ("café — needle\n".encode(), 8, "café — needle"),
        ("\U0001f600needle\n".encode(), 2, "\U0001f600needle"),
        (b"\xef\xbb\xbfneedle\n", 1, "needle"),
        (b"\xef\xbb\xbf\xc3\xa9needle\n", 2, "éneedle"),
        (b"\xff\xfe" + "éneedle\n".encode("utf-16-le"), 2, "éneedle"),
        (b"\xfe\xff" + "\nx needle\n".encode("utf-16-be"), 3, "x needle"),
        (b"needle\r\n", 1, "needle"),
        (b"x\tneedle", 3, "x\tneedle"),
        (b"alpha\nbeta\rcarriage\ngamma needle\n", 7, "gamma needle"),
        ("a\u2028b\nc\x0bd\x85e\nneedle\n".encode(), 1, "needle"),
    ],
)
async def test_text_is_shown_as_read_file_shows_it(
    tool: Tool, folder: Path, line: bytes, column: int, text: str
) -> None:
    """Cases search-09, -11, -12, -16 and filesystem-22: no byte spoils text, end or number."""
    put(folder, "odd.txt", line)
    put(folder, "ok.txt", "needle\n")
    odd, ok = await grepped(tool, "needle")
    assert (odd["column"], odd["text"]) == (column, text)
    assert ok["text"] == "needle"
    async with opened(filesystem, cwd=folder) as reader:
        lines = (await reader("read_file", path="odd.txt")).payload["content"].split("\n")
    assert lines[odd["line"] - 1] == f"{odd['line']}|{text}"


async def test_lines_that_happen_to_be_utf8_in_a_latin1_file_are_shown_as_such(
    tool: Tool, folder: Path
) -> None:
    """Else a text that grep shows would not be found by edit_file."""
    put(folder, "mixed.txt", b"caf\xe9\nneedle \xc3\xa9\n")
    [match] = await grepped(tool, "needle", before=1)
    assert (match["before"], match["text"]) == (["café"], "needle Ã©")
    [named] = await grepped(tool, "needle", path="mixed.txt")
    assert named["text"] == "needle Ã©"


async def test_anchors_see_the_line_and_not_its_mark_or_end(tool: Tool, folder: Path) -> None:
    """Cases search-11, search-15 and search-16, here for the lines around."""
    put(folder, "bom.txt", b"\xef\xbb\xbfneedle\r\nnext\r\n")
    [match] = await grepped(tool, "^needle$", after=1)
    assert match["after"] == ["next"]


async def test_patterns_over_lines_need_the_switch(tool: Tool, folder: Path) -> None:
    """Case search-15: the error names it; with it, CR LF has to be written out."""
    put(folder, "lf.txt", b"alpha\nneedle\n")
    put(folder, "crlf.txt", b"alpha\r\nneedle\r\n")
    category, message = await refusal(tool, "grep", pattern="alpha\\nneedle")
    assert category == "invalid_arguments"
    assert "Set multiline" in message
    [match] = await grepped(tool, "alpha\\nneedle", multiline=True)
    assert match == {"path": "lf.txt", "line": 1, "column": 1, "text": "alpha\nneedle"}
    both = await grepped(tool, "alpha\\r?\\nneedle", multiline=True)
    assert [match["text"] for match in both] == ["alpha\nneedle"] * 2
    assert len(await grepped(tool, "alpha\nneedle", multiline=True, literal=True)) == 1


async def test_lines_around_a_match_are_shown_with_each_match(tool: Tool, folder: Path) -> None:
    put(folder, "a", "1\n2\nx 3\nx 4\n5\n6\n7\n8\nx 9")
    put(folder, "b", "x\n")
    assert [
        (match["before"], match["text"], match["after"])
        for match in await grepped(tool, "x", before=2, after=2)
    ] == [
        (["1", "2"], "x 3", ["x 4", "5"]),
        (["2", "x 3"], "x 4", ["5", "6"]),
        (["7", "8"], "x 9", []),
        ([], "x", []),
    ]
    only_before = await grepped(tool, "x 9", before=1)
    assert only_before == [
        {"path": "a", "line": 9, "column": 1, "text": "x 9", "before": ["8"]},
    ]


async def test_a_match_over_lines_gives_the_one_before_no_more_than_it_wants(
    tool: Tool, folder: Path
) -> None:
    put(folder, "a", "x\n-\ny\ny\ny\nz\n")
    first, second = await grepped(tool, "x|y\ny\ny", multiline=True, before=1, after=2)
    assert (first["text"], first["after"]) == ("x", ["-", "y"])
    assert (second["before"], second["text"], second["after"]) == (["-"], "y\ny\ny", ["z"])


async def test_lines_around_matches_that_lie_far_apart_are_their_own(
    tool: Tool, folder: Path
) -> None:
    lines = ["x" if number in (1, 2, 50) else str(number) for number in range(1, 60)]
    put(folder, "a", "\n".join(lines))
    matches = await grepped(tool, "x", before=3, after=1)
    assert [match["before"] for match in matches] == [[], ["x"], ["47", "48", "49"]]
    assert [match["after"] for match in matches] == [["x"], ["3"], ["51"]]


async def test_lines_after_the_last_match_that_is_shown_are_complete(
    tool: Tool, folder: Path
) -> None:
    put(folder, "a", "x\nx\nx\ny\nz\n")
    [match] = await grepped(tool, "x", after=4, limit=1)
    assert match["after"] == ["x", "x", "y", "z"]


@pytest.mark.parametrize("at", [0, 50, 2_500, 4_990])
async def test_of_a_long_line_the_part_around_the_match_is_shown(
    tool: Tool, folder: Path, at: int
) -> None:
    """Case search-17: text, not a placeholder; and where in the line it begins."""
    line = "é" * at + "needle" + "x" * (5_000 - at)
    put(folder, "long.txt", f"{line}\n{line}\n")
    match = (await grepped(tool, "needle", before=1, after=1))[0]
    assert match["column"] == at + 1
    text, start = match["text"], match["text_column"] - 1
    inner = text.strip("…")
    assert line[start : start + len(inner)] == inner
    assert "needle" in inner
    assert len(text) < 500
    assert text.startswith("…") is (start > 0)
    assert text.endswith("…") is (start + len(inner) < len(line))
    assert len(match["after"][0]) < 500


async def test_a_line_of_many_megabytes_is_no_burden(tool: Tool, folder: Path) -> None:
    put(folder, "huge.txt", b"x" * (20 << 20) + b"needle\nneedle\n")
    payload = (await tool("grep", pattern="needle")).payload
    assert payload["total"] == 2
    assert [match["line"] for match in payload["matches"]] == [2]
    assert payload["warnings"] == ["huge.txt: a match is in a line too long to be shown"]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a(", "unclosed group"),
        ("[z-a]", "invalid character class range"),
        ("*", "repetition operator missing expression"),
        ("(?=x)", "look-around"),
        (r"(a)\1", "backreferences"),
    ],
)
@pytest.mark.parametrize("mode", ["content", "files", "count"])
async def test_a_bad_expression_is_refused_in_ripgreps_words(
    tool: Tool, folder: Path, pattern: str, said: str, mode: str
) -> None:
    """Case search-13: it is not "no matches", and the pointer into it is there."""
    put(folder, "a", "a(")
    category, message = await refusal(tool, "grep", pattern=pattern, mode=mode)
    assert category == "invalid_arguments"
    assert said in message
    assert "^" in message
    assert "literal" in message
    assert "--" not in message  # an option of ripgrep's, which nobody can set
    assert await refusal(tool, "grep", pattern=pattern, path="a") == (category, message)


@pytest.mark.parametrize(
    ("arguments", "category", "said"),
    [
        ({"pattern": "x", "path": "nope"}, "not_found", "nope does not exist"),
        ({"pattern": "x", "path": "nope", "glob": "a/b"}, "not_found", "nope does not exist"),
        ({"pattern": "x", "type": "klingon"}, "invalid_arguments", "type: klingon\nNames are"),
        ({"pattern": "x", "glob": "a["}, "invalid_arguments", "a [ without its ]"),
        ({"pattern": "x", "glob": "a/*"}, "invalid_arguments", "a is a file"),
        ({"pattern": "x", "glob": "!a["}, "invalid_arguments", "a["),
        ({"pattern": "x\0"}, "invalid_arguments", "NUL"),
        ({"pattern": ""}, "invalid_arguments", "at least 1"),
        ({"pattern": "x" * 200_000}, "invalid_arguments", "longer than the system"),
        ({"pattern": "x", "mode": "all"}, "invalid_arguments", "mode"),
        ({"pattern": "x", "before": -1}, "invalid_arguments", "before"),
        ({"pattern": "x", "limit": 2_001}, "invalid_arguments", "limit"),
    ],
)
async def test_what_cannot_be_meant_is_refused(
    tool: Tool, folder: Path, arguments: dict[str, Any], category: str, said: str
) -> None:
    put(folder, "a", "x")
    got, message = await refusal(tool, "grep", **arguments)
    assert got == category
    assert said in message


async def test_a_name_with_colons_is_taken_apart_rightly(tool: Tool, folder: Path) -> None:
    """Case search-19."""
    put(folder, "a:1:b.txt", "x: needle\n")
    assert await grepped(tool, "needle") == [
        {"path": "a:1:b.txt", "line": 1, "column": 4, "text": "x: needle"}
    ]


async def test_what_was_not_searched_is_said(tool: Tool, folder: Path) -> None:
    """Case search-20: hidden and ignored files are counted, and found where they are named."""
    plant(folder, a="x", made__b="GITHUB_TOKEN")
    put(folder, ".github/w.yml", "GITHUB_TOKEN")
    put(folder, ".gitignore", "made/\n!.github\n")
    nothing = (await tool("grep", pattern="GITHUB_TOKEN")).payload
    assert nothing["matches"] == []
    assert nothing["skipped"] == NOTHING_SKIPPED | {"hidden": 2, "ignored": 1}
    found = (await tool("grep", pattern="x")).payload
    assert found["total"] == 1
    assert found["skipped"] == nothing["skipped"]
    for path in (".github", ".github/w.yml", "made"):
        assert len(await grepped(tool, "GITHUB_TOKEN", path=path)) == 1
    everything = (await tool("grep", pattern="GITHUB_TOKEN", hidden=True, ignored=True)).payload
    assert everything["files"] == 2
    assert everything["skipped"] == NOTHING_SKIPPED


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({"glob": "*.py"}, ["a.py", "src/b.py"]),
        ({"glob": "src/*"}, ["src/b.py", "src/c.js"]),
        ({"glob": "s*/*.py"}, ["src/b.py"]),
        ({"glob": "**/{a,b}.*"}, ["a.py", "src/b.py"]),
        ({"glob": ".hid/*"}, [".hid/d.py"]),
        ({"glob": "!*.py"}, ["src/c.js"]),
        ({"glob": "!src/"}, ["a.py"]),
        ({"type": "py"}, ["a.py", "src/b.py"]),
        ({"type": "py", "glob": "src/**"}, ["src/b.py"]),
        ({"glob": "*.py", "hidden": True}, [".hid/d.py", "a.py", "src/b.py"]),
        ({"glob": "*.py", "path": "src"}, ["src/b.py"]),
        ({"type": "js", "path": "a.py"}, ["a.py"]),
    ],
)
async def test_files_are_chosen_by_glob_and_type(
    tool: Tool, folder: Path, arguments: dict[str, Any], files: list[str]
) -> None:
    for name in ("a.py", "src/b.py", "src/c.js", ".hid/d.py", "src/ignored.py"):
        put(folder, name)
    put(folder, ".gitignore", "ignored.py\n")
    for mode in ("content", "files", "count"):
        matches = await grepped(tool, "needle", mode=mode, **arguments)
        assert [match["path"] for match in matches] == files


async def test_case_and_literal_text(tool: Tool, folder: Path) -> None:
    put(folder, "a", "a.b\naxb\nA.B\n")
    assert [match["line"] for match in await grepped(tool, "a.b")] == [1, 2]
    assert [match["line"] for match in await grepped(tool, "a.b", literal=True)] == [1]
    assert [match["line"] for match in await grepped(tool, "a.b", ignore_case=True)] == [1, 2, 3]


async def test_modes_give_files_or_their_counts(tool: Tool, folder: Path) -> None:
    plant(folder, a="x\nx\n", b="y\n", c="x\n")
    files = (await tool("grep", pattern="x", mode="files")).payload
    assert files["matches"] == [{"path": "a"}, {"path": "c"}]
    assert (files["total"], files["files"]) == (2, 2)
    counts = (await tool("grep", pattern="x", mode="count")).payload
    assert counts["matches"] == [{"path": "a", "count": 2}, {"path": "c", "count": 1}]
    assert (counts["total"], counts["files"], counts["truncated"]) == (3, 2, False)
    first = (await tool("grep", pattern="x", mode="count", limit=1)).payload
    assert (len(first["matches"]), first["total"], first["truncated"]) == (1, 3, True)


@pytest.mark.parametrize("mode", ["content", "count"])
@pytest.mark.parametrize(
    ("lines", "total", "is_minimum"),
    [(9_999, 9_999, False), (10_000, 10_000, False), (10_001, 10_000, True)],
)
@pytest.mark.parametrize("files", [1, 3, 90])
async def test_counting_stops_at_ten_thousand(
    tool: Tool, folder: Path, mode: str, lines: int, total: int, is_minimum: bool, files: int
) -> None:
    for number in range(files - 1):
        put(folder, f"{number}", "needle\n" * 100)
    put(folder, "last", "needle\n" * (lines - 100 * (files - 1)))
    payload = (await tool("grep", pattern="needle", mode=mode)).payload
    assert (payload["total"], payload["total_is_minimum"]) == (total, is_minimum)
    assert payload["files"] == files
    if mode == "content":
        assert len(payload["matches"]) == 100
        assert payload["truncated"] is True
    else:
        assert sum(match["count"] for match in payload["matches"]) == total
        assert payload["truncated"] is is_minimum


async def test_counting_stops_among_small_files_too(tool: Tool, folder: Path) -> None:
    for number in range(300):
        put(folder, f"{number:03}", "needle\n" * 50)
    payload = (await tool("grep", pattern="needle")).payload
    assert (payload["total"], payload["total_is_minimum"], payload["files"]) == (10_000, True, 200)


async def test_numbers_are_right_where_only_numbers_are_taken(tool: Tool, folder: Path) -> None:
    """Most messages are counted and not read; none is missed where one chunk ends."""
    lines = 0
    for number in range(700):
        put(folder, f"{number:03}", 'x {"type":"match"\n' * (number % 7) + "y\n" * 50)
        lines += number % 7
    payload = (await tool("grep", pattern="x", limit=3)).payload
    assert (payload["total"], payload["files"]) == (lines, 600)
    assert payload["skipped"] == NOTHING_SKIPPED


async def test_a_flood_of_matches_is_cut_in_a_stable_order(tool: Tool, folder: Path) -> None:
    """Case search-21: capped, said, and the same again."""
    for name in ("b", "a", "c/d"):
        put(folder, name, "needle\n" * 70_000)
    first = (await tool("grep", pattern="needle", limit=2_000)).payload
    assert first["total"] == 10_000
    assert first["total_is_minimum"] is True
    assert first["truncated"] is True
    assert [match["line"] for match in first["matches"]] == list(range(1, 2_001))
    assert {match["path"] for match in first["matches"]} == {"a"}
    assert (await tool("grep", pattern="needle", limit=2_000)).payload == first


async def test_all_text_together_is_bounded(tool: Tool, folder: Path) -> None:
    put(folder, "a", ("needle " + "x" * 390 + "\n") * 2_000)
    payload = (await tool("grep", pattern="needle", before=5, after=5, limit=2_000)).payload
    shown = sum(
        len(match["text"]) + sum(map(len, match["before"] + match["after"]))
        for match in payload["matches"]
    )
    assert 200_000 < shown < 300_000
    assert payload["truncated"] is True


async def test_binary_files_are_not_searched(tool: Tool, folder: Path) -> None:
    put(folder, "program", b"needle\0\nneedle\n")
    put(folder, "text", "needle\n")
    payload = (await tool("grep", pattern="needle", mode="count")).payload
    assert [match["path"] for match in payload["matches"]] == ["text"]
    named = (await tool("grep", pattern="needle", path="program")).payload
    assert named["matches"] == []
    assert named["warnings"] == ["program is binary and was not searched"]


async def test_where_binary_data_begins_late_is_said(tool: Tool, folder: Path) -> None:
    put(folder, "late", b"needle\n" + b"x\n" * 200_000 + b"\0needle\n")
    payload = (await tool("grep", pattern="needle")).payload
    assert [match["line"] for match in payload["matches"]] == [1]
    assert "late: binary data begins at byte 400007" in payload["warnings"][0]
    for name in ("a", "b", "z"):
        put(folder, name)
    counted = (await tool("grep", pattern="needle", limit=1)).payload
    assert (counted["total"], counted["files"]) == (4, 4)
    assert counted["warnings"] == payload["warnings"]


async def test_matches_stream_ahead_of_the_result(tool: Tool, folder: Path) -> None:
    """Only those that are shown, each once, in order and complete."""
    for name in range(30):
        put(folder, f"{name:02}", "a\nneedle\nb\n" * 10)
    outcome = await tool("grep", pattern="needle", before=1, after=1, limit=250)
    partial = [event for event in outcome.events if isinstance(event, PartialResult)]
    sent = [match for event in partial for match in event.payload["matches"]]
    assert partial
    assert sent == outcome.payload["matches"]
    assert len(sent) == 250


async def test_a_searched_file_is_called_as_it_was_named(tool: Tool, folder: Path) -> None:
    put(folder, "src/a.txt")
    for path in ("src/a.txt", "./src//a.txt", f"{folder}/src/a.txt"):
        [match] = await grepped(tool, "needle", path=path)
        assert match["path"] == path.replace("./", "").replace("//", "/")
