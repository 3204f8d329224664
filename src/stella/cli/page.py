"""Lines for a person on standard error: folded at words on a terminal, untouched elsewhere [S-42].

The text is safe by the time it comes here; nothing is coloured and nothing moves the cursor.
"""

import sys

from stella.cli.streams import say


def tell(*lines: str) -> None:
    """Write lines; on a terminal each is folded to its width, keeping its indentation."""
    for line in lines:
        folded = _folded(line) if line and sys.stderr.isatty() else (line,)
        for row in folded:
            say(sys.stderr, row)


def _folded(line: str) -> tuple[str, ...]:
    from rich.console import Console  # noqa: PLC0415  # only where something is drawn
    from rich.padding import Padding  # noqa: PLC0415  # only where something is drawn
    from rich.text import Text  # noqa: PLC0415  # only where something is drawn

    # Made anew each time: the width is taken at each draw [S-42].
    console = Console(stderr=True, markup=False, highlight=False, emoji=False, no_color=True)
    text = line.lstrip(" ")
    # Captured, since a terminal may be gone by the time a line is written to it [S-12].
    with console.capture() as drawn:
        console.print(Padding(Text(text), (0, 0, 0, len(line) - len(text))))
    return tuple(row.rstrip() for row in drawn.get().splitlines())
