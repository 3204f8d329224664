"""A package is walked, digested and copied without following a link, within its limits."""

import errno
import hashlib
import os
import resource
import socket
import stat
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.errors import PackageRefused
from stella.files import tree
from stella.files.kind import Kind
from stella.files.tree import Entry
from stella.files.tree import Package
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
from tests.making.faults import on_opening
from tests.making.packages import notes
from tests.making.packages import seen


def walked(root: Path) -> Package:
    with tree.opened(root) as opened:
        return tree.walk(opened)


def as_installed(root: Path) -> Package:
    with tree.opened(root) as opened:
        return tree.installed(opened)


def copied(root: Path, into: Path) -> Package:
    into.mkdir()
    with tree.opened(root) as source, tree.opened(into) as target:
        return tree.copy(source, target)


def refusal(root: Path) -> str:
    with pytest.raises(PackageRefused) as caught:
        walked(root)
    return str(caught.value)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.behaviour("I-28")
def test_the_digest_is_over_sorted_lines_of_path_kind_mode_and_content(tmp_path: Path) -> None:
    """I-28, with paths sorted by their bytes: `a-b` stands before `a/b`."""
    root = tmp_path / "package"
    (root / "a").mkdir(parents=True)
    (root / "a" / "b").write_bytes(b"deep")
    (root / "a-b").write_bytes(b"flat")
    (root / "run").write_bytes(b"#!")
    (root / "run").chmod(0o700)
    lines = (
        b"a\0d0755\0\n"
        b"a-b\0f0644\0" + sha(b"flat").encode() + b"\n"
        b"a/b\0f0644\0" + sha(b"deep").encode() + b"\n"
        b"run\0f0755\0" + sha(b"#!").encode() + b"\n"
    )
    package = walked(root)
    assert package.digest == f"sha256:{sha(lines)}"
    assert package.files == {
        "a-b": f"sha256:{sha(b'flat')}",
        "a/b": f"sha256:{sha(b'deep')}",
        "run": f"sha256:{sha(b'#!')}",
    }
    assert package.entry("a") == Entry(path="a", kind=Kind.DIRECTORY, mode=0o755)
    assert package.entry("c") is None


def test_an_empty_package_has_the_digest_of_nothing(tmp_path: Path) -> None:
    assert walked(tmp_path) == Package(entries=())
    assert walked(tmp_path).digest == f"sha256:{sha(b'')}"


@pytest.mark.behaviour("I-28")
def test_every_part_of_an_entry_changes_the_digest() -> None:
    """I-28: path, kind, mode and content each count."""
    entry = Entry(path="a", kind=Kind.FILE, mode=0o644, size=1, sha256=sha(b"x"))
    others = (
        Entry(path="b", kind=Kind.FILE, mode=0o644, size=1, sha256=sha(b"x")),
        Entry(path="a", kind=Kind.DIRECTORY, mode=0o644, size=1, sha256=sha(b"x")),
        Entry(path="a", kind=Kind.LINK, mode=0o644, size=1, sha256=sha(b"x")),
        Entry(path="a", kind=Kind.FILE, mode=0o755, size=1, sha256=sha(b"x")),
        Entry(path="a", kind=Kind.FILE, mode=0o4644, size=1, sha256=sha(b"x")),
        Entry(path="a", kind=Kind.FILE, mode=0o644, size=1, sha256=sha(b"y")),
    )
    digests = {Package(entries=(each,)).digest for each in (entry, *others)}
    assert len(digests) == 1 + len(others)


def test_modes_are_made_plain_and_neither_git_nor_compiled_files_are_copied(
    tmp_path: Path,
) -> None:
    """K-158, A17, I-6: 0777 and 0600, sticky and world-writable ones."""
    root = notes(tmp_path / "package")
    (root / "wide").write_text("x")
    (root / "wide").chmod(0o777)
    (root / "narrow").write_text("x")
    (root / "narrow").chmod(0o600)
    (root / "open").mkdir()
    (root / "open").chmod(0o1777)
    for skipped in (".git", "__pycache__", "open/.git", "open/__pycache__"):
        (root / skipped).mkdir()
        (root / skipped / "x").write_text("x")
    package = copied(root, tmp_path / "copy")
    assert package == walked(root)
    assert {name: stat.S_IMODE(mode) for name, (mode, _) in seen(tmp_path / "copy").items()} == {
        "main.py": 0o644,
        "narrow": 0o644,
        "open": 0o755,
        "plugin.toml": 0o644,
        "wide": 0o755,
    }


def test_a_git_file_is_skipped_and_a_file_called_pycache_is_not(tmp_path: Path) -> None:
    """I-6: in a linked worktree `.git` is a file; only a directory holds compiled files."""
    (tmp_path / ".git").write_text("gitdir: /elsewhere")
    (tmp_path / "__pycache__").write_text("x")
    assert [entry.path for entry in walked(tmp_path).entries] == ["__pycache__"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_copy_is_the_same_bytes_and_modes_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    root = notes(tmp_path / "package")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "big").write_bytes(os.urandom(limits.MIB + 1))
    old = os.umask(umask)
    try:
        package = copied(root, tmp_path / "copy")
    finally:
        os.umask(old)
    assert as_installed(tmp_path / "copy") == package == walked(root)
    assert (tmp_path / "copy/deep/er/big").read_bytes() == (root / "deep/er/big").read_bytes()


def test_a_source_that_is_a_link_or_no_directory_is_refused_by_kind(tmp_path: Path) -> None:
    """I-5: the source directory itself included."""
    (tmp_path / "link").symlink_to(notes(tmp_path / "package"))
    (tmp_path / "file").write_text("x")
    for name, kind in (("link", "symbolic link"), ("file", "regular file")):
        with pytest.raises(PackageRefused) as caught, tree.opened(tmp_path / name):
            pass
        assert f"{tmp_path / name}: expected a directory, got a {kind}" in str(caught.value)
    with pytest.raises(PackageRefused, match="No such file"), tree.opened(tmp_path / "none"):
        pass


def test_a_name_can_be_opened_in_a_directory_that_is_held(tmp_path: Path) -> None:
    notes(tmp_path / "tier" / "notes")
    with tree.opened(tmp_path / "tier") as above:
        (tmp_path / "tier").rename(tmp_path / "moved")
        with tree.opened(tmp_path / "tier" / "notes", above=above) as root:
            assert tree.read(root, "main.py", 100) == b"print(1)\n"


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    old = Path.cwd()
    os.chdir(path.parent)  # the path of a socket may have only 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(path.name)
    finally:
        os.chdir(old)


def make_link(path: Path) -> None:
    path.symlink_to("/etc/shadow")


def make_directory_link(path: Path) -> None:
    path.symlink_to("..")


def make_hard_link(path: Path) -> None:
    outside = path.parents[1] / "outside"
    outside.write_text("x")
    os.link(outside, path)


def make_setuid(path: Path) -> None:
    path.write_text("x")
    path.chmod(0o4755)


def make_setgid_directory(path: Path) -> None:
    path.mkdir()
    path.chmod(0o2755)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (make_fifo, "fifo"),
        (make_socket, "socket"),
        (make_link, "symbolic link"),
        (make_directory_link, "symbolic link"),
        (make_hard_link, "hard link"),
        (make_setuid, "setuid"),
        (make_setgid_directory, "setgid"),
    ],
)
@pytest.mark.parametrize("place", ["odd", "deep/odd"])
def test_what_is_no_plain_file_is_refused_with_path_and_kind(
    tmp_path: Path, make: Callable[[Path], None], kind: str, place: str
) -> None:
    """K-157, A7, A8, A10, A11, A13, A17, G14, I-5."""
    root = notes(tmp_path / "package")
    (root / place).parent.mkdir(exist_ok=True)
    make(root / place)
    message = refusal(root)
    assert message.startswith(f"{place}: ")
    assert kind in message
    with pytest.raises(PackageRefused):
        copied(root, tmp_path / "copy")


def test_a_fifo_in_place_of_the_manifest_is_refused_unopened(tmp_path: Path) -> None:
    """A11: opening it would wait for a writer for ever, or wake one up."""
    os.mkfifo(tmp_path / "plugin.toml")

    def work() -> str:
        opened: list[str] = []
        on_opening("plugin.toml", lambda: opened.append("plugin.toml"))
        with tree.opened(tmp_path) as root:
            try:
                tree.read(root, "plugin.toml", 10)
            except PackageRefused as error:
                return f"{error} {opened}"
        return "was read"

    assert said(work) == "plugin.toml: expected a regular file, got a fifo []"


def test_a_file_is_read_to_the_bound_and_a_missing_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    with tree.opened(tmp_path) as root:
        assert [tree.read(root, "a", most) for most in (0, 4, 5, 6)] == [
            b"",
            b"1234",
            b"12345",
            b"12345",
        ]
        assert tree.read(root, "b", 5) is None


# ── limits ────────────────────────────────────────────────────────────────────────────


def test_the_file_that_is_one_too_many_is_named_with_the_limit(tmp_path: Path) -> None:
    """K-156, G14, I-4: at the limit and one past it; a directory is no file."""
    root = tmp_path / "package"
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
    for number in range(limits.PACKAGE_FILES):
        (root / ("a" if number % 2 else "b") / f"{number:05}").touch()
    assert len(walked(root).files) == limits.PACKAGE_FILES
    (root / "z").touch()
    assert refusal(root) == "z: 10001 files; the limit is 10000"


def test_the_directory_that_is_one_too_many_is_named_with_the_limit(tmp_path: Path) -> None:
    root = tmp_path / "package"
    root.mkdir()
    for number in range(limits.PACKAGE_DIRECTORIES):
        (root / f"{number:05}").mkdir()
    assert len(walked(root).entries) == limits.PACKAGE_DIRECTORIES
    (root / "z").mkdir()
    assert refusal(root) == "z: 10001 directories; the limit is 10000"


def test_no_more_names_are_listed_than_asked_for(tmp_path: Path) -> None:
    """G14: a directory of endless names costs no more than a legal one."""
    for number in range(20):
        (tmp_path / str(number)).touch()
    with tree.opened(tmp_path) as root:
        assert len(tree.names_in(root, 7)) == 7
        assert len(tree.names_in(root)) == 20


def test_the_total_size_is_judged_before_a_byte_is_read(tmp_path: Path) -> None:
    """K-156, A14, I-4: sparse files, so that a byte that were read would be seen in the time."""
    root = notes(tmp_path / "package")
    left = limits.PACKAGE_BYTES - sum(path.stat().st_size for path in root.iterdir())
    with (root / "a").open("wb") as file:
        os.truncate(file.fileno(), left)
    assert sum(entry.size for entry in walked(root).entries) == limits.PACKAGE_BYTES
    with (root / "z").open("wb") as file:
        os.truncate(file.fileno(), 1)
    assert refusal(root) == "z: 268435457 bytes in total; the limit is 268435456"
    with (root / "a").open("wb") as file:
        os.truncate(file.fileno(), 2**40)
    assert refusal(root) == "a: 1099511627776 bytes in total; the limit is 268435456"


def test_depth_counts_the_parts_of_a_path(tmp_path: Path) -> None:
    """K-156, I-4."""
    parts = ["d"] * (limits.PACKAGE_DEPTH - 1)
    root = tmp_path / "package"
    (root / "/".join(parts)).mkdir(parents=True)
    (root / "/".join((*parts, "f"))).touch()
    assert len(walked(root).files) == 1
    (root / "/".join((*parts, "e"))).mkdir()
    (root / "/".join((*parts, "e", "f"))).touch()
    assert refusal(root).endswith("e/f: 33 levels of depth; the limit is 32")


def test_the_length_of_a_path_is_in_bytes(tmp_path: Path) -> None:
    """K-156, I-4: 1024 bytes and one more, of characters that have two bytes each."""
    root = tmp_path / "package"
    inner = root.joinpath(*["é" * 100] * 5)
    inner.mkdir(parents=True)
    rest = limits.PACKAGE_PATH_BYTES - len(str(inner.relative_to(root)).encode()) - 1
    (inner / ("a" * rest)).touch()
    assert len(walked(root).files) == 1
    (inner / ("b" * (rest + 1))).touch()
    assert refusal(root).endswith("b: 1025 bytes in one path; the limit is 1024")


# ── names ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\nb", "a b"),
        (b"a\tb", "a b"),
        (b"a\x1b[2Jb", r"a\u{1B}[2Jb"),
        ("a\u202eb".encode(), r"a\u{202E}b"),
        ("a\u200bb".encode(), r"a\u{200B}b"),
        ("a\u0085b".encode(), r"a\u{85}b"),
        (b"a\xffb", r"a\u{DCFF}b"),
        (b" a", "a"),
        ("a\u00a0b".encode(), "a b"),
    ],
)
def test_a_name_that_does_not_show_as_it_is_is_refused_and_shown_escaped(
    tmp_path: Path, name: bytes, shown: str
) -> None:
    """A19, G14, I-4."""
    (tmp_path / os.fsdecode(name)).touch()
    message = refusal(tmp_path)
    assert message.startswith(f"{shown}: the name ")
    assert message.isprintable()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Readme", "README"),
        ("straße", "STRASSE"),
        (unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")),
        (unicodedata.normalize("NFC", "É"), unicodedata.normalize("NFD", "é")),
    ],
)
def test_two_names_that_some_file_system_would_merge_are_refused(
    tmp_path: Path, first: str, second: str
) -> None:
    """A20, F4: case twins and normal forms."""
    (tmp_path / first).touch()
    (tmp_path / second).mkdir()
    assert "is the same name on some file systems" in refusal(tmp_path)


def test_names_of_many_languages_are_fine(tmp_path: Path) -> None:
    for name in ("日本語.txt", "наука", "emoji-🎉", "a b", "-x", "con", "ß"):
        (tmp_path / name).touch()
    assert len(walked(tmp_path).entries) == 7


@pytest.mark.parametrize("name", [".stella-configured.json", ".Stella-Configured.JSON"])
def test_the_hosts_own_file_may_not_come_with_a_package(tmp_path: Path, name: str) -> None:
    """I-6; deeper down the name means nothing."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).touch()
    walked(tmp_path)
    (tmp_path / name).touch()
    assert "the host keeps a file of that name" in refusal(tmp_path)


# ── while it changes ──────────────────────────────────────────────────────────────────


def in_a_race(root: Path, name: str, act: Callable[[], None], into: Path | None = None) -> str:
    """Walk or copy in a process in which `act` happens just before `name` is opened."""

    def work() -> str:
        on_opening(name, act)
        with suppress(FileExistsError):
            package = walked(root) if into is None else copied(root, into)
            return f"{package.digest} was walked"
        return "there was a copy already"

    return said(work)


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    """A23: between the look and the opening."""
    root = notes(tmp_path / "package")
    (tmp_path / "secret").write_text("planted canary")

    def become_a_link() -> None:
        (root / "main.py").unlink()
        (root / "main.py").symlink_to(tmp_path / "secret")

    assert in_a_race(root, "main.py", become_a_link, tmp_path / "copy").startswith(
        "PackageRefused: main.py: "
    )
    assert b"canary" not in b"".join(data for _, data in seen(tmp_path / "copy").values())


def test_a_file_that_becomes_a_fifo_does_not_stop_the_host(tmp_path: Path) -> None:
    root = notes(tmp_path / "package")

    def become_a_fifo() -> None:
        (root / "main.py").unlink()
        os.mkfifo(root / "main.py")

    expected = "PackageRefused: main.py: expected a regular file, got a fifo"
    assert in_a_race(root, "main.py", become_a_fifo) == expected


def test_a_directory_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    root = notes(tmp_path / "package")
    (root / "lib").mkdir()
    (tmp_path / "elsewhere").mkdir()

    def become_a_link() -> None:
        (root / "lib").rmdir()
        (root / "lib").symlink_to(tmp_path / "elsewhere")

    assert in_a_race(root, "lib", become_a_link).startswith("PackageRefused: lib: ")


@pytest.mark.parametrize("said_size", [99, 101])
def test_a_file_whose_size_is_not_what_it_said_is_refused(tmp_path: Path, said_size: int) -> None:
    """A14, A16: it grew or shrank; what was written of it is bounded by what it said."""
    (tmp_path / "big").write_bytes(b"x" * 100)
    with (tmp_path / "big").open("rb") as source, (tmp_path / "copy").open("wb") as target:
        with pytest.raises(PackageRefused, match="big: changed while it was read"):
            tree.hashed(source.fileno(), "big", said_size, target.fileno())
        assert os.fstat(target.fileno()).st_size <= said_size + 1


def test_a_file_without_an_end_is_not_read_for_ever() -> None:
    """A14: what was said to be ten bytes, and goes on."""
    with (
        Path("/dev/zero").open("rb") as endless,
        pytest.raises(PackageRefused, match="zero: changed while it was read"),
    ):
        tree.hashed(endless.fileno(), "zero", 10, None)


def test_what_cannot_be_read_is_refused_with_the_systems_word(tmp_path: Path) -> None:
    """F10, I-8."""
    with open_folder() as folder:
        root = notes(folder / "package")
        (root / "closed").mkdir()
        for name, mode in (("main.py", 0), ("closed", 0)):
            (root / name).chmod(mode)
            assert said_by_nobody(lambda: walked(root).digest) == (
                f"PackageRefused: {name}: Permission denied"
            )
            (root / name).chmod(0o755)


def test_a_full_disk_is_the_systems_error_and_not_the_packages(tmp_path: Path) -> None:
    """A28: what cannot be written is no fault of what is read."""
    root = notes(tmp_path / "package")
    (root / "big").write_bytes(b"x" * 5000)

    def work() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            copied(root, tmp_path / "copy")
        except OSError as error:
            return errno.errorcode[error.errno or 0]
        return "was copied"

    assert said(work) == "EFBIG"


# ── installed trees ───────────────────────────────────────────────────────────────────


def test_an_installed_tree_is_taken_as_it_is(tmp_path: Path) -> None:
    """I-28: modes, links and git directories count; only compiled files and one file do not."""
    root = notes(tmp_path / "plugin")
    before = as_installed(root)
    (root / ".stella-configured.json").touch()
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "main.pyc").touch()
    assert as_installed(root) == before
    (root / "main.py").chmod(0o4755)
    (root / ".git").mkdir()
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "a\nb")
    os.link(root / "plugin.toml", tmp_path / "second-name")
    assert [(e.path, e.kind, e.mode) for e in as_installed(root).entries] == [
        (".git", Kind.DIRECTORY, stat.S_IMODE((root / ".git").stat().st_mode)),
        ("a\nb", Kind.FIFO, stat.S_IMODE((root / "a\nb").lstat().st_mode)),
        ("link", Kind.LINK, stat.S_IMODE((root / "link").lstat().st_mode)),
        ("main.py", Kind.FILE, 0o4755),
        ("plugin.toml", Kind.FILE, 0o644),
    ]


def test_an_installed_tree_is_held_to_the_limits_too(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        os.truncate(file.fileno(), limits.PACKAGE_BYTES + 1)
    with pytest.raises(PackageRefused, match="bytes in total"):
        as_installed(tmp_path)


def test_what_differs_between_two_packages_is_named_once_each(tmp_path: Path) -> None:
    """I-7: added, removed, other bytes, other mode."""
    before, after = notes(tmp_path / "before"), notes(tmp_path / "after")
    assert tree.differing(walked(before), walked(after)) == ()
    (before / "removed").touch()
    (after / "added").touch()
    (after / "main.py").write_text("print(2)\n")
    (after / "plugin.toml").chmod(0o755)
    assert tree.differing(walked(before), walked(after)) == (
        "added",
        "main.py",
        "plugin.toml",
        "removed",
    )


def test_names_are_listed_in_byte_order_and_the_directory_can_be_listed_again(
    tmp_path: Path,
) -> None:
    for name in ("b", "a", "é", "Z"):
        (tmp_path / name).touch()
    with tree.opened(tmp_path) as root:
        assert tree.names_in(root) == tree.names_in(root) == ["Z", "a", "b", "é"]


# ── places ────────────────────────────────────────────────────────────────────────────


def test_a_directory_lies_in_itself_and_in_what_is_above_it_by_any_name(tmp_path: Path) -> None:
    """I-8, S2-43."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    inner = tmp_path / "a" / "b"
    assert tree.lies_in(inner, tmp_path / "a")
    assert tree.lies_in(inner, inner)
    assert tree.lies_in(inner, tmp_path / "link")
    assert tree.lies_in(inner / "not" / "there", tmp_path / "link")
    assert not tree.lies_in(tmp_path / "a", inner)
    assert not tree.lies_in(tmp_path / "ab", tmp_path / "a")
    assert tree.lies_in(tmp_path / "none" / "x", tmp_path / "none")
    assert not tree.lies_in(tmp_path, tmp_path / "none")


NAMES = st.text(alphabet="ab.-é", min_size=1, max_size=3).filter(lambda n: n not in {".", ".."})


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(files=st.dictionaries(NAMES, st.binary(max_size=20), max_size=5))
def test_a_copy_of_any_package_is_that_package(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "package").mkdir()
    for name, data in files.items():
        (root / "package" / name).write_bytes(data)
    package = copied(root / "package", root / "copy")
    assert package == walked(root / "package") == as_installed(root / "copy")
    assert {path.name: path.read_bytes() for path in (root / "copy").iterdir()} == files


def test_the_hosts_own_file_is_a_file_and_nothing_else(tmp_path: Path) -> None:
    """[I-6, I-28] A directory or a link of that name is part of the tree, and of its digest."""
    root = tmp_path / "root"
    root.mkdir()
    own = root / tree.CONFIGURED
    own.touch()
    with tree.opened(root) as here:
        bare = tree.installed(here).digest
    own.unlink()
    own.mkdir()
    (own / "evil.py").touch()
    with tree.opened(root) as here:
        assert [entry.path for entry in tree.installed(here).entries] == [
            tree.CONFIGURED,
            f"{tree.CONFIGURED}/evil.py",
        ]
    (own / "evil.py").unlink()
    own.rmdir()
    own.symlink_to("/etc")
    with tree.opened(root) as here:
        assert tree.installed(here).digest != bare
