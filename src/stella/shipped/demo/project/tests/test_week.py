"""Run with `python3 tests/test_week.py`; exits with 1 when something is wrong."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from week import parse_week


class WeekTest(unittest.TestCase):
    """ISO weeks, written `2026-W07`."""

    def test_a_week_is_read(self) -> None:
        """The letter is no part of the number."""
        self.assertEqual(parse_week("2026-W07"), (2026, 7))

    def test_a_long_year_has_week_53(self) -> None:
        """2026 begins on a Thursday."""
        self.assertEqual(parse_week("2026-W53"), (2026, 53))

    def test_a_short_year_has_none(self) -> None:
        """2025 ends in week 52."""
        with self.assertRaises(ValueError):
            parse_week("2025-W53")


if __name__ == "__main__":
    unittest.main()
