"""What a row of the bench says, and how the sides are measured against each other."""

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured line.

    `ours` and `peer` are medians in `unit`; `value` is what is compared with `reach`, a ratio
    where there is a peer. `reached` says whether it is good enough.
    """

    id: str
    what: str
    ours: float
    unit: str
    value: float
    reach: str
    reached: bool
    peer: float | None = None
    peer_name: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Sides:
    """The medians of the two sides of a comparison."""

    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours / self.peer


async def alternating(
    ours: Callable[[], Awaitable[float]], peer: Callable[[], Awaitable[float]], rounds: int = 5
) -> Sides:
    """Measure both sides in turn, so that what the machine does meanwhile hits both."""
    pairs = [(await ours(), await peer()) for _ in range(rounds)]
    return Sides(median([a for a, _ in pairs]), median([b for _, b in pairs]))


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def at_most(row: str, what: str, sides: Sides, unit: str, limit: float, peer: str) -> Reading:
    """A reading where a smaller ratio is better."""
    return Reading(
        row, what, sides.ours, unit, sides.ratio, f"<= {limit:g}", sides.ratio <= limit,
        sides.peer, peer,
    )  # fmt: skip


def at_least(row: str, what: str, sides: Sides, unit: str, limit: float, peer: str) -> Reading:
    """A reading where a greater ratio is better."""
    return Reading(
        row, what, sides.ours, unit, sides.ratio, f">= {limit:g}", sides.ratio >= limit,
        sides.peer, peer,
    )  # fmt: skip
