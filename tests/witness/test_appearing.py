"""Names at which no file may appear during a run [G-38, Q-26]."""

from pathlib import Path

import pytest

from stella.witness.appearing import Bounds
from stella.witness.appearing import Scope
from stella.witness.appearing import ancestors
from stella.witness.appearing import in_granted
from stella.witness.appearing import look
from stella.witness.runners import Runner
from tests.making.workspaces import fill
from tests.making.workspaces import workspace

PYTEST = Scope(runner=Runner.PYTEST, python=True, starts=("",), shadow=frozenset({"", "tests"}))


def seen(root: Path, scope: Scope, *files: str) -> list[str]:
    fill(root, *files)
    return sorted(look(root, scope).paths)


@pytest.mark.behaviour("Q-26")
@pytest.mark.parametrize(
    "path",
    [
        "sitecustomize.py",
        "deep/er/usercustomize.py",
        ".venv/lib/site-packages/x.pth",
        "json.py",
        "pytest.py",
        "unittest/__init__.py",
        "tests/pluggy.py",
        "tests/re.so",
        "x-1.0.dist-info/METADATA",
        "x.egg-info/PKG-INFO",
    ],
)
def test_a_startup_file_or_a_shadow_is_seen(tmp_path: Path, path: str) -> None:
    """[G-31, Q-26]"""
    root = workspace(tmp_path / "r", "tests/test_a.py")
    assert seen(root, PYTEST) == []
    (found,) = seen(root, PYTEST, path)
    assert path.startswith(found)


@pytest.mark.parametrize(
    "path",
    [
        "src/json.py",
        "json/data.txt",
        "tests/x.dist-info/METADATA",
        "calc.py",
        "conftest.py",
        "pytest.ini",
        ".git/sitecustomize.py",
        ".stella/candidates/c1/sitecustomize.py",
        "json.txt",
    ],
)
def test_a_file_that_no_runner_picks_up_there_is_not_seen(tmp_path: Path, path: str) -> None:
    root = workspace(tmp_path / "r", "tests/test_a.py")
    assert seen(root, PYTEST, path) == []


def test_without_an_interpreter_no_startup_file_counts(tmp_path: Path) -> None:
    scope = Scope(runner=Runner.OTHER, python=False, starts=("",))
    assert seen(workspace(tmp_path / "r"), scope, "sitecustomize.py", "json.py") == []


@pytest.mark.behaviour("Q-26")
def test_configuration_counts_beneath_a_granted_directory(tmp_path: Path) -> None:
    """[G-38, Q-26]"""
    granted = Scope(runner=Runner.PYTEST, python=True, starts=("tests",), granted=("tests",))
    files = ("tests/a/conftest.py", "tests/a/tox.ini", "tests/b.py", "tests/a/__init__.py")
    root = workspace(tmp_path / "r")
    assert seen(root, granted, *files, "conftest.py", "a/conftest.py") == [
        "tests/a/conftest.py",
        "tests/a/tox.ini",
    ]


def test_other_runners_have_no_configuration_but_conftest_is_watched(tmp_path: Path) -> None:
    """[G-31, G-38]"""
    granted = Scope(runner=Runner.OTHER, python=False, starts=("tests",), granted=("tests",))
    found = seen(workspace(tmp_path / "r"), granted, "tests/conftest.py", "tests/tox.ini")
    assert found == ["tests/conftest.py"]


def test_an_exempt_environment_is_passed_over_for_configuration_only(tmp_path: Path) -> None:
    scope = Scope(
        runner=Runner.PYTEST,
        python=True,
        starts=("",),
        granted=("",),
        exempt=frozenset({".venv"}),
    )
    files = (".venv/lib/conftest.py", ".venv/lib/x.pth", "lib/conftest.py")
    assert seen(workspace(tmp_path / "r"), scope, *files) == [".venv/lib/x.pth", "lib/conftest.py"]


def test_a_conftest_behind_a_new_link_is_seen(tmp_path: Path) -> None:
    """A runner follows the link that the walk does not."""
    granted = Scope(runner=Runner.PYTEST, python=True, starts=("tests",), granted=("tests",))
    root = workspace(tmp_path / "r", "tests/test_a.py")
    fill(tmp_path, "evil/conftest.py")
    (root / "tests" / "more").symlink_to(tmp_path / "evil")
    assert seen(root, granted) == ["tests/more/conftest.py"]


def test_single_paths_are_seen_whatever_they_are(tmp_path: Path) -> None:
    scope = Scope(runner=Runner.OTHER, python=False, exact=frozenset({"check", "link", "no"}))
    root = workspace(tmp_path / "r", "check/x")
    (root / "link").symlink_to("nowhere")
    assert seen(root, scope) == ["check", "link"]


def test_what_lies_past_the_first_horizon_is_not_new(tmp_path: Path) -> None:
    """[G-33]: it was not seen, so nobody can say that it was not there."""
    root = workspace(tmp_path / "r", "a/x.pth", "b/x.pth", "c/x.pth")
    scope = Scope(runner=Runner.UNITTEST, python=True, starts=("",), horizon=("b",))
    assert seen(root, scope) == ["a/x.pth"]


def test_a_look_that_hits_the_bound_says_so(tmp_path: Path) -> None:
    """[G-33]"""
    root = workspace(tmp_path / "r", "a", "b", "c")

    def gaps(most: int) -> tuple[str, ...]:
        bounds = Bounds(entries=most)
        scope = Scope(runner=Runner.UNITTEST, python=True, starts=("",), bounds=bounds)
        return look(root, scope).gaps

    assert gaps(3) == ()
    (gap,) = gaps(2)
    assert gap.startswith("more than 2 directory entries")


def test_a_shadowed_directory_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    scope = Scope(runner=Runner.PYTEST, python=True, shadow=frozenset({"gone"}))
    assert seen(workspace(tmp_path / "r"), scope) == []


def test_whether_a_path_is_granted() -> None:
    assert in_granted("tests/a", ["tests"], set())
    assert not in_granted("src/a", ["tests"], set())
    assert not in_granted("tests/.venv/a/b", ["tests"], {"tests/.venv"})
    assert in_granted("tests/.venv2/a", ["tests"], {"tests/.venv"})
    assert in_granted("a", [""], {"b"})


def test_the_directories_above_one() -> None:
    assert list(ancestors("a/b")) == ["a/b", "a", ""]
    assert list(ancestors("")) == [""]
