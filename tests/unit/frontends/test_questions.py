"""Questions: exact, whole, one at a time, and allowed by nothing but a clear yes."""

import asyncio
import io
import os
from dataclasses import replace

import pytest
from unit.frontends.fakes import BASH, EDIT, call, diff, item
from unit.frontends.watching import BOUND_S, PLAIN, asking, chunk, watched

from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    CallStarted,
    FromChild,
    SessionEnded,
)
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    Failure,
    Success,
)
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.frontends import terminal as terminal_module
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.terminal import Terminal

DENIED = Failure(ErrorCategory.PERMISSION_DENIED, "Denied by rule no-net: keep off")


@pytest.fixture
def kept_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an answer leads to is waited for however slow the machine is."""
    for name in ("_COMES_BACK_S", "_BEGINS_S"):
        monkeypatch.setattr(terminal_module, name, 3600.0)


@pytest.mark.req("K32", "K10")
async def test_a_question_shows_risk_name_and_exact_arguments() -> None:
    """Case policy-and-schema-13."""
    hostile = call(BASH, command="rm -rf ~ \r\x1b[2K   command: ls -la", timeout_s=5)
    with watched() as terminal:
        terminal.type("a\n")
        assert await terminal.frontend.decide(item(hostile), "") == Answer(allow=True)
        assert terminal.screen == [
            "┌ high · exec.bash",
            r'│ command    "rm -rf ~ \r\x1b[2K   command: ls -la"',
            "│ timeout_s  5",
            "│ asked: default for resource",
            "└ a allow · d deny · e edit · ? help > allowed",
        ]


@pytest.mark.req("K32", "K10")
async def test_a_question_with_a_preview_shows_it() -> None:
    edit = call(EDIT, path="a.py", old_str="x\n" * 9, new_str="y")
    with watched() as terminal:
        terminal.type("d not that file\n")
        answer = await terminal.frontend.decide(item(edit, diff("-x", "+y")), "")
        assert answer == Answer(allow=False, reason="not that file")
        assert terminal.screen[:5] == [
            "┌ moderate · filesystem.edit_file",
            "│ path  a.py",
            "│ 1 - x",
            "│ 1 + y",
            "│ asked: default for resource",
        ]


@pytest.mark.req("K32")
async def test_what_is_hidden_is_said_in_the_question_and_shown_on_request() -> None:
    """Case policy-and-schema-14."""
    long = call(BASH, command="echo ok" + "\n" * 200 + "rm -rf x")
    with watched() as terminal:
        terminal.type("v\na\n")
        await terminal.frontend.decide(item(long), "")
        prompts = [line for line in terminal.screen if line.startswith("└")]
        assert [("v show all" in prompt) for prompt in prompts] == [True, False]
        assert sum("rm -rf x" in line for line in terminal.screen) == 2
        assert len([line for line in terminal.screen if line.startswith("│")]) > 230


@pytest.mark.req("K10", "K32")
async def test_help_lays_out_a_description_for_the_terminal_and_keeps_its_lists() -> None:
    told = "Run it.\n\nOne line of\nits author, and `a`\n`b`:\n- the first\n  point\n- 2\n3. third"
    asked = call(replace(EDIT, description=told), path="a.py")
    with watched() as terminal:
        terminal.type("?\na\n")
        await terminal.frontend.decide(item(asked), "")
        assert terminal.screen[terminal.screen.index("│ filesystem.edit_file: Run it.") :][:7] == [
            "│ filesystem.edit_file: Run it.",
            "│ ",
            "│ One line of its author, and `a` `b`:",
            "│ - the first",
            "│   point",
            "│ - 2",
            "│ 3. third",
        ]


@pytest.mark.req("K10a")
async def test_an_item_that_came_back_says_why() -> None:
    with watched() as terminal:
        terminal.type("n\n")
        await terminal.frontend.decide(item(call(BASH, command="x")), "the file has changed")
        assert "│ asked again: the file has changed" in terminal.screen


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("\n", Answer(allow=False)),
        ("", Answer(allow=False, reason="the input ended before an answer came")),
        (" y\r\n", Answer(allow=True)),
        ("Y\n", Answer(allow=True)),
        ("7\nwhat\nyes please\na\n", Answer(allow=False, reason="no clear answer was given")),
        ("7\na\n", Answer(allow=True)),
        ("?\n" * 99 + "a\n", Answer(allow=False, reason="no clear answer was given")),
        ("?\ny", Answer(allow=True)),
    ],
)
async def test_only_a_clear_yes_allows(typed: str, expected: Answer) -> None:
    """Case agent-user-task-05."""
    with watched() as terminal:
        terminal.type(typed)
        terminal.hang_up()
        async with asyncio.timeout(BOUND_S):
            assert await terminal.frontend.decide(item(call(BASH, command="x")), "") == expected


@pytest.mark.req("K10")
async def test_each_answer_goes_to_its_own_question() -> None:
    """Case agent-user-task-05: two questions at once."""
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, second):
            assert not any("run two" in line for line in terminal.screen)
            terminal.type("a\n")
            assert await asyncio.wait_for(first, BOUND_S) == Answer(allow=True)
            await terminal.hear(CallEnded(call(BASH, "one", command="run one"), Success({})))
            await terminal.until(lambda: "run two" in terminal.out.getvalue())
            terminal.type("d\n")
            assert await asyncio.wait_for(second, BOUND_S) == Answer(allow=False)


@pytest.mark.req("K32")
async def test_news_does_not_tear_an_open_question() -> None:
    run = call(BASH, "other", command="make")
    with watched(Looks(cursor=True)) as terminal:
        await terminal.hear(CallStarted(run))
        async with asking(terminal, "one") as (question,):
            before = terminal.screen
            await terminal.hear(CallEvent(run, chunk(b"meanwhile\n")))
            await terminal.hear(CallEnded(run, Success({})))
            assert terminal.screen == before
            terminal.type("a\n")
            await asyncio.wait_for(question, BOUND_S)
        assert terminal.screen[-5:] == [
            "└ a allow · d deny · e edit · ? help > allowed",
            "meanwhile",
            "▸ exec.bash make",
            "  ┊ meanwhile",
            "✓ exec.bash · 0 ms",
        ]


@pytest.mark.req("K32")
async def test_what_is_drawn_beside_a_question_is_parted_from_what_its_answer_leads_to() -> None:
    beside, run = call(BASH, "other", command="make"), call(BASH, "one", command="run one")
    with watched() as terminal:
        await terminal.hear(CallStarted(beside))
        async with asking(terminal, "one") as (question,):
            await terminal.hear(CallEnded(beside, Success({})))
            terminal.type("a\n")
            await asyncio.wait_for(question, BOUND_S)
            await terminal.hear(CallEnded(run, Success({})))
        lines = terminal.out.getvalue().splitlines()
        assert lines[-5:] == ["", "meanwhile", "✓ exec.bash make · 0 ms", "", "✓ exec.bash run one"]


@pytest.mark.req("K32")
@pytest.mark.parametrize("running", [False, True])
async def test_what_an_answer_runs_is_told_before_the_next_question(
    kept_long: None, running: bool
) -> None:
    """How it ended, or that it runs."""
    run = call(BASH, "one", command="run one")
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, _):
            terminal.type("a\n")
            await asyncio.wait_for(first, BOUND_S)
            await terminal.hear(CallStarted(run))
            assert not any("run two" in line for line in terminal.screen)
            if running:
                await terminal.hear(CallEvent(run, chunk(b"begun\n")))
            else:
                await terminal.hear(CallEnded(run, Success({})))
            await terminal.until(lambda: "run two" in terminal.out.getvalue())
        told, last = ("▸", "  ┊ begun") if running else ("✓", "✓ exec.bash run one · 0 ms")
        shown = [line for line in terminal.screen if line.startswith((told, "┌", "  ┊"))]
        assert shown[1].startswith(f"{told} exec.bash run one")
        assert shown[-2:] == [last, "┌ high · exec.bash"]
        assert "meanwhile" not in terminal.screen


@pytest.mark.req("K32")
async def test_a_question_does_not_wait_for_what_has_to_wait_itself(kept_long: None) -> None:
    """Beside a running call another one may have to wait for its turn."""
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, _):
            await terminal.hear(CallStarted(call(BASH, "other", command="make")))
            terminal.type("a\n")
            await asyncio.wait_for(first, BOUND_S)
            await terminal.until(lambda: "run two" in terminal.out.getvalue())


@pytest.mark.req("K32")
async def test_a_question_does_not_wait_for_ever_for_what_the_last_answer_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal_module, "_BEGINS_S", 0.0)
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, _):
            terminal.type("a\n")
            await asyncio.wait_for(first, BOUND_S)
            await terminal.until(lambda: "run two" in terminal.out.getvalue())


@pytest.mark.req("K10")
@pytest.mark.parametrize("why", ["its arguments were edited", "the edit was not taken over: x"])
async def test_an_edited_call_is_asked_about_again_before_those_that_wait(
    kept_long: None, why: str
) -> None:
    """What does not fit is told at once, too."""
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, second):
            terminal.type('e\n{"command": 1}\n')
            answer = await asyncio.wait_for(first, BOUND_S)
            assert answer == Answer(allow=True, arguments={"command": 1})
            terminal.type("d\nd\n")
            again = item(call(BASH, "one", command="run one"))
            answer = await asyncio.wait_for(terminal.frontend.decide(again, why), BOUND_S)
            assert answer == Answer(allow=False)
            assert await asyncio.wait_for(second, BOUND_S) == Answer(allow=False)
        said = terminal.out.getvalue()
        assert said.index(f"│ asked again: {why}") < said.index("run two")


@pytest.mark.req("K10", "K22")
@pytest.mark.parametrize("below", [False, True])
async def test_the_next_question_comes_when_an_edited_call_was_denied(
    kept_long: None, below: bool
) -> None:
    ended = CallEnded(call(BASH, "one", command="rm"), DENIED)
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, _):
            terminal.type("e\ncommand=rm\n")
            await asyncio.wait_for(first, BOUND_S)
            await terminal.hear(FromChild("s2", ("scout",), ended) if below else ended)
            await terminal.until(lambda: "run two" in terminal.out.getvalue())


@pytest.mark.req("K32", "K17")
async def test_the_end_of_a_session_leaves_no_question_waiting(kept_long: None) -> None:
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, _):
            terminal.type("e\ncommand=rm\n")
            await asyncio.wait_for(first, BOUND_S)
            end = SessionEnd("s1", SessionStatus.CANCELLED, "interrupted")
            await terminal.hear(SessionEnded(end))
            await terminal.until(lambda: "run two" in terminal.out.getvalue())


@pytest.mark.req("P14")
async def test_what_piles_up_behind_a_question_is_bounded() -> None:
    run = call(BASH, "other", command="yes")
    with watched() as terminal:
        await terminal.hear(CallStarted(run))
        async with asking(terminal, "one") as (question,):

            async def flood() -> None:
                for _ in range(64):
                    await terminal.hear(CallEvent(run, chunk(b"0123456789\n" * 1000)))

            flooding = asyncio.ensure_future(flood())
            await asyncio.wait([flooding], timeout=0.2)
            assert not flooding.done()
            terminal.type("a\n")
            await asyncio.wait_for(asyncio.gather(flooding, question), BOUND_S)
        assert sum("0123456789" in line for line in terminal.screen) == 64_000


@pytest.mark.req("K32")
async def test_a_cancelled_question_ends_cleanly_and_the_next_one_works() -> None:
    """Case agent-user-task-05: cancel while waiting."""
    with watched() as terminal:
        async with asking(terminal, "one", "two") as (first, second):
            first.cancel()
            await asyncio.wait([first], timeout=BOUND_S)
            assert first.cancelled()
            await terminal.until(lambda: "run two" in terminal.out.getvalue())
            assert any(line.endswith("> no longer asked") for line in terminal.screen)
            terminal.type("y\n")
            assert await asyncio.wait_for(second, BOUND_S) == Answer(allow=True)


@pytest.mark.req("K10")
@pytest.mark.parametrize("place", ["/dev/null", "an open pipe", "closed", "a file"])
async def test_without_a_terminal_nobody_is_there(place: str, tmp_path: object) -> None:
    """Case agent-user-task-04."""
    read, write = os.pipe()
    if place == "/dev/null":
        os.dup2(os.open(place, os.O_RDONLY), read)
    elif place == "a file":
        os.dup2(os.open(f"{tmp_path}/a", os.O_RDONLY | os.O_CREAT), read)
    elif place == "closed":
        os.close(read)
    frontend = Terminal(io.StringIO(), Keys(read), looks=PLAIN)
    assert frontend.attended is False
    async with asyncio.timeout(BOUND_S):
        assert await frontend.decide(item(call(BASH, command="x")), "") is None
        assert await frontend.answer(call(BASH, command="x")) is None
    os.close(write)
    if place != "closed":
        os.close(read)


async def test_after_the_end_of_the_input_nobody_is_there() -> None:
    with watched() as terminal:
        terminal.hang_up()
        await terminal.frontend.decide(item(call(BASH, command="x")), "")
        assert terminal.frontend.attended is False
        assert await terminal.frontend.decide(item(call(BASH, command="x")), "") is None


async def test_colours_are_only_added_never_changing_the_words() -> None:
    edit = item(call(EDIT, path="a.py"), diff("-\ta = 1", "+\ta = 2  "))
    screens = []
    for looks in (PLAIN, Looks(colour=True)):
        with watched(looks) as terminal:
            terminal.type("a\n")
            await terminal.frontend.decide(edit, "")
            screens.append(terminal.screen)
            assert ("\x1b[" in terminal.out.getvalue()) is looks.colour
    assert screens[0] == screens[1]
