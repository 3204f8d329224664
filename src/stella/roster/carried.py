"""Everything that may be used as content here: the person's, the workspace's, the plugins' [P-2].

Read anew when a session opens; nothing is copied and nothing is started. What is faulty is left
out with a notice and hides nothing else [P-14].
"""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella.content.reading import first_of
from stella.escape import visible
from stella.files.tree import DIRECTORY
from stella.roster.content import LEDGERS
from stella.roster.content import Content
from stella.roster.content import Told
from stella.roster.content import read_content
from stella.roster.plugin import State
from stella.roster.roster import Roster
from stella.roster.scope import Places

STELLA: Final = ".stella"
USER: Final = "user"
WORKSPACE: Final = "workspace"
"""Where content of no plugin comes from, by the directory alone [P-14]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty:
    """One thing that is wrong with a file of the person (`user`) or of the workspace.

    `kind` is the directory it is about, `place` the whole path, fit for a line.
    """

    origin: str
    kind: str
    place: str
    says: str

    @property
    def line(self) -> str:
        """The whole of it as one line."""
        return f"{self.place}: {self.says}; left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The content of each origin; `plugins` by name, those that may contribute alone [I-31, P-9].

    `faulty` files are left out. `notes` are whole lines about what was passed over in a file,
    and about a folder that was left out.
    """

    user: Content
    workspace: Content
    plugins: tuple[tuple[str, Content], ...]
    faulty: tuple[Faulty, ...]
    notes: tuple[str, ...]

    @property
    def notices(self) -> tuple[str, ...]:
        """All there is to tell, as whole lines."""
        return (*(each.line for each in self.faulty), *self.notes)


def carried(
    places: Places, roster: Roster, *, trusted: bool, vouched: Mapping[str, str] | None = None
) -> Carried:
    """Return the content that counts in a workspace; raises nothing.

    Without trust not one byte of what the workspace carries is read [P-67]; that it was left out
    is told by `left_out`. `vouched` are the files that the trust is about, as `Trust.files` has
    them: one that is another by now is left out [I-53].
    """
    notes: list[str] = []
    faulty: list[Faulty] = []
    user = _own(places.home, (), USER, faulty, notes)
    there = places.workspace / STELLA
    workspace = Content(directory=there)
    if trusted:
        expected = None if vouched is None else digests(vouched)
        workspace = _own(places.workspace, (STELLA,), WORKSPACE, faulty, notes, expected)
    plugins: list[tuple[str, Content]] = []
    for plugin in roster.plugins:
        if plugin.state is State.OK and plugin.ships is not None:
            plugins.append((plugin.name, plugin.ships.content))
            about = f"{visible(str(plugin.directory))}: "
            notes += first_of(_lines(plugin.directory, plugin.ships.notes), about)
    return Carried(
        user=user,
        workspace=workspace,
        plugins=tuple(plugins),
        faulty=tuple(faulty),
        notes=tuple(notes),
    )


def digests(vouched: Mapping[str, str]) -> Mapping[str, str]:
    """Return the digest of each vouched file below `.stella/`, by its path there."""
    below = f"{STELLA}/"
    return {
        path.removeprefix(below): item.partition(" ")[2]
        for path, item in vouched.items()
        if path.startswith(below)
    }


def _own(  # noqa: PLR0913, PLR0917 - two of them are what it adds to
    anchor: Path,
    steps: tuple[str, ...],
    origin: str,
    faulty: list[Faulty],
    notes: list[str],
    expected: Mapping[str, str] | None = None,
) -> Content:
    """Return what a folder of a person or a workspace carries; adds what is wrong with it."""
    place = anchor.joinpath(*steps)
    with ExitStack() as held:
        here: int | None = None
        for path in (anchor, *(anchor.joinpath(*steps[: at + 1]) for at in range(len(steps)))):
            try:
                here = os.open(path if here is None else path.name, DIRECTORY, dir_fd=here)
            except FileNotFoundError:
                return Content(directory=place)
            except OSError as error:
                notes.append(f"{visible(str(path))}: left out: {error.strerror or error}")
                return Content(directory=place)
            held.callback(os.close, here)
        assert here is not None  # noqa: S101  # the anchor is one of the steps
        found = read_content(here, place, skipped=LEDGERS, expected=expected)
    faulty += (
        Faulty(
            origin=origin,
            kind=each.path.partition("/")[0],
            place=found.content.place(each.path),
            says=each.says,
        )
        for each in found.faults
    )
    notes += _lines(place, found.notes)
    return found.content


def _lines(directory: Path, told: Iterable[Told]) -> Iterator[str]:
    return (f"{visible(str(directory / each.path))}: {each.says}" for each in told)
