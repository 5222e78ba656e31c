import unittest

from tally.trip import balances, read_trip, settlement

TRIP = """
Ada  paid 100.00 for the hut:      Ada Ben Cleo
Cleo paid   0.05 for a postcard:   Ben Cleo
"""


class TripTest(unittest.TestCase):
    def test_a_line_says_who_paid_and_for_whom(self) -> None:
        bill = read_trip("Ben paid 64.90 for groceries: Ada Ben Cleo*2")[0]
        self.assertEqual((bill.payer, bill.amount), ("Ben", 6490))
        self.assertEqual(bill.weights, {"Ada": 1, "Ben": 1, "Cleo": 2})

    def test_nobody_gains_and_nobody_loses(self) -> None:
        self.assertEqual(sum(balances(read_trip(TRIP)).values()), 0)

    def test_a_settlement_leaves_nothing_open(self) -> None:
        payments = settlement({"Ada": 6000, "Ben": -3000, "Cleo": -3000})
        self.assertEqual(list(payments), [("Ben", "Ada", 3000), ("Cleo", "Ada", 3000)])
