"""What a worker may put in front of a test, or in the place of one [G-30 to G-38, Q-26].

Each row was a way to make the granted test pass without the work.
"""

from pathlib import Path

import pytest

from stella.wire.evidence import TamperState
from stella.witness.snapshot import Watch
from tests.making.workspaces import fill
from tests.making.workspaces import program
from tests.making.workspaces import watching
from tests.making.workspaces import workspace

SITE = ".venv/lib/python3.14/site-packages"
PYTHON = ".venv/bin/python"
PROJECT = (
    "calc.py",
    "pkg/__init__.py",
    "pkg/__main__.py",
    "pkg/check.py",
    "flat/__init__.py",
    "src/calc/__init__.py",
    "tests/test_a.py",
    "tests/plug.py",
    "tests/__main__.py",
    "inner/tests/__init__.py",
    "inner/tests/test_b.py",
    "deep/conftest.py",
    "deep/unit/test_c.py",
    "plug.py",
    "check.py",
    "check.sh",
    "package.json",
    "noxfile.py",
    "coverage/index.html",
    f"{SITE}/xdist/__init__.py",
    f"{SITE}/_hypothesis_pytestplugin.py",
    f"{SITE}/fast.cpython-314-x86_64-linux-gnu.so",
    f"{SITE}/coverage/__init__.py",
    f"{SITE}/calc.py",
    f"{SITE}/flat/__init__.py",
    f"{SITE}/celery/__init__.py",
)


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = workspace(tmp_path / "root", *PROJECT)
    program(root / PYTHON, "ELF")
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr\n")
    return root


def changed(watch: Watch) -> dict[str, list[str]]:
    found = watch.compare().artifacts
    return {item.path: [kind.value for kind in item.kinds] for item in found}


@pytest.mark.behaviour("Q-26")
@pytest.mark.parametrize(
    ("command", "path"),
    [
        # a module in front of one that is installed
        ("pytest tests", "xdist.py"),
        ("pytest tests", "xdist/__init__.py"),
        ("pytest tests", "xdist.so"),
        ("pytest tests", "_hypothesis_pytestplugin.pyc"),
        ("pytest tests/test_a.py", "tests/fast.py"),
        ("pytest tests", "coverage/__init__.py"),
        (f"{PYTHON} -m pytest tests", "celery.py"),
        (f"{PYTHON} -m unittest discover -s tests", "tests/xdist.py"),
        (f"{PYTHON} check.py", "fast.py"),
        ("pytest inner/tests", "inner/xdist.py"),
        ("pytest deep/unit/test_c.py", "deep/xdist.py"),
        ("pytest deep/unit/test_c.py", "deep/json.py"),
        # the test itself
        ("python3 nosuch.py", "nosuch.py"),
        ("python3 -W error no/such.py -v", "no/such.py"),
        ("python3 deep", "deep/__main__.py"),
        ("python3 -m nosuch", "nosuch.py"),
        ("python3 -m nosuch", "nosuch.pyc"),
        ("python3 -m nosuch", "nosuch/__main__.py"),
        ("python3 -m pkg.new", "pkg/new.py"),
        ("python3 -m check", "check/__init__.py"),
        ("sh nosuch.sh", "nosuch.sh"),
        ("uv run nosuch.py", "nosuch.py"),
        # what is asked for by name
        ("pytest -p evil tests", "evil.py"),
        ("pytest -pevil tests", "evil.pyc"),
        ("pytest -p evil.one tests", "evil/one.py"),
        ("pytest -p plug tests", "plug/__init__.py"),
        ("pytest -p no:such tests", "tests/conftest.py"),
        # what says which command runs
        ("/bin/npm test", ".npmrc"),
        ("/bin/bun test", "bunfig.toml"),
        ("/bin/npm --prefix web test", "web/package.json"),
    ],
)
def test_what_appears_there_is_added(root: Path, command: str, path: str) -> None:
    watch = watching(root, command)
    assert changed(watch) == {}
    fill(root, path)
    assert changed(watch) == {path: ["added"]}


@pytest.mark.behaviour("Q-26")
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 tests", "tests/__main__.py"),
        ("python3 -m pkg", "pkg/__main__.py"),
        ("python3 -m pkg", "pkg/__init__.py"),
        ("python3 -Im pkg.check", "pkg/check.py"),
        ("python3 -mcheck", "check.py"),
        ("uv run check.py", "check.py"),
        ("bash -e check.sh", "check.sh"),
        ("pytest -p plug tests", "plug.py"),
        ("pytest -pplug tests", "plug.py"),
        ("pytest -p tests.plug tests", "tests/plug.py"),
        ("/bin/npm test", "package.json"),
        ("/bin/npm run x", "package.json"),
        ("/bin/yarn test", "package.json"),
        ("/bin/pnpm test", "package.json"),
        ("env CI=1 /bin/bun run x", "package.json"),
        ("/bin/nox", "noxfile.py"),
    ],
)
def test_what_runs_there_is_pinned(root: Path, command: str, path: str) -> None:
    plain = command.replace("bash", "/bin/bash")
    watch = watching(root, plain)
    (root / path).write_text("raise SystemExit(0)\n")
    assert changed(watch) == {path: ["edited"]}


@pytest.mark.parametrize(
    "path",
    [
        "calc.py",
        "calc/__init__.py",
        "flat/__init__.py",
        "flat/new.py",
        "src/calc/new.py",
        "src/xdist.py",
        "new.py",
        "xdist/data.txt",
        "tests/helper.py",
        "tests/test_new.py",
        "inner/tests/celery.py",
    ],
)
def test_work_is_not_added(root: Path, path: str) -> None:
    """A name that stood there is the project's own, installed or not."""
    watch = watching(root, "pytest tests inner/tests")
    fill(root, path)
    (root / path).write_text("work\n")
    assert watch.compare().finding is TamperState.CLEAN


def test_other_runners_have_no_modules_to_shadow(root: Path) -> None:
    watch = watching(root, "sh check.sh")
    fill(root, "xdist.py")
    assert watch.compare().finding is TamperState.CLEAN


def test_what_lies_outside_the_workspace_is_not_watched(root: Path) -> None:
    for command in ("python3 ../check.py", "/bin/npm --prefix .. test"):
        assert watching(root, command).compare().finding is TamperState.NOT_CHECKED
