"""A trip's bills, what they leave everybody with, and how to settle it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tally.money import cents, split

LINE = re.compile(r"(?P<payer>\w+)\s+paid\s+(?P<amount>[\d.]+)\s+for\s+(?P<what>[^:]+):(?P<who>.*)")


@dataclass(frozen=True)
class Bill:
    """What one person paid, and the weight of everybody it was for."""

    payer: str
    amount: int
    weights: Mapping[str, int]


def read_trip(text: str) -> list[Bill]:
    """The bills of a trip, one a line."""
    return [read_bill(line) for line in text.splitlines() if line.strip()]


def read_bill(line: str) -> Bill:
    """One bill. Raises ValueError for a line of another form."""
    found = LINE.fullmatch(line.strip())
    if found is None:
        raise ValueError(f"not a bill: {line!r}")
    weights = {}
    for person in found["who"].split():
        name, _, times = person.partition("*")
        weights[name] = int(times or 1)
    return Bill(found["payer"], cents(found["amount"]), weights)


def balances(bills: Iterable[Bill]) -> dict[str, int]:
    """What everybody gets back, or owes when it is negative."""
    balance: dict[str, int] = defaultdict(int)
    for bill in bills:
        balance[bill.payer] += bill.amount
        shares = split(bill.amount, list(bill.weights.values()))
        for person, share in zip(bill.weights, shares, strict=True):
            balance[person] -= share
    return dict(balance)


def settlement(balance: Mapping[str, int]) -> Iterator[tuple[str, str, int]]:
    """Payments that bring every balance to zero: who pays, whom, and how many cents."""
    open_balance = dict(balance)
    while any(open_balance.values()):
        debtor = min(open_balance, key=open_balance.__getitem__)
        creditor = max(open_balance, key=open_balance.__getitem__)
        amount = min(-open_balance[debtor], open_balance[creditor])
        if amount <= 0:
            raise ValueError(f"the books do not balance: {open_balance}")
        open_balance[debtor] += amount
        open_balance[creditor] -= amount
        yield debtor, creditor, amount
