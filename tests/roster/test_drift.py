"""Only the bytes a person accepted run; whatever else stands there is named."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from stella import limits
from stella.consent.answer import digest_of
from stella.roster.drift import Accepted
from stella.roster.drift import Changed
from stella.roster.drift import NotAccepted
from stella.roster.drift import barrier
from stella.roster.drift import check
from stella.roster.drift import check_for_start
from stella.roster.drift import explained
from stella.roster.install import Installed
from stella.roster.scope import Places
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import swap
from tests.making.plugins import arbiter


def installed(root: Path) -> tuple[Installed, Places]:
    """Install a plugin with a program, a directory and an empty one."""
    here = settled(root)
    source = meter(root / "source")
    (source / "empty").mkdir()
    return put(source, here), here


def drifted(root: Path, change: Callable[[Path], None]) -> Changed:
    done, here = installed(root)
    change(done.directory)
    found = check(done.directory, done.record, lookup(here))
    assert isinstance(found, Changed)
    assert check_for_start(done.directory, done.record, lookup(here)) == found
    return found


def test_what_was_installed_is_accepted(tmp_path: Path) -> None:
    """I-30."""
    done, here = installed(tmp_path)
    for found in (
        check(done.directory, done.record, lookup(here)),
        check_for_start(done.directory, done.record, lookup(here)),
    ):
        assert isinstance(found, Accepted)
        assert found.package.digest == done.record.digest
        assert barrier("meter", found, "") is None
        assert explained("meter", found, "") == ()


def _byte(root: Path) -> None:
    with (root / "main.py").open("r+b") as file:
        file.write(b"P")


def _longer(root: Path) -> None:
    with (root / "main.py").open("ab") as file:
        file.write(b"\n")


def _same_time(root: Path) -> None:
    before = (root / "main.py").stat()
    _byte(root)
    os.utime(root / "main.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def _linked(root: Path) -> None:
    (root / "main.py").rename(root.parent / ".kept")
    (root / "main.py").symlink_to(root.parent / ".kept")


def _linked_directory(root: Path) -> None:
    (root / "bin").rename(root.parent / ".bin")
    (root / "bin").symlink_to(root.parent / ".bin")


def _new_directory(root: Path) -> None:
    (root / "new").mkdir()


def _git(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").touch()


def _compiled_file(root: Path) -> None:
    (root / "__pycache__").touch()


def _compiled_link(root: Path) -> None:
    (root / "__pycache__").symlink_to("bin")


@pytest.mark.behaviour("I-30", "I-28")
@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (_byte, ("changed main.py",)),
        (_longer, ("changed main.py",)),
        (_same_time, ("changed main.py",)),
        (lambda root: (root / "bin/meter").chmod(0o775), ("changed (mode) bin/meter",)),
        (lambda root: (root / "main.py").chmod(0o600), ("changed (mode) main.py",)),
        (lambda root: (root / "main.py").chmod(0o4755), ("changed (mode) main.py",)),
        (lambda root: (root / "bin").chmod(0o777), ("changed (mode) bin",)),
        (lambda root: (root / "bin/x").touch(), ("added bin/x",)),
        (lambda root: (root / "main.py").unlink(), ("removed main.py",)),
        (lambda root: (root / "m").symlink_to("/"), ("added (symbolic link) m",)),
        (lambda root: os.mkfifo(root / "f"), ("added (fifo) f",)),
        (_linked, ("changed (symbolic link) main.py",)),
        (_linked_directory, ("added (symbolic link) bin", "removed bin/meter")),
        (_compiled_file, ("added __pycache__",)),
        (_compiled_link, ("added (symbolic link) __pycache__",)),
        (lambda root: (root / "a\x1b[2J").touch(), (r"added a\u{1B}[2J",)),
        (lambda root: (root / os.fsdecode(b"\xff")).touch(), (r"added \u{DCFF}",)),
    ],
)
def test_each_change_is_seen_and_named(
    tmp_path: Path, change: Callable[[Path], None], paths: tuple[str, ...]
) -> None:
    """G5, A31, K-160, I-28, I-31."""
    found = drifted(tmp_path, change)
    assert tuple(path for path in found.paths if path != "added .git/config") == paths
    assert found.why is None


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "main.py").chmod(0o755),
        lambda root: (root / "bin/meter").chmod(0o644),
        _new_directory,
        lambda root: (root / "empty").rmdir(),
    ],
)
def test_a_change_the_record_cannot_name_is_seen_all_the_same(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """I-28: the record keeps neither modes nor directories, the digest does."""
    found = drifted(tmp_path, change)
    assert found.paths == ()
    assert found.why is not None
    assert found.why.partition("; ")[0] == "a mode or a directory is not as it was"


def test_a_directory_without_an_accepted_file_is_named(tmp_path: Path) -> None:
    """[I-31] The record knows no directories, so the ones that no file of it explains are told."""
    found = drifted(tmp_path, lambda root: (root / "bin" / "new").mkdir())
    assert found.why is not None
    assert found.why.endswith("; no accepted file lies in bin/new, empty")


def test_a_git_directory_that_appears_is_a_change(tmp_path: Path) -> None:
    """I-28: skipped in a source, never in an installed tree."""
    assert drifted(tmp_path, _git).paths == ("added .git/config",)


def test_changing_back_is_accepted_again(tmp_path: Path) -> None:
    done, here = installed(tmp_path)
    data = (done.directory / "main.py").read_bytes()
    _byte(done.directory)
    assert isinstance(check(done.directory, done.record, lookup(here)), Changed)
    (done.directory / "main.py").write_bytes(data)
    assert isinstance(check(done.directory, done.record, lookup(here)), Accepted)


def test_another_directory_with_the_same_bytes_is_accepted(tmp_path: Path) -> None:
    """I-34: acceptance is bound to the bytes."""
    done, here = installed(tmp_path)
    other = meter(tmp_path / "other")
    (other / "empty").mkdir()
    (other / "bin/meter").chmod(0o755)
    swap(done.directory, other)
    assert isinstance(check(done.directory, done.record, lookup(here)), Accepted)


def _gone(root: Path) -> None:
    root.rename(root.with_name(".gone"))


def _a_link(root: Path) -> None:
    _gone(root)
    root.symlink_to(".gone")


def _too_much(root: Path) -> None:
    with (root / "big").open("wb") as file:
        os.truncate(file.fileno(), limits.PACKAGE_BYTES + 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_gone, "No such file or directory"),
        (_a_link, "expected a directory, got a symbolic link"),
        (_too_much, "bytes in total; the limit is 268435456"),
    ],
)
def test_what_cannot_be_compared_is_changed(
    tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    """I-30: whatever stands in the way of telling, the plugin does not run."""
    done, here = installed(tmp_path)
    change(done.directory)
    for found in (
        check(done.directory, done.record, lookup(here)),
        check_for_start(done.directory, done.record, lookup(here)),
    ):
        assert isinstance(found, Changed)
        assert why in (found.why or "")
        assert found.package is None
        assert why in (barrier("meter", found, "do this") or "")


def test_what_may_not_be_read_is_changed() -> None:
    with open_folder() as folder:
        done, here = installed(folder)
        (done.directory / "main.py").chmod(0)

        def work() -> str:
            return str(getattr(check(done.directory, done.record, lookup(here)), "why", None))

        assert said_by_nobody(work) == "main.py: Permission denied"


def test_without_a_record_nothing_is_even_read(tmp_path: Path) -> None:
    """I-30, K-163: a directory that is not there gives the same answer."""
    found = check(tmp_path / "none", None, lookup(settled(tmp_path)))
    assert found == NotAccepted(why="nobody accepted it here")
    assert check_for_start(tmp_path / "none", None, lookup(settled(tmp_path / "x"))) == found


@pytest.mark.behaviour("I-32", "K-165")
def test_compiled_files_are_deleted_before_a_start_and_only_then(tmp_path: Path) -> None:
    """K-165, I-32, T-9: nobody accepted them."""
    done, here = installed(tmp_path)
    before = seen(done.directory)
    for place in ("__pycache__", "bin/__pycache__", "bin/__pycache__/__pycache__"):
        (done.directory / place).mkdir()
        (done.directory / place / "main.cpython-311.pyc").touch()
    assert isinstance(check(done.directory, done.record, lookup(here)), Accepted)
    assert (done.directory / "__pycache__").is_dir()
    assert isinstance(check_for_start(done.directory, done.record, lookup(here)), Accepted)
    assert seen(done.directory) == before


def test_compiled_files_of_a_directory_nobody_accepted_are_left_alone(tmp_path: Path) -> None:
    here = settled(tmp_path)
    root = notes(tmp_path / "plugin")
    (root / "__pycache__").mkdir()
    check_for_start(root, None, lookup(here))
    assert (root / "__pycache__").is_dir()


def test_a_compiled_file_beneath_a_link_is_left_alone(tmp_path: Path) -> None:
    done, here = installed(tmp_path)
    (tmp_path / "elsewhere" / "__pycache__").mkdir(parents=True)
    (done.directory / "link").symlink_to(tmp_path / "elsewhere")
    assert isinstance(check_for_start(done.directory, done.record, lookup(here)), Changed)
    assert (tmp_path / "elsewhere" / "__pycache__").is_dir()


def test_compiled_files_that_cannot_be_deleted_keep_the_plugin_from_running() -> None:
    """I-32: fails closed."""
    with open_folder() as folder:
        done, here = installed(folder)
        (done.directory / "__pycache__").mkdir()

        def work() -> str:
            found = check_for_start(done.directory, done.record, lookup(here))
            return str(getattr(found, "why", None))

        assert said_by_nobody(work) == f"{done.directory}: Permission denied"


def test_a_tree_deeper_than_any_package_is_changed_and_ends_the_search(tmp_path: Path) -> None:
    done, here = installed(tmp_path)
    done.directory.joinpath(*["d"] * (limits.PACKAGE_DEPTH + 5)).mkdir(parents=True)
    found = check_for_start(done.directory, done.record, lookup(here))
    assert isinstance(found, Changed)
    assert "33 levels of depth" in (found.why or "")


# ── what a person is told ─────────────────────────────────────────────────────────────


@pytest.mark.behaviour("I-31")
def test_a_widened_manifest_shows_the_consent_lines_that_differ(tmp_path: Path) -> None:
    """K-161, K-160, I-31, A29."""
    here = settled(tmp_path)
    done = put(arbiter(tmp_path / "source", "print(1)\n"), here)
    manifest = done.directory / "plugin.toml"
    text = manifest.read_text("utf-8").replace("max_holds = 2", "max_holds = 8")
    manifest.write_text(text.replace('env = ["PATH"]', 'env = ["PATH", "HOME"]'), "utf-8")
    found = check(done.directory, done.record, lookup(here))
    assert isinstance(found, Changed)
    assert explained("judge", found, "do this") == (
        "judge is not what was accepted: changed plugin.toml; do this",
        "consent then (-) and now (+):",
        *(f"  {line}" for line in found.consent),
    )
    assert found.consent == (
        "-   - may hold a finished turn open: up to 2 times per run",
        "+   - may hold a finished turn open: up to 8 times per run",
        "-       environment: PATH and nothing else",
        "+       environment: PATH, HOME and nothing else",
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "plugin.toml is not there any more"),
        ("name = 7\n", "plugin.toml does not load any more: plugin.toml has 1 fault; first: R-1"),
    ],
)
def test_a_manifest_that_does_not_load_any_more_is_said_so(
    tmp_path: Path, data: str | None, said: str
) -> None:
    done, here = installed(tmp_path)
    (done.directory / "plugin.toml").unlink()
    if data is not None:
        (done.directory / "plugin.toml").write_text(data, "utf-8")
    found = check(done.directory, done.record, lookup(here))
    assert isinstance(found, Changed)
    (line,) = found.consent
    assert line.startswith(said)


def test_a_record_edited_by_hand_forges_no_line(tmp_path: Path) -> None:
    """C-5: what was escaped when it was made is escaped when it is shown."""
    done, here = installed(tmp_path)
    text = "a\x1b[2Jb\u202e"
    record = msgspec.structs.replace(
        done.record, digest=digest_of(""), consent_text=text, consent=digest_of(text)
    )
    found = check(done.directory, record, lookup(here))
    assert isinstance(found, Changed)
    assert r"- a\u{1B}[2Jb\u{202E}" in found.consent
    assert all(line.isprintable() for line in found.consent)


@pytest.mark.parametrize("extra", [0, 1])
def test_so_many_paths_are_named_and_the_rest_are_counted(extra: int) -> None:
    """I-31."""
    most = limits.CHANGED_PATHS_SHOWN
    paths = tuple(f"added {number}" for number in range(most + extra))
    line = barrier("a\x1bb", Changed(paths=paths, why="more"), "do this") or ""
    assert line.startswith(r"a\u{1B}b is not what was accepted: added 0, ")
    assert f"added {most - 1}" in line
    assert f"added {most}" not in line
    assert (", and 1 more; more; do this" in line) is bool(extra)
    assert line.endswith("; more; do this")


def test_a_plugin_nobody_accepted_is_told_apart_from_a_changed_one() -> None:
    line = barrier("meter", NotAccepted(why="nobody accepted it here"), "do this")
    assert line == "meter does not run: nobody accepted it here; do this"
    assert explained("meter", NotAccepted(why="x"), "y") == ("meter does not run: x; y",)
    assert explained("meter", Changed(why="x"), "y") == ("meter is not what was accepted: x; y",)
