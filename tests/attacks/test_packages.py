"""Packages that must not be installed, by the real command and by what it did.

Refused means: one message that shows everything and does nothing, the disk as it was, no
process started, and nothing read of what a link would have led to.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from stella.cli.commands import plugin
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.packages import seen as seen_in
from tests.making.plugins import executable
from tests.making.plugins import steering
from tests.making.plugins import written
from tests.making.watched import Watched
from tests.making.watched import watched

PLAIN: Final = 'name = "plain"\n'
STARTED: Final = 'name = "plain"\n[loop]\nparticipation = "observer"\n[runtime]\ntimeout_secs = 1\n'


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.fixture(name="package")
def _package(tmp_path: Path) -> Path:
    return written(tmp_path / "package", PLAIN, "print(1)\n")


def refused(
    where: Place,
    package: Path,
    *said: str,
    before: str = "",
    act: Callable[[], object] = lambda: None,
) -> Watched:
    """Have an install refused, with nothing changed and nothing started; it says all of `said`."""
    state = seen_in(where.root.parent)
    seen = watched(where, "plugin", "install", str(package), "--yes", before=before, act=act)
    assert seen.done.code == 1, seen.done.err
    assert seen.done.out == ""
    assert seen.done.err.isascii() or all(c == "\n" or c.isprintable() for c in seen.done.err)
    assert seen.done.err.startswith("stella: ")
    assert seen.done.err.rstrip("\n").count("\n") == 0
    assert "nothing was " in seen.done.err
    for words in said:
        assert words in seen.done.err, seen.done.err
    assert seen.started == ()
    assert not (where.root / ".stella").exists()
    if not before:
        assert seen_in(where.root.parent) == state
    return seen


def named(package: Path, name: str) -> Path:
    """Write a name into the manifest, escaped as TOML wants it."""
    escaped = "".join(f"\\U{ord(char):08X}" for char in name)
    (package / "plugin.toml").write_text(f'name = "{escaped}"\n', "utf-8")
    return package


@pytest.mark.behaviour("attacks-A1", "attacks-A2", "F4", "F5", "K-155", "I-3")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../x", 'character 1 is "."'),
        ("a/b", 'character 2 is "/"'),
        ("..\\x", 'character 1 is "."'),
        ("/abs", 'character 1 is "/"'),
        (".", 'character 1 is "."'),
        ("..", 'character 1 is "."'),
        (".hidden", 'character 1 is "."'),
        ("C:x", 'character 1 is "C"'),
        ("__proto__", 'character 1 is "_"'),
        ("Verify", 'character 1 is "V"'),
        ("9x", 'character 1 is "9"'),
        ("x" * 65, "it has 65 characters"),
        ("x" * 300, "it has 300 characters"),
        ("con", "keep this word for a device"),
        ("lpt9", "keep this word for a device"),
        ("a\x1b[2J", r'character 2 is "\u{1B}"'),
        ("a\nb", 'character 2 is "'),
        ("a\x9bb", r'character 2 is "\u{9B}"'),
        ("a\0b", r'character 2 is "\u{0}"'),
        ("a\u202eb", r'character 2 is "\u{202E}"'),
        ("a\u200bb", r'character 2 is "\u{200B}"'),
        ("caf\u00e9", 'character 4 is "\u00e9"'),
        ("cafe\u0301", "character 5 is"),
        ("\U0001f600", 'character 1 is "\U0001f600"'),
    ],
)
def test_a_name_that_is_no_plain_word_is_refused_before_any_path_is_made(
    where: Place, package: Path, name: str, said: str
) -> None:
    """[I-3]"""
    refused(where, named(package, name), "name ", said)


def test_an_empty_name_is_a_fault_of_the_manifest(where: Place, package: Path) -> None:
    """[R-2, A1]"""
    done = where.stella("plugin", "install", str(named(package, "")), "--yes")
    assert done.code == 1
    assert not (where.root / ".stella").exists()
    assert "name" in done.err


@pytest.mark.behaviour("attacks-A5")
@pytest.mark.parametrize(
    "name", ["stella", "host", "user", "con", "bash", "search", "subagent", "plugin"]
)
def test_a_word_that_means_somebody_else_is_refused(where: Place, package: Path, name: str) -> None:
    """[I-3, A-1]"""
    refused(where, named(package, name), f'"{name}"', "choose another")


@pytest.mark.behaviour("attacks-A4", "G4")
@pytest.mark.parametrize("twin", ["Plain", "PLAIN", "plain"])
def test_a_name_that_some_file_system_takes_for_an_installed_one_is_taken(
    where: Place, package: Path, twin: str
) -> None:
    """[I-2, I-3] A directory placed by hand can be called anything."""
    tier = where.root / ".stella" / "plugins"
    written(tier / twin, 'name = "other"\n', "")
    before = seen_in(where.root.parent)
    seen = watched(where, "plugin", "install", str(package), "--yes")
    assert seen.done.code == 1
    assert str(tier / twin) in seen.done.err
    assert "stella plugin remove" in seen.done.err
    assert seen.started == ()
    assert seen_in(where.root.parent) == before


def _link(package: Path) -> None:
    (package / "s").symlink_to("/etc/shadow")


def _linked_directory(package: Path) -> None:
    (package / "s").symlink_to("/etc")


def _loop(package: Path) -> None:
    (package / "s").symlink_to("..")


def _hard_link(package: Path) -> None:
    outside = package.parent / "outside"
    outside.write_bytes(b"secret")
    os.link(outside, package / "s")


def _fifo(package: Path) -> None:
    os.mkfifo(package / "s")


def _deep_fifo(package: Path) -> None:
    (package / "d").mkdir()
    os.mkfifo(package / "d" / "s")


def _socket(package: Path) -> None:
    here = socket.socket(socket.AF_UNIX)
    here.bind(os.path.relpath(package / "s"))
    here.close()


def _device(package: Path) -> None:
    os.mknod(package / "s", 0o020644, os.makedev(0, 0))  # what an overlay calls a whiteout


def _mode(bit: int) -> Callable[[Path], None]:
    def spoil(package: Path) -> None:
        (package / "s").touch()
        (package / "s").chmod(0o755 | bit)

    return spoil


KINDS: Final = [
    (_link, "s: a symbolic link"),
    (_linked_directory, "s: a symbolic link"),
    (_loop, "s: a symbolic link"),
    (_hard_link, "s: a hard link, 2 names"),
    (_fifo, "s: a fifo"),
    (_deep_fifo, "d/s: a fifo"),
    (_socket, "s: a socket"),
    (_mode(0o4000), "s: has the setuid bit"),
    (_mode(0o2000), "s: has the setgid bit"),
    *([(_device, "s: a device")] if os.geteuid() == 0 else []),
]


@pytest.mark.behaviour(
    *("attacks-A7", "attacks-A8", "attacks-A10", "attacks-A11", "attacks-A13", "attacks-A17"),
    *("K-157", "G14", "I-5"),
    "K-66",
)
@pytest.mark.parametrize(("spoil", "said"), KINDS, ids=[said for _, said in KINDS])
def test_what_is_no_file_of_the_packages_own_is_refused_unopened(
    where: Place,
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None],
    said: str,
) -> None:
    """[I-5]"""
    monkeypatch.chdir(package)
    spoil(package)
    seen = refused(where, package, said, "only regular files and directories")
    if "link," not in said and "bit" not in said:  # these are regular: the open file tells
        assert not [name for name in seen.opened if name in {"s", "/etc/shadow"}]
    assert not [name for name in seen.opened if "shadow" in name]


@pytest.mark.behaviour("attacks-A11", "B50")
def test_a_manifest_that_is_a_pipe_is_never_opened(where: Place, package: Path) -> None:
    """[M-1, I-5]"""
    (package / "plugin.toml").unlink()
    os.mkfifo(package / "plugin.toml")
    seen = refused(where, package, "plugin.toml: expected a regular file, got a fifo")
    assert not [name for name in seen.opened if "plugin.toml" in name]


@pytest.mark.behaviour("attacks-A14", "G14")
def test_a_file_that_says_it_is_huge_is_not_read(where: Place, package: Path) -> None:
    """[I-4] One tebibyte that takes no room."""
    with (package / "huge").open("wb") as file:
        file.truncate(2**40)
    seen = refused(where, package, f"huge: {2**40} bytes in total; the limit is")
    assert 0 < (seen.read or 0) < 8 * limits.MIB


@pytest.mark.behaviour("K-156", "G14", "I-4")
def test_a_package_past_a_limit_is_refused_with_the_limit_the_value_and_the_path(
    where: Place, package: Path
) -> None:
    """[I-4]"""
    for number in range(limits.PACKAGE_FILES):
        (package / f"f{number:05}").touch()
    done = watched(where, "plugin", "install", str(package), "--yes").done
    assert f"{limits.PACKAGE_FILES + 1} files; the limit is 10000" in done.err
    assert not (where.root / ".stella").exists()
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


@pytest.mark.behaviour("attacks-A16")
def test_a_file_that_grows_while_it_is_copied_is_refused(where: Place, package: Path) -> None:
    """[I-4, I-7] It is opened again after the question; what is read of it is bounded."""
    (package / "plugin.toml").write_text(STARTED.replace("[runtime]\ntimeout_secs = 1\n", ""))

    def grow() -> None:
        os.truncate(package / "main.py", 2**33)

    seen = refused(where, package, "main.py", before="main.py", act=grow)
    assert 0 < (seen.read or 0) < 8 * limits.MIB


@pytest.mark.behaviour("A23")
@pytest.mark.parametrize("which", ["main.py", "d"])
def test_an_entry_swapped_for_a_link_between_look_and_opening_is_refused(
    where: Place, package: Path, which: str
) -> None:
    """[I-5]"""
    (package / "d").mkdir()
    (package / "d" / "f").touch()
    outside = package.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("secret")
    target = outside if which == "d" else outside / "f"
    path = package / which

    def swap() -> None:
        path.rename(package / "old")
        path.symlink_to(target)

    seen = refused(where, package, f"{which}: ", before=which, act=swap)
    assert not [name for name in seen.opened if "outside" in name]


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


@pytest.mark.behaviour("G5")
def test_a_byte_changed_after_the_yes_does_not_run(where: Place, tmp_path: Path) -> None:
    """[I-30, I-31] By the mark its program would leave, and by `list` and `show`."""
    mark = tmp_path / "ran"
    package = steering(tmp_path / "guide", f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    where.install(package)
    where.scripted(says())
    asked = ("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    where.stella(*asked)
    assert mark.exists()
    mark.unlink()
    there = where.root / ".stella" / "plugins" / "guide"
    with (there / "main.py").open("r+b") as file:
        file.write(b"I")
    done = where.stella(*asked)
    assert done.code == 1
    assert "changed main.py" in done.err
    manifest = there / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('env = ["PATH"]', 'env = ["PATH", "HOME"]'))
    (there / "added.py").touch()
    done = where.stella(*asked)
    for words in (
        "added added.py, changed main.py, changed plugin.toml",
        "-       environment: PATH and nothing else",
        "+       environment: PATH, HOME and nothing else",
    ):
        assert words in done.err, done.err
    assert "guide  project  steering  changed" in where.stella("plugin", "list").out
    assert not mark.exists()


@pytest.mark.behaviour("F7", "B55")
def test_what_a_shell_would_run_is_one_word_and_no_shell_is_there(
    where: Place, tmp_path: Path
) -> None:
    """[T-3, M-34]"""
    mark = tmp_path / "ran"
    words = [f"x; touch {mark}", f"$(touch {mark})", f"`touch {mark}`", "${HOME}", "${plugin_dir}"]
    program = (
        "import json, sys\nsys.stdin.readline()\n"
        "sys.stderr.write(json.dumps(sys.argv[1:]))\nsys.exit(1)\n"
    )
    package = steering(tmp_path / "guide $(id); x", program)
    manifest = package / "plugin.toml"
    argv = ", ".join(f"'{word}'" for word in words)
    manifest.write_text(manifest.read_text().replace('main.py"]', f'main.py", {argv}]'))
    where.install(package)
    where.scripted(says())
    done = where.stella("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    there = where.root / ".stella" / "plugins" / "guide"
    assert f'"${{HOME}}", "{there}"' in done.err
    assert not mark.exists()
    literal = steering(tmp_path / "literal", "", name="literal")
    text = (literal / "plugin.toml").read_text()
    argv_was = text[text.index("argv") : text.index("\ntimeout")]
    (literal / "plugin.toml").write_text(text.replace(argv_was, f"argv = ['touch {mark}']"))
    done = where.stella("plugin", "install", str(literal), "--yes")
    assert not mark.exists()
    assert f"touch {mark}" in done.err


@pytest.mark.behaviour("F10")
def test_a_spoilt_plugin_hides_none_and_can_be_removed() -> None:
    """[I-41, I-44, I-66]"""
    assert plugin.command.name == "plugin"  # loaded while its file can still be read
    with open_folder() as folder:
        where = place(folder)
        where.home.mkdir()
        for directory in (where.root, where.home, where.person):
            directory.chmod(0o777)
        written(folder / "good", 'name = "good"\n', "")
        done = watched(
            where, "plugin", "install", str(folder / "good"), "--yes", within=said_by_nobody
        ).done
        assert done.code == 0, done.err
        tier = where.root / ".stella" / "plugins"

        def spoil() -> str:
            written(tier / "torn", 'name = "torn"\n[', "")
            written(tier / "unread", 'name = "unread"\n', "")
            (tier / "unread" / "plugin.toml").chmod(0)
            (tier / "round").mkdir()
            (tier / "round" / "plugin.toml").symlink_to("plugin.toml")
            return "spoilt"

        assert said_by_nobody(spoil) == "spoilt"
        done = watched(where, "plugin", "list", within=said_by_nobody).done
        assert "good  project  none  ok" in done.out
        for name, why in (
            ("torn", "the file is not TOML"),
            ("unread", "Permission denied"),
            ("round", "expected a regular file, got a symbolic link"),
        ):
            line = next(line for line in done.err.split("\n") if f"{tier / name}: left out" in line)
            assert why in line
        for name in ("torn", "unread", "round", "good"):
            done = watched(where, "plugin", "remove", name, within=said_by_nobody).done
            assert done.code == 0, done.err
        assert list(tier.iterdir()) == []
