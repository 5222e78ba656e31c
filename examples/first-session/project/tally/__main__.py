"""Prints what has to be paid to settle a trip."""

import sys
from pathlib import Path

from tally.money import written
from tally.trip import balances, read_trip, settlement


def main() -> None:
    bills = read_trip(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for debtor, creditor, cents in settlement(balances(bills)):
        print(f"{debtor} pays {creditor} {written(cents)}")


main()
