"""A profile's models as one: asked again when a fault passes, and one after the other (K21, F10).

Every turn begins with the first; a fallback answers for that turn alone. Knows no vendor:
candidates say what went wrong with them, and time and chance are given.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.models.fault import FaultKind, ModelFault
from pluggableharness.kernel.models.patience import PATIENT, Patience

TextHeard = Callable[[str | Notice], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a model takes: tokens at most, None when nobody knows, and whether operations."""

    window: int | None = None
    takes_tools: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message is asked for with: the history, what may be called, what is told beside."""

    history: Sequence[Message]
    offered: Sequence[Operation]
    instructions: str = ""


class Candidate(Protocol):
    """One model of one vendor."""

    @property
    def name(self) -> str:
        """As `ModelChoice.name` has it."""
        ...

    async def reach(self) -> Reach:
        """What it takes."""
        ...

    async def reply(self, asked: Asked, heard: TextHeard) -> ModelReply:
        """The next message, asked for once. Raises ModelFault."""
        ...


@dataclass(frozen=True, slots=True)
class Pausing:
    """Time and chance, which tests bring along: `sleep` takes seconds, `chance` is in 0..1."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


_REAL_TIME = Pausing()


def _no_instructions() -> str:
    return ""


@dataclass(slots=True)
class Answering:
    """The Model of one session, over the candidates of its profile in their order.

    `instructions` gives what is told beside the history, once for each message (K1).
    """

    candidates: Sequence[Candidate]
    patience: Patience = PATIENT
    pausing: Pausing = _REAL_TIME
    instructions: Callable[[], str] = _no_instructions

    _retried: int = 0
    _reached: set[str] = field(default_factory=set)
    _down: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """That of the first."""
        return self.candidates[0].name

    def give_way_to(self, other: "Answering") -> None:
        """Let the candidates of another answer from the next message on."""
        self.candidates, self._reached, self._down = other.candidates, set(), {}

    async def prepare(self) -> None:
        """Load what the first candidate needs, which takes seconds, before it is asked: while
        providers start, say, or a person still types."""
        await self.candidates[0].reach()

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
    ) -> ModelReply:
        """The next message, of the first candidate that has one. Raises ModelFault."""
        last: ModelFault | None = None
        asked = Asked(history, offered, self.instructions())
        for place, candidate in enumerate(self.candidates):
            if last is not None and not await self._fits(candidate, last, offered, place):
                continue
            try:
                reply = await self._reply(candidate, asked, heard)
            except ModelFault as fault:
                last = fault
                await self._tell_down(candidate, fault, self.candidates[place + 1 :], heard)
                continue
            await self._tell_back(candidate, heard)
            return reply
        assert last is not None
        raise last

    async def _fits(
        self, candidate: Candidate, fault: ModelFault, offered: Sequence[Operation], place: int
    ) -> bool:
        """Whether a fallback may have what the one before it had not."""
        reach = await candidate.reach()
        if offered and not reach.takes_tools:
            return False
        if fault.kind is not FaultKind.TOO_LONG or reach.window is None:
            return True
        before = [(await one.reach()).window or 0 for one in self.candidates[:place]]
        return reach.window > max(before)

    async def _reply(self, candidate: Candidate, asked: Asked, heard: TextHeard) -> ModelReply:
        """Ask until there is a message, or a fault that does not pass or passed its limits."""
        attempt = 0
        while True:
            listener = _Listener(heard)
            try:
                reply = await candidate.reply(asked, listener)
                self._reached.add(candidate.name)
                return reply
            except ModelFault as fault:
                attempt += 1
                if not fault.unreached:
                    self._reached.add(candidate.name)
                pause_s = self._pause_s(candidate, attempt, fault)
                told = f"{_LOST if listener.heard_text else ''}{_sentence(fault)}"
                if pause_s is None:
                    raise _final(fault, told, attempt) from fault
            self._retried += 1
            await heard(Notice("warning", f"{told} It is asked again in {pause_s:.1f} s."))
            await self.pausing.sleep(pause_s)

    def _pause_s(self, candidate: Candidate, attempt: int, fault: ModelFault) -> float | None:
        """Seconds to wait before the same is asked again; None when it is not to be.

        One that was down in the turn before is looked at once: its retries are spent. One to
        which no connection ever came about is tried twice: its address is likely wrong, or
        nothing is started there.
        """
        if fault.unreached and attempt > 1 and candidate.name not in self._reached:
            return None
        spent = attempt > self.patience.retries or self._retried >= self.patience.session_retries
        if fault.kind is not FaultKind.PASSING or spent or candidate.name in self._down:
            return None
        return self.patience.pause_s(attempt, fault.retry_after_s, self.pausing.chance())

    async def _tell_down(
        self,
        candidate: Candidate,
        fault: ModelFault,
        others: Sequence[Candidate],
        heard: TextHeard,
    ) -> None:
        """Say that another answers now; once, as long as it is for the same reason."""
        before = self._down.get(candidate.name)
        self._down[candidate.name] = str(fault)
        if others and before != str(fault):
            names = " or ".join(other.name for other in others)
            words = f"{_sentence(fault)} For this turn {names} is to answer."
            await heard(Notice("warning", words))

    async def _tell_back(self, candidate: Candidate, heard: TextHeard) -> None:
        if self._down.pop(candidate.name, None) is not None:
            await heard(Notice("info", f"{candidate.name} answers again."))


_LOST = "The message broke off, and what was shown of it does not count. "


@dataclass(slots=True)
class _Listener:
    """Passes on what is heard, and knows whether a person has seen text of it."""

    heard: TextHeard
    heard_text: bool = False

    async def __call__(self, piece: str | Notice) -> None:
        self.heard_text = self.heard_text or isinstance(piece, str)
        await self.heard(piece)


def _sentence(fault: ModelFault) -> str:
    words = str(fault)
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _final(fault: ModelFault, told: str, attempts: int) -> ModelFault:
    """The fault as it is told when nothing more is tried."""
    wish_s = fault.retry_after_s
    times = f" It was asked {attempts} times." if attempts > 1 else ""
    wish = f" It wants to be left alone for {wish_s:.0f} s." if wish_s else ""
    return ModelFault(fault.kind, f"{told}{times}{wish}", retry_after_s=wish_s)
