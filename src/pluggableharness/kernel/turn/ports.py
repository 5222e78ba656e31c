"""What a turn needs from outside, as small Protocols that it owns."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from pluggableharness.kernel.domain.call import Call, CallContext, RefusedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, Usage
from pluggableharness.kernel.domain.news import News, Notice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import LeadUp, Outcome
from pluggableharness.kernel.domain.plan import (
    Answer,
    ApplyItem,
    Lasting,
    Plan,
    PlanItem,
    Scope,
)
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Review, Verdict
from pluggableharness.kernel.turn.hooks import NO_HOOKS, Hooks

Heard = Callable[[LeadUp], Awaitable[None]]
"""Takes an event of a running call; the next one is not read before it returns (P14)."""

TextHeard = Callable[[str | Notice], Awaitable[None]]
"""Takes a piece of the model's text as it streams, or what a person should know of the asking."""


class Running(Protocol):
    """A provider process of which a call holds the lock."""

    def declares(self, operation: Operation) -> bool:
        """Whether the process, as it runs now, declares the operation exactly so (K10a)."""
        ...

    async def invoke(self, call: Call, heard: Heard) -> Outcome:
        """Run the call to its end, whatever that is.

        A provider's faults are outcomes, never exceptions. Cancelling the task cancels the
        call; the CancelledError that then comes out may be a CallCancelled with the report.
        """
        ...


class Providers(Protocol):
    """The provider processes, launched when first needed."""

    def locked(self, call: Call) -> AbstractAsyncContextManager[Running]:
        """Wait for the lock of the call's process (P18-P22).

        Entering raises ProviderUnavailable when the process cannot be had.
        """
        ...

    async def preview(self, call: Call) -> RenderNode | None:
        """What the call would do; None when the provider does not say (P29)."""
        ...


class Record(Protocol):
    """The session's log. Filing is immediate and in order; `durable` is what waits."""

    def message(self, message: Message, usage: Usage, cost_usd: float) -> None:
        """File a message of the user or the model."""
        ...

    def notice(self, notice: Notice) -> None:
        """File what a person is told of the asking of a model (K21)."""
        ...

    def call(self, call: Call) -> None:
        """File that a call is about to be sent: its intent, once for each attempt (K27, P17)."""
        ...

    def outcome(self, call: Call, outcome: Outcome) -> None:
        """File how a call, or an attempt at it, ended."""
        ...

    def refused(self, refused: RefusedCall) -> None:
        """File a call that never became one, with its failure as the result."""
        ...

    def plan(self, plan: Plan) -> None:
        """File a plan with its verdicts."""
        ...

    def decision(self, call: Call, verdict: Verdict) -> None:
        """File what was decided about a call, and by whom."""
        ...

    def grant(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        """File that a person allowed more than the call that they were asked about (K27)."""
        ...

    def applied(self, turn_id: str, items: Sequence[ApplyItem]) -> None:
        """File how every item of a plan ended."""
        ...

    async def durable(self) -> None:
        """Return once everything filed so far is on disk. Raises RecordFailed."""
        ...


class Frontend(Protocol):
    """Whatever a person looks at, or nothing at all."""

    @property
    def attended(self) -> bool:
        """Whether somebody is there to answer."""
        ...

    async def hear(self, news: News) -> None:
        """Take a piece of news; slow frontends slow the providers (P14)."""
        ...

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """A person's answer to a plan item; None when nobody is there.

        `changed` is empty, or says why the item came back (K10a).
        """
        ...

    async def answer(self, call: Call) -> JsonObject | None:
        """A person's answer to an interactive call, shaped like its output; None for nobody.

        Raises TimeoutError when there was none by the call's deadline.
        """
        ...


class Grants(Protocol):
    """What people allowed beyond the call that they were asked about (K10)."""

    @property
    def count(self) -> int:
        """How many there are; it only grows."""
        ...

    def scopes(self, call: Call) -> tuple[Scope, ...]:
        """What an allow of a call may cover; nothing when it can only be for this call."""
        ...

    def add(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        """Let a scope of the call hold from now on. Raises GrantNotKept."""
        ...

    async def beyond(self, count: int) -> None:
        """Return once there are more than `count`."""
        ...


class Model(Protocol):
    """Whoever proposes the calls (K36)."""

    @property
    def name(self) -> str:
        """How the record and the person name it."""
        ...

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
    ) -> ModelReply:
        """The next message. Raises ModelFailed when there is none to be had."""
        ...


def unwatched(context: CallContext) -> AbstractContextManager[None]:
    """Nobody wants to know when a turn begins and ends."""
    return nullcontext()


async def as_it_is(call: Call) -> Call:
    """Look nowhere: the paths of the call are judged by their text."""
    return call


@dataclass(frozen=True, slots=True)
class TurnPorts:
    """Everything that a turn is given.

    `decide` is policy as it stands for this session: pure, and never ASK when nobody is
    there. `deadline_s` tells how long a call of an operation may take, in seconds (K14).
    `retries` is how often a call is made again at most (P17).
    `locate` gives back a resource call with where its paths lead and what its command line does
    there now (K5a, K7, K10a); by default nobody looks. `grants` None means that every answer is
    for one call. `review` puts a call to its reviewer (K8); None means that there is none to be
    had. A turn runs within what `around` gives (K31).
    """

    model: Model
    providers: Providers
    record: Record
    frontend: Frontend
    decide: Callable[[Call], Verdict]
    deadline_s: Callable[[Operation], float | None]
    hooks: Hooks = NO_HOOKS
    retries: int = 2
    locate: Callable[[Call], Awaitable[Call]] = as_it_is
    grants: Grants | None = None
    review: Callable[[Call, Review], Awaitable[Verdict]] | None = None
    around: Callable[[CallContext], AbstractContextManager[None]] = unwatched
