"""Weeks of a calendar, as people write them."""


def parse_week(text: str) -> tuple[int, int]:
    """Return year and week of a text such as `2026-07`."""
    year, week = text.split("-")
    return int(year), int(week)
