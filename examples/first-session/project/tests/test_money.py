import unittest

from tally.money import cents, split, written


class MoneyTest(unittest.TestCase):
    def test_cents_are_read_and_written(self) -> None:
        self.assertEqual(cents("12.3"), 1230)
        self.assertEqual(written(1230), "12.30")

    def test_an_even_bill_is_split_evenly(self) -> None:
        self.assertEqual(split(9000, [1, 1, 1]), [3000, 3000, 3000])

    def test_shares_follow_the_weights(self) -> None:
        self.assertEqual(split(1000, [1, 3]), [250, 750])

    def test_the_shares_add_up_to_the_bill(self) -> None:
        self.assertEqual(sum(split(10000, [1, 1, 1])), 10000)
