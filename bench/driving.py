"""Driving our side: the same kernel with the same defaults as `harness run`, without a screen."""

import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, Role
from pluggableharness.kernel.domain.news import News
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.setup import Setup

ECHO = ProviderSpec(
    "echo", (sys.executable, "-I", str(Path(__file__).parent / "providers" / "echo.py"))
)


Proposal = tuple[str, JsonObject]
"""Operation and arguments."""
Calls = Sequence[Proposal]
"""The calls of one message."""


class Discard:
    """A frontend that takes everything and shows nothing."""

    attended = False

    async def hear(self, news: News) -> None:
        """Drop it."""

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Nobody is there."""
        return None

    async def answer(self, call: Call) -> JsonObject | None:
        """Nobody is there."""
        return None


@dataclass
class Metronome:
    """A model that proposes a message of calls each turn and notes how long the turn took.

    A turn is counted from the moment the message is handed over to the moment the model is
    asked again, by when it may see every result. `before` is told the number of each turn.
    """

    turns: Sequence[Calls]
    before: Callable[[int], None] = lambda number: None
    name: str = "metronome"
    seconds: list[float] = field(default_factory=list)
    _handed_over: float = 0.0

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message, or the end."""
        now = time.perf_counter()
        if self._handed_over:
            self.seconds.append(now - self._handed_over)
        turn = len(self.seconds)
        if turn >= len(self.turns):
            return _proposing(turn, ())
        reply = _proposing(turn, self.turns[turn])
        self.before(turn)
        self._handed_over = time.perf_counter()
        return reply


@dataclass(frozen=True, slots=True)
class Steady:
    """A model whose next message is told by how many there are, whoever goes on with the session.

    `calls` are those of a turn, from 0; none ends the session.
    """

    calls: Callable[[int], Calls]
    cost_usd: float = 0.0
    name: str = "steady"

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message."""
        turn = sum(message.role is Role.ASSISTANT for message in history)
        return _proposing(turn, self.calls(turn), self.cost_usd)


def _proposing(turn: int, calls: Calls, cost_usd: float = 0.0) -> ModelReply:
    proposed = [ProposedCall(f"{turn}-{number}", *call) for number, call in enumerate(calls)]
    return ModelReply(Message(Role.ASSISTANT, tuple(proposed)), cost_usd=cost_usd)


@asynccontextmanager
async def kernel(*specs: ProviderSpec, directory: Path) -> AsyncIterator[Kernel]:
    """A kernel of the defaults, whose resource calls are allowed."""
    # What is measured is the same call, again and again.
    bounds = Bounds(doom_loop=None)
    setup = Setup(directory, providers=specs, allow_all=True, bounds=bounds)
    async with opened(setup) as running:
        yield running


async def turns(running: Kernel, calls: Calls, count: int) -> tuple[list[float], Session]:
    """Run a session of `count` turns of the same calls; the seconds of each, and the session."""
    model = Metronome([calls] * count)
    async with running.session(model, Discard()) as session:
        await session.run("bench")
    return model.seconds, session
