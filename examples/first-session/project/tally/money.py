"""Money in whole cents: reading, writing, and splitting it."""

from collections.abc import Sequence


def cents(text: str) -> int:
    """`12.30` as 1230."""
    units, _, rest = text.partition(".")
    return int(units) * 100 + int(rest.ljust(2, "0"))


def written(amount: int) -> str:
    """1230 as `12.30`."""
    return f"{amount // 100}.{amount % 100:02}"


def split(total: int, weights: Sequence[int]) -> list[int]:
    """A bill's shares in whole cents, one for each weight."""
    whole = sum(weights)
    return [round(total * weight / whole) for weight in weights]
