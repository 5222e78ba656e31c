"""A server on this machine that speaks a vendor's stream, and plays a list of replies.

Give it replies in the order in which they are to be asked for, then point a model at `url`:

    with ModelServer([Reply("Looking.", calls=[Call("filesystem.read_file", path="a.txt")])]) as it:
        harness.run("run", "read it", "--model", "openai-compatible:any", env=it.environment)
    assert it.requests[0]["messages"]

It speaks the stream of OpenAI's chat completions, as does every compatible service; a `Recorded`
reply is a file with another vendor's stream. A request beyond the last reply is answered with
400, and is in `requests` like all others.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

STREAMS = Path(__file__).parent / "fixtures" / "models"


@dataclass(frozen=True)
class Call:
    """A call of an operation; `raw` takes the place of the arguments' JSON."""

    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    raw: str | None = None


@dataclass(frozen=True)
class Reply:
    """A message of the model: its text in pieces as they stream, and its calls.

    `cut` ends the connection after that many events of the stream; `status` other than 200
    answers with an error of that status instead, with `error` as its body; `headers` go with both.
    `hold` makes the server wait, half way, until the client has gone or `release` is set.
    """

    text: str | Sequence[str] = ()
    calls: Sequence[Call] = ()
    finish: str | None = None
    usage: tuple[int, int] = (100, 10)
    cut: int | None = None
    status: int = 200
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: bool = False

    @property
    def pieces(self) -> Sequence[str]:
        """The text as it streams."""
        return [self.text] if isinstance(self.text, str) else self.text

    def blocks(self) -> list[str]:
        """The stream, event by event."""
        return [*(f"data: {json.dumps(event)}\n\n" for event in chat_events(self)), _DONE]


_DONE = "data: [DONE]\n\n"
_UNNAMED = ("chat.completion.chunk", "GenerateContentResponse")


@dataclass(frozen=True)
class Recorded:
    """A vendor's stream as a file of `STREAMS` has it: in each line an event's name and its data.

    The names are those of the vendors' documentation. `#` begins a comment. `cut`, `hold` and
    `more` are as in Reply, `more` being changes: (text of the file, what stands there instead).
    """

    name: str
    more: Sequence[tuple[str, str]] = ()
    cut: int | None = None
    hold: bool = False
    status: int = 200
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def blocks(self) -> list[str]:
        """The stream, event by event."""
        text = (STREAMS / self.name).read_text()
        for old, new in self.more:
            assert old in text, f"{self.name} does not hold {old}"
            text = text.replace(old, new)
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        return [_block(*line.split(" ", 1)) for line in lines]


def _block(event: str, data: str = "[DONE]") -> str:
    named = "" if event in (*_UNNAMED, "[DONE]") else f"event: {event}\n"
    return f"{named}data: {data}\n\n"


class Played(Protocol):
    """A reply of any sort."""

    @property
    def cut(self) -> int | None: ...
    @property
    def hold(self) -> bool: ...
    @property
    def status(self) -> int: ...
    @property
    def error(self) -> Mapping[str, Any]: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def blocks(self) -> list[str]: ...


def vendor_name(operation: str) -> str:
    """How a model writes `provider.operation`."""
    return operation.replace(".", "__")


def chat_events(reply: Reply) -> Iterable[dict[str, Any]]:
    """The chunks of a chat completion's stream, in OpenAI's order."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "any"}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in reply.pieces:
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        written = json.dumps(call.arguments) if call.raw is None else call.raw
        head = {"name": vendor_name(call.operation), "arguments": ""}
        identity = {"id": call.id or f"call_{index}", "type": "function", "index": index}
        yield chunk({"tool_calls": [{**identity, "function": head}]})
        half = len(written) // 2
        for part in (written[:half], written[half:]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    prompt, completion = reply.usage
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    yield {**base, "choices": [], "usage": {**tokens, "total_tokens": prompt + completion}}


class ModelServer:
    """Serves on a free port of this machine while its block lasts.

    `requests`, `headers` and `paths` are what was asked, in its order. `held` is set when a
    reply that holds has sent its text, `gone` when a client has left before the end.
    """

    def __init__(self, replies: Sequence[Played]) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.held = threading.Event()
        self.release = threading.Event()
        self.gone = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def root(self) -> str:
        """The address without a path, which Anthropic's and Google's libraries want."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """What an OpenAI-compatible model's `base_url` is set to."""
        return f"{self.root}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point the harness here."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "a-key-of-the-tests"}

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next(self, path: str, headers: Mapping[str, str], request: dict[str, Any]) -> Played:
        """Note a request, and give the reply that is due."""
        with self._lock:
            self.requests.append(request)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.paths.append(path)
            place = len(self.requests) - 1
        if place < len(self.replies):
            return self.replies[place]
        return Reply(status=400, error={"message": "the test has written no further reply"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, server: ModelServer, *rest: Any) -> None:
        self._models = server
        super().__init__(*rest)

    def do_POST(self) -> None:
        """Play the reply that is due."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self._models.next(self.path, dict(self.headers), request)
        try:
            if reply.status == 200:
                self._stream(reply)
            else:
                self._refuse(reply)
        except OSError:
            self.close_connection = True
            self._models.gone.set()

    def _refuse(self, reply: Played) -> None:
        body = json.dumps({"type": "error", "error": dict(reply.error)}).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Played) -> None:
        self.send_response(200)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        blocks = reply.blocks()
        for place, block in enumerate(blocks):
            if place == reply.cut:
                self.close_connection = True
                return
            if reply.hold and place == len(blocks) // 2:
                self._hold()
            self._send(block)
        self.wfile.write(b"0\r\n\r\n")

    def _hold(self) -> None:
        """Send nothing until the test lets go or the client leaves."""
        models = self._models
        models.held.set()
        self.connection.settimeout(0.01)
        while not models.release.is_set():
            try:
                if not self.connection.recv(1):
                    raise ConnectionResetError
            except TimeoutError:
                pass
        self.connection.settimeout(None)

    def _send(self, text: str) -> None:
        data = text.encode(errors="surrogateescape")
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""
