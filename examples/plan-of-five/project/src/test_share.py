import unittest

from share import shares


class Shares(unittest.TestCase):
    def test_nothing_is_lost(self) -> None:
        self.assertEqual(shares(100, [1, 1, 1]), [34, 33, 33])
