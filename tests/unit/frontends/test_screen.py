"""Where lines go: widths, the foot, and outputs that misbehave."""

import asyncio
import fcntl
import io
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text
from unit.frontends.emulator import seen
from unit.frontends.fakes import EDIT, call

from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.looks import (
    ASCII,
    UNICODE,
    Glyphs,
    Looks,
    looks_of,
    width_of,
)
from pluggableharness.kernel.frontends.outlet import Outlet
from pluggableharness.kernel.frontends.screen import Screen
from pluggableharness.kernel.frontends.words import brief, cut, duration, facts


class Pretended(Outlet):
    """An outlet that says it is a terminal of a given width."""

    def __init__(self, out: io.StringIO, columns: int = 100, encoding: str = "utf-8") -> None:
        super().__init__(out)
        self.encoding = encoding
        self._columns = columns

    @property
    def is_terminal(self) -> bool:
        return True

    @property
    def columns(self) -> int:
        return self._columns


@pytest.mark.req("K32")
@pytest.mark.parametrize(
    ("environ", "colour", "cursor", "glyphs"),
    [
        ({"TERM": "xterm"}, True, True, UNICODE),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, True, UNICODE),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True, UNICODE),
        ({"TERM": "dumb"}, False, False, UNICODE),
        ({}, False, False, UNICODE),
        ({"TERM": "xterm", "LC_ALL": "C"}, True, True, ASCII),
    ],
)
def test_looks_follow_the_environment(
    environ: dict[str, str], colour: bool, cursor: bool, glyphs: Glyphs
) -> None:
    looks = looks_of(Pretended(io.StringIO()), environ)
    assert (looks.colour, looks.cursor, looks.glyphs) == (colour, cursor, glyphs)


def test_an_encoding_without_the_signs_gets_ascii() -> None:
    looks = looks_of(Pretended(io.StringIO(), encoding="latin-1"), {"TERM": "xterm"})
    assert (looks.glyphs, looks.encoding) == (ASCII, "latin-1")
    assert all(getattr(ASCII, name).isascii() for name in Glyphs.__slots__)


def test_what_is_no_terminal_gets_neither_colours_nor_a_foot() -> None:
    looks = looks_of(Outlet(io.StringIO()), {"TERM": "xterm"})
    assert (looks.colour, looks.cursor) == (False, False)


@pytest.mark.req("K32")
@pytest.mark.parametrize(
    ("columns", "width"), [(10, 40), (40, 40), (120, 120), (900, 200), (0, 80)]
)
def test_the_width_is_within_bounds(columns: int, width: int) -> None:
    assert width_of(Pretended(io.StringIO(), columns), {}) == width


def test_without_a_terminal_the_width_may_be_said() -> None:
    assert width_of(Outlet(io.StringIO()), {"COLUMNS": "66"}) == 66
    unsaid = width_of(Outlet(io.StringIO()), {})
    assert unsaid > 1000  # nothing is folded where no terminal shows it
    assert width_of(Outlet(io.StringIO()), {"COLUMNS": "wide"}) == unsaid


FEET = st.one_of(st.none(), st.text("abc", min_size=1, max_size=300))


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("line"), st.text("xyz", min_size=1)),
            st.tuples(st.just("text"), st.text("xyz\n", min_size=1)),
            st.tuples(st.just("foot"), FEET),
        )
    )
)
def test_the_foot_comes_and_goes_without_a_trace(steps: list[tuple[str, str | None]]) -> None:
    """Whatever is written between, the lines that stay are those written without a foot."""
    outs = []
    for cursor in (True, False):
        out = io.StringIO()
        screen = Screen(Pretended(out), Looks(cursor=cursor))
        for step, text in steps:
            if step == "line":
                screen.lines([Text(text or "")])
            elif step == "text":
                screen.text(Text(text or ""))
            else:
                screen.foot(Text(text) if text else None)
        screen.foot(None)
        outs.append(seen(out.getvalue()))
    assert outs[0] == outs[1]


def test_the_foot_makes_room_for_a_question_and_comes_back() -> None:
    out = io.StringIO()
    screen = Screen(Pretended(out), Looks(cursor=True))
    screen.foot(Text("working"))
    screen.hold()
    screen.question(Text("allow?"), end="")
    screen.foot(Text("still working"))
    assert seen(out.getvalue()) == ["allow?"]
    screen.question(Text(" yes"))
    screen.release()
    assert seen(out.getvalue()) == ["allow? yes", "still working"]


def test_the_foot_stays_on_one_line() -> None:
    out = io.StringIO()
    screen = Screen(Pretended(out, 50), Looks(cursor=True))
    screen.foot(Text("x" * 200))
    assert len(seen(out.getvalue())[0]) == 49


def test_a_terminal_that_was_made_non_blocking_gets_every_byte() -> None:
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETFL, fcntl.fcntl(write, fcntl.F_GETFL) | os.O_NONBLOCK)
    got: list[bytes] = []

    def reader() -> None:
        while data := os.read(read, 65536):
            got.append(data)

    thread = threading.Thread(target=reader)
    with os.fdopen(write, "w", encoding="utf-8") as out:
        outlet = Outlet(out)
        outlet.write_bytes(b"")
        thread.start()
        outlet.write("x" * 1_000_000)
    thread.join(10)
    os.close(read)
    assert sum(map(len, got)) == 1_000_000
    assert outlet.lost is None


def test_a_reader_that_leaves_is_remembered_and_not_raised() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as out:
        outlet = Outlet(out)
        outlet.write("x")
        outlet.write("y")
        assert isinstance(outlet.lost, BrokenPipeError)


def test_what_was_printed_before_comes_before() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="utf-8") as out:
        out.write("first ")
        Outlet(out).write("second")
    assert os.read(read, 100) == b"first second"
    os.close(read)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.0124, "12 ms"),
        (0.9999, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (3725, "1 h 2 min"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_facts_are_said_only_when_they_have_the_shape_that_is_known() -> None:
    odd: JsonObject = {"exit_code": True, "signal": "x\x1b", "total": "many", "truncated": "no"}
    assert facts(odd) == []
    assert facts({"exit_code": 0.0, "total_lines": 1, "total": 2000, "truncated": True}) == [
        "exit 0",
        "1 line",
        "2,000 found",
        "cut short",
    ]


def test_a_call_is_recognised_by_what_is_short_about_it() -> None:
    edit = call(EDIT, path="a\nb", note="x", new_str="y" * 50)
    assert brief(edit, "…") == "a … note=x …"


def test_a_cut_is_marked() -> None:
    assert cut("abcdef", 4, "…") == "abc…"
    assert cut("abcd", 4, "…") == "abcd"


def test_a_screen_needs_no_running_loop_to_be_made() -> None:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    Screen(Pretended(io.StringIO()), Looks())
