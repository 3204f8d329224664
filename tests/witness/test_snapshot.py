"""The tamper watch: pinned once, compared after every turn [G-30 to G-42]."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.wire.evidence import Artifact
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.witness.appearing import Bounds
from stella.witness.artifact import ChangeKind
from stella.witness.plan import resolve
from stella.witness.snapshot import TamperReport
from stella.witness.snapshot import Watch
from stella.witness.snapshot import pin
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.workspaces import fill
from tests.making.workspaces import planned
from tests.making.workspaces import program
from tests.making.workspaces import watching
from tests.making.workspaces import workspace

PROJECT = ("src/week.py", "tests/test_week.py", "tests/conftest.py", "tests/cases.json")
COMMAND = "pytest -q tests/test_week.py::test_iso"

Change = Callable[[Path], object]


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return workspace(tmp_path / "root", *PROJECT)


def after(watch: Watch, change: Change) -> TamperReport:
    change(watch.root)
    return watch.compare()


def kinds(report: TamperReport) -> dict[str, list[str]]:
    return {artifact.path: [kind.value for kind in artifact.kinds] for artifact in report.artifacts}


def adding(*names: str) -> Change:
    return lambda root: fill(root, *names)


def editing(name: str, text: str = "changed\n") -> Change:
    return lambda root: (root / name).write_text(text)


# ── the finding ───────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-40")
def test_an_untouched_tree_is_clean(root: Path) -> None:
    """[G-40]"""
    report = watching(root, COMMAND).compare()
    assert report == TamperReport(finding=TamperState.CLEAN, artifacts=(), complete=True)


def test_work_outside_the_artifacts_is_clean(root: Path) -> None:
    watch = watching(root, COMMAND)
    report = after(watch, adding("src/week.py", "src/new.py", "docs/a.md", ".gitignore"))
    assert report.finding is TamperState.CLEAN


@pytest.mark.behaviour("K-106")
def test_an_edited_test_is_tampered(root: Path) -> None:
    """[K-106]"""
    report = after(watching(root, COMMAND), editing("tests/test_week.py"))
    assert report.finding == Tampered(tampered=Artifact(artifact="tests/test_week.py"))
    assert kinds(report) == {"tests/test_week.py": ["edited"]}


@pytest.mark.behaviour("J-51", "G-40", "K-113")
def test_the_first_artifact_in_path_order_is_named_and_all_are_listed(root: Path) -> None:
    """[G-40, K-113]"""
    watch = watching(root, "pytest tests")
    editing("tests/test_week.py")(root)
    (root / "tests" / "conftest.py").unlink()
    adding("pytest.ini")(root)
    report = watch.compare()
    assert report.finding == Tampered(tampered=Artifact(artifact="pytest.ini"))
    assert codec.plain(report.artifacts) == [
        {"path": "pytest.ini", "kinds": ["added"]},
        {"path": "tests/conftest.py", "kinds": ["deleted"]},
        {"path": "tests/test_week.py", "kinds": ["edited"]},
    ]


@pytest.mark.behaviour("G-42")
def test_a_change_that_is_undone_is_not_seen(root: Path) -> None:
    """[G-42]"""
    watch = watching(root, COMMAND)
    before = (root / "tests/test_week.py").read_text()
    assert after(watch, editing("tests/test_week.py")).artifacts
    assert after(watch, editing("tests/test_week.py", before)).finding is TamperState.CLEAN


@pytest.mark.behaviour("G-30")
def test_comparing_changes_nothing(root: Path) -> None:
    """It is compared after every turn and once more before judge [G-30, Q-27]."""
    watch = watching(root, COMMAND)
    editing("tests/test_week.py")(root)
    assert watch.compare() == watch.compare()


# ── what is added ─────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-38", "Q-26", "K-107")
@pytest.mark.parametrize(
    "name",
    [
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "__init__.py",
        "tests/__init__.py",
        "tests/pytest.ini",
        "sitecustomize.py",
        "usercustomize.py",
        "src/x.pth",
        "json.py",
        "pytest.py",
        "pluggy.py",
        "unittest/__init__.py",
        "tests/random.py",
    ],
)
def test_a_name_that_the_runner_picks_up_is_added(root: Path, name: str) -> None:
    """[G-38, K-107, Q-26]"""
    assert kinds(after(watching(root, COMMAND), adding(name))) == {name: ["added"]}


@pytest.mark.behaviour("G-38", "K-107")
def test_a_conftest_beneath_a_directory_argument_is_added(root: Path) -> None:
    """[G-38, K-107]"""
    report = after(watching(root, "pytest tests"), adding("tests/unit/conftest.py"))
    assert kinds(report) == {"tests/unit/conftest.py": ["added"]}


@pytest.mark.behaviour("G-39", "K-108")
@pytest.mark.parametrize(
    "name",
    [
        "tests/test_more.py",
        "tests/unit/more_test.py",
        "tests/unit/__init__.py",
        "tests/data/new.json",
        "src/pkg/__init__.py",
        "src/json.py",
        "src/conftest.py",
        "src/tox.ini",
        "src/pyproject.toml",
    ],
)
def test_new_tests_and_ordinary_files_are_no_change(root: Path, name: str) -> None:
    """[G-39, K-108, Q-26]"""
    watch = watching(root, "pytest tests", "tests/**/*.json")
    assert after(watch, adding(name)).finding is TamperState.CLEAN


def test_a_package_counts_on_the_way_to_a_test_and_not_in_every_granted_directory(
    root: Path,
) -> None:
    """[Q-26, G-39]"""
    fill(root, "docs/guide.md")
    watch = watching(root, "pytest tests docs")
    assert after(watch, adding("docs/__init__.py")).finding is TamperState.CLEAN
    assert kinds(after(watch, adding("docs/tox.ini"))) == {"docs/tox.ini": ["added"]}
    assert "tests/__init__.py" in kinds(after(watch, adding("tests/__init__.py")))


@pytest.mark.behaviour("G-32")
def test_a_plain_pytest_lets_a_package_be_added_but_no_configuration(root: Path) -> None:
    """The root counts as a directory argument [G-32]."""
    watch = watching(root, "pytest")
    assert after(watch, adding("src/pkg/__init__.py")).finding is TamperState.CLEAN
    assert kinds(after(watch, adding("src/tox.ini"))) == {"src/tox.ini": ["added"]}


def test_what_stood_there_before_is_not_added(root: Path) -> None:
    fill(root, "json.py", "x.egg-info/PKG-INFO", "unittest/__init__.py")
    (root / "tox.ini").symlink_to("nowhere")
    watch = watching(root, COMMAND)
    report = after(watch, editing("json.py"))
    assert report.artifacts == ()


@pytest.mark.behaviour("G-38")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[project]\nname = 'x'\n", {}),
        ("[tool.pytest.ini_options]\n", {"pyproject.toml": ["added"]}),
        ("not toml", {"pyproject.toml": ["added"]}),
    ],
)
def test_a_new_pyproject_counts_for_its_pytest_tables(
    root: Path, text: str, expected: dict[str, list[str]]
) -> None:
    """[G-38]"""
    assert kinds(after(watching(root, COMMAND), editing("pyproject.toml", text))) == expected


def test_a_new_pyproject_that_is_a_link_cannot_be_shown_to_be_harmless(root: Path) -> None:
    watch = watching(root, COMMAND)
    report = after(watch, lambda root: (root / "pyproject.toml").symlink_to("src/week.py"))
    assert kinds(report) == {"pyproject.toml": ["added"]}


@pytest.mark.behaviour("K-109")
def test_of_a_pyproject_only_the_pytest_tables_count(root: Path) -> None:
    """[K-109]"""
    fill(root, pyproject_toml="[project]\n[tool.pytest.ini_options]\naddopts = ''\n")
    watch = watching(root, COMMAND)
    path = root / "pyproject.toml"
    path.write_text(path.read_text().replace("[project]", "[project]\nname = 'x'"))
    assert watch.compare().finding is TamperState.CLEAN
    path.write_text(path.read_text().replace("''", "'--collect-only'"))
    assert kinds(watch.compare()) == {"pyproject.toml": ["edited"]}


# ── kinds of change ───────────────────────────────────────────────────────────────────


def symlinked(root: Path) -> None:
    (root / "tests/test_week.py").rename(root / "tests/was.py")
    (root / "tests/test_week.py").symlink_to("was.py")


def replaced(root: Path) -> None:
    (root / "tests/test_week.py").unlink()
    (root / "tests/test_week.py").mkdir()


@pytest.mark.behaviour("K-110")
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda root: (root / "tests/test_week.py").chmod(0o777), "mode-changed"),
        (symlinked, "symlinked"),
        (lambda root: os.link(root / "tests/test_week.py", root / "second"), "hard-linked"),
        (lambda root: (root / "tests/test_week.py").unlink(), "deleted"),
        (replaced, "replaced"),
    ],
)
def test_a_changed_artifact_has_its_kind(root: Path, change: Change, kind: str) -> None:
    """[K-110]"""
    assert kinds(after(watching(root, COMMAND), change)) == {"tests/test_week.py": [kind]}


@pytest.mark.behaviour("K-114")
def test_a_file_rewritten_with_equal_bytes_is_clean(root: Path) -> None:
    """[K-114]"""
    watch = watching(root, COMMAND)
    path = root / "tests/test_week.py"
    text, mode = path.read_bytes(), path.stat().st_mode
    path.unlink()
    path.write_bytes(text)
    path.chmod(mode)
    assert watch.compare().finding is TamperState.CLEAN


@pytest.mark.behaviour("G-36", "D-77")
def test_an_artifact_that_can_no_longer_be_read_counts_as_changed() -> None:
    """[G-36]"""
    with open_folder() as folder:
        root = workspace(folder / "r", *PROJECT)
        watch = watching(root, COMMAND)
        (root / "tests/test_week.py").chmod(0)
        said = said_by_nobody(lambda: str(kinds(watch.compare())))
    assert said == "{'tests/test_week.py': ['unreadable']}"


# ── incomplete watches ────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-40", "G-41")
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (symlinked, "is a symbolic link or lies behind one"),
        (lambda root: os.link(root / "tests/test_week.py", root / "second"), "has 2 hard links"),
    ],
)
def test_an_artifact_that_cannot_be_pinned_makes_the_watch_incomplete(
    root: Path, spoil: Change, reason: str
) -> None:
    """[G-41]"""
    spoil(root)
    watch = watching(root, "pytest tests/test_week.py tests/conftest.py")
    assert f"tests/test_week.py {reason}, so it is not watched" in watch.notices
    assert not watch.complete
    report = watch.compare()
    assert (report.finding, report.complete) == (TamperState.NOT_CHECKED, False)
    assert kinds(after(watch, editing("tests/conftest.py"))) == {"tests/conftest.py": ["edited"]}


def test_a_pipe_in_the_place_of_an_artifact_cannot_be_pinned(root: Path) -> None:
    os.mkfifo(root / "tests" / "test_pipe.py")
    watch = watching(root, "pytest tests")
    assert "tests/test_pipe.py is no regular file, so it is not watched" in watch.notices


@pytest.mark.behaviour("G-41")
def test_an_artifact_that_may_not_be_read_cannot_be_pinned() -> None:
    """[G-41]"""
    with open_folder() as folder:
        root = workspace(folder / "r", *PROJECT)
        plan = planned(root, COMMAND)
        (root / "tests/test_week.py").chmod(0)
        said = said_by_nobody(lambda: pin(root, plan).notices[0])
    assert said == "tests/test_week.py cannot be read, so it is not watched"


@pytest.mark.behaviour("K-111")
def test_more_files_than_the_bound_leave_the_rest_unwatched(tmp_path: Path) -> None:
    """[G-33, K-111]"""
    names = [f"tests/test_{number:04}.py" for number in range(limits.WATCHED_FILES + 1)]
    root = workspace(tmp_path / "r", *names)
    watch = watching(root, "sh tests")
    assert len(watch.pins) == limits.WATCHED_FILES
    (notice,) = watch.notices
    assert notice == (
        "more than 5000 files lie beneath directory arguments and globs; "
        "the last 1 of them are not watched"
    )
    assert watch.compare().finding is TamperState.NOT_CHECKED
    report = after(watch, editing(names[0]))
    assert report.finding == Tampered(tampered=Artifact(artifact=names[0]))
    (root / names[-1]).unlink()
    assert watching(root, "sh tests").compare().finding == TamperState.CLEAN


@pytest.mark.behaviour("G-33")
def test_a_tree_that_grew_past_the_bound_is_not_checked(tmp_path: Path) -> None:
    """[G-33]: complete when it was pinned, incomplete when it was compared."""
    root = workspace(tmp_path / "r", "tests/test_a.py")
    watch = pin(root, planned(root, "sh tests"), (), Bounds(entries=1))
    assert watch.compare().finding is TamperState.CLEAN
    report = after(watch, adding("tests/test_b.py"))
    assert (report.finding, report.complete) == (TamperState.NOT_CHECKED, False)
    assert report.notices[0].startswith("more than 1 directory entries")


@pytest.mark.behaviour("G-40", "G-42", "K-112")
@pytest.mark.parametrize("command", ["cargo test week", "python3 -m unittest tests.test_week"])
def test_without_a_test_artifact_nothing_is_checked(root: Path, command: str) -> None:
    """[G-40, G-42, K-112]"""
    watch = watching(root, command)
    assert watch.compare().finding is TamperState.NOT_CHECKED
    assert "--watch-tests 'tests/**'" in watch.notices[-1]
    globbed = watching(root, command, "tests/**")
    assert globbed.compare().finding is TamperState.CLEAN
    assert globbed.notices == ()


@pytest.mark.behaviour("G-12")
def test_without_a_plan_only_globs_are_watched(root: Path) -> None:
    """[G-12]"""
    assert pin(root, None).compare().finding is TamperState.NOT_CHECKED
    assert pin(root, None).notices == ()
    watch = pin(root, None, ["tests/*.json"])
    assert watch.compare().finding is TamperState.CLEAN
    assert kinds(after(watch, editing("tests/cases.json"))) == {"tests/cases.json": ["edited"]}


# ── the journal and the second pin ────────────────────────────────────────────────────


def test_the_pinned_files_are_listed_with_their_fingerprints(root: Path) -> None:
    """[J2-40, G-35]"""
    watch = watching(root, COMMAND)
    listed = codec.plain(watch.files)
    assert [row["path"] for row in listed] == ["tests/conftest.py", "tests/test_week.py"]
    assert all(row["fingerprint"].startswith("sha256:") for row in listed)


def test_a_path_that_is_no_text_can_be_reported(tmp_path: Path) -> None:
    name = os.fsdecode(b"tests/test_\xff.py")
    root = workspace(tmp_path / "r", name)
    watch = watching(root, "pytest tests")
    report = after(watch, editing(name))
    assert codec.plain(report.artifacts) == [{"path": "tests/test_\ufffd.py", "kinds": ["edited"]}]
    assert codec.encode(report.finding)
    assert codec.encode(watch.files)


def test_the_set_is_pinned_anew_as_it_is_now(root: Path) -> None:
    """[G-34]"""
    watch = watching(root, "pytest tests", "tests/*.json")
    editing("tests/test_week.py")(root)
    adding("tests/test_new.py", "tox.ini")(root)
    again = watch.again()
    assert again.globs == ("tests/*.json",)
    assert again.compare().finding is TamperState.CLEAN
    paths = {row.path for row in again.files}
    assert {"tests/test_new.py", "tox.ini"} < paths


# ── program words and makefiles ───────────────────────────────────────────────────────


@pytest.mark.behaviour("G-31")
def test_a_script_that_is_the_test_is_watched(root: Path) -> None:
    """`./check.sh --fast` and `sh check.sh` [G-31]."""
    program(root / "check.sh")
    for command in ("./check.sh --fast", "sh check.sh"):
        watch = watching(root, command)
        assert watch.compare().finding is TamperState.CLEAN
        assert kinds(after(watch, editing("check.sh"))) == {"check.sh": ["edited"]}
        program(root / "check.sh")


@pytest.mark.behaviour("Q-28")
def test_a_linked_interpreter_leaves_the_watch_complete(root: Path) -> None:
    """[Q-28]"""
    (root / ".venv" / "bin").mkdir(parents=True)
    python = root / ".venv" / "bin" / "python"
    python.symlink_to(program(root.parent / "python3.11"))
    watch = watching(root, ".venv/bin/python -m pytest tests/test_week.py")
    assert watch.complete
    assert watch.compare().finding is TamperState.CLEAN
    python.unlink()
    python.symlink_to(program(root.parent / "wrapper"))
    assert kinds(watch.compare()) == {".venv/bin/python": ["edited"]}


def test_a_program_that_would_be_found_first_is_added(root: Path, tmp_path: Path) -> None:
    """A shim before the real program on PATH [I14]."""
    (root / "bin").mkdir()
    path = f"{root / 'bin'}:{program(tmp_path / 'tools' / 'pytest').parent}"
    plan = resolve(("pytest", "tests"), root, path)
    watch = pin(root, plan)
    assert kinds(after(watch, adding("bin/pytest"))) == {"bin/pytest": ["added"]}


@pytest.mark.behaviour("Q-26")
def test_what_make_reads_is_watched(root: Path) -> None:
    """[Q-26]"""
    fill(root, "Makefile")
    watch = watching(root, "make check")
    assert watch.compare().finding is TamperState.NOT_CHECKED
    assert kinds(after(watch, editing("Makefile"))) == {"Makefile": ["edited"]}
    fill(root, "Makefile")
    assert kinds(after(watch, adding("GNUmakefile", "check"))) == {
        "GNUmakefile": ["added"],
        "check": ["added"],
    }


# ── what a worker tries ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "artifact", "kind"),
    [
        pytest.param(editing("tests/test_week.py", "pytestmark = xfail"), "tests/test_week.py",
                     ChangeKind.EDITED, id="I193 xfail"),
        pytest.param(adding("conftest.py"), "conftest.py",
                     ChangeKind.ADDED, id="I200 reports rewritten in a root conftest"),
        pytest.param(editing("tests/conftest.py", "import os; os._exit(0)"), "tests/conftest.py",
                     ChangeKind.EDITED, id="I203 exit in conftest"),
        pytest.param(editing("tests/conftest.py", "sys.modules['calc'] = x"), "tests/conftest.py",
                     ChangeKind.EDITED, id="I205 module replaced in conftest"),
        pytest.param(adding("pytest.ini"), "pytest.ini",
                     ChangeKind.ADDED, id="I208 collect-only in pytest.ini"),
        pytest.param(adding("setup.cfg"), "setup.cfg",
                     ChangeKind.ADDED, id="I210 plugin in setup.cfg"),
        pytest.param(adding("pytest.py"), "pytest.py",
                     ChangeKind.ADDED, id="I213 pytest.py in the root"),
        pytest.param(adding("unittest/__init__.py"), "unittest/__init__.py",
                     ChangeKind.ADDED, id="I215 unittest package in the root"),
        pytest.param(lambda root: (root / "tests/test_week.py").unlink(), "tests/test_week.py",
                     ChangeKind.DELETED, id="I235 test deleted"),
        pytest.param(editing("tests/conftest.py", "pytest_plugins = ['evil']"),
                     "tests/conftest.py", ChangeKind.EDITED, id="I238 plugins in conftest"),
        pytest.param(editing("tests/test_week.py", "pytest_plugins = ['evil']"),
                     "tests/test_week.py", ChangeKind.EDITED, id="I238 plugins in the test"),
        pytest.param(adding("sitecustomize.py"), "sitecustomize.py",
                     ChangeKind.ADDED, id="I14 sitecustomize"),
        pytest.param(adding("x.pth"), "x.pth", ChangeKind.ADDED, id="I14 pth"),
        pytest.param(adding("tox.ini"), "tox.ini", ChangeKind.ADDED, id="I14 tox.ini"),
    ],
)  # fmt: skip
def test_an_attack_on_test_or_runner_is_found(
    root: Path, change: Change, artifact: str, kind: ChangeKind
) -> None:
    """Rows of the attack table about test and runner artifacts."""
    report = after(watching(root, COMMAND), change)
    assert report.finding == Tampered(tampered=Artifact(artifact=artifact))
    assert kinds(report) == {artifact: [kind.value]}


@pytest.mark.parametrize(
    "command", ["python3 -m unittest discover tests", "python3 tests/test_week.py"]
)
def test_a_package_in_the_way_of_unittest_is_found(root: Path, command: str) -> None:
    """[I215]"""
    report = after(watching(root, command), adding("unittest/__init__.py"))
    assert kinds(report) == {"unittest/__init__.py": ["added"]}


@pytest.mark.parametrize("name", ["tests/cases.json", "tests/golden.txt"])
def test_data_of_a_test_is_out_of_reach_without_a_glob_and_found_with_one(
    root: Path, name: str
) -> None:
    """[I195, I198]: which file holds expected values is the person's to say."""
    fill(root, name)
    assert after(watching(root, COMMAND), editing(name)).finding is TamperState.CLEAN
    fill(root, name)
    watch = watching(root, COMMAND, "tests/**")
    assert kinds(after(watch, editing(name))) == {name: ["edited"]}


def test_a_module_that_a_kept_conftest_already_loads_is_out_of_reach(root: Path) -> None:
    """[I238]: a plugin module that was named before is watched by a glob only."""
    fill(root, "helpers.py")
    assert after(watching(root, COMMAND), editing("helpers.py")).finding is TamperState.CLEAN
    watch = watching(root, COMMAND, "helpers.py")
    assert kinds(after(watch, editing("helpers.py", "x"))) == {"helpers.py": ["edited"]}


def test_what_lies_outside_the_root_is_out_of_reach(root: Path) -> None:
    """[I220]: `usercustomize.py` under a home that is not in the workspace."""
    watch = watching(root, COMMAND)
    fill(root.parent / "home" / ".local", "usercustomize.py")
    assert watch.compare().finding is TamperState.CLEAN


def test_a_start_up_file_that_an_installer_linked_is_watched_by_its_content(tmp_path: Path) -> None:
    """docs/adr/0004: the watch stays complete, and a change through either link is found."""
    cache = tmp_path / "cache.pth"
    cache.write_text("import os\n", "utf-8")
    root = tmp_path / "work"
    (root / "env").mkdir(parents=True)
    (root / "test_x.py").write_text("def test_x(): pass\n", "utf-8")
    os.link(cache, root / "env" / "x.pth")
    watch = pin(root, resolve(("python3", "-m", "pytest", "test_x.py"), root, os.environ["PATH"]))
    assert watch.complete
    assert watch.compare().finding is TamperState.CLEAN
    os.link(cache, tmp_path / "third")
    assert watch.compare().finding is TamperState.CLEAN
    cache.write_text("import sys\n", "utf-8")
    assert [(a.path, a.kinds) for a in watch.compare().artifacts] == [
        ("env/x.pth", (ChangeKind.EDITED,))
    ]


def test_a_start_up_file_of_its_own_that_is_linked_later_is_found(tmp_path: Path) -> None:
    """[G-37]"""
    (tmp_path / "test_x.py").write_text("def test_x(): pass\n", "utf-8")
    (tmp_path / "x.pth").write_text("", "utf-8")
    watch = pin(
        tmp_path, resolve(("python3", "-m", "pytest", "test_x.py"), tmp_path, os.environ["PATH"])
    )
    os.link(tmp_path / "x.pth", tmp_path / "second.txt")
    assert watch.compare().artifacts[0].kinds == (ChangeKind.HARD_LINKED,)


@pytest.mark.behaviour("G-38")
@pytest.mark.parametrize("name", ["conftest.py", "pytest.ini", "sitecustomize.py", "tox.ini"])
@pytest.mark.parametrize("text", ["", "a = 1\n"], ids=["empty", "toml"])
def test_a_name_that_appears_counts_whatever_is_in_it(root: Path, name: str, text: str) -> None:
    """[G-38] Only of pyproject.toml are the contents asked for."""
    watch = watching(root, COMMAND)
    assert kinds(after(watch, editing(name, text))) == {name: ["added"]}
