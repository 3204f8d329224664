"""Write every generated vector anew: `python -m tests.making.regenerate`.

A test compares each of them with what its maker says now, so a change is seen either way.
"""

from tests.making import corpus


def main() -> None:
    """Write the files."""
    corpus.regenerate()


if __name__ == "__main__":
    main()
