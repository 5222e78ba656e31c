"""Single keys on a real terminal: no Enter, no echo, no leftovers, and no hang elsewhere."""

import asyncio
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from process_tree import eventually, stopped
from unit.frontends.person import ASK_ONCE, BOUND_S, PROMPT, Person, environment

from pluggableharness.kernel.frontends.keys import Keys


@pytest.fixture
def person() -> Iterator[Person]:
    person = Person("one")
    yield person
    person.terminal.close(force=True)


@pytest.mark.req("K32")
@pytest.mark.parametrize("key", ["a", "y", "Y"])
def test_one_key_allows(person: Person, key: str) -> None:
    person.sees(PROMPT)
    person.types(key)
    person.sees("allowed")
    person.sees("ANSWER one Answer(allow=True, reason='')")


def stopped_and_gone_on(person: Person, set_by_shell: int, cleared_by_shell: int) -> None:
    """A process that was stopped goes on, with the terminal as a shell has left it."""
    os.kill(person.terminal.pid, signal.SIGSTOP)
    eventually(lambda: stopped(person.terminal.pid), "it stands still")
    mode = termios.tcgetattr(person.terminal.child_fd)
    mode[3] = (mode[3] | set_by_shell) & ~cleared_by_shell
    termios.tcsetattr(person.terminal.child_fd, termios.TCSANOW, mode)
    os.kill(person.terminal.pid, signal.SIGCONT)


@pytest.mark.req("K32")
def test_a_question_for_a_line_is_asked_again_after_a_stop_and_takes_a_line(
    person: Person,
) -> None:
    person.sees(PROMPT)
    person.types("d")
    person.sees("why? (Return for no reason) > ")
    stopped_and_gone_on(person, 0, termios.ECHO)
    person.sees("why? (Return for no reason) > ")
    assert person.modes() == (True, True)
    person.types("not now\r")
    person.sees("ANSWER one Answer(allow=False, reason='not now')")
    assert person.modes() == person.mode


@pytest.mark.req("K32")
def test_a_question_is_asked_again_after_a_stop_and_takes_a_single_key(person: Person) -> None:
    person.sees(PROMPT)
    stopped_and_gone_on(person, termios.ICANON | termios.ECHO, 0)
    person.sees("run one")
    person.sees(PROMPT)
    assert person.modes() == (False, False)
    person.types("a")
    person.sees("ANSWER one Answer(allow=True, reason='')")
    assert person.modes() == person.mode


@pytest.mark.req("K32")
def test_one_key_denies_and_a_line_says_why(person: Person) -> None:
    person.sees(PROMPT)
    person.types("d")
    person.sees("why?")
    person.types("not that\x7f\x7f\x7f\x7fthis one\r")
    person.sees("ANSWER one Answer(allow=False, reason='not this one')")


@pytest.mark.req("K32")
@pytest.mark.parametrize("key", ["\r", "\x04"])
def test_enter_alone_and_end_of_file_are_a_no(person: Person, key: str) -> None:
    """Case agent-user-task-05."""
    person.sees(PROMPT)
    person.types(key)
    person.sees("ANSWER one Answer(allow=False, reason='')")


@pytest.mark.req("K32")
@pytest.mark.parametrize("junk", ["\x1b[A", "x", "yes\nyes\n", "a long text that begins with a"])
def test_junk_asks_again(person: Person, junk: str) -> None:
    """Case agent-user-task-05, and a text that was pasted by accident."""
    person.sees(PROMPT)
    person.types(junk)
    person.sees("not an answer")
    person.sees(PROMPT)
    person.types("a")
    person.sees("ANSWER one Answer(allow=True, reason='')")


@pytest.mark.req("K32")
def test_what_was_typed_before_the_question_is_no_answer(person: Person) -> None:
    """The process has not even started to ask when the key arrives."""
    person.types("a")
    person.sees(PROMPT)
    person.types("d")
    person.sees("why?")
    person.types("\r")
    person.sees("ANSWER one Answer(allow=False, reason='')")


@pytest.mark.req("K32")
def test_the_terminal_is_as_it_was_after_an_answer(person: Person) -> None:
    person.sees(PROMPT)
    assert person.modes() == (False, False)
    person.types("a")
    person.sees("ANSWER")
    assert person.modes() == person.mode == (True, True)


@pytest.mark.req("K32")
def test_an_interrupt_ends_the_question_and_restores_the_terminal(person: Person) -> None:
    person.sees(PROMPT)
    person.types("\x03")
    person.sees("no longer asked")
    person.sees("CANCELLED")
    assert person.modes() == person.mode


@pytest.mark.req("K32")
def test_an_interrupt_while_saying_why_ends_the_question(person: Person) -> None:
    person.sees(PROMPT)
    person.types("d")
    person.sees("why?")
    person.types("half a rea\x03")
    person.sees("CANCELLED")
    assert person.modes() == person.mode


@pytest.mark.req("K32")
async def test_a_window_that_closes_ends_the_question() -> None:
    near, far = os.openpty()
    keys = Keys(far)
    async with asyncio.timeout(BOUND_S):
        assert await keys.key(lambda: os.close(near)) is None
    assert keys.attended is False
    os.close(far)


@pytest.mark.req("K10")
def test_two_questions_are_asked_one_after_another() -> None:
    person = Person("one", "two")
    person.sees("run one")
    person.sees(PROMPT)
    person.types("a")
    person.sees("run two")
    person.sees(PROMPT)
    person.types("\r")
    person.leaves()
    assert "ANSWER one Answer(allow=True" in person.log.getvalue()
    assert "ANSWER two Answer(allow=False" in person.log.getvalue()


@pytest.mark.req("K32")
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_there_is_not_one_escape(env: dict[str, str]) -> None:
    person = Person("one", **env)
    person.sees(PROMPT)
    question = person.terminal.before
    person.types("a")
    assert "\x1b" not in question + person.leaves().replace("\r\x1b[K", "")


@pytest.mark.req("K32")
@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_a_locale_without_the_signs_gets_ascii(env: dict[str, str]) -> None:
    person = Person("one", **env)
    person.sees(PROMPT)
    assert person.terminal.before.isascii()
    person.types("a")
    assert person.leaves().isascii()


def unattended(stdin: int | None) -> str:
    process = subprocess.run(
        [sys.executable, ASK_ONCE, "one"],
        stdin=stdin,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=BOUND_S,
        check=True,
    )
    return process.stdout


@pytest.mark.req("K10")
def test_without_a_terminal_it_ends_at_once() -> None:
    """Case agent-user-task-04: a pipe that never closes, /dev/null, and a closed input."""
    read, write = os.pipe()
    try:
        assert unattended(read) == "ATTENDED False\nANSWER one None\n"
    finally:
        os.close(read)
        os.close(write)
    assert unattended(subprocess.DEVNULL) == "ATTENDED False\nANSWER one None\n"
    closed = f"exec <&-; exec {sys.executable} {ASK_ONCE} one"
    out = subprocess.run(
        ["sh", "-c", closed],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=BOUND_S,
        check=True,
    )
    assert out.stdout == "ATTENDED False\nANSWER one None\n"


@pytest.mark.req("K10")
def test_a_question_that_nobody_sees_is_not_asked(tmp_path: Path) -> None:
    """The input is a terminal with a person at it, but the output goes to a file."""
    out = tmp_path / "out"
    command = f"{sys.executable} {ASK_ONCE} one > {out}"
    shell = pexpect.spawn("sh", ["-c", command], env=environment(), timeout=BOUND_S)
    shell.expect(pexpect.EOF)
    assert out.read_text() == "ATTENDED False\nANSWER one None\n"


@pytest.mark.req("K10")
def test_a_process_in_the_background_does_not_ask() -> None:
    """Reading the terminal would stop it."""
    command = f"set -m; {sys.executable} {ASK_ONCE} one & wait"
    shell = pexpect.spawn("sh", ["-c", command], env=environment(), timeout=BOUND_S)
    shell.expect_exact("ANSWER one None")
    shell.expect(pexpect.EOF)


@pytest.mark.parametrize(("content", "expected"), [("a\nb", ["a", "b", None]), ("", [None])])
async def test_answers_may_come_from_a_file(
    content: str, expected: list[str | None], tmp_path: Path
) -> None:
    file = tmp_path / "answers"
    file.write_text(content)
    with file.open("rb") as answers:
        keys = Keys(answers.fileno(), piped=True)
        async with asyncio.timeout(BOUND_S):
            assert [await keys.key(lambda: None) for _ in expected] == expected
    assert keys.attended is False


async def test_an_answer_without_end_takes_bounded_memory() -> None:
    read, write = os.pipe()
    keys = Keys(read, piped=True)
    os.write(write, b"x" * 65536)
    async with asyncio.timeout(BOUND_S):
        assert await keys.line() == "x" * 65536
    os.close(read)
    os.close(write)
