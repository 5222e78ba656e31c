"""How much a session may use, and what it has used."""

from dataclasses import dataclass

from pluggableharness.kernel.domain.message import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True)
class Bounds:
    """What ends a session before its work is done (K18, K20); None for no limit.

    `max_wall_clock_s` counts while the session runs, people's thinking included, and not
    between an end and a resume. `doom_loop` is how many calls in a row may be alike.
    """

    max_turns: int | None = None
    max_cost_usd: float | None = None
    max_wall_clock_s: float | None = None
    doom_loop: int | None = 3


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session has used: turns, seconds, and dollars and tokens with its sub-agents'."""

    turns: int = 0
    cost_usd: float = 0.0
    wall_clock_s: float = 0.0
    usage: Usage = NOTHING_USED
