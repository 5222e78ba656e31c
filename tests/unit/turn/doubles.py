"""In-memory doubles of the turn's ports: small, honest, and they write down what they saw."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, Role, Text, Usage
from pluggableharness.kernel.domain.news import News, Notice
from pluggableharness.kernel.domain.operation import (
    Concurrency,
    Kind,
    Operation,
    Risk,
    Schema,
    SchemaType,
)
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, ApplyItem, Lasting, Plan, PlanItem, Scope
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.ports import Heard, TurnPorts

ANYTHING = Schema(SchemaType.OBJECT)
CONTEXT = CallContext("session", "turn", "/work")


def operation(
    name: str,
    kind: Kind = Kind.DATA_SOURCE,
    *,
    safe: bool = True,
    key_fields: tuple[str, ...] = (),
    **more: object,
) -> Operation:
    interactive = kind is Kind.INTERACTIVE
    return Operation(
        provider="toy",
        name=name,
        kind=kind,
        risk=Risk.MODERATE if kind is Kind.RESOURCE else Risk.READ_ONLY,
        description=f"{name} something",
        input_schema=Schema(SchemaType.OBJECT, properties={"x": Schema(SchemaType.STRING)}),
        output_schema=ANYTHING,
        concurrency=None if interactive else Concurrency(safe, key_fields),
        **more,  # type: ignore[arg-type]
    )


Behaviour = Callable[[Call], Awaitable[Outcome]]


async def succeed(call: Call) -> Outcome:
    return Success({"did": call.operation.name})


@dataclass
class FakeProviders:
    """Runs calls by a function, without locks unless a test brings some."""

    behaviour: Behaviour = succeed
    previews: Callable[[Call], RenderNode | None] = lambda call: None
    declared: bool = True
    trace: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def locked(self, call: Call) -> AsyncIterator["FakeProviders"]:
        yield self

    def declares(self, operation: Operation) -> bool:
        return self.declared

    async def preview(self, call: Call) -> RenderNode | None:
        return self.previews(call)

    async def invoke(self, call: Call, heard: Heard) -> Outcome:
        self.trace.append(f"start {call.operation.name}")
        await asyncio.sleep(0)
        outcome = await self.behaviour(call)
        self.trace.append(f"end {call.operation.name}")
        return outcome


@dataclass
class FakeRecord:
    """Keeps what was filed, and how much of it was durable when."""

    filed: list[tuple[str, object]] = field(default_factory=list)
    on_disk: int = 0

    def message(self, message: Message, usage: Usage, cost_usd: float) -> None:
        self.filed.append(("message", message))

    def notice(self, notice: Notice) -> None:
        self.filed.append(("notice", notice))

    def call(self, call: Call) -> None:
        self.filed.append(("call", call))

    def outcome(self, call: Call, outcome: Outcome) -> None:
        self.filed.append(("outcome", (call, outcome)))

    def refused(self, refused: RefusedCall) -> None:
        self.filed.append(("refused", refused))

    def plan(self, plan: Plan) -> None:
        self.filed.append(("plan", plan))

    def decision(self, call: Call, verdict: Verdict) -> None:
        self.filed.append(("decision", verdict))

    def grant(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        self.filed.append(("grant", (scope, lasting)))

    def applied(self, turn_id: str, items: Sequence[ApplyItem]) -> None:
        self.filed.append(("applied", tuple(items)))

    async def durable(self) -> None:
        self.on_disk = len(self.filed)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.filed]


@dataclass
class FakeFrontend:
    """Answers by a function; without one nobody is there."""

    answers: Callable[[PlanItem, str], Answer | None] | None = None
    interactive_answer: JsonObject | None = None
    heard: list[News] = field(default_factory=list)

    @property
    def attended(self) -> bool:
        return self.answers is not None

    async def hear(self, news: News) -> None:
        self.heard.append(news)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        return self.answers(item, changed) if self.answers else None

    async def answer(self, call: Call) -> JsonObject | None:
        return self.interactive_answer


@dataclass
class ListModel:
    """Says the given messages, one after another, then falls silent."""

    messages: list[Message]
    name: str = "list"

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        said = sum(message.role is Role.ASSISTANT for message in history)
        if said < len(self.messages):
            return ModelReply(self.messages[said])
        return ModelReply(Message(Role.ASSISTANT, ()))


def calls(*names: str, arguments: JsonObject | None = None) -> Message:
    return Message(
        Role.ASSISTANT,
        tuple(
            ProposedCall(f"use-{number}", f"toy.{name}", arguments or {})
            for number, name in enumerate(names)
        ),
    )


def says(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def allow(call: Call) -> Verdict:
    return Verdict(Decision.ALLOW, "test")


def ask_resources(call: Call) -> Verdict:
    gated = call.operation.kind is Kind.RESOURCE
    return Verdict(Decision.ASK if gated else Decision.ALLOW, "test")


def ports(
    *messages: Message,
    providers: FakeProviders | None = None,
    frontend: FakeFrontend | None = None,
    decide: Callable[[Call], Verdict] = allow,
) -> tuple[TurnPorts, FakeProviders, FakeRecord, FakeFrontend]:
    providers = providers or FakeProviders()
    record = FakeRecord()
    frontend = frontend or FakeFrontend()
    return (
        TurnPorts(
            ListModel(list(messages)), providers, record, frontend, decide, lambda operation: 120.0
        ),
        providers,
        record,
        frontend,
    )
