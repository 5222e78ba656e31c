"""When a session has to end although its model would go on (K18, K19, K20).

Pure: what the last turns came to and what was spent goes in, and why it ends comes out.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject

_IN_A_ROW = 3
"""Turns that may be denied, or in which a provider may crash, one after another."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The status that a session ends with, and the reason in words."""

    status: SessionStatus
    reason: str


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that has ended, as far as ends depend on it.

    `name` is the operation's full name, `arguments` what the model wrote. An `interactive` one
    may be denied as any other, but repeats nothing and runs in no provider.
    """

    name: str
    arguments: JsonObject | str
    denied: bool = False
    crashed: bool = False
    interactive: bool = False


PastTurn = Sequence[PastCall]
"""The calls of a turn, in the model's order."""


def due_end(bounds: Bounds, spent: Spent, turns: Sequence[PastTurn]) -> Stop | None:
    """Why the session may not have another turn; None while it may."""
    return _broken_off(bounds, turns) or _bound_reached(bounds, spent)


def _bound_reached(bounds: Bounds, spent: Spent) -> Stop | None:
    """The first bound that was reached (K20)."""
    if bounds.max_turns is not None and spent.turns >= bounds.max_turns:
        reason = f"The limit of {bounds.max_turns} turns is reached."
        return Stop(SessionStatus.ERROR_MAX_TURNS, reason)
    if bounds.max_cost_usd is not None and spent.cost_usd >= bounds.max_cost_usd:
        reason = (
            f"The limit of ${bounds.max_cost_usd:g} is reached; ${spent.cost_usd:.4g} is spent."
        )
        return Stop(SessionStatus.ERROR_MAX_BUDGET_USD, reason)
    if bounds.max_wall_clock_s is not None and spent.wall_clock_s >= bounds.max_wall_clock_s:
        reason = f"The limit of {bounds.max_wall_clock_s:g} s is reached."
        return Stop(SessionStatus.ERROR_MAX_WALL_CLOCK, reason)
    return None


def _broken_off(bounds: Bounds, turns: Sequence[PastTurn]) -> Stop | None:
    reason = _doom_loop(bounds.doom_loop, turns) or _all_denied(turns) or _crashing(turns)
    return Stop(SessionStatus.FAILED, reason) if reason else None


def _doom_loop(threshold: int | None, turns: Sequence[PastTurn]) -> str:
    """Whether the last calls were all the same (K18)."""
    if threshold is None:
        return ""
    backwards = (call for turn in reversed(turns) for call in reversed(turn))
    last = list(islice((call for call in backwards if not call.interactive), threshold))
    if len(last) < threshold or len({call.name for call in last}) > 1:
        return ""
    if len({_canonical(call.arguments) for call in last}) > 1:
        return ""
    return f"The same call of {last[0].name} was made {threshold} times in a row."


def _all_denied(turns: Sequence[PastTurn]) -> str:
    """Whether every call of the last turns was denied (K19)."""
    last = turns[-_IN_A_ROW:]
    denied = [turn for turn in last if turn and all(call.denied for call in turn)]
    return (
        f"Every call of {_IN_A_ROW} turns in a row was denied." if len(denied) == _IN_A_ROW else ""
    )


def _crashing(turns: Sequence[PastTurn]) -> str:
    """Whether a provider crashed in each of the last turns that called it (K19).

    By turns and not by calls, since one crash ends all calls that run at that moment.
    """
    if not any(call.crashed for turn in turns[-1:] for call in turn):
        return ""
    for provider in sorted({_provider(call) for turn in turns[-1:] for call in turn}):
        sent = (_calls_of(provider, turn) for turn in reversed(turns))
        last = list(islice((calls for calls in sent if calls), _IN_A_ROW))
        if len(last) == _IN_A_ROW and all(calls[-1].crashed for calls in last):
            return f"The provider {provider} crashed {_IN_A_ROW} times in a row."
    return ""


def _calls_of(provider: str, turn: Iterable[PastCall]) -> list[PastCall]:
    sent = (call for call in turn if not (call.denied or call.interactive))
    return [call for call in sent if _provider(call) == provider]


def _provider(call: PastCall) -> str:
    return call.name.partition(".")[0]


def _canonical(arguments: JsonObject | str) -> str:
    """Arguments as a text that is the same for all that mean the same JSON.

    What is no JSON stands for itself.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return str(arguments)
    try:
        return json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        return repr(arguments)
