"""A person in conversation with `harness run`, at a real terminal."""

import re
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pexpect
from model_server import ModelServer, Reply
from process.harness import BOUND_S, HARNESS, Harness

from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.store.reading import read_events

MODEL = ("--model", "openai-compatible:any")
COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Talk:
    """A person at a terminal; `expect` looks at what they see, without its colours."""

    def __init__(
        self,
        harness: Harness,
        server: ModelServer,
        *words: str,
        model: Sequence[str] = MODEL,
        **environment: str,
    ) -> None:
        self.process = pexpect.spawn(
            HARNESS[0],
            [*HARNESS[1:], "run", *model, *words],
            cwd=str(harness.project),
            env={
                **harness.environment,
                **server.environment,
                "TERM": "xterm",
                "NO_COLOR": "1",
                **environment,
            },
            encoding="utf-8",
            timeout=BOUND_S,
            dimensions=(40, 100),
        )

    def expect(self, pattern: str) -> str:
        self.process.expect(pattern)
        return COLOUR.sub("", str(self.process.before))

    def prompt(self, text: str) -> None:
        self.process.send(text + "\r")

    def ready(self) -> str:
        """Wait for the prompt line; in a terminal with a cursor it turns pasted text on."""
        return self.expect(r"\x1b\[\?2004h")

    def say(self, text: str, shown: str) -> str:
        """Type a prompt once it can be typed, and return what is seen until `shown` is."""
        self.ready()
        self.prompt(text)
        return self.expect(shown)

    def leave(self) -> None:
        """End the conversation at the prompt, which ends in order."""
        self.ready()
        self.process.send("\x04")
        assert self.left() == 0

    def interrupts_are_signals(self) -> bool:
        """Whether no prompt line is open, which reads that key as any other."""
        return bool(termios.tcgetattr(self.process.child_fd)[3] & termios.ISIG)

    def left(self) -> int:
        self.process.expect(pexpect.EOF)
        self.process.close()
        return int(self.process.exitstatus)


@contextmanager
def talking(
    harness: Harness,
    replies: Sequence[Reply],
    *words: str,
    model: Sequence[str] = MODEL,
    **environment: str,
) -> Iterator[tuple[Talk, ModelServer]]:
    with ModelServer(replies) as server:
        talk = Talk(harness, server, *words, model=model, **environment)
        try:
            yield talk, server
        finally:
            talk.process.close(force=True)


def said(harness: Harness) -> list[str]:
    (log,) = harness.logs()
    rows = (row for row in read_events(log) if row.kind == "message")
    return [text for row in rows if (text := read_message(row.payload).reply.message.text)]
