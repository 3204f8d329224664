"""No path leaves the fence, whatever the text says and wherever links lead [G-50 to G-52]."""

import os
from pathlib import Path

import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.files.fence import Denial
from stella.files.fence import inside
from stella.files.fence import lexical
from tests.making.child import open_folder
from tests.making.child import said_by_nobody

PARTS = st.sampled_from(
    ["", ".", "..", "src", "out", "loop", "dangling", "in", "up", "a\\b", "C:", "é", "\ud800", "\0"]
)
PATHS = st.one_of(st.text(), st.lists(PARTS, max_size=6).map("/".join))


@pytest.fixture(name="root", scope="module")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with links of every kind, beside a directory that must stay out of reach."""
    top = tmp_path_factory.mktemp("fence").resolve()
    (top / "outside").mkdir()
    root = top / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("")
    (root / "in").symlink_to("src")
    (root / "out").symlink_to(top / "outside")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to(top / "outside" / "new")
    (root / "hopeful").symlink_to("src/new")
    return root


@pytest.mark.behaviour("G-50", "G-52")
@pytest.mark.parametrize(
    ("path", "denial"),
    [
        ("", Denial.EMPTY),
        (".", Denial.EMPTY),
        ("./", Denial.EMPTY),
        ("././/.", Denial.EMPTY),
        ("a\0b", Denial.MALFORMED),
        ("a\\b", Denial.MALFORMED),
        ("..\\x", Denial.MALFORMED),
        ("\udc80", Denial.MALFORMED),
        ("/", Denial.ABSOLUTE),
        ("/etc/passwd", Denial.ABSOLUTE),
        ("//x", Denial.ABSOLUTE),
        ("C:", Denial.ABSOLUTE),
        ("c:x", Denial.ABSOLUTE),
        ("C:/x", Denial.ABSOLUTE),
        ("..", Denial.TRAVERSAL),
        ("../x", Denial.TRAVERSAL),
        ("a/../b", Denial.TRAVERSAL),
        ("a/b/..", Denial.TRAVERSAL),
        ("./..", Denial.TRAVERSAL),
    ],
)
def test_the_text_alone_is_denied(path: str, denial: Denial) -> None:
    """[G-50]"""
    assert lexical(path) is denial


@pytest.mark.parametrize(
    "path", ["a", "a/b", "./a", "a//b", "...", "a..b", "é:", "ab:c", "~", "-x"]
)
def test_an_ordinary_path_passes_the_text(path: str) -> None:
    assert lexical(path) is None


def test_a_path_of_the_longest_length_passes_and_one_byte_more_is_malformed() -> None:
    longest = "a" * limits.FENCE_PATH_BYTES
    assert lexical(longest) is None
    assert lexical(longest + "a") is Denial.MALFORMED
    assert lexical("é" * (limits.FENCE_PATH_BYTES // 2)) is None
    assert lexical("é" * (limits.FENCE_PATH_BYTES // 2) + "a") is Denial.MALFORMED


@pytest.mark.behaviour("G-51")
@pytest.mark.parametrize(
    ("path", "leads"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("new/deep/file", "new/deep/file"),
        ("in/a.py", "src/a.py"),
        ("in/new", "src/new"),
        ("hopeful", "src/new"),
        ("src/a.py/below", "src/a.py/below"),
    ],
)
def test_a_path_inside_comes_back_resolved(root: Path, path: str, leads: str) -> None:
    """[G-51]"""
    assert inside(root, path) == root / leads


@pytest.mark.behaviour("G-51")
@pytest.mark.parametrize("path", ["out", "out/x", "up", "up/outside", "dangling", "up/root2"])
def test_a_link_that_leads_out_escapes(root: Path, path: str) -> None:
    """[G-51]"""
    assert inside(root, path) is Denial.ESCAPES_ROOT


def test_a_link_that_leads_out_and_back_in_is_inside(root: Path) -> None:
    """What counts is where the path leads."""
    assert inside(root, "up/root/src/a.py") == root / "src" / "a.py"


def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    (root.parent / "root2").mkdir(exist_ok=True)
    assert inside(root, "up/root2") is Denial.ESCAPES_ROOT


def test_the_text_is_judged_before_the_disk(root: Path) -> None:
    assert inside(root, "out/../src/a.py") is Denial.TRAVERSAL


def test_a_root_that_is_reached_through_a_link_is_resolved(root: Path) -> None:
    link = root.parent / "link-to-root"
    link.symlink_to(root)
    assert inside(link, "src/a.py") == root / "src" / "a.py"


def test_a_root_that_cannot_be_entered_gives_a_path_that_cannot_be_opened() -> None:
    with open_folder() as folder:
        closed = folder / "closed"
        closed.mkdir()
        (closed / "out").symlink_to("/")
        closed.chmod(0)
        real = folder.resolve() / "closed" / "out"
        assert said_by_nobody(lambda: str(inside(folder, "closed/out"))) == str(real)


@pytest.mark.behaviour("G-51")
@given(path=PATHS)
@example(path="loop/../x")
@example(path="up/up/up")
@settings(deadline=None)
def test_no_path_leaves_the_fence(root: Path, path: str) -> None:
    """[G-50, G-51] for all texts."""
    found = inside(root, path)
    if isinstance(found, Denial):
        return
    assert found.is_relative_to(root)
    assert ".." not in found.parts
    assert Path(os.path.realpath(found)).is_relative_to(root)


@pytest.mark.behaviour("G-50")
@given(path=PATHS)
@settings(deadline=None)
def test_a_path_with_a_parent_component_is_never_let_through(path: str) -> None:
    if ".." in path.split("/"):
        assert lexical(path) is not None
