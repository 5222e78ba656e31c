"""What a session spends, counted while it runs, and against every session above it (K20)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pluggableharness.kernel.domain.bounds import Spent
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, ModelReply, Usage
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.planning.ends import Stop
from pluggableharness.kernel.session.replies import reply_of
from pluggableharness.kernel.turn.ports import Model, TextHeard


@dataclass(slots=True)
class Spending:
    """Counts on from `before`, what a resumed session had used already. Seconds count from
    `start` to `stop`, which may come several times.

    `parent` is that of the session whose call started this one. `limit_usd` is what the
    session may spend with those below it; None for no limit.
    """

    before: Spent = field(default_factory=Spent)
    parent: "Spending | None" = None
    limit_usd: float | None = None
    clock: Callable[[], float] = time.monotonic
    turns: int = 0
    cost_usd: float = 0.0
    usage: Usage = NOTHING_USED
    _earlier_turns: int = 0
    _ran: float = 0.0
    _began: float | None = None

    def start(self) -> None:
        """Let the clock run."""
        self._began = self.clock()

    def stop(self) -> None:
        """Let the clock stand."""
        if self._began is not None:
            self._ran += self.clock() - self._began
            self._began = None

    def prompted(self) -> None:
        """Count turns towards their bound anew: a person has said what is to be done next."""
        self._earlier_turns = self.now.turns

    def count(self, reply: ModelReply) -> None:
        """Count a turn of this session, and what its message cost."""
        self.turns += 1
        self.add(reply.cost_usd, reply.usage)

    def add(self, cost_usd: float, usage: Usage) -> None:
        """Count dollars and tokens here and above."""
        self.cost_usd += cost_usd
        self.usage += usage
        if self.parent is not None:
            self.parent.add(cost_usd, usage)

    def spent_above(self) -> Stop | None:
        """The end that is due because a session above has spent what it may (K20)."""
        above = self.parent
        while above is not None:
            if above.limit_usd is not None and above.now.cost_usd >= above.limit_usd:
                reason = f"The limit of ${above.limit_usd:g} of a session above is reached."
                return Stop(SessionStatus.ERROR_MAX_BUDGET_USD, reason)
            above = above.parent
        return None

    @property
    def of_prompt(self) -> Spent:
        """What the bounds are held against: of the turns, those of the last prompt alone."""
        now = self.now
        return replace(now, turns=now.turns - self._earlier_turns)

    @property
    def now(self) -> Spent:
        """What is spent at this moment."""
        ran = self._ran + (0.0 if self._began is None else self.clock() - self._began)
        before = self.before
        return Spent(
            before.turns + self.turns,
            before.cost_usd + self.cost_usd,
            before.wall_clock_s + ran,
            before.usage + self.usage,
        )


@dataclass(frozen=True, slots=True)
class Charged:
    """A model that tells each reply to `charge` as it comes, whatever becomes of the turn."""

    model: Model
    charge: Callable[[ModelReply], None]

    @property
    def name(self) -> str:
        """The model's own."""
        return self.model.name

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
    ) -> ModelReply:
        """The model's next message. Raises ModelFailed when it gives back something else."""
        reply = reply_of(self.name, await self.model.reply(history, offered, heard))
        self.charge(reply)
        return reply
