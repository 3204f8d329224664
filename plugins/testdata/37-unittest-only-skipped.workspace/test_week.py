"""The granted test."""

import unittest


class TestWeek(unittest.TestCase):
    """One test of the week parser."""

    @unittest.skip("later")
    def test_iso_week(self) -> None:
        """An ISO week parses."""
