"""A kernel in this process with the nesting provider, and models that say what a test wrote."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.message import (
    Message,
    ModelReply,
    Role,
    Text,
    ToolResult,
    Usage,
)
from pluggableharness.kernel.domain.news import CallEnded, FromChild, News, SessionEnded
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Failure, Outcome
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.setup import Setup

NESTING = Path(__file__).parent / "providers" / "nesting.py"
LIMIT_S = 60.0
"""Nothing here may take longer; only a hang does."""


def spec(name: str = "nesting") -> ProviderSpec:
    return ProviderSpec(name, (sys.executable, str(NESTING)))


def calls(*names: str, **arguments: Any) -> Message:
    """A message that calls these operations, each with the same arguments."""
    proposed = (ProposedCall(f"use-{n}", name, arguments) for n, name in enumerate(names))
    return Message(Role.ASSISTANT, tuple(proposed))


def says(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


EVERYTHING = ("nesting.*",)

SOME = Usage(3, 2)


@dataclass
class Written:
    """Says its messages in their order; each may be a function that is awaited for one."""

    messages: Sequence[Message | Callable[[], Awaitable[Message]]]
    cost_usd: float = 0.0
    usage: Usage = SOME
    name: str = "written"
    offered: list[list[str]] = field(default_factory=list)

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        self.offered.append([one.full_name for one in offered])
        number = sum(message.role is Role.ASSISTANT for message in history)
        next_one = self.messages[number] if number < len(self.messages) else says("over")
        message = next_one if isinstance(next_one, Message) else await next_one()
        return ModelReply(message, self.usage, self.cost_usd)


@dataclass
class Watching:
    """Keeps what it hears and allows what it is asked; `asked` are those questions."""

    attended: bool = False
    heard: list[News] = field(default_factory=list)
    asked: list[PlanItem] = field(default_factory=list)

    async def hear(self, news: News) -> None:
        self.heard.append(news)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        self.asked.append(item)
        return Answer(allow=True)

    async def answer(self, call: Call) -> JsonObject | None:
        return {"answer": "/".join(call.context.path)}


@asynccontextmanager
async def kernel(
    directory: Path,
    profiles: Sequence[Profile] = (),
    models: Mapping[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Kernel]:
    """A kernel whose profiles play the models of their names."""
    written = dict(models or {})
    setup = {"providers": (spec(),), "allow_all": True, **more}
    async with opened(
        Setup(
            directory,
            profiles=tuple(profiles),
            models=lambda profile: written[profile.name],
            **setup,
        )
    ) as made:
        yield made


def results(history: Sequence[Message]) -> list[Outcome]:
    return [
        block.outcome
        for message in history
        for block in message.blocks
        if isinstance(block, ToolResult)
    ]


def failure(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure), outcome
    return outcome


async def outcomes(
    directory: Path, root: Message, *profiles: Profile, **models: Written
) -> list[Outcome]:
    """The results of the one message of a root session."""
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(directory, profiles, models) as made,
        made.session(Written([root]), Watching()) as session,
    ):
        await session.run("go")
    return results(session.history)


def ended(frontend: Watching) -> list[SessionStatus]:
    """How the children ended."""
    return [
        one.news.end.status
        for one in frontend.heard
        if isinstance(one, FromChild) and isinstance(one.news, SessionEnded)
    ]


def below(heard: list[News], level: int = 1) -> list[Outcome]:
    """How the calls of the sessions so many levels down ended, in that order."""
    return [
        one.news.outcome
        for one in heard
        if isinstance(one, FromChild) and isinstance(one.news, CallEnded) and len(one.path) == level
    ]
