"""The terminal as a person sees it: calm lines, whole questions, nothing raw."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.frontends.emulator import seen
from unit.frontends.fakes import ALLOWED, BASH, EDIT, READ, call, diff, item, operation, plan
from unit.frontends.watching import chunk, watched

from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.domain.call import RefusedCall
from pluggableharness.kernel.domain.message import Message, Role, Text, Usage
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    CallRefused,
    CallStarted,
    ItemDecided,
    MessageArrived,
    Notice,
    PlanApplied,
    PlanReady,
    SessionEnded,
    SessionStarted,
    TextDelta,
)
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    PartialResult,
    Progress,
    Success,
)
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.frontends.looks import UNICODE, Looks
from pluggableharness.kernel.frontends.terminal import Terminal

DENIED = Failure(ErrorCategory.PERMISSION_DENIED, "Denied by rule no-net: keep off")


@pytest.mark.req("K32")
async def test_text_streams_and_is_wrapped_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with watched() as terminal:
        for word in ("one " * 30).split(" "):
            await terminal.hear(TextDelta("t1", word + " "))
        assert len(terminal.screen) > 1  # before the message is complete
        await terminal.hear(MessageArrived("t1", Message(Role.ASSISTANT, (Text("ignored"),))))
        assert " ".join(terminal.screen).split() == ["one"] * 30
        assert max(map(len, terminal.screen)) <= 80


async def test_a_carriage_return_in_text_overwrites_nothing() -> None:
    with watched() as terminal:
        await terminal.hear(TextDelta("t1", "I run rm -rf\r\n and then ls\rhm\n\n\n"))
        await terminal.hear(MessageArrived("t1", Message(Role.ASSISTANT, ())))
        assert terminal.screen == ["I run rm -rf", " and then lshm"]


async def test_a_message_that_did_not_stream_is_shown_when_it_is_complete() -> None:
    with watched() as terminal:
        await terminal.hear(MessageArrived("t1", Message(Role.ASSISTANT, (Text("Hello."),))))
        assert terminal.screen == ["Hello."]


@pytest.mark.req("K32")
async def test_a_call_that_ends_at_once_is_one_line() -> None:
    read = call(READ, path="a.py", start_line=2)
    with watched() as terminal:
        await terminal.hear(CallStarted(read))
        terminal.now += 0.012
        await terminal.hear(CallEnded(read, Success({"content": "x", "total_lines": 48})))
        assert terminal.screen == ["✓ filesystem.read_file a.py start_line=2 · 48 lines · 12 ms"]


@pytest.mark.req("K32", "P30")
@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ({"text": "Hello, Ann!"}, ' → {"text": "Hello, Ann!"}'),
        ({"text": "\x1b[2J"}, r' → {"text": "\u001b[2J"}'),
        ({}, ""),
        ({"content": "x", "total_lines": 48}, " · 48 lines"),
    ],
)
async def test_a_call_that_says_nothing_about_its_result_shows_it(
    payload: dict[str, str | int], shown: str
) -> None:
    greet = call(operation("hello.greet", "name", kind=Kind.DATA_SOURCE), name="Ann")
    with watched() as terminal:
        await terminal.hear(CallEnded(greet, Success(payload)))
        assert terminal.screen == [f"✓ hello.greet Ann{shown}"]


@pytest.mark.req("K32")
async def test_a_result_of_any_size_is_cut_to_the_line() -> None:
    greet = call(READ, path="a")
    huge = {str(number): ["é" * 10_000] * 1000 for number in range(1000)}
    with watched() as terminal:
        await terminal.hear(CallEnded(greet, Success(huge)))
        (line,) = terminal.screen
        assert line.startswith('✓ filesystem.read_file a → {"0": ["ééé')
        assert line.endswith("…")
        assert len(line) < 160


@pytest.mark.req("K32")
async def test_output_is_shown_live_behind_a_bar() -> None:
    run = call(BASH, command="make")
    with watched() as terminal:
        await terminal.hear(CallStarted(run))
        await terminal.hear(CallEvent(run, chunk(b"\x1b[32mok\x1b[0m 1\nha")))
        assert terminal.screen == ["▸ exec.bash make", "  ┊ ok 1"]
        await terminal.hear(CallEvent(run, chunk(b"lf \xe2\x89")))
        await terminal.hear(CallEvent(run, chunk(b"\xa4\r\n")))
        await terminal.hear(CallEvent(run, ExitStatus(2)))
        terminal.now += 61
        await terminal.hear(CallEnded(run, Success({"exit_code": 2})))
        assert terminal.screen[2:] == ["  ┊ half ≤", "✗ exec.bash · exit 2 · 1 min 1 s"]


@pytest.mark.req("K32")
async def test_each_line_names_its_call_when_several_run() -> None:
    first, second = call(BASH, "c1", command="a"), call(BASH, "c2", command="b")
    with watched() as terminal:
        await terminal.hear(CallStarted(first))
        await terminal.hear(CallStarted(second))
        await terminal.hear(CallEvent(first, chunk(b"one\n")))
        await terminal.hear(CallEvent(second, chunk(b"two\n")))
        await terminal.hear(CallEnded(first, Success({})))
        await terminal.hear(CallEvent(second, chunk(b"three\n")))
        assert terminal.screen == [
            "▸ exec.bash a",
            "  bash ┊ one",
            "▸ exec.bash#2 b",
            "  bash#2 ┊ two",
            "✓ exec.bash · 0 ms",
            "  ┊ three",
        ]


async def test_a_failure_says_what_and_why() -> None:
    run = call(BASH, command="make")
    with watched() as terminal:
        await terminal.hear(CallStarted(run))
        await terminal.hear(CallEnded(run, Failure(ErrorCategory.TIMEOUT, "too slow\nwait longer")))
        assert terminal.screen == [
            "✗ exec.bash make · timeout · 0 ms",
            "  too slow",
            "  wait longer",
        ]


async def test_a_call_that_never_ran_is_denied_not_failed() -> None:
    with watched() as terminal:
        await terminal.hear(CallEnded(call(READ, path="x"), DENIED))
        assert terminal.screen == [
            "✗ filesystem.read_file x · denied",
            "  Denied by rule no-net: keep off",
        ]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({}, ""),
        ({"path": "a.txt"}, ' {"path": "a.txt"}'),
        ('{"path": \x1b', ' "{\\"path\\": \\x1b"'),
    ],
)
async def test_a_refused_call_is_shown_with_its_reason(
    arguments: JsonObject | str, shown: str
) -> None:
    failure = Failure(ErrorCategory.NOT_FOUND, "no such")
    refused = RefusedCall("c", "u", "exec.b\x1bsh", arguments, failure)
    with watched() as terminal:
        await terminal.hear(CallRefused("t1", refused))
        assert terminal.screen == [f'✗ "exec.b\\x1bsh"{shown} · refused', "  no such"]


async def test_of_a_long_refused_call_the_beginning_is_shown() -> None:
    failure = Failure(ErrorCategory.NOT_FOUND, "no such")
    refused = RefusedCall("c", "u", "exec.bsh", {"content": "x" * 500}, failure)
    with watched() as terminal:
        await terminal.hear(CallRefused("t1", refused))
        assert terminal.screen[0].startswith('✗ exec.bsh {"content": "xxx')
        assert terminal.screen[0].endswith("x… · refused")


@pytest.mark.req("K32")
async def test_a_long_call_is_announced_and_the_foot_says_how_far_it_is() -> None:
    run = call(BASH, command="make")
    with watched(Looks(colour=True, cursor=True)) as terminal:
        await terminal.hear(CallStarted(run))
        terminal.now += 2
        await terminal.hear(CallEvent(run, Progress("unpacking", 0.5)))
        assert terminal.screen[-1].endswith("bash · 2.0 s · █████░░░░░ 50% unpacking")
        await terminal.hear(CallEvent(run, chunk(b"done 7\r")))
        await terminal.hear(CallEvent(run, chunk(b"done 8")))
        assert terminal.screen[-1].endswith("50% unpacking · done 8")
        await terminal.until(lambda: "▸ exec.bash make" in terminal.screen)
        await terminal.hear(CallEnded(run, Success({})))
        assert terminal.screen == ["▸ exec.bash make", "  ┊ done 8", "✓ exec.bash · 2.0 s"]


async def test_without_a_cursor_progress_is_lines_and_not_too_many() -> None:
    run = call(BASH, command="make")
    with watched() as terminal:
        await terminal.hear(CallStarted(run))
        for step in range(100):
            terminal.now += 0.1
            await terminal.hear(CallEvent(run, Progress("unpacking", step / 100)))
            await terminal.hear(CallEvent(run, PartialResult({})))
        told = [line for line in terminal.screen if "unpacking" in line]
        assert told[0] == "  ┊ 0% unpacking"
        assert 4 <= len(told) <= 6


@pytest.mark.req("K32")
async def test_a_plan_of_several_is_seen_before_the_first_question() -> None:
    edit = item(call(EDIT, "c1", path="a.py", old_str="a", new_str="b"), diff("-a", "+b"))
    run = item(call(BASH, "c2", command="make test\nmake more"))
    with watched() as terminal:
        await terminal.hear(PlanReady(plan(edit, run)))
        assert terminal.screen == [
            "plan",
            "1  moderate  filesystem.edit_file  ask  a.py old_str=a new_str=b",
            "2  high      exec.bash             ask  make test …",
        ]
        terminal.type("a\na\n")
        await terminal.frontend.decide(edit, "")
        assert "┌ moderate · filesystem.edit_file · 1 of 2" in terminal.screen


@pytest.mark.req("K32")
async def test_what_is_allowed_without_asking_still_shows_its_preview() -> None:
    edit = item(call(EDIT, path="a.py"), diff("-a", "+b"), ALLOWED)
    with watched() as terminal:
        await terminal.hear(PlanReady(plan(edit)))
        await terminal.hear(ItemDecided(edit, ALLOWED))
        assert terminal.screen == [
            "┌ moderate · filesystem.edit_file · allowed by rule tests",
            "│ path  a.py",
            "│ 1 - a",
            "│ 1 + b",
        ]


async def test_a_denial_by_the_person_is_not_told_twice() -> None:
    asked = item(call(BASH, command="x"))
    with watched() as terminal:
        terminal.type("d\n")
        await terminal.frontend.decide(asked, "")
        before = terminal.screen
        await terminal.hear(ItemDecided(asked, Verdict(Decision.DENY, "person")))
        await terminal.hear(CallEnded(asked.call, DENIED))
        await terminal.hear(PlanApplied("t1", ()))
        assert terminal.screen == before


@pytest.mark.parametrize(
    ("model", "last"), [("anthropic:x", ["go on  harness run --resume s1"]), ("script", [])]
)
async def test_a_session_has_a_first_and_a_last_line(model: str, last: list[str]) -> None:
    with watched() as terminal:
        await terminal.hear(SessionStarted("s1", "/work", model))
        await terminal.hear(Notice("warning", "look out"))
        await terminal.hear(TextDelta("t1", "Done."))
        await terminal.hear(
            SessionEnded(SessionEnd("s1", SessionStatus.COMPLETED, "", "Done."), "ab")
        )
        assert terminal.screen == [
            f"session s1 · {model} · /work",
            "look out",
            "Done.",
            "completed · 0 calls · 0 ms",
            "record s1",
            "verify harness sessions verify s1 --head ab",
            *last,
        ]


async def test_last_words_that_did_not_stream_are_shown() -> None:
    end = SessionEnd("s1", SessionStatus.FAILED, "the model is gone", "Last words.")
    with watched() as terminal:
        await terminal.hear(SessionEnded(end))
        assert terminal.screen == ["Last words.", "failed · 0 calls · 0 ms", "the model is gone"]


HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("\x1b\x9b\r\n\t\x07\x08\x00[]2KmH;\u202e\u200b"))
)


@pytest.mark.req("K32")
@settings(deadline=None)
@given(HOSTILE, st.booleans())
async def test_nothing_raw_reaches_the_terminal_by_any_way(text: str, clever: bool) -> None:
    """Cases exec-16 and policy-and-schema-13: whatever field it stands in."""
    name = operation(f"{text}.{text}", text)
    one = call(name, **{text: text, "other": text})
    failure = Failure(ErrorCategory.UNKNOWN, text, details={text: text})
    planned = item(one, diff("-" + text, "+" + text), Verdict(Decision.ALLOW, text, text))
    with watched(Looks(colour=clever, cursor=clever)) as terminal:
        await terminal.hear(SessionStarted(text, text, text))
        await terminal.hear(TextDelta("t1", text))
        await terminal.hear(Notice(text, text))
        terminal.frontend.say(text)
        terminal.frontend.table([(text, text), ("short",)])
        await terminal.hear(CallRefused("t1", RefusedCall("c", "u", text, text, failure)))
        await terminal.hear(PlanReady(plan(planned, item(one))))
        await terminal.hear(CallStarted(one))
        terminal.now += 3
        await terminal.hear(CallEvent(one, chunk(text.encode("utf-8", "replace"))))
        await terminal.hear(CallEvent(one, Progress(text, 0.1)))
        await terminal.hear(CallEnded(one, Success({"signal": text, "exit_code": 1})))
        terminal.type("?\nd\n")
        await terminal.frontend.decide(planned, text)
        await terminal.hear(CallEnded(call(name, "c2"), failure))
        await terminal.hear(SessionEnded(SessionEnd(text, SessionStatus.FAILED, text, text), text))
    seen(terminal.out.getvalue())  # raises at what we did not write ourselves


@pytest.mark.req("K32")
@pytest.mark.parametrize("sign", UNICODE.ours)
@pytest.mark.parametrize("clever", [False, True])
async def test_nothing_that_is_said_begins_as_what_is_asked_or_was_done(
    sign: str, clever: bool
) -> None:
    """A model or a provider cannot draw a question, an answer or a call that never was."""
    forged = f"{sign} high · exec.bash\n{sign} rm -rf\n\n- {sign} x\n```\n{sign} y\n```\n{sign}"
    with watched(Looks(colour=clever, cursor=clever)) as terminal:
        await terminal.hear(TextDelta("t1", forged))
        await terminal.hear(MessageArrived("t1", Message(Role.ASSISTANT, (Text(forged),))))
        await terminal.hear(Notice("info", forged))
        end = SessionEnd("s1", SessionStatus.FAILED, forged, "last: " + forged)
        await terminal.hear(SessionEnded(end))
        assert "exec.bash" in " ".join(terminal.screen)
        assert [line for line in terminal.screen if line.startswith(sign)] == []


@pytest.mark.req("K32")
async def test_the_foot_says_what_is_waited_for_and_what_is_spent_of_how_much() -> None:
    bounds = Bounds(max_turns=20, max_cost_usd=1.0)
    spent = Spent(3, 0.25, 4.0, Usage(12_000, 345))
    with watched(Looks(colour=True, cursor=True)) as terminal:
        terminal.frontend.follow(lambda: (bounds, spent))
        await terminal.hear(SessionStarted("s1", "/work", "claude"))
        terminal.now += 3
        await terminal.until(lambda: "claude · 3.0 s" in terminal.screen[-1])
        assert terminal.screen[-1].endswith("turn 3 of 20 · 12.3k tokens · $0.25 of $1.00")
        assert len(terminal.screen[-1]) < 80
        await terminal.hear(SessionEnded(SessionEnd("s1", SessionStatus.COMPLETED, "", "")))
        assert "claude · 3.0 s" not in terminal.screen[-1]


@pytest.mark.req("K17", "K32")
async def test_calls_that_an_interrupt_ended_are_shown_as_ended() -> None:
    run = call(BASH, command="sleep 100")
    with watched() as terminal:
        await terminal.hear(SessionStarted("s1", "/work", "claude"))
        await terminal.hear(CallStarted(run))
        terminal.now += 2
        end = SessionEnd("s1", SessionStatus.CANCELLED, "interrupted", "")
        await terminal.hear(SessionEnded(end))
        assert "✗ exec.bash sleep 100 · cancelled · 2.0 s" in terminal.screen
        assert "cancelled · 1 call · 2.0 s" in terminal.screen


@pytest.mark.req("K32")
async def test_in_a_conversation_the_session_is_named_once_and_its_record_when_it_is_left() -> None:
    out = io.StringIO()
    frontend = Terminal(out, looks=Looks(), clock=lambda: 1.0, conversation=True)
    for _ in range(2):
        await frontend.hear(SessionStarted("s1", "/work", "claude"))
        done = SessionEnd("s1", SessionStatus.COMPLETED, "", "")
        await frontend.hear(SessionEnded(done, "ab12"))
    assert out.getvalue().count("session s1") == 1
    assert "ab12" not in out.getvalue()
    frontend.close()
    assert out.getvalue().count("ab12") == 1


@pytest.mark.req("K32")
async def test_without_a_terminal_nothing_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    written, words = io.StringIO(), "many words " * 40
    terminal = Terminal(written)
    await terminal.hear(Notice("warning", words + "as a notice"))
    await terminal.hear(TextDelta("t1", words + "as prose\n"))
    terminal.close()
    lines = written.getvalue().split("\n")
    assert words + "as a notice" in lines and words + "as prose" in lines
