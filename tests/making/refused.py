"""An install that is refused, proved by what it did: nothing.

One line that shows everything and does nothing; the tier with a plugin in it, the records and
the package as they were; no process started, nothing made on the way, and nothing opened or
read of what must not be.
"""

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stella.cli.commands import plugin
from tests.making.child import open_folder
from tests.making.child import said as in_a_child
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.packages import seen
from tests.making.plugins import written
from tests.making.touched import touched
from tests.making.watched import Watched
from tests.making.watched import watched


def inhabited(where: Place) -> Place:
    """Put a plugin into each tier, so that a tier left alone is more than one that is empty."""
    for tier in (where.root / ".stella" / "plugins", where.home / "plugins"):
        written(tier / "neighbour", 'name = "neighbour"\n', "print(0)\n")
    return where


@contextmanager
def powerless() -> Iterator[Place]:
    """An inhabited place in which a process without root's powers may do what a person may."""
    assert plugin.command.name == "plugin"  # loaded while its file can still be read
    with open_folder() as folder:
        where = inhabited(place(folder))
        for directory in (where.root, where.home, where.person, *where.root.rglob("*")):
            if directory.is_dir():
                directory.chmod(0o777)
        yield where


def standing(where: Place) -> dict[str, tuple[int, bytes]]:
    """Both tiers and all records, without what only keeps two commands apart."""
    home = {f"home/{path}": each for path, each in seen(where.home).items() if path != "consent"}
    found = seen(where.root) | home
    return {path: each for path, each in found.items() if not path.endswith(".lock")}


def refused(
    where: Place,
    package: Path,
    *words: str,
    shut: tuple[Path, ...] = (),
    unread: tuple[Path, ...] = (),
    within: Callable[[Callable[[], str]], str] = in_a_child,
) -> Watched:
    """Have an install refused before the question; the line holds all of `words`.

    Nothing of `shut` may be opened and nothing of `unread` read, as the system tells it.
    """
    before = seen(where.root.parent)
    with touched(*shut, *unread) as told:
        found = watched(where, "plugin", "install", str(package), "--yes", within=within)
        done = told()
    assert not [each for each in done if each[0] in map(str, shut)], done
    assert not [each for each in done if each[1] != "opened"], done
    assert found.made == ()
    assert seen(where.root.parent) == before
    one_line(found, package, *words)
    return found


def refused_late(
    where: Place,
    package: Path,
    *words: str,
    before: str,
    times: int = 1,
    act: Callable[[], object],
    shut: tuple[Path, ...] = (),
) -> Watched:
    """As `refused`, with somebody who does `act` when `before` is opened for the nth time.

    What was made on the way is gone again.
    """
    state = standing(where)
    with touched(*shut) as told:
        found = watched(
            where, "plugin", "install", str(package), "--yes", before=before, times=times, act=act
        )
        done = told()
    assert not done
    assert standing(where) == state
    one_line(found, package, *words)
    return found


def one_line(found: Watched, package: Path, *words: str) -> None:
    """Hold what a refused install said to one visible line, and that it started nothing."""
    assert (found.done.code, found.done.out, found.started) == (1, "", ()), found
    lines = found.done.err.split("\n")
    refusal, end = lines[-2:]
    assert end == ""
    assert refusal.startswith(f"stella: {package}: "), found.done.err
    assert refusal.endswith(("nothing was copied", "nothing was installed"))
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 2 or "Nothing above is granted until you accept." in lines
    for each in words:
        assert each in refusal, found.done.err
