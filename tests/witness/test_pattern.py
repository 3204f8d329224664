"""Which file a runner or a person means by a name or a glob [G-31, Q-26, Q-31]."""

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella.errors import UsageError
from stella.witness import pattern
from stella.witness.runners import Runner

NAMES = st.text(st.sampled_from("ab.*?[]"), min_size=1, max_size=4).filter(
    lambda text: text not in (".", "..")
)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("tests/**", "tests/a.py", True),
        ("tests/**", "tests/deep/er/a.py", True),
        ("tests/**", "tests", False),
        ("tests/**", "testsa", False),
        ("tests/", "tests", True),
        ("**/*.snap", "a.snap", True),
        ("**/*.snap", "x/y/a.snap", True),
        ("**/*.snap", "x/y/a.snapx", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "ab", False),
        ("a/**/**/b", "a/x/b", True),
        ("**", "a/b", True),
        ("*", "a", True),
        ("*", ".hidden", True),
        ("*", "a/b", False),
        ("t?.py", "t1.py", True),
        ("t?.py", "t.py", False),
        ("t?.py", "t/.py", False),
        ("a**b", "axxb", True),
        ("a**b", "ax/xb", False),
        ("[ab].py", "[ab].py", True),
        ("[ab].py", "a.py", False),
        ("a.py", "axpy", False),
        ("./a//b", "a/b", True),
        ("new\nline*", "new\nline2", True),
    ],
)
def test_a_glob_matches_what_it_says(glob: str, path: str, *, matches: bool) -> None:
    """[G-31]"""
    assert bool(pattern.matcher(glob).fullmatch(path)) is matches


@pytest.mark.parametrize(
    ("glob", "word"),
    [("", "empty"), ("/tests/*", "absolute"), ("../*", "traversal"), ("a\\b", "malformed")],
)
def test_a_glob_that_leaves_the_root_is_refused(glob: str, word: str) -> None:
    with pytest.raises(UsageError, match=f"--watch-tests.* a path that is not .{word}.$"):
        pattern.matcher(glob)


@pytest.mark.parametrize(
    ("glob", "start"),
    [
        ("tests/**", "tests"),
        ("tests/unit/*.py", "tests/unit"),
        ("tests/a.py", "tests"),
        ("a.py", ""),
        ("*.py", ""),
        ("**/tests/a", ""),
        ("tests/*/a/b", "tests"),
    ],
)
def test_the_walk_for_a_glob_starts_as_deep_as_it_can(glob: str, start: str) -> None:
    assert pattern.start_of(glob) == start


@given(
    glob=st.lists(NAMES, min_size=1, max_size=4).map("/".join), parts=st.lists(NAMES, max_size=4)
)
@settings(deadline=None)
def test_what_a_glob_matches_lies_beneath_its_start(glob: str, parts: list[str]) -> None:
    path = "/".join(parts)
    start = pattern.start_of(glob)
    if pattern.matcher(glob).fullmatch(path) and start:
        assert path.startswith(f"{start}/")


@given(parts=st.lists(st.text(st.sampled_from("ab.[]"), min_size=1), min_size=1))
@settings(deadline=None)
def test_a_path_without_wildcards_matches_itself_alone(parts: list[str]) -> None:
    path = "/".join(part.strip(".") or "x" for part in parts)
    found = pattern.matcher(path)
    assert found.fullmatch(path)
    assert not found.fullmatch(f"{path}x")


def test_a_glob_of_many_wildcards_is_matched_in_good_time() -> None:
    found = pattern.matcher("/".join(["**"] * 20 + ["*a*a*a*b"]))
    assert not found.fullmatch("/".join(["a" * 30] * 10))


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("test_a.py", True),
        ("a_test.py", True),
        ("test_.py", True),
        ("_test.py", True),
        ("test.py", False),
        ("atest.py", False),
        ("test_a.pyc", False),
        ("test_a.txt", False),
        ("Test_a.py", False),
    ],
)
def test_a_test_file_is_known_by_its_name(name: str, *, test: bool) -> None:
    """[G-31]"""
    assert pattern.is_test(name) is test


def test_startup_files_are_known_by_their_names() -> None:
    """[G-31]"""
    names = ["sitecustomize.py", "usercustomize.py", "x.pth", "sitecustomize.pyc", "pth", "site.py"]
    assert [name for name in names if pattern.is_startup(name)] == names[:3]


def test_compiled_caches_are_known() -> None:
    """[Q-31]"""
    paths = ["tests/__pycache__/t.pyc", "__pycache__/x", "t.pyc", "t.py", "a__pycache__/x"]
    assert [path for path in paths if pattern.is_cache(path)] == paths[:3]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("json.py", "json"),
        ("json.pyc", "json"),
        ("json.so", "json"),
        ("json.cpython-311-x86_64-linux-gnu.so", "json"),
        ("json.abi3.so", "json"),
        ("json.pyd", "json"),
        ("json", None),
        ("json.txt", None),
        ("json.test.ts", None),
        ("my-json.py", None),
        (".py", None),
    ],
)
def test_the_module_of_a_file(name: str, module: str | None) -> None:
    assert pattern.module_of(name) == module


@pytest.mark.parametrize(
    ("module", "runner", "shadows"),
    [
        ("json", Runner.PYTEST, True),
        ("unittest", Runner.UNITTEST, True),
        ("json", Runner.OTHER, True),
        ("pytest", Runner.PYTEST, True),
        ("_pytest", Runner.PYTEST, True),
        ("pluggy", Runner.PYTEST, True),
        ("pytest", Runner.UNITTEST, False),
        ("calc", Runner.PYTEST, False),
    ],
)
def test_modules_that_stand_before_those_of_the_runner(
    module: str, runner: Runner, *, shadows: bool
) -> None:
    """[Q-26]"""
    assert pattern.shadowed(module, runner) is shadows


def test_metadata_of_distributions_is_known() -> None:
    """[Q-26]"""
    names = ["x-1.0.dist-info", "x.egg-info", "dist-info", "x.egg"]
    assert [name for name in names if pattern.is_metadata(name)] == names[:2]
