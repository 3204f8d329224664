"""Packages that must not be installed, by the real command and by what it did.

Refused means: one message that shows everything and does nothing, the disk as it was, no
process started, and nothing opened or read of what lies outside or is no file.
"""

import os
import socket
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from tests.making.child import said_by_nobody
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.plugins import executable
from tests.making.plugins import written
from tests.making.refused import inhabited
from tests.making.refused import one_line
from tests.making.refused import powerless
from tests.making.refused import refused
from tests.making.refused import refused_late
from tests.making.refused import standing
from tests.making.watched import grows
from tests.making.watched import watched

PLAIN: Final = 'name = "plain"\n'
STARTED: Final = 'name = "plain"\n[loop]\nparticipation = "observer"\n[runtime]\ntimeout_secs = 1\n'


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return inhabited(place(tmp_path))


@pytest.fixture(name="package")
def _package(tmp_path: Path) -> Path:
    return written(tmp_path / "package", PLAIN, "print(1)\n")


ONLY: Final = "a package holds only regular files and directories of its own"


@pytest.fixture(name="outside")
def _outside(tmp_path: Path) -> Path:
    """A directory beside the package with a file that only its owner may read."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "shadow").write_bytes(b"root:secret\n" * 1000)
    (outside / "shadow").chmod(0o600)
    return outside


@pytest.mark.behaviour("attacks-A7", "I-5", "K-66")
@pytest.mark.parametrize("name", ["s", "main.py", "d/s", "plugin.toml"])
def test_a_link_is_refused_and_no_byte_of_its_target_is_read(
    where: Place, package: Path, outside: Path, name: str
) -> None:
    """[I-5] The package is the person's own word; what it links to is anybody's."""
    (package / "d").mkdir()
    (package / name).unlink(missing_ok=True)
    (package / name).symlink_to(outside / "shadow")
    refused(where, package, f"{name}: ", "a symbolic link", shut=(outside, outside / "shadow"))


@pytest.mark.behaviour("attacks-A8")
@pytest.mark.parametrize("target", ["../outside", "..", ".", "s"])
def test_a_linked_directory_and_a_loop_are_refused_and_not_entered(
    where: Place, package: Path, outside: Path, target: str
) -> None:
    """[I-5]"""
    (package / "s").symlink_to(target)
    refused(where, package, f"s: a symbolic link; {ONLY}", shut=(outside, outside / "shadow"))


@pytest.mark.behaviour("attacks-A8")
def test_a_package_that_is_itself_a_link_is_refused(where: Place, package: Path) -> None:
    """[I-5]"""
    link = package.with_name("link")
    link.symlink_to(package)
    refused(where, link, "expected a directory, got a symbolic link", shut=(package,))


@pytest.mark.behaviour("attacks-A10", "K-157")
def test_a_file_with_a_second_name_is_refused_unread(
    where: Place, package: Path, outside: Path
) -> None:
    """[I-5] How many names a file has can be asked of an open one, so it is opened."""
    os.link(outside / "shadow", package / "s")
    said = f"s: a hard link, 2 names for one file; {ONLY}"
    refused(where, package, said, unread=(outside / "shadow",))


@pytest.mark.behaviour("attacks-A11", "K-157", "G14")
@pytest.mark.parametrize("name", ["s", "d/s", "plugin.toml", "main.py"])
def test_a_pipe_is_refused_and_never_opened(where: Place, package: Path, name: str) -> None:
    """[I-5, M-1] With no writer, opening it would wait for ever."""
    (package / "d").mkdir()
    (package / name).unlink(missing_ok=True)
    os.mkfifo(package / name)
    refused(where, package, f"{name}: ", "a fifo", shut=(package / name,))


@pytest.mark.behaviour("attacks-A13", "K-157", "G14")
def test_a_socket_is_refused_and_never_opened(
    where: Place, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[I-5]"""
    monkeypatch.chdir(package)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as here:
        here.bind("s")
        refused(where, package, f"s: a socket; {ONLY}", shut=(package / "s",))


@pytest.mark.behaviour("attacks-A13", "G14")
def test_a_device_is_refused_and_never_opened(where: Place, package: Path) -> None:
    """[I-5] This one is what an overlay calls a whiteout, and anybody may make it."""
    os.mknod(package / "s", 0o020644, os.makedev(0, 0))
    refused(where, package, f"s: a device; {ONLY}", shut=(package / "s",))


@pytest.mark.behaviour("attacks-A17", "K-157", "G14")
@pytest.mark.parametrize(("bit", "word"), [(0o4000, "setuid"), (0o2000, "setgid")])
@pytest.mark.parametrize("name", ["main.py", "d"])
def test_a_bit_that_lends_an_owners_rights_is_refused(
    where: Place, package: Path, name: str, bit: int, word: str
) -> None:
    """[I-5] The spec refuses what the case would let through without the bit."""
    (package / "d").mkdir()
    (package / name).chmod(0o755 | bit)
    refused(where, package, f"{name}: has the {word} bit; {ONLY}", unread=(package / "main.py",))


@pytest.mark.behaviour("attacks-A14", "G14")
@pytest.mark.parametrize(
    ("sizes", "named"),
    [
        ({"huge": 2**40}, f"huge: {2**40} bytes in total"),
        (
            {"a": 64 * limits.MIB, "b": limits.PACKAGE_BYTES + 1 - 64 * limits.MIB},
            f"b: {limits.PACKAGE_BYTES + 1} bytes in total; the limit is {limits.PACKAGE_BYTES}",
        ),
        ({"plugin.toml": 2**40}, "has more than"),
    ],
    ids=["one", "together", "manifest"],
)
def test_a_file_that_says_it_is_huge_is_not_read(
    where: Place, package: Path, sizes: dict[str, int], named: str
) -> None:
    """[I-4, M-1] They take no room: only their size is large."""
    for name, size in sizes.items():
        with (package / name).open("ab") as file:
            file.truncate(size)
    last = package / max(sizes)
    seen = refused(where, package, named, unread=() if "plugin.toml" in sizes else (last,))
    # What comes before the limit is read, because it may be all there is.
    assert 0 < (seen.read or 0) < sum(sizes.values()) - last.stat().st_size + 8 * limits.MIB


@pytest.mark.behaviour("attacks-A14", "attacks-A16")
@pytest.mark.parametrize("times", [1, 2], ids=["walked", "copied"])
@pytest.mark.parametrize("name", ["main.py", "d/deep"])
def test_a_file_that_grows_with_every_block_that_is_read_is_refused_at_the_size_it_had(
    where: Place, package: Path, name: str, times: int
) -> None:
    """[I-4, I-7] What is read is counted, whatever was said of its size, and so it ends."""
    (package / "d").mkdir()
    (package / name).write_bytes(b"x" * 3 * limits.MIB)
    seen = refused_late(
        where,
        package,
        f"{name}: changed while it was read",
        before=Path(name).name,
        times=times,
        act=grows(package / name, limits.MIB),
    )
    assert 0 < (seen.read or 0) < (times + 1) * 4 * limits.MIB


@pytest.mark.behaviour("attacks-A16")
@pytest.mark.parametrize(
    ("size", "said"), [(2**33, "bytes in total; the limit is"), (4096, "main.py")]
)
def test_a_file_that_grew_between_the_look_and_the_copy_is_refused(
    where: Place, package: Path, size: int, said: str
) -> None:
    """[I-4, I-7]"""
    seen = refused_late(
        where,
        package,
        "main.py",
        said,
        before="main.py",
        times=2,
        act=lambda: os.truncate(package / "main.py", size),
    )
    assert 0 < (seen.read or 0) < 8 * limits.MIB


@pytest.mark.behaviour("A23")
@pytest.mark.parametrize("times", [1, 2], ids=["walked", "copied"])
@pytest.mark.parametrize("which", ["main.py", "d"])
def test_an_entry_swapped_for_a_link_between_look_and_opening_is_refused(
    where: Place, package: Path, outside: Path, which: str, times: int
) -> None:
    """[I-5] Just before it is opened, for the digest and for the copy."""
    (package / "d").mkdir()
    (package / "d" / "f").touch()
    target = outside if which == "d" else outside / "shadow"
    path = package / which

    def swap() -> None:
        path.rename(package / "old")
        path.symlink_to(target)

    refused_late(
        where,
        package,
        f"{which}: ",
        before=which,
        times=times,
        act=swap,
        shut=(outside, outside / "shadow"),
    )


@pytest.mark.parametrize("name", ["main.py", "d", "d/f"])
def test_what_may_not_be_read_is_refused_by_name(name: str) -> None:
    """[I-2] By somebody without root's powers; what can be read of it is not taken alone."""
    with powerless() as where:
        package = written(where.root.parent / "package", PLAIN, "print(1)\n")
        (package / "d").mkdir()
        (package / "d" / "f").touch()
        (package / name).chmod(0)
        refused(where, package, f"{name}: Permission denied", within=said_by_nobody)


def test_a_tier_that_may_not_be_written_is_left_alone() -> None:
    """[I-2, I-70]"""
    with powerless() as where:
        package = written(where.root.parent / "package", PLAIN, "print(1)\n")
        tier = where.root / ".stella" / "plugins"
        tier.chmod(0o755)
        before = standing(where)
        found = watched(where, "plugin", "install", str(package), "--yes", within=said_by_nobody)
        assert f"{tier / 'plain'}: Permission denied; nothing was installed" in found.done.err
        one_line(found, package)
        assert standing(where) == before


@pytest.mark.behaviour("K-156", "G14", "I-4")
def test_a_package_past_a_limit_is_refused_with_the_limit_the_value_and_the_path(
    where: Place, package: Path
) -> None:
    """[I-4]"""
    for number in range(limits.PACKAGE_FILES):
        (package / f"f{number:05}").touch()
    refused(where, package, f": {limits.PACKAGE_FILES + 1} files; the limit is 10000")
    for path in package.glob("f*"):
        path.unlink()
    deep = package / "/".join("d" * limits.PACKAGE_DEPTH)
    deep.mkdir(parents=True)
    (deep / "f").touch()
    refused(where, package, f"{limits.PACKAGE_DEPTH + 1} levels of depth; the limit is 32")
    (deep / "f").unlink()
    long = package / "/".join(["n" * 250] * 4)
    long.mkdir(parents=True)
    (long / ("n" * 21)).touch()
    refused(where, package, "n: 1025 bytes in one path; the limit is 1024")


@pytest.mark.behaviour("A19", "A20", "G14")
@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a\nb",), "a b: the name holds characters or spaces that do not show"),
        (("a\x1b[2J",), r"a\u{1B}[2J: the name holds characters"),
        (("a\u202eb",), r"a\u{202E}b: the name holds characters"),
        ((os.fsdecode(b"a\xffb"),), r"a\u{DCFF}b: the name is not UTF-8"),
        (("Read", "read"), "is the same name on some file systems"),
        (("caf\u00e9", "cafe\u0301"), "is the same name on some file systems"),
        (("stra\u00dfe", "STRASSE"), "is the same name on some file systems"),
    ],
)
def test_a_file_whose_name_would_not_stay_what_it_is_is_refused(
    where: Place, package: Path, names: tuple[str, ...], said: str
) -> None:
    """[I-4]"""
    for name in names:
        (package / name).touch()
    assert len(list(package.iterdir())) == 2 + len(names), "this file system merges names"
    refused(where, package, said)


@pytest.mark.behaviour("attacks-A17", "K-158", "G7", "I-6")
def test_modes_become_two_and_what_is_nobodys_business_stays_behind(
    where: Place, package: Path
) -> None:
    """[I-6]"""
    (package / "plugin.toml").write_text(STARTED.replace("timeout", 'argv = ["./run"]\ntimeout'))
    executable(package / "run", "#!/bin/sh\n").chmod(0o1777)
    (package / "main.py").chmod(0o666)
    (package / "d").mkdir()
    (package / "d").chmod(0o1777)
    for skipped in (".git", "d/.git", "__pycache__"):
        (package / skipped).mkdir()
        (package / skipped / "f").touch()
    seen = watched(where, "plugin", "install", str(package), "--yes")
    assert (seen.done.code, seen.started) == (0, ()), seen.done.err
    there = where.root / ".stella" / "plugins" / "plain"
    found = {str(p.relative_to(there)): p.lstat().st_mode & 0o7777 for p in there.rglob("*")}
    assert found == {"d": 0o755, "main.py": 0o644, "plugin.toml": 0o644, "run": 0o755}


@pytest.mark.behaviour("G7", "G8")
def test_a_program_that_could_not_be_started_is_refused_and_an_odd_one_warned_of(
    where: Place, package: Path
) -> None:
    """[T-3, M-9]"""
    started = STARTED.replace("timeout", 'argv = ["${plugin_dir}/run"]\ntimeout')
    (package / "plugin.toml").write_text(started)
    (package / "run").write_bytes(b"#!/bin/sh\r\nexit 0\r\n")
    refused(where, package, "run may not be executed; give it that right with chmod +x")
    (package / "run").chmod(0o755)
    done = where.stella("plugin", "install", str(package), "--yes")
    assert done.code == 0
    assert "run: its first line ends with a carriage return" in done.err
