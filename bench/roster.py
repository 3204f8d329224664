"""What `stella plugin list` costs for each installed plugin when nothing changed, medians.

Run as `python bench/roster.py [REPEATS]`. Each plugin is a copy of `plugins/verify-py` under a
name of its own, accepted, with the notes that a session takes of what it saw; the first list is
taken without them. The numbers that matter are the cost of a plugin among a thousand, over a
bare interpreter, which is to stay below 1.5 ms, and that it grows no faster than their number.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path

import tomli_w

from stella import codec
from stella.clock import SystemClock
from stella.consent.answer import digest_of
from stella.consent.text import consent_text
from stella.files import tree
from stella.manifest.read import read_manifest
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.lock import accepted_at
from stella.roster.roster import read_roster
from stella.roster.roster import remember
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.roster.start import Lookup
from stella.roster.start import resolution

PACKAGE = Path(__file__).parents[1] / "plugins" / "verify-py"
PATH_VALUE = "/usr/bin:/bin"
COUNTS = (10, 100, 1000)
REPEATS = 7


def installed(root: Path, count: int) -> Places:
    """Make a home with `count` accepted plugins in the person's tier, beside a workspace."""
    home, workspace = root / "home", root / "work"
    workspace.mkdir(parents=True)
    home.mkdir(mode=0o700)
    where = places(home, workspace)
    tables = [codec.plain(one(where, f"verify-{number:04}")) for number in range(count)]
    tier = where.tier(Scope.USER)
    tier.record_path.write_text(
        tomli_w.dumps({"schema": "plugin-lock/v1", "plugin": tables}), "utf-8"
    )
    tier.record_path.chmod(0o600)
    return where


def remembered(where: Places) -> None:
    """Note what was seen of the plugins, as a session does that starts long after an install."""
    roster = read_roster(where, PATH_VALUE)
    remember(roster, where, datetime.now(UTC) + timedelta(hours=1), SystemClock())


def one(where: Places, name: str) -> Record:
    """Put one plugin in its place, as an install leaves it, and return its record."""
    directory = where.tier(Scope.USER).path / name
    shutil.copytree(PACKAGE, directory, ignore=shutil.ignore_patterns("__pycache__"))
    manifest = directory / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace('"verify"', f'"{name}"'), "utf-8")
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with tree.opened(directory) as root:
        package = tree.installed(root)
    declared = read_manifest(manifest.read_bytes()).manifest
    lookup = Lookup(path_value=PATH_VALUE, workspace=where.workspace)
    found = resolution(declared, package, directory, lookup)
    text = consent_text(declared, found)
    return Record(
        name=name,
        digest=package.digest,
        consent=digest_of(text),
        consent_text=text,
        accepted_at=accepted_at(datetime.now(UTC)),
        accepted_by=AcceptedBy.YES,
        source=str(PACKAGE),
        program=found.runtime,
        files=dict(package.files),
    )


def taken_ms(argv: list[str], where: Places) -> float:
    """The time from the start of a child to its end, in milliseconds."""
    env = {"PATH": PATH_VALUE, "HOME": str(where.home.parent), "STELLA_HOME": str(where.home)}
    begun = time.perf_counter()
    done = subprocess.run(argv, env=env, cwd=where.workspace, capture_output=True, check=True)
    taken = (time.perf_counter() - begun) * 1000
    if done.stderr:
        sys.exit(done.stderr.decode())
    return taken


def main(repeats: int) -> None:
    """Print the medians for each count and what they say; counts take turns, as noise does."""
    stella = str(Path(sys.executable).with_name("stella"))
    with tempfile.TemporaryDirectory() as scratch:
        homes = {count: installed(Path(scratch) / str(count), count) for count in COUNTS}
        first = taken_ms([stella, "plugin", "list"], homes[COUNTS[-1]])
        for where in homes.values():
            remembered(where)
        found: dict[int, list[float]] = {count: [] for count in (0, *COUNTS)}
        for _ in range(repeats):
            found[0].append(taken_ms([sys.executable, "-c", "pass"], homes[COUNTS[0]]))
            for count, where in homes.items():
                found[count].append(taken_ms([stella, "plugin", "list"], where))
    medians = {count: statistics.median(times) for count, times in found.items()}
    print(f"bare interpreter     {medians[0]:8.1f} ms")
    print(f"{COUNTS[-1]:5} for the first   {first:8.1f} ms")
    for count in COUNTS:
        over = medians[count] - medians[0]
        print(f"{count:5} plugins        {medians[count]:8.1f} ms, {over / count:6.3f} ms each")
    few, many = COUNTS[-2:]
    steps = (medians[many] - medians[few]) / (medians[few] - medians[COUNTS[0]])
    linear = (many - few) / (few - COUNTS[0])
    print(f"growth               {steps / linear:8.2f} (1.00 is linear)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS)
