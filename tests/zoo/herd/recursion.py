"""Falls into itself until its interpreter stops it."""


def deeper() -> None:
    """Call itself."""
    deeper()


deeper()
