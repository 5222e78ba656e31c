"""read_file: numbered lines of any file, in bounded memory (C2)."""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("C2")


def taken_apart(content: str) -> list[tuple[int, str]]:
    """Undo the numbering: (number, text) of each line."""
    pairs = (line.split("|", 1) for line in content.split("\n") if content)
    return [(int(number), text) for number, text in pairs]


def texts(content: str) -> list[str]:
    return [text for _, text in taken_apart(content)]


async def test_a_file_comes_with_all_that_is_known_of_it(tool: Tool, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"one\ntwo\n")
    assert (await tool("read_file", path="a.txt")).payload == {
        "path": str(folder / "a.txt"),
        "content": "1|one\n2|two",
        "start_line": 1,
        "end_line": 2,
        "total_lines": 2,
        "truncated": False,
        "encoding": "utf-8",
        "newline": "lf",
        "size_bytes": 8,
    }


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({}, range(1, 101)),
        ({"start_line": 3, "end_line": 5}, range(3, 6)),
        ({"start_line": 98}, range(98, 101)),
        ({"end_line": 2}, range(1, 3)),
        ({"start_line": -3}, range(98, 101)),
        ({"start_line": -3, "end_line": -2}, range(98, 100)),
        ({"end_line": -99}, range(1, 3)),
        ({"start_line": -1000, "end_line": 1}, range(1, 2)),
        ({"start_line": 99, "end_line": 1000}, range(99, 101)),
        ({"start_line": 100, "end_line": 100}, range(100, 101)),
    ],
)
async def test_ranges_count_from_either_end(
    tool: Tool, folder: Path, wanted: dict[str, Any], numbers: range
) -> None:
    (folder / "a").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    payload = (await tool("read_file", path="a", **wanted)).payload
    assert taken_apart(payload["content"]) == [(n, f"line {n}") for n in numbers]
    assert (payload["start_line"], payload["end_line"]) == (numbers[0], numbers[-1])
    assert payload["total_lines"] == 100
    assert payload["truncated"] is False


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"start_line": 0}, "0 is no line"),
        ({"end_line": 0}, "0 is no line"),
        ({"start_line": 4}, "there are 3 lines"),
        ({"start_line": 3, "end_line": 2}, "end_line 2 comes before start_line 3"),
        ({"end_line": -4}, "there are 3 lines"),
    ],
)
async def test_lines_that_do_not_exist_are_said_to(
    tool: Tool, folder: Path, wanted: dict[str, Any], said: str
) -> None:
    (folder / "a").write_text("1\n2\n3\n")
    error = (await tool("read_file", path="a", **wanted)).error
    assert error is not None
    assert error.category == "invalid_arguments"
    assert said in error.message


@pytest.mark.parametrize(
    ("content", "total", "shown"),
    [
        (b"a\nb\n", 2, "1|a\n2|b"),
        (b"a\nb", 2, "1|a\n2|b"),
        (b"", 0, ""),
        (b"\n", 1, "1|"),
        (b"\n\n", 2, "1|\n2|"),
        (b"\xef\xbb\xbf", 0, ""),
        (b"\xef\xbb\xbf\n", 1, "1|"),
    ],
)
async def test_the_last_line_is_counted_once(
    tool: Tool, folder: Path, content: bytes, total: int, shown: str
) -> None:
    """Case filesystem-23: no phantom line, and an empty file is no error."""
    (folder / "a").write_bytes(content)
    payload = (await tool("read_file", path="a")).payload
    assert payload["total_lines"] == total
    assert payload["content"] == shown
    assert payload["end_line"] == total


async def test_an_empty_file_has_no_line_to_start_or_end_with(tool: Tool, folder: Path) -> None:
    (folder / "a").write_bytes(b"")
    payload = (await tool("read_file", path="a", start_line=5)).payload
    assert (payload["start_line"], payload["end_line"], payload["newline"]) == (0, 0, "none")


async def test_a_missing_last_line_end_is_said(tool: Tool, folder: Path) -> None:
    (folder / "a").write_bytes(b"a\nb")
    assert (await tool("read_file", path="a")).payload["ends_without_newline"] is True
    first = (await tool("read_file", path="a", end_line=1)).payload
    assert "ends_without_newline" not in first


@pytest.mark.parametrize(
    "text", ["alpha\nbeta\rcarriage\ngamma NEEDLE\n", "a\u2028b\nc\x0bd\x85e\nNEEDLE\n"]
)
async def test_only_a_line_feed_ends_a_line(tool: Tool, folder: Path, text: str) -> None:
    """Case filesystem-22, as ripgrep counts too."""
    (folder / "a").write_bytes(text.encode())
    payload = (await tool("read_file", path="a")).payload
    assert payload["total_lines"] == 3
    assert taken_apart(payload["content"]) == list(enumerate(text.split("\n")[:-1], 1))


@pytest.mark.parametrize(
    ("content", "newline"),
    [
        (b"\tx\n", "lf"),
        (b"1|a\n|\n\t|\n", "lf"),
        (b"a\r\nb\r\n", "crlf"),
        (b"a\r\n\tb", "crlf"),
        (b"a\r\nb\n\r\n", "mixed"),
        (b"a\rb", "none"),
    ],
)
async def test_the_original_bytes_can_be_had_back(
    tool: Tool, folder: Path, content: bytes, newline: str
) -> None:
    """Case filesystem-29: the separator is none that a line could begin with by chance."""
    (folder / "a").write_bytes(content)
    payload = (await tool("read_file", path="a")).payload
    assert payload["newline"] == newline
    end = "\r\n" if newline == "crlf" else "\n"
    whole = end.join(texts(payload["content"]))
    whole += "" if payload.get("ends_without_newline") else end
    assert whole.encode() == content


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("ä\n".encode(), "utf-8", "ä"),
        (b"\xef\xbb\xbfline one\r\n", "utf-8-sig", "line one"),
        ("\ufeffä\u4e2d\U0001f600\n".encode("utf-16-le"), "utf-16-le", "ä\u4e2d\U0001f600"),
        ("\ufeffä\u4e2d\U0001f600\n".encode("utf-16-be"), "utf-16-be", "ä\u4e2d\U0001f600"),
        (b"caf\xe9\n", "latin-1", "café"),
        (b"const x = 1 \xd6\xd0\xce\xc4\n", "latin-1", "const x = 1 \xd6\xd0\xce\xc4"),
    ],
)
async def test_encodings_are_told_apart_and_the_mark_is_no_text(
    tool: Tool, folder: Path, content: bytes, encoding: str, text: str
) -> None:
    """Cases filesystem-05 and filesystem-07, reading."""
    (folder / "a").write_bytes(content)
    payload = (await tool("read_file", path="a")).payload
    assert payload["encoding"] == encoding
    assert payload["content"] == f"1|{text}"


async def test_utf_16_is_not_cut_between_the_halves_of_a_line_end(tool: Tool, folder: Path) -> None:
    """Next to each other, U+0A41 and U+4100 hold the bytes of a line feed without being one."""
    lines = ["\u0a41\u4100\u0a41\u000b", "\u0a00\u0a0a\u0a41", "end"]
    for name in ("utf-16-le", "utf-16-be"):
        (folder / name).write_bytes(("\ufeff" + "\r\n".join(lines)).encode(name))
        payload = (await tool("read_file", path=name)).payload
        assert texts(payload["content"]) == lines
        assert payload["total_lines"] == 3


async def test_a_head_of_utf_8_with_other_bytes_far_behind_is_latin_1_only_there(
    tool: Tool, folder: Path
) -> None:
    filler = b"some line of plain text\n" * 60_000
    (folder / "a").write_bytes("é\n".encode() + filler + b"caf\xe9\n")
    first = (await tool("read_file", path="a", end_line=1)).payload
    assert (first["encoding"], first["content"]) == ("utf-8", "1|é")
    last = (await tool("read_file", path="a", start_line=-1)).payload
    assert (last["encoding"], last["content"]) == ("latin-1", "60002|café")


async def test_a_character_cut_by_the_end_of_the_head_is_no_error(tool: Tool, folder: Path) -> None:
    (folder / "a").write_bytes(b"x" * ((1 << 20) - 1) + "é\n".encode())
    assert (await tool("read_file", path="a")).payload["encoding"] == "utf-8"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG image"),
        (b"\x7fELF\x02\x01\x00", "ELF"),
        (b"PK\x03\x04\xff", "ZIP"),
        (b"a\x00b", "binary data"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"),
    ],
)
async def test_a_binary_file_is_named_by_kind_and_size(
    tool: Tool, folder: Path, content: bytes, kind: str
) -> None:
    (folder / "a").write_bytes(content)
    for call in (
        {"tool": "read_file"},
        {"tool": "edit_file", "old_str": "a", "new_str": "b"},
    ):
        name = call.pop("tool")
        error = (await tool(name, path="a", **call)).error
        assert error is not None
        assert error.category == "execution_failed"
        assert kind in error.message
        assert f"{len(content)} bytes" in error.message
    assert (folder / "a").read_bytes() == content


async def test_a_very_long_line_is_cut_and_says_how_long_it_is(tool: Tool, folder: Path) -> None:
    """Case filesystem-26: five megabytes without a line end, cut between characters."""
    (folder / "a").write_text("ä" * 2_500_000)
    tracemalloc.start()
    payload = (await tool("read_file", path="a", start_line=1, end_line=1)).payload
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert payload["content"] == "1|" + "ä" * 2_000 + "… [cut after 2000 of 2500000 characters]"
    assert payload["truncated"] is True
    assert peak < 12 << 20


async def test_a_line_of_exactly_the_limit_is_whole(tool: Tool, folder: Path) -> None:
    (folder / "a").write_bytes(b"x" * 2_000 + b"\r\n" + b"y" * 2_001 + b"\r\n")
    payload = (await tool("read_file", path="a")).payload
    whole, cut = texts(payload["content"])
    assert whole == "x" * 2_000
    assert cut == "y" * 2_000 + "… [cut after 2000 of 2001 characters]"
    assert payload["newline"] == "crlf"


async def test_a_call_returns_two_thousand_lines_at_most(tool: Tool, folder: Path) -> None:
    (folder / "a").write_text("x\n" * 2_001)
    payload = (await tool("read_file", path="a")).payload
    assert (payload["end_line"], payload["total_lines"], payload["truncated"]) == (2000, 2001, True)
    exact = (await tool("read_file", path="a", end_line=2_000)).payload
    assert exact["truncated"] is False


async def test_a_call_returns_a_quarter_of_a_mebibyte_at_most(tool: Tool, folder: Path) -> None:
    (folder / "a").write_text(("ä" * 1_000 + "\n") * 500)
    payload = (await tool("read_file", path="a")).payload
    assert len(payload["content"].encode()) <= 256 << 10
    assert payload["end_line"] == payload["content"].count("\n") + 1
    assert 100 < payload["end_line"] < 132
    assert payload["truncated"] is True
    rest = (await tool("read_file", path="a", start_line=payload["end_line"] + 1)).payload
    assert rest["start_line"] == payload["end_line"] + 1


async def test_lines_deep_in_a_huge_file_take_little_memory(tool: Tool, folder: Path) -> None:
    """A quarter of a gigabyte that is mostly a hole: one line of NULs behind text."""
    with open(folder / "a", "wb") as file:
        file.write(b"x\n" * 600_000)
        file.truncate(256 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"".join(b"end %d\n" % n for n in range(50)))
    tracemalloc.start()
    payload = (await tool("read_file", path="a", start_line=-50)).payload
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert texts(payload["content"]) == [f"end {n}" for n in range(50)]
    assert payload["total_lines"] == 600_051
    assert peak < 8 << 20


async def test_a_folder_and_what_is_below_a_file_are_clear_errors(tool: Tool, folder: Path) -> None:
    """Case filesystem-27."""
    (folder / "d").mkdir()
    (folder / "f.txt").write_text("x")
    for path, said in (
        ("d", "d is a folder, not a file"),
        ("d/", "d is a folder, not a file"),
        (".", "is a folder, not a file"),
        ("f.txt/", "f.txt is not a folder"),
        ("f.txt/x", "f.txt is not a folder"),
    ):
        error = (await tool("read_file", path=path)).error
        assert error is not None
        assert error.category == "execution_failed"
        assert said in error.message


async def test_a_fifo_and_a_device_are_errors_and_no_hang(tool: Tool, folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    error = (await tool("read_file", path="fifo")).error
    assert error is not None
    assert error.category == "execution_failed"
    assert "FIFO" in error.message


async def test_a_missing_file_is_not_found_with_the_names_that_look_like_it(
    tool: Tool, folder: Path
) -> None:
    """Cases filesystem-24 and filesystem-25: an error that lists them, never a silent choice."""
    (folder / os.fsdecode(b"Abscha\xcc\x88tzung.txt")).write_text("x")
    (folder / "Shot at 1.01\u202fAM.png").write_text("narrow")
    (folder / "Shot at 1.01\u00a0AM.png").write_text("no break")
    error = (await tool("read_file", path="Abschätzung.txt")).error
    assert error is not None
    assert error.category == "not_found"
    assert error.details == {"near": ["Abscha\\u0308tzung.txt"]}
    error = (await tool("read_file", path="Shot at 1.01 AM.png")).error
    assert error is not None
    assert error.details == {
        "near": ["Shot at 1.01\\u00a0AM.png", "Shot at 1.01\\u202fAM.png"],
    }
    for name, text in (
        ("Shot at 1.01\u202fAM.png", "narrow"),
        (error.details["near"][0], "no break"),
    ):
        assert (await tool("read_file", path=name)).payload["content"] == f"1|{text}"


@pytest.mark.req("P9")
async def test_paths_start_at_the_working_directory_of_the_call(tool: Tool, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a").write_text("x")
    for path in ("sub/a", "./sub/../sub/a", str(folder / "sub" / "a")):
        assert (await tool("read_file", path=path)).payload["path"] == str(folder / "sub" / "a")


async def test_a_file_that_is_truncated_while_it_is_read_ends_early(
    tool: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a log that is rotated under the reader."""
    (folder / "a").write_text("line\n" * 400_000)
    real = os.pread
    reads = 0

    def pread(descriptor: int, count: int, offset: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads == 4:
            os.truncate(folder / "a", 5)
        return real(descriptor, count, offset)

    monkeypatch.setattr(os, "pread", pread)
    payload = (await tool("read_file", path="a", start_line=-1)).payload
    assert payload["total_lines"] < 400_000
