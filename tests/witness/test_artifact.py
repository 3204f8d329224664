"""The identity of a watched file and the kinds of its changes [G-35 to G-37]."""

import hashlib
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.witness.artifact import ChangeKind
from stella.witness.artifact import Form
from stella.witness.artifact import Identity
from stella.witness.artifact import differences
from stella.witness.artifact import locate
from stella.witness.artifact import observe
from stella.witness.artifact import pytest_tables
from stella.witness.artifact import read
from stella.witness.artifact import readable
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.workspaces import relink

TABLES = '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-q"\n'


def seen(root: Path, path: str, form: Form = Form.WHOLE) -> Identity:
    identity = observe(root, path, form)
    assert isinstance(identity, Identity)
    return identity


def changed(root: Path, path: str, change: Callable[[Path], object]) -> tuple[ChangeKind, ...]:
    """The kinds of one change to a file that was there before."""
    before = seen(root, path)
    change(root / path)
    return differences(before, observe(root, path), Form.WHOLE)


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = (tmp_path / "root").resolve()
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "t.py").write_text("assert True\n")
    (root / "tests" / "t.py").chmod(0o644)
    return root


@pytest.mark.behaviour("G-35")
def test_the_fingerprint_is_made_of_kind_mode_links_and_bytes(root: Path) -> None:
    """[G-35]"""
    said = b"regular" + struct.pack("<I", 0o644) + struct.pack("<Q", 1) + b"assert True\n"
    assert seen(root, "tests/t.py").fingerprint == f"sha256:{hashlib.sha256(said).hexdigest()}"


@pytest.mark.behaviour("G-35", "K-114")
def test_an_equal_file_in_its_place_is_unchanged(root: Path) -> None:
    """[G-35, K-114]"""

    def rewrite(path: Path) -> None:
        path.unlink()
        path.write_text("assert True\n")
        path.chmod(0o644)
        os.utime(path, (0, 0))

    assert changed(root, "tests/t.py", rewrite) == ()


def move_away_and_link(path: Path) -> None:
    path.rename(path.with_name("moved.py"))
    path.symlink_to("moved.py")


def link_parent(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


def become_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_parent(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")


def edit_and_chmod(path: Path) -> None:
    path.write_text("x")
    path.chmod(0o755)


@pytest.mark.behaviour("G-37", "K-110")
@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda path: path.write_text("assert False\n"), ["edited"]),
        (lambda path: path.write_text("assert true\n"), ["edited"]),
        (lambda path: path.chmod(0o755), ["mode-changed"]),
        (lambda path: path.chmod(0o4644), ["mode-changed"]),
        (edit_and_chmod, ["edited", "mode-changed"]),
        (lambda path: path.unlink(), ["deleted"]),
        (replace_parent, ["deleted"]),
        (move_away_and_link, ["symlinked"]),
        (link_parent, ["symlinked"]),
        (lambda path: os.link(path, path.with_name("second")), ["hard-linked"]),
        (become_directory, ["replaced"]),
        (become_pipe, ["replaced"]),
    ],
)
def test_a_change_has_its_kinds(
    root: Path, change: Callable[[Path], object], kinds: list[str]
) -> None:
    """[G-37, K-110]"""
    assert [kind.value for kind in changed(root, "tests/t.py", change)] == kinds


@pytest.mark.behaviour("G-37")
def test_the_kinds_are_the_closed_list() -> None:
    """[G-37]"""
    assert [kind.value for kind in ChangeKind] == [
        "edited",
        "mode-changed",
        "deleted",
        "symlinked",
        "hard-linked",
        "replaced",
        "unreadable",
        "added",
    ]


def test_what_may_not_be_read_is_unreadable() -> None:
    """[G-36]"""
    with open_folder() as folder:
        (folder / "t.py").write_text("x")
        (folder / "t.py").chmod(0)
        (folder / "closed").mkdir(mode=0)
        root = folder.resolve()
        assert said_by_nobody(lambda: str(observe(root, "t.py"))) == "ChangeKind.UNREADABLE"
        assert said_by_nobody(lambda: str(observe(root, "closed/t.py"))) == "ChangeKind.UNREADABLE"


def test_a_name_that_no_file_system_takes_is_unreadable(root: Path) -> None:
    assert observe(root, "x" * 5000) is ChangeKind.UNREADABLE


Opened = tuple[os.stat_result, Identity]


@pytest.mark.behaviour("G-36")
def test_a_file_that_is_swapped_before_it_is_opened_is_unreadable(root: Path) -> None:
    """The path must lead to the opened file before it is read [G-36]."""

    def swapped(place: Path, form: Form) -> Opened:
        place.rename(place.with_name("old"))
        place.write_text("assert True\n")
        return read(place, form)

    assert observe(root, "tests/t.py", reading=swapped) is ChangeKind.UNREADABLE


@pytest.mark.behaviour("G-36")
def test_a_file_that_is_swapped_while_it_is_read_is_unreadable(root: Path) -> None:
    """And still afterwards [G-36]."""

    def swapped(place: Path, form: Form) -> Opened:
        found = read(place, form)
        place.rename(place.with_name("old"))
        place.write_text("assert True\n")
        return found

    assert observe(root, "tests/t.py", reading=swapped) is ChangeKind.UNREADABLE


def test_a_parent_that_becomes_a_link_while_a_file_is_read_is_unreadable(root: Path) -> None:
    """[G-36]"""

    def swapped(place: Path, form: Form) -> Opened:
        found = read(place, form)
        link_parent(place)
        return found

    assert observe(root, "tests/t.py", reading=swapped) is ChangeKind.UNREADABLE


@pytest.mark.behaviour("G-36")
def test_a_link_to_the_very_same_file_is_not_followed(root: Path) -> None:
    """Even when the file is back in its place afterwards [G-36]."""

    def swapped(place: Path, form: Form) -> Opened:
        aside = place.rename(place.with_name("aside"))
        place.symlink_to(aside)
        try:
            return read(place, form)
        finally:
            aside.rename(place)

    assert observe(root, "tests/t.py", reading=swapped) is ChangeKind.UNREADABLE


def test_a_pipe_that_takes_the_place_of_a_file_holds_nobody_up(root: Path) -> None:
    def swapped(place: Path, form: Form) -> Opened:
        become_pipe(place)
        return read(place, form)

    assert observe(root, "tests/t.py", reading=swapped) is ChangeKind.UNREADABLE


def test_a_file_that_cannot_be_read_to_its_end_is_unreadable(root: Path) -> None:
    def broken(place: Path, form: Form) -> Opened:
        raise OSError(5, "the disk is broken")

    assert observe(root, "tests/t.py", reading=broken) is ChangeKind.UNREADABLE


def test_no_descriptor_stays_open(root: Path) -> None:
    before = sorted(Path("/dev/fd").iterdir())
    for _ in range(50):
        observe(root, "tests/t.py")
        observe(root, "tests")
        observe(root, "tests/t.py", Form.PROGRAM)
    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("path", ["tests", "tests/t.py"])
def test_what_stands_at_a_real_path_is_located(root: Path, path: str) -> None:
    assert isinstance(locate(root, path), os.stat_result)


# ── pyproject ─────────────────────────────────────────────────────────────────────────


def table_kinds(root: Path, before: str, after: str) -> list[str]:
    path = root / "pyproject.toml"
    path.write_text(before)
    pinned = seen(root, "pyproject.toml", Form.PYTEST_TABLES)
    path.write_text(after)
    now = observe(root, "pyproject.toml", Form.PYTEST_TABLES)
    return [kind.value for kind in differences(pinned, now, Form.PYTEST_TABLES)]


@pytest.mark.behaviour("G-35", "K-109")
@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (TABLES, []),
        (TABLES.replace('"x"', '"y"'), []),
        (TABLES.replace("[tool.pytest", "# words\n[tool.pytest"), []),
        (TABLES.replace("addopts = ", "addopts  =  "), []),
        (TABLES + "[tool.ruff]\nx = 1\n", []),
        (TABLES.replace("-q", "-x"), ["edited"]),
        (TABLES + "testpaths = []\n", ["edited"]),
        ("[project]\n", ["edited"]),
        ("", ["edited"]),
        (TABLES + "[tool.pytest-env]\nx = 1\n", ["added"]),
        (TABLES.replace("-q", "-x") + "[tool.pytest_env]\nx = 1\n", ["edited", "added"]),
        ("[tool.pytest_env]\nx = 1\n", ["edited", "added"]),
        ("not toml at all", ["edited"]),
    ],
)
def test_of_a_pyproject_only_the_pytest_tables_count(
    root: Path, after: str, kinds: list[str]
) -> None:
    """[G-31, G-35, G-38, K-109]"""
    assert table_kinds(root, TABLES, after) == kinds


@pytest.mark.behaviour("G-38")
def test_a_first_pytest_table_counts_as_added(root: Path) -> None:
    """[G-38]"""
    assert table_kinds(root, "[project]\n", TABLES) == ["added"]
    assert table_kinds(root, "tool = 1\n", "[tool.pytest]\n") == ["added"]


@pytest.mark.parametrize("broken", ["not toml", "a = [" * 5000, "\ufeff a = 1", "a.b" * 3])
def test_a_pyproject_that_is_no_toml_counts_whole(root: Path, broken: str) -> None:
    assert table_kinds(root, broken, broken) == []
    assert table_kinds(root, broken, f"{broken}\n# more") == ["edited"]
    assert table_kinds(root, broken, TABLES) == ["edited"]


@pytest.mark.behaviour("G-35")
def test_values_that_json_cannot_tell_apart_are_told_apart(root: Path) -> None:
    """[G-35]: canonical form."""
    values = ["nan", "inf", "-inf", "1", "1.0", "true", '"1"', "9" * 30, "1979-05-27", "[1]", "{}"]
    texts = {value: f"[tool.pytest]\nx = {value}\n" for value in values}
    shown = {str(pytest_tables(text.encode())) for text in texts.values()}
    assert len(shown) == len(values)


def test_the_order_of_keys_does_not_count(root: Path) -> None:
    left = "[tool.pytest]\na = 1\nb = [{c = 1, d = 2}]\n"
    right = "[tool.pytest]\nb = [{d = 2, c = 1}]\na = 1\n"
    assert table_kinds(root, left, right) == []


def test_the_mode_of_a_pyproject_does_not_count_but_its_links_do(root: Path) -> None:
    """It is taken over the tables only [G-35], and one hard link is required [G-36]."""
    path = root / "pyproject.toml"
    path.write_text(TABLES)
    pinned = seen(root, "pyproject.toml", Form.PYTEST_TABLES)
    path.chmod(0o755)
    now = observe(root, "pyproject.toml", Form.PYTEST_TABLES)
    assert differences(pinned, now, Form.PYTEST_TABLES) == ()
    os.link(path, root / "second")
    now = observe(root, "pyproject.toml", Form.PYTEST_TABLES)
    assert differences(pinned, now, Form.PYTEST_TABLES) == (ChangeKind.HARD_LINKED,)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_pyproject_above_the_bound_counts_whole(root: Path, extra: int) -> None:
    text = TABLES + "#" * (limits.TOML_CONFIG_BYTES - len(TABLES) + extra)
    kinds = table_kinds(root, text, text[:-1] + "!")
    assert kinds == (["edited"] if extra else [])


@given(data=st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_are_tables_or_are_not(data: bytes) -> None:
    found = pytest_tables(b"[tool.pytest]\n" + data)
    assert found is None or all(name.startswith("pytest") for name in found)


# ── program words ─────────────────────────────────────────────────────────────────────


@pytest.fixture(name="linked")
def _linked(root: Path) -> Path:
    """A root whose `bin/python` is a link to a link to a program outside."""
    for name in ("python3.11", "python3.12"):
        (root.parent / name).write_text(name)
    (root / "bin").mkdir()
    (root / "bin" / "python").symlink_to("python3")
    (root / "bin" / "python3").symlink_to(root.parent / "python3.11")
    return root


def program_kinds(root: Path, change: Callable[[], object]) -> list[str]:
    pinned = seen(root, "bin/python", Form.PROGRAM)
    change()
    now = observe(root, "bin/python", Form.PROGRAM)
    return [kind.value for kind in differences(pinned, now, Form.PROGRAM)]


@pytest.mark.behaviour("Q-28")
def test_a_linked_program_is_unchanged_while_nothing_changes(linked: Path) -> None:
    """[Q-28]"""
    assert program_kinds(linked, lambda: None) == []


@pytest.mark.behaviour("Q-28")
def test_a_linked_program_with_another_text_or_target_is_edited(linked: Path) -> None:
    """[Q-28]"""
    link, inner = linked / "bin" / "python", linked / "bin" / "python3"
    assert program_kinds(linked, lambda: relink(inner, "../../python3.12")) == ["edited"]
    assert program_kinds(linked, lambda: relink(link, "../bin/python3")) == ["edited"]
    target = linked.parent / "python3.12"
    assert program_kinds(linked, lambda: target.write_text("wrapped")) == ["edited"]
    assert program_kinds(linked, lambda: target.chmod(0o777)) == ["mode-changed"]


def test_a_linked_program_that_becomes_a_file_is_edited(linked: Path) -> None:
    link = linked / "bin" / "python"

    def replace() -> None:
        text = link.read_text()
        link.unlink()
        link.write_text(text)

    assert program_kinds(linked, replace) == ["edited"]


def test_a_linked_program_that_leads_nowhere_is_unreadable(linked: Path) -> None:
    link, inner = linked / "bin" / "python", linked / "bin" / "python3"
    assert program_kinds(linked, inner.unlink) == ["unreadable"]
    relink(inner, linked.parent / "python3.11")
    assert program_kinds(linked, lambda: relink(inner, "python")) == ["unreadable"]
    relink(inner, linked.parent / "python3.11")
    assert program_kinds(linked, link.unlink) == ["deleted"]


def test_a_linked_program_that_leads_to_a_directory_is_replaced(linked: Path) -> None:
    inner = linked / "bin" / "python3"
    assert program_kinds(linked, lambda: relink(inner, linked)) == ["replaced"]


def test_hard_links_of_a_program_do_not_count(linked: Path) -> None:
    """Installers link the files of an environment [Q-28]."""
    target = linked.parent / "python3.11"
    assert program_kinds(linked, lambda: os.link(target, linked.parent / "second")) == []


def test_a_path_that_is_no_text_can_be_written_down() -> None:
    assert readable("tests/é.py") == "tests/é.py"
    assert readable(os.fsdecode(b"tests/\xff.py")) == "tests/\ufffd.py"
