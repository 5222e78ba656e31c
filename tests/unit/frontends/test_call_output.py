"""`harness call` for people and pipes."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest
from unit.frontends.emulator import seen
from unit.frontends.fakes import BASH, EDIT, call, diff, operation

from pluggableharness.kernel.domain.call import RefusedCall
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    CallRefused,
    CallStarted,
    News,
    Notice,
    SessionStarted,
)
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    Failure,
    OutputChunk,
    OutputStream,
    Progress,
    Success,
)
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.call_output import CallOutput, show

NEAR: JsonObject = {"near": ["b.py"]}
RUN = call(BASH, command="make")
RAW = b"\x1b[31mred\x1b[0m\n10%\r100%\n\x1b]0;title\x07\xff\n"


class Piped:
    """Standard output and standard error as two pipes or files would take them."""

    def __init__(self) -> None:
        self._out, self._err = io.BytesIO(), io.BytesIO()
        self.frontend = CallOutput(_wrapped(self._out), _wrapped(self._err))

    async def hears(self, *news: News) -> tuple[bytes, bytes]:
        for piece in news:
            await self.frontend.hear(piece)
        return self._out.getvalue(), self._err.getvalue()


def _wrapped(raw: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="")


@pytest.fixture
def terminal() -> Iterator[tuple[int, io.TextIOWrapper]]:
    near, far = pty.openpty()
    stream = os.fdopen(far, "w", encoding="utf-8", closefd=True)
    yield near, stream
    stream.close()
    os.close(near)


def on_screen(terminal: tuple[int, io.TextIOWrapper]) -> list[str]:
    """What is on the screen; the far end marks its end, since a terminal passes on piecemeal."""
    near, out = terminal
    out.write("<end>")
    out.flush()
    data = b""
    while not data.endswith(b"<end>"):
        data += os.read(near, 65536)
    return seen(data.removesuffix(b"<end>").decode().replace("\r\n", "\n"))


def output(data: bytes, stream: OutputStream = OutputStream.STDOUT) -> CallEvent:
    return CallEvent(RUN, OutputChunk(stream, data))


def ended(payload: JsonObject) -> CallEnded:
    return CallEnded(RUN, Success(payload))


@pytest.mark.req("K4")
async def test_a_pipe_gets_the_bytes_and_nothing_else(tmp_path: object) -> None:
    file = f"{tmp_path}/out"
    with open(file, "w", encoding="utf-8") as out, open(os.devnull, "w", encoding="utf-8") as err:
        frontend = CallOutput(out, err)
        for news in (output(RAW), ended({"exit_code": 0, "output": "red"})):
            await frontend.hear(news)
    with open(file, "rb") as written:
        assert written.read() == RAW


@pytest.mark.req("K32")
async def test_a_terminal_gets_safe_text(terminal: tuple[int, io.TextIOWrapper]) -> None:
    """Case exec-16."""
    _, out = terminal
    frontend = CallOutput(out, out)
    await frontend.hear(output(RAW))
    await frontend.hear(ended({"exit_code": 0, "output": "red"}))
    assert on_screen(terminal) == ["red", "100%", "�", "exit_code: 0", ""]


@pytest.mark.req("K4")
async def test_values_come_as_their_author_wrote_them_and_the_optional_ones_by_name() -> None:
    declared = Schema(SchemaType.OBJECT, required=("path", "created"))
    made = call(operation("toy.make", output=declared))
    payload: JsonObject = {"b": 2, "a": 1, "created": True, "path": "x"}
    out, _ = await Piped().hears(CallEnded(made, Success(payload)))
    assert out == b"path: x\ncreated: true\na: 1\nb: 2\n"


@pytest.mark.req("K4")
async def test_an_empty_text_leaves_nothing_in_a_pipe() -> None:
    out, err = await Piped().hears(ended({"content": "", "total_lines": 0}))
    assert (out, err) == (b"", b"total_lines: 0\n")


async def test_what_a_child_wrote_to_standard_error_stays_there() -> None:
    piped = Piped()
    out, err = await piped.hears(output(b"out\n"), output(b"err\n", OutputStream.STDERR))
    assert (out, err) == (b"out\n", b"err\n")


async def test_the_main_text_is_the_output_and_the_rest_is_said_beside_it() -> None:
    payload: JsonObject = {
        "path": "a\u200b",
        "content": "1|x\n2|y\n",
        "total_lines": 2.0,
        "note": None,
    }
    out, err = await Piped().hears(ended(payload))
    assert out == b"1|x\n2|y\n"
    assert err.decode() == 'path: "a\\u200b"\ntotal_lines: 2\n'


async def test_a_last_line_without_end_is_ended() -> None:
    assert (await Piped().hears(ended({"content": "1|x"})))[0] == b"1|x\n"


async def test_streamed_output_is_not_repeated() -> None:
    out, err = await Piped().hears(output(b"hi\n"), ended({"output": "hi\n", "exit_code": 3}))
    assert out == b"hi\n"
    assert err == b"exit_code: 3\n"


async def test_output_that_did_not_stream_is_shown_at_the_end() -> None:
    out, _ = await Piped().hears(ended({"output": "hi\n", "exit_code": 0}))
    assert out == b"hi\n"


async def test_a_list_is_one_item_a_line_in_a_pipe() -> None:
    out, _ = await Piped().hears(ended({"paths": ["a.py", "b c.py"], "total": 2}))
    assert out == b"a.py\nb c.py\n"
    out, _ = await Piped().hears(ended({"matches": [{"path": "a", "line": 1}], "warnings": []}))
    assert out == b'{"path": "a", "line": 1}\n'


async def test_a_payload_without_a_main_part_is_named_values() -> None:
    out, err = await Piped().hears(ended({"task": {"id": "t1"}, "done": True}))
    assert out == b'done: true\ntask: {"id": "t1"}\n'
    assert err == b""


async def test_a_terminal_gets_lists_of_objects_as_a_table(
    terminal: tuple[int, io.TextIOWrapper],
) -> None:
    _, out = terminal
    matches: list[Json] = [
        {"path": "a.py", "line": 1, "before": []},
        {"path": "long/b.py", "line": 20, "before": []},
    ]
    await CallOutput(out, out).hear(ended({"matches": matches}))
    assert on_screen(terminal)[:3] == ["path       line", "a.py       1", "long/b.py  20"]


async def test_a_diff_is_drawn_on_a_terminal_and_itself_in_a_pipe(
    terminal: tuple[int, io.TextIOWrapper],
) -> None:
    _, out = terminal
    text = "--- a\n+++ b\n@@ -7 +7 @@\n-old\n+new\n"
    edited = CallEnded(call(EDIT, path="a"), Success({"path": "a", "diff": text}))
    await CallOutput(out, out).hear(edited)
    assert on_screen(terminal)[:2] == ["7 - old", "7 + new"]
    assert (await Piped().hears(edited))[0] == text.encode()


@pytest.mark.req("P16")
async def test_errors_go_to_standard_error_with_their_category() -> None:
    failure = Failure(ErrorCategory.NOT_FOUND, "a.py: no such file\x1b[2J", details=NEAR)
    out, err = await Piped().hears(CallEnded(RUN, failure))
    assert out == b""
    assert err.decode() == (
        'exec.bash: not_found: a.py: no such file\n{\n  "near": [\n    "b.py"\n  ]\n}\n'
    )


@pytest.mark.req("P16", "P8")
@pytest.mark.parametrize(
    ("message", "details", "left"),
    [
        (
            '- start_line: expected a number, got the string "x"',
            {
                "violations": [
                    {"path": "start_line", "expected": "a number", "got": 'the string "x"'}
                ]
            },
            None,
        ),
        ("Denied by rule r: no", {"decided_by": "rule r"}, None),
        ("it is there 3 times, on lines 1, 20", {"count": 3.0, "lines": [1, 20]}, None),
        ("it is there 13 times, on line 20", {"count": 3, "lines": [20]}, {"count": 3}),
        ("stopped after 5 s", {"output": "early\n", "truncated": False}, ...),
    ],
)
async def test_what_an_error_says_in_words_is_not_said_again_in_its_details(
    message: str, details: JsonObject, left: object
) -> None:
    _, err = await Piped().hears(
        CallEnded(RUN, Failure(ErrorCategory.UNKNOWN, message, details=details))
    )
    _, _, told = err.decode().partition(message + "\n")
    shown = json.loads(told) if told else None
    assert shown == (details if left is ... else left)


async def test_a_call_that_was_refused_is_an_error_by_its_name() -> None:
    refused = RefusedCall("c", "u", "exec.bsh", {}, Failure(ErrorCategory.NOT_FOUND, "no such"))
    assert (await Piped().hears(CallRefused("t", refused)))[1] == b"exec.bsh: not_found: no such\n"


async def test_progress_is_a_line_for_each_tenth_on_standard_error() -> None:
    steps = [CallEvent(RUN, Progress("unpacking", n / 100)) for n in range(100)]
    out, err = await Piped().hears(*steps, *steps[-1:])
    assert out == b""
    assert err.decode().splitlines() == [f"{n}% unpacking" for n in range(0, 100, 10)]


async def test_the_frame_around_a_call_is_not_shown_but_a_notice_is() -> None:
    out, err = await Piped().hears(
        SessionStarted("s", "/", "m"), CallStarted(RUN), Notice("warning", "look out")
    )
    assert (out, err) == (b"", b"warning: look out\n")


async def test_a_stream_that_never_ended_leaves_its_last_line(
    terminal: tuple[int, io.TextIOWrapper],
) -> None:
    _, out = terminal
    frontend = CallOutput(out, out)
    await frontend.hear(output(b"half\xe2"))
    frontend.close()
    assert on_screen(terminal) == ["half�", ""]


async def test_a_reader_that_leaves_ends_the_output_and_not_the_call() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as out:
        frontend = CallOutput(out, io.StringIO())
        await frontend.hear(output(b"x" * 100))
        await frontend.hear(ended({"exit_code": 0, "output": "x"}))


def test_a_preview_is_drawn_in_full() -> None:
    out = io.StringIO()
    show(diff(*(f"+line {n}" for n in range(200))), out)
    assert len(out.getvalue().splitlines()) == 200


@pytest.mark.req("K32")
def test_a_call_in_a_pipeline_does_not_wait_for_rich() -> None:
    program = (
        "import asyncio, sys\n"
        "from unit.frontends.fakes import BASH, call\n"
        "from pluggableharness.kernel.domain.news import CallEnded\n"
        "from pluggableharness.kernel.domain.outcome import Success\n"
        "from pluggableharness.kernel.frontends.call_output import CallOutput\n"
        "from pluggableharness.kernel.frontends.json_lines import CallLines\n"
        "ended = CallEnded(call(BASH), Success({'content': 'x', 'diff': 'y'}))\n"
        "asyncio.run(CallOutput().hear(ended))\n"
        "sys.exit('rich' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
