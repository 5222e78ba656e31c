"""What is kept of output: all of it as long as it is little, then both ends and a file."""

import asyncio
import os
import re
import resource
import signal
import stat
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.providers.exec import kept, output_file
from pluggableharness.providers.exec.kept import END_BYTES, END_CHARACTERS, KeptOutput, Shown
from pluggableharness.sdk.processes import Chunk

pytestmark = pytest.mark.req("C10")

ALL = 2 * END_BYTES


def keep(folder: Path, *pieces: bytes) -> Shown:
    return kept_of(folder, *(Chunk(piece, "stdout") for piece in pieces))


def kept_of(folder: Path, *chunks: Chunk) -> Shown:
    async def run() -> Shown:
        output = KeptOutput(folder)
        try:
            for chunk in chunks:
                await output.add(chunk)
            return await output.shown()
        finally:
            output.close()

    return asyncio.run(run())


def file_of(folder: Path, shown: Shown) -> Path:
    assert shown.file
    return folder / shown.file


def left_out(shown: Shown) -> int:
    found = re.search(r"\n\[… ([\d,]+) bytes left out", shown.text)
    assert found
    return int(found[1].replace(",", ""))


def test_little_output_is_shown_whole_and_makes_no_file(tmp_path: Path) -> None:
    assert keep(tmp_path, b"a\n", b"b\n") == Shown("a\nb\n", False, 4)
    assert list(tmp_path.iterdir()) == []


def test_fifty_thousand_wide_characters_are_shown_whole(tmp_path: Path) -> None:
    """Case exec-06, its second half."""
    text = "漢" * 50_000 + "\n"
    data = text.encode()
    pieces = [data[start : start + 65_536] for start in range(0, len(data), 65_536)]
    assert keep(tmp_path, *pieces) == Shown(text, False, 150_001)


def test_long_output_shows_both_ends_and_counts_the_middle(tmp_path: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(100_000))
    shown = keep(tmp_path, data[:500_000], data[500_000:])
    assert shown.truncated
    assert shown.total_bytes == 800_000
    head, tail = shown.text.split("\n[… ")
    tail = tail.split(" …]\n")[1]
    assert data.decode().startswith(head) and data.decode().endswith(tail)
    assert len(head) == len(tail) == END_CHARACTERS
    assert left_out(shown) == 800_000 - 2 * END_CHARACTERS
    assert file_of(tmp_path, shown).read_bytes() == data
    assert str(shown.file) in shown.text


def test_output_that_is_many_characters_in_few_bytes_is_cut_too(tmp_path: Path) -> None:
    data = b"x" * (2 * END_CHARACTERS + 1)
    shown = keep(tmp_path, data)
    assert shown.truncated and left_out(shown) == 1
    assert file_of(tmp_path, shown).read_bytes() == data


def test_progress_that_overwrites_itself_is_not_cut_for_its_length(tmp_path: Path) -> None:
    data = b"".join(b"%05d\r" % number for number in range(15_000)) + b"done\n"
    assert keep(tmp_path, data).text == "done\n"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 100_000),
    st.sampled_from(["x", "é", "漢", "😀", "x\n漢😀"]),
    st.lists(st.integers(0, 400_000), max_size=8),
)
def test_what_is_left_out_and_what_is_shown_add_up(
    tmp_path_factory: pytest.TempPathFactory, count: int, unit: str, cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    text = unit * count
    data = text.encode()
    at = [0, *sorted(cuts), len(data)]
    shown = keep(folder, *(data[start:end] for start, end in pairwise(at) if start < end))
    assert shown.total_bytes == len(data)
    assert shown.truncated == (len(text) > 2 * END_CHARACTERS or len(data) > ALL)
    if not shown.truncated:
        assert shown.text == text
        return
    assert file_of(folder, shown).read_bytes() == data
    head, rest = shown.text.split("\n[… ")
    tail = rest.split(" …]\n")[1]
    assert len(head.encode()) + len(tail.encode()) + left_out(shown) == len(data)
    assert text.startswith(head) and text.endswith(tail)
    assert "\ufffd" not in shown.text


def test_streams_keep_their_order_in_text_and_file(tmp_path: Path) -> None:
    few = [Chunk(b"o", "stdout"), Chunk(b"e", "stderr"), Chunk(b"o2", "stdout")]
    assert kept_of(tmp_path, *few).text == "oeo2"
    many = [Chunk(b"e" * 10_000, "stderr"), Chunk(b"o" * 10_000, "stdout")] * 40
    shown = kept_of(tmp_path, *few, *many)
    assert file_of(tmp_path, shown).read_bytes() == b"oeo2" + (b"e" * 10_000 + b"o" * 10_000) * 40


async def test_memory_does_not_grow_with_output(tmp_path: Path) -> None:
    output = KeptOutput(tmp_path)
    for number in range(20_000):
        await output.add(Chunk(b"x" * (number % 997), "stdout" if number % 2 else "stderr"))
    held = [*output._head.parts, *output._tail.parts]
    assert sum(len(data) for _, data in held) == ALL
    assert len(held) < 1000
    output.close()


async def test_a_cancel_makes_no_gap_in_the_file(tmp_path: Path) -> None:
    output = KeptOutput(tmp_path)
    for number in range(60):
        adding = asyncio.create_task(output.add(Chunk(b"%05d" % number * 20_000, "stdout")))
        await asyncio.sleep(0)
        adding.cancel()
        await asyncio.wait([adding])
    shown = await output.shown()
    output.close()
    whole = b"".join(b"%05d" % number * 20_000 for number in range(60))
    assert file_of(tmp_path, shown).read_bytes() == whole


def test_the_file_and_its_folder_are_for_the_owner_and_not_for_git(tmp_path: Path) -> None:
    path = file_of(tmp_path, keep(tmp_path, b"x" * (ALL + 1)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent == tmp_path / ".agent" / "outputs"
    assert (path.parent / ".gitignore").read_text() == "*\n"
    assert [entry.name for entry in (tmp_path / ".agent").iterdir()] == ["outputs"]


def test_file_names_sort_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for now in (0.0, 1.5, 999_999_999.999, 1_700_000_000.0):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        names.append(keep(tmp_path, b"x" * (ALL + 1)).file)
    assert names == sorted(filter(None, names)) and len(set(names)) == 4


def test_the_file_keeps_the_first_gibibyte_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_file, "LARGEST", ALL + 10)
    shown = keep(tmp_path, b"x" * ALL, b"0123456789abcdef", b"more")
    assert file_of(tmp_path, shown).read_bytes() == b"x" * ALL + b"0123456789"
    assert shown.note and f"first {ALL + 10:,} bytes only" in shown.note
    assert shown.total_bytes == ALL + 20


@pytest.mark.parametrize("link", [".agent", ".agent/outputs"])
def test_no_file_is_made_through_a_symbolic_link(tmp_path: Path, link: str) -> None:
    elsewhere, project = tmp_path / "elsewhere", tmp_path / "project"
    elsewhere.mkdir()
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(elsewhere)
    shown = keep(project, b"x" * (ALL + 1))
    assert shown.truncated and shown.file is None
    assert shown.note and shown.note.startswith("the whole output was not kept: ")
    assert list(elsewhere.iterdir()) == []


def test_a_working_directory_that_is_gone_costs_the_file_alone(tmp_path: Path) -> None:
    shown = keep(tmp_path / "gone", b"x" * (ALL + 1))
    assert shown.file is None and shown.truncated
    assert shown.note == "the whole output was not kept: No such file or directory"


def test_a_file_that_cannot_grow_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ALL + 5, before[1]))
        shown = keep(tmp_path, b"x" * (ALL + 1), b"y" * 100, b"z")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert shown.note == f"{shown.file} is incomplete: {os.strerror(27)}"
    assert file_of(tmp_path, shown).stat().st_size == ALL + 5
    assert shown.text.endswith("z") and shown.total_bytes == ALL + 102


def test_the_ends_hold_what_a_model_is_shown() -> None:
    assert kept.END_BYTES >= 3 * END_CHARACTERS
