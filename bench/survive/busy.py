"""A busy session for kernels that are killed: the same work, whoever goes on with it."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, Role
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.setup import Setup

FILES = ("a.txt", "b.txt")
TURNS = 6
_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Busy:
    """Writes both files anew each turn, reads one and runs a command, whose line has `mark`."""

    mark: str
    name: str = "busy"

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message: which one is told by how many there are."""
        turn = sum(message.role is Role.ASSISTANT for message in history)
        if turn >= TURNS:
            return ModelReply(Message(Role.ASSISTANT, ()))
        command = {"command": f": {self.mark}; sleep 0.0{turn + 1} & sleep 0.02; wait"}
        calls = (
            *(("filesystem.write_file", {"path": f, "content": content(turn)}) for f in FILES),
            ("exec.bash", command),
            ("filesystem.read_file", {"path": FILES[0]}),
        )
        proposed = [ProposedCall(f"{turn}-{n}", name, args) for n, (name, args) in enumerate(calls)]
        return ModelReply(Message(Role.ASSISTANT, tuple(proposed)))


def content(version: int) -> str:
    """What a file holds, whole: all of its lines say which version it is."""
    return f"version {version}\n" * _LINES


def fault_of(file: Path) -> str:
    """Why a file is neither the old nor the new one; empty when it is one of them."""
    text = file.read_text()
    first = text.partition("\n")[0].removeprefix("version ")
    whole = first.lstrip("-").isdigit() and text == content(int(first))
    return "" if whole else f"{file.name} is neither the old nor the new one"


def setup(directory: Path, mark: str) -> Setup:
    """Two first-party providers whose processes carry the mark in their command lines."""
    config = {"filesystem": {"require_read": False}, "exec": {}}
    return Setup(
        directory,
        providers=tuple(
            ProviderSpec(
                name, (sys.executable, "-m", f"pluggableharness.providers.{name}", mark), settings
            )
            for name, settings in config.items()
        ),
        allow_all=True,
    )
