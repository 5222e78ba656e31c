"""JSON lines: whole, in order, and as the reference describes them."""

import base64
import io
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.frontends.fakes import ASKED, BASH, EDIT, call, diff, item, plan

from pluggableharness.kernel.domain.call import ProposedCall, RefusedCall
from pluggableharness.kernel.domain.message import Message, Role, Text
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    CallRefused,
    CallStarted,
    FromChild,
    ItemDecided,
    MessageArrived,
    News,
    Notice,
    OwnNews,
    PlanApplied,
    PlanReady,
    SessionEnded,
    SessionStarted,
    TextDelta,
)
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    LeadUp,
    OutputChunk,
    OutputStream,
    PartialResult,
    Progress,
    Success,
)
from pluggableharness.kernel.domain.plan import Applied, ApplyItem
from pluggableharness.kernel.domain.render import (
    ActionNode,
    CodeBlockNode,
    CollapsibleNode,
    GroupNode,
    LinkNode,
    ListNode,
    SubSessionNode,
    TableNode,
    TextNode,
)
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.frontends.json_lines import CallLines, JsonLines
from pluggableharness.kernel.frontends.json_shapes import node

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "json-events.md"

RUN = call(BASH, command="make")
EDITED = item(call(EDIT, path="a.py"), diff("-old", "+new"))
FAILED = Failure(ErrorCategory.TIMEOUT, "too slow", details={"after_s": 2.0})
REFUSED = RefusedCall("c9", "u9", "exec.bsh", "{", Failure(ErrorCategory.NOT_FOUND, "no such"))
EVENTS: list[LeadUp] = [
    OutputChunk(OutputStream.STDERR, b"text"),
    OutputChunk(OutputStream.STDOUT, b"\xff"),
    Progress("half", 0.5),
    PartialResult({"n": 1}),
    ExitStatus(137, "SIGKILL"),
]
EVERYTHING: list[OwnNews] = [
    SessionStarted("s1", "/work", "script"),
    TextDelta("t1", "Hel"),
    MessageArrived("t1", Message(Role.ASSISTANT, (Text("Hello"), ProposedCall("u", "x.y", {})))),
    CallRefused("t1", REFUSED),
    PlanReady(plan(EDITED)),
    ItemDecided(EDITED, ASKED),
    CallStarted(RUN),
    *(CallEvent(RUN, event) for event in EVENTS),
    CallEnded(RUN, Success({"exit_code": 0})),
    CallEnded(RUN, FAILED),
    PlanApplied("t1", (ApplyItem(EDITED, Applied.DENIED, FAILED),)),
    Notice("warning", "look out"),
    SessionEnded(SessionEnd("s1", SessionStatus.COMPLETED, "", "Done."), "ab12"),
]


async def lines_of(*news: News, kind: type[JsonLines] = JsonLines) -> list[dict[str, object]]:
    out = io.StringIO()
    frontend = kind(out)
    for piece in news:
        await frontend.hear(piece)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def documented() -> dict[str, set[str]]:
    """The fields of every event in the reference, by type."""
    found: dict[str, set[str]] = {}
    for section in re.split(r"^### ", REFERENCE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        found[section.split()[0]] = {
            name for cell in cells for name in re.findall(r"`(\w+)`", cell)
        }
    return found


@pytest.mark.req("K33")
async def test_every_event_is_as_the_reference_describes_it() -> None:
    written: dict[str, set[str]] = {}
    for line in await lines_of(*EVERYTHING):
        fields = set(line) - {"type"}
        written.setdefault(str(line["type"]), set()).update(fields)
    assert written == documented()


@pytest.mark.req("K33")
def test_the_reference_names_every_word_of_the_closed_sets() -> None:
    text = REFERENCE.read_text("utf-8")
    words = [*ErrorCategory, *OutputStream, *Kind, *Risk, *Decision, *Applied, *SessionStatus]
    said = {word.value for word in words if word is not SessionStatus.RUNNING}
    assert {word for word in said if f"`{word}`" not in text} == set()


def test_no_news_was_forgotten_here() -> None:
    assert {type(news) for news in EVERYTHING} == set(get_args(OwnNews))


@pytest.mark.req("K22", "K33")
async def test_news_of_a_child_is_its_own_with_the_child_and_the_path_to_it() -> None:
    for own in EVERYTHING:
        plain = await lines_of(own)
        told = await lines_of(FromChild("child", ("lead", "tester"), own))
        origin = {"child_session_id": "child", "path": ["lead", "tester"]}
        assert told == [{**line, **origin} for line in plain]


@pytest.mark.req("K33")
async def test_a_session_starts_and_ends_its_lines() -> None:
    lines = await lines_of(*EVERYTHING)
    assert lines[0] == {
        "type": "session_started",
        "events_version": 1,
        "session_id": "s1",
        "model": "script",
        "working_directory": "/work",
    }
    assert lines[-1]["type"] == "session_ended"
    assert lines[-1]["status"] == "completed"


@pytest.mark.req("K33")
async def test_a_call_is_its_stream_and_nothing_else() -> None:
    lines = await lines_of(*EVERYTHING, kind=CallLines)
    assert lines == [
        {
            "type": "error",
            "call_id": "c9",
            "category": "not_found",
            "message": "no such",
            "retryable": False,
            "details": None,
        },
        {"type": "output_chunk", "call_id": "c1", "stream": "stderr", "text": "text"},
        {"type": "output_chunk", "call_id": "c1", "stream": "stdout", "data_base64": "/w=="},
        {"type": "progress", "call_id": "c1", "message": "half", "fraction_complete": 0.5},
        {"type": "partial_result", "call_id": "c1", "payload": {"n": 1}},
        {"type": "exit_status", "call_id": "c1", "exit_code": 137, "signal": "SIGKILL"},
        {"type": "result", "call_id": "c1", "payload": {"exit_code": 0}},
        {
            "type": "error",
            "call_id": "c1",
            "category": "timeout",
            "message": "too slow",
            "retryable": False,
            "details": {"after_s": 2},
        },
    ]


async def streamed(*chunks: bytes) -> list[dict[str, object]]:
    events = [CallEvent(RUN, OutputChunk(OutputStream.STDOUT, chunk)) for chunk in chunks]
    return (await lines_of(*events, CallEnded(RUN, Success({}))))[:-1]


async def test_a_character_cut_between_chunks_comes_whole() -> None:
    """Case exec-06."""
    assert [line["text"] for line in await streamed(b"a\xe2", b"\x89", b"\xa4b")] == ["a", "≤b"]


async def test_a_character_that_is_never_completed_is_not_lost() -> None:
    """Case exec-07."""
    lines = await streamed(b"abc\xe2\x89")
    assert [line.get("text") or line["data_base64"] for line in lines] == ["abc", "4ok="]


async def test_the_streams_do_not_complete_each_others_characters() -> None:
    out, err = OutputStream.STDOUT, OutputStream.STDERR
    chunks = [OutputChunk(out, b"\xe2"), OutputChunk(err, b"x"), OutputChunk(out, b"\x89\xa4")]
    lines = await lines_of(*(CallEvent(RUN, chunk) for chunk in chunks))
    assert [(line["stream"], line["text"]) for line in lines] == [("stderr", "x"), ("stdout", "≤")]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=8))
async def test_no_byte_of_output_is_lost_or_changed(chunks: list[bytes]) -> None:
    """Case exec-07: whatever the bytes are."""
    back = b""
    for line in await streamed(*chunks):
        if "text" in line:
            back += str(line["text"]).encode()
        else:
            back += base64.b64decode(str(line["data_base64"]))
    assert back == b"".join(chunks)


@settings(deadline=None)
@given(st.text())
async def test_a_line_is_printing_ascii_whatever_it_holds(text: str) -> None:
    """Case policy-and-schema-13, in this front end."""
    out = io.StringIO()
    await JsonLines(out).hear(Notice("info", text + "\x7f\u202e\ud800"))
    line = out.getvalue()
    assert line.endswith("\n")
    assert line[:-1].isascii()
    assert line[:-1].isprintable()
    assert json.loads(line)["message"] == text + "\x7f\u202e\ud800"


async def test_a_number_that_json_lacks_does_not_stop_the_lines() -> None:
    odd = Failure(ErrorCategory.UNKNOWN, "broken", details={"event": {"fraction": float("nan")}})
    lines = await lines_of(CallEnded(RUN, odd))
    assert lines[0]["details"] == {"event": {"fraction": None}}


async def test_nobody_answers() -> None:
    frontend = JsonLines(io.StringIO())
    assert frontend.attended is False
    assert await frontend.decide(EDITED, "") is None
    assert await frontend.answer(RUN) is None


def test_every_node_of_a_render_tree_has_its_object() -> None:
    text = TextNode("t")
    tree = GroupNode(
        (
            text,
            CodeBlockNode("c", "python"),
            diff("-a", "+b", " c", start=7),
            TableNode(("h",), (("x",),)),
            LinkNode("l", "https://example.org"),
            ListNode((text,), ordered=True),
            CollapsibleNode("s", (text,), collapsed_by_default=True),
            SubSessionNode("s2", "child"),
            ActionNode("a1", "again", "exec", "bash", {"command": "ls"}),
        )
    )
    shape = json.loads(json.dumps(node(tree)))
    kinds = [child["type"] for child in shape["children"]]
    assert {*kinds, "group"} == set(
        re.findall(
            r"`(\w+)`", REFERENCE.read_text("utf-8").split("say their `type`:")[1].split(".")[0]
        )
    )
    assert shape["children"][2]["hunks"] == [
        {
            "old_start": 7,
            "old_lines": 2,
            "new_start": 7,
            "new_lines": 2,
            "lines": [
                {"op": "remove", "text": "a"},
                {"op": "add", "text": "b"},
                {"op": "context", "text": "c"},
            ],
        }
    ]


@pytest.mark.req("K30", "K33")
async def test_lines_that_are_gathered_are_all_there_and_whole_after_the_end() -> None:
    one, many = io.StringIO(), io.StringIO()
    plain, gathering = JsonLines(one), JsonLines(many, gather=200)
    for number in range(10):
        for frontend in (plain, gathering):
            await frontend.hear(Notice("info", f"number {number}"))
    assert many.getvalue()
    assert one.getvalue().startswith(many.getvalue())
    assert len(many.getvalue()) < len(one.getvalue())
    gathering.close()
    assert many.getvalue() == one.getvalue()
