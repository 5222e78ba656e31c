"""The chain of a point's subscribers: who is asked, in what order, and what a failure means (K26).

Knows no process and no wire: an answer or a HookFailed comes from `Dispatch`.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Protocol

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hook import (
    FORBIDDABLE,
    POINTS,
    BeforeModel,
    HookAnswer,
    HookEnd,
    HookFailed,
    HookMode,
    HookPayload,
    HookPoint,
    HookTrouble,
    Subscription,
)
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.news import News, Notice
from pluggableharness.kernel.domain.verdict import Decision, Verdict

_log = logging.getLogger("pluggableharness.hooks")

Dispatch = Callable[[str, Subscription, HookPayload], Awaitable[HookAnswer]]
"""Asks one subscriber, for a session; raises HookFailed."""


class HookRecord(Protocol):
    """Where failures are filed."""

    def hook_failed(self, subscription: Subscription, trouble: HookTrouble, message: str) -> None:
        """File that a subscriber failed."""
        ...


def told_apart(subscriptions: Sequence[Subscription]) -> tuple[Subscription, ...]:
    """The subscriptions, with ids where a provider has several.

    Raises UsageError for a veto where nothing is left to forbid.
    """
    for one in subscriptions:
        if one.mode is HookMode.VETO and one.point not in FORBIDDABLE:
            may = ", ".join(point.value for point in HookPoint if point in FORBIDDABLE)
            raise UsageError(
                f"hook {one.point.value} of {one.provider}: it comes after the fact, so there is "
                f"nothing to veto; it can observe, and a veto can be at {may}"
            )
    count = Counter(one.provider for one in subscriptions)
    return tuple(
        replace(one, id=f"{one.point.value}.{one.mode.value}") if count[one.provider] > 1 else one
        for one in subscriptions
    )


class SessionHooks:
    """The Hooks of one session: implements `kernel.turn.hooks.Hooks`."""

    def __init__(
        self,
        session_id: str,
        subscriptions: Iterable[Subscription],
        dispatch: Dispatch,
        record: HookRecord,
        hear: Callable[[News], Awaitable[None]],
    ) -> None:
        """Take the subscriptions in the order in which they are to be asked."""
        self._session_id = session_id
        self._dispatch = dispatch
        self._record = record
        self._hear = hear
        self._chains: dict[HookPoint, list[Subscription]] = {}
        for one in subscriptions:
            self._chains.setdefault(one.point, []).append(one)

    async def run(self, payload: HookPayload) -> HookEnd:
        """Ask the subscribers of the payload's point, each about what those before it left."""
        chain = self._chains.get(POINTS[type(payload)], ())
        for steps in _steps(chain):
            (step, *_) = steps
            if step.mode is HookMode.OBSERVE:
                await asyncio.gather(*(self._show(one, payload) for one in steps))
                continue
            try:
                answer = await self._ask(step, payload)
            except HookFailed as failed:
                await self._tell(step, failed)
                return HookEnd(payload, _after_failure(step, failed))
            if not answer.allows:
                return HookEnd(payload, _no(step, "it forbids this"))
            payload = answer.payload
        return HookEnd(payload)

    async def _show(self, observer: Subscription, payload: HookPayload) -> None:
        """An observer's failure is logged, and that is all."""
        try:
            await self._dispatch(self._session_id, observer, payload)
        except HookFailed as failed:
            _log.warning("hook %s of %s: %s", observer.point.value, observer.provider, failed)

    async def _ask(self, step: Subscription, payload: HookPayload) -> HookAnswer:
        answer = await self._dispatch(self._session_id, step, payload)
        changed = answer.payload
        if isinstance(changed, BeforeModel) and changed is not payload:
            wrong = unpaired(changed.messages)
            if wrong:
                raise HookFailed(HookTrouble.INVALID_RESPONSE, wrong)
        return answer

    async def _tell(self, step: Subscription, failed: HookFailed) -> None:
        self._record.hook_failed(step, failed.trouble, str(failed))
        words = f"hook {step.point.value} of {step.provider} failed: {failed}"
        await self._hear(Notice("error", words))


def unpaired(messages: Sequence[Message]) -> str:
    """What is wrong with the pairing of calls and results; "" when every call has its one (K2).

    A model may use an id twice in a message: then there are two results of it.
    """
    open_calls: list[str] = []
    for message in messages:
        results = [block.tool_use_id for block in message.blocks if isinstance(block, ToolResult)]
        if sorted(open_calls) != sorted(results):
            return "its messages do not answer each call with one result"
        open_calls = [call.tool_use_id for call in message.calls]
    return "its last message has calls without results" if open_calls else ""


def _steps(chain: Sequence[Subscription]) -> Iterator[list[Subscription]]:
    """The chain's steps: neighbouring observers are one, anyone else is one alone."""
    for observing, group in groupby(chain, lambda one: one.mode is HookMode.OBSERVE):
        members = list(group)
        yield from [members] if observing else [[one] for one in members]


def _after_failure(step: Subscription, failed: HookFailed) -> Verdict | None:
    """What the end of a chain before its time means: nobody's objection may get lost in it.

    A veto's failure is a no. After a transformer's, what it was to change does not happen as it
    is: messages do not go to the model, and a call that it tried to rewrite does not run.
    """
    if step.mode is HookMode.VETO:
        return _no(step, f"it could not say whether this may happen: {failed}")
    if step.point in FORBIDDABLE:
        return _no(step, f"it failed to change this: {failed}")
    return None


def _no(step: Subscription, reason: str) -> Verdict:
    return Verdict(Decision.DENY, f"hook {step.point.value} of {step.provider}", reason)
