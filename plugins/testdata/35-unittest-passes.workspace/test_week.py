"""The granted test."""

import unittest


class TestWeek(unittest.TestCase):
    """One test of the week parser."""

    def test_iso_week(self) -> None:
        """An ISO week parses."""
