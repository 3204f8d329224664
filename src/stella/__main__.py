"""`python -m stella` is the command `stella`, without modules of the directory it is started in.

Python itself looks there before this file is read: a `stella.py` or `runpy.py` that stands there
has run by then. Only the command `stella` imports nothing from where it is started.
"""

import sys


def _start() -> None:
    if not sys.flags.safe_path:
        del sys.path[0]
    from stella.cli.main import main  # noqa: PLC0415  # not before the line above

    main()


if __name__ == "__main__":
    _start()
