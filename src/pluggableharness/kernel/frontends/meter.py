"""What a session has spent, and of how much, in few words."""

from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.frontends.words import duration


def spent_words(bounds: Bounds, spent: Spent) -> list[str]:
    """Turns and seconds where they are bounded, tokens and dollars where there are any."""
    parts = []
    if bounds.max_turns is not None:
        parts.append(f"turn {spent.turns} of {bounds.max_turns}")
    if bounds.max_wall_clock_s is not None:
        parts.append(f"{duration(spent.wall_clock_s)} of {duration(bounds.max_wall_clock_s)}")
    tokens = spent.usage.input_tokens + spent.usage.output_tokens
    if tokens:
        parts.append(f"{short(tokens)} tokens")
    if bounds.max_cost_usd is not None:
        parts.append(f"{dollars(spent.cost_usd)} of {dollars(bounds.max_cost_usd)}")
    elif spent.cost_usd:
        parts.append(dollars(spent.cost_usd))
    return parts


def short(number: int) -> str:
    """A count in three digits or so: `950`, `12.3k`, `4.56M`."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}" if number < 1000 * size else f"{number:,}"
    return str(number)


def dollars(amount: float) -> str:
    """An amount of US dollars: cents, and more digits for what is less than one."""
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.2g}"
