"""What was noted of a tree stands in for reading it, and never lets a changed byte pass."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.files import tree
from stella.files.tree import Package
from stella.roster.cache import Noted
from stella.roster.cache import cache_path
from stella.roster.cache import note
from stella.roster.cache import read_noted
from stella.roster.drift import Acceptance
from stella.roster.drift import Accepted
from stella.roster.drift import check
from stella.roster.drift import check_for_start
from stella.roster.install import Installed
from stella.roster.roster import before_start
from stella.roster.roster import read_roster
from stella.roster.roster import remember
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from tests.making.child import NOBODY
from tests.making.child import said
from tests.making.clocks import HandClock
from tests.making.faults import on_opening
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled

LATER = timedelta(hours=1)


def later() -> datetime:
    """A moment at which everything on the disk has long been settled."""
    return datetime.now(UTC) + LATER


@dataclass(frozen=True, kw_only=True)
class Standing:
    """An accepted plugin that was noted."""

    here: Places
    done: Installed

    @property
    def tier(self) -> Tier:
        return self.here.tier(Scope.PROJECT)

    @property
    def file(self) -> Path:
        return cache_path(self.tier)

    @property
    def noted(self) -> Noted | None:
        return read_noted(self.tier).get("meter")

    def check(self, *, start: bool = False) -> Acceptance:
        ask = check_for_start if start else check
        return ask(self.done.directory, self.done.record, lookup(self.here), self.noted)


def accepted(root: Path, more: bytes = b"") -> Standing:
    """Install a plugin and leave everything as long settled, noted by a session."""
    here = settled(root)
    source = meter(root / "source")
    (source / "bin" / "data").write_bytes(more or b"data")
    done = put(source, here)
    # On a clock that is coarse enough, one moment would not be after the other.
    os.utime(here.tier(Scope.PROJECT).record_path, (1, 1))
    noted(here)
    return Standing(here=here, done=done)


def noted(here: Places) -> None:
    remember(read_roster(here, None), here, later(), HandClock())


def large(root: Path) -> Standing:
    """As `accepted`, of a tree that is too large to be read before each start."""
    return accepted(root, bytes(limits.START_READ_BYTES))


def opened_files(work: Callable[[], object]) -> list[str]:
    """The last parts of all paths that `work` opens, which runs in a process of its own."""

    def watched() -> str:

        found: list[str] = []
        sys.addaudithook(
            lambda event, args: found.append(str(args[0])) if event == "open" else None
        )
        work()
        return "\n".join(found)

    return said(watched).split("\n")


@pytest.mark.behaviour("I-29")
def test_a_tree_that_is_as_it_was_is_not_read_again(tmp_path: Path) -> None:
    """I-29: no file of the plugin but its manifest is opened, and the answer is the same one."""
    whole = accepted(tmp_path)
    with_cache = whole.check()
    whole.file.rename(tmp_path / "kept")
    without = whole.check()
    assert isinstance(with_cache, Accepted)
    assert with_cache == without
    (tmp_path / "kept").rename(whole.file)
    files = {"main.py", "data"}
    assert not files & set(opened_files(lambda: read_roster(whole.here, None)))
    whole.file.unlink()
    assert files <= set(opened_files(lambda: read_roster(whole.here, None)))


def test_a_small_tree_is_read_before_each_start_and_a_large_one_is_not(tmp_path: Path) -> None:
    """I-30: at the limit and one byte past it."""
    for extra, read in ((-1, True), (0, True), (1, False)):
        root = tmp_path / str(extra)
        others = sum(
            path.stat().st_size for path in meter(root / "probe").rglob("*") if path.is_file()
        )
        whole = accepted(root, bytes(limits.START_READ_BYTES + extra - others))
        found = opened_files(partial(whole.check, start=True))
        assert ("data" in found) == read
        assert isinstance(whole.check(start=True), Accepted)


def _byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"!")


def _same_times(root: Path) -> None:
    before = (root / "main.py").stat()
    _byte(root / "main.py")
    os.utime(root / "main.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def _other_inode(root: Path) -> None:
    before = (root / "main.py").stat()
    shutil.copy2(root / "main.py", root.parent / ".other")
    _byte(root.parent / ".other")
    os.utime(root.parent / ".other", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root.parent / ".other").rename(root / "main.py")


def _swapped_directory(root: Path) -> None:
    shutil.copytree(root / "bin", root.parent / ".bin")
    _byte(root.parent / ".bin" / "meter")
    (root / "bin").rename(root.parent / ".old")
    (root.parent / ".bin").rename(root / "bin")


def _swapped_root(root: Path) -> None:
    shutil.copytree(root, root.parent / ".copy")
    _byte(root.parent / ".copy" / "main.py")
    root.rename(root.parent / ".old")
    (root.parent / ".copy").rename(root)


def _through_a_hard_link(root: Path) -> None:
    os.link(root / "main.py", root.parent / ".second")
    _byte(root.parent / ".second")
    (root.parent / ".second").unlink()


def _linked(root: Path) -> None:
    (root / "main.py").rename(root.parent / ".kept")
    (root / "main.py").symlink_to(root.parent / ".kept")


@pytest.mark.behaviour("I-29")
@pytest.mark.parametrize(
    "change",
    [
        lambda root: _byte(root / "main.py"),
        lambda root: _byte(root / "plugin.toml"),
        lambda root: _byte(root / "bin" / "meter"),
        _same_times,
        _other_inode,
        _swapped_directory,
        _swapped_root,
        _through_a_hard_link,
        _linked,
        lambda root: (root / "bin" / "data").chmod(0o755),
        lambda root: (root / "bin").chmod(0o700),
        lambda root: (root / "bin" / "more").touch(),
        lambda root: (root / "empty").mkdir(),
        lambda root: (root / "main.py").unlink(),
        lambda root: os.mkfifo(root / "bin" / "fifo"),
    ],
)
def test_no_changed_byte_passes_for_what_was_noted(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """I-29, G5, A31: same size and set-back times, new inodes, swapped directories, hard links."""
    whole = large(tmp_path)
    assert isinstance(whole.check(start=True), Accepted)
    change(whole.done.directory)
    assert whole.noted is not None
    for start in (False, True):
        assert not isinstance(whole.check(start=start), Accepted)


def test_the_roster_hands_what_is_noted_to_every_start(tmp_path: Path) -> None:
    """I-30, Q-29."""
    whole = large(tmp_path)
    (plugin,) = read_roster(whole.here, None).plugins
    assert plugin.noted == whole.noted
    assert "data" not in opened_files(lambda: before_start(plugin, lookup(whole.here)))
    assert before_start(plugin, lookup(whole.here)) is None
    _same_times(whole.done.directory)
    assert "is not what was accepted: changed main.py" in str(
        before_start(plugin, lookup(whole.here))
    )


def test_a_file_that_changed_just_before_is_not_noted(tmp_path: Path) -> None:
    """I-29: at the bound and past it, by the newest time of any file."""
    here = settled(tmp_path)
    done = put(meter(tmp_path / "source"), here)
    tier = here.tier(Scope.PROJECT)
    with tree.opened(done.directory) as root:
        newest = tree.installed(root).newest
    bound = timedelta(seconds=limits.CACHE_SETTLED_SECS)
    moment = datetime.fromtimestamp(newest // 10**9, UTC)
    for after, count in ((bound, 0), (bound + timedelta(seconds=1), 1)):
        remember(read_roster(here, None), here, moment + after, HandClock())
        assert len(read_noted(tier)) == count
    future = datetime.now(UTC) + 3 * LATER
    os.utime(done.directory / "main.py", (future.timestamp(), future.timestamp()))
    cache_path(tier).unlink()
    noted(here)
    assert not cache_path(tier).exists()


def test_a_file_that_changes_after_its_look_is_not_taken_for_the_one_looked_at(
    tmp_path: Path,
) -> None:
    """I-29: the state is that of before the reading."""
    whole = accepted(tmp_path)
    whole.file.unlink()
    directory = whole.done.directory

    def race() -> str:
        # `main.py` has been looked at and read when the manifest is opened.
        on_opening("plugin.toml", lambda: _byte(directory / "main.py"))
        with tree.opened(directory) as root:
            package = tree.installed(root)
        note(whole.tier, {"meter": package}, later(), HandClock())
        return str(package.digest == whole.done.record.digest)

    assert said(race) == "True"
    assert whole.noted is not None
    assert not isinstance(whole.check(), Accepted)


def test_what_is_noted_is_private_and_written_once(tmp_path: Path) -> None:
    """I-29: 0600 in 0700, and a session that sees the same writes nothing."""
    whole = accepted(tmp_path)
    assert whole.file == tmp_path / "home" / "cache" / f"{whole.tier.key}.digests.json"
    assert whole.file.stat().st_mode & 0o7777 == 0o600
    assert whole.file.parent.stat().st_mode & 0o7777 == 0o700
    before = seen(tmp_path), whole.file.stat().st_ino
    noted(whole.here)
    assert (seen(tmp_path), whole.file.stat().st_ino) == before


def test_reading_the_roster_writes_nothing(tmp_path: Path) -> None:
    """I-40, Q-12."""
    whole = accepted(tmp_path)
    whole.file.unlink()
    before = seen(tmp_path)
    read_roster(whole.here, None)
    assert seen(tmp_path) == before


@pytest.mark.behaviour("I-29")
def test_a_cache_that_is_not_newer_than_the_record_is_not_used(tmp_path: Path) -> None:
    """I-29, to the nanosecond; the next session writes it anew."""
    whole = accepted(tmp_path)
    record = whole.tier.record_path
    written = whole.file.stat().st_mtime_ns
    os.utime(record, ns=(written, written - 1))
    assert whole.noted is not None
    for stamp in (written, written + 1):
        os.utime(record, ns=(stamp, stamp))
        assert whole.noted is None
    os.utime(record, ns=(written, written - 10**9))
    whole.file.unlink()
    noted(whole.here)
    assert whole.noted is not None
    record.unlink()
    assert whole.noted is None


def _foreign(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


@pytest.mark.parametrize(
    "spoil",
    [
        _foreign,
        _link,
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        lambda path: os.link(path, path.with_name("second")),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"{}"),
        lambda path: path.write_bytes(path.read_bytes().replace(b"/v1", b"/v2")),
        lambda path: path.write_bytes(path.read_bytes() + b" " * limits.CACHE_BYTES),
    ],
)
def test_a_cache_that_proves_nothing_is_not_used(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    """I-29: missing, unreadable, of another's making; the tree is read all the same."""
    whole = accepted(tmp_path)
    spoil(whole.file)
    assert whole.noted is None
    assert isinstance(whole.check(), Accepted)
    _byte(whole.done.directory / "main.py")
    assert not isinstance(whole.check(), Accepted)


def test_a_cache_cut_at_any_byte_is_not_used(tmp_path: Path) -> None:
    """I-29."""
    whole = accepted(tmp_path)
    data = whole.file.read_bytes()
    for end in range(len(data)):
        whole.file.write_bytes(data[:end])
        assert read_noted(whole.tier) == {}
    whole.file.write_bytes(data)
    assert whole.noted is not None


@pytest.mark.parametrize("forged", ["state", "digest", "record"])
def test_a_note_alone_accepts_nothing(tmp_path: Path, forged: str) -> None:
    """I-29, I-30: the digest must be the record's, and the record must be one tree's."""
    whole = accepted(tmp_path)
    directory, record = whole.done.directory, whole.done.record
    _byte(directory / "main.py")
    with tree.opened(directory) as root:
        now = tree.installed(root)
    note_of = {
        "state": Noted(state=now.state, digest=now.digest),
        "digest": Noted(state="", digest=record.digest),
        "record": Noted(state=now.state, digest=record.digest),
    }[forged]
    if forged == "record":  # one who can write here can write the record as well
        record = codec.decode(type(record), codec.plain(record) | {"files": now.files})
    found = check(directory, record, lookup(whole.here), note_of)
    assert not isinstance(found, Accepted)


def test_a_cache_that_cannot_be_written_is_no_cache(tmp_path: Path) -> None:
    """I-29: a link, a file or a full one in its place; the session goes on."""
    whole = accepted(tmp_path)
    shutil.rmtree(whole.file.parent)
    whole.file.parent.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    noted(whole.here)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    whole.file.parent.unlink()
    whole.file.parent.touch()
    noted(whole.here)
    assert whole.noted is None


def test_what_a_killed_session_left_is_taken_away(tmp_path: Path) -> None:
    """I-29."""
    whole = accepted(tmp_path)
    left = whole.file.parent / f".stella-tmp-{whole.tier.key}-left"
    other = whole.file.parent / ".stella-tmp-other-left"
    left.touch()
    other.touch()
    whole.file.unlink()
    noted(whole.here)
    assert not left.exists()
    assert other.exists()
    assert whole.noted is not None


def test_more_than_the_limit_is_not_written(tmp_path: Path) -> None:
    """I-29."""
    here = settled(tmp_path)
    tier = here.tier(Scope.USER)
    tier.record_path.touch()
    os.utime(tier.record_path, (1, 1))
    package = Package(entries=(), state="s", newest=0)
    empty = len(codec.encode({"schema": "digest-cache/v1", "plugins": {}}))
    each = len(codec.encode(Noted(state="s", digest=package.digest))) + len(b'"":,')
    for extra, there in ((0, True), (1, False)):
        name = "n" * (limits.CACHE_BYTES - empty - each + len(b",") + extra)
        note(tier, {name: package}, later(), HandClock())
        assert (len(read_noted(tier)) == 1) == there
        cache_path(tier).unlink(missing_ok=True)


def test_a_name_that_json_cannot_hold_exactly_is_not_noted(tmp_path: Path) -> None:
    """I-29: a directory placed by hand may be called anything."""
    here = settled(tmp_path)
    tier = here.tier(Scope.USER)
    note(tier, {os.fsdecode(b"\xff"): Package(entries=())}, later(), HandClock())
    assert not cache_path(tier).exists()


def test_files_of_both_tiers_are_noted_apart(tmp_path: Path) -> None:
    """I-26, I-29."""
    whole = accepted(tmp_path)
    put(meter(tmp_path / "mine", "mine"), whole.here, Scope.USER)
    os.utime(whole.here.tier(Scope.USER).record_path, (1, 1))
    noted(whole.here)
    assert set(read_noted(whole.tier)) == {"meter"}
    assert set(read_noted(whole.here.tier(Scope.USER))) == {"mine"}
