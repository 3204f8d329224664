"""[S2-1 to S2-14, D-7] The person's settings and the project's become one set of values."""

import hashlib
import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import SettingsError
from stella.errors import UsageError
from stella.settings.load import ReadFile
from stella.settings.load import Settings
from stella.settings.load import load
from stella.settings.load import load_to_read
from stella.turn.seats import TIERS
from tests.making.child import open_folder
from tests.making.child import said_by_nobody


def ready(folder: Path, person: str | None = None, project: str | None = None) -> tuple[Path, Path]:
    """A home and a workspace with their settings."""
    home, workspace = folder / "home", folder / "work"
    for place, text in ((home, person), (workspace, project)):
        place.mkdir(exist_ok=True)
        if text is not None:
            (place / "stella.toml").write_text(text)
            (place / "stella.toml").chmod(0o644)
    return home, workspace


def loaded(folder: Path, person: str | None = None, project: str | None = None) -> Settings:
    return load(*ready(folder, person, project), {})


def refused(home: Path, workspace: Path, env: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as found:
        load(home, workspace, env or {})
    assert (found.value.code, found.value.exit_code) == ("settings", 2)
    return found.value.message


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    """[D-45, D-50, G-11]"""
    settings = loaded(tmp_path)
    assert settings == Settings()
    assert (settings.pipeline, settings.model, settings.models) == (None, None, {})
    assert settings.max_holds == limits.HOLDS_DEFAULT
    assert settings.test_secs == limits.TEST_SECS_DEFAULT
    assert settings.tiers == TIERS
    assert load(tmp_path / "none", tmp_path / "home/stella.toml", {}) == Settings()


@pytest.mark.behaviour("D-7", "D-50.rows")
def test_the_persons_file_counts(tmp_path: Path) -> None:
    """[D-7, D-50, M2-50, S2-14]"""
    text = """
    [model]
    default = "a"
    [tiers]
    verifier = "b"
    [pipeline]
    default = "one, two"
    max_holds = 8
    test_timeout_secs = 30
    tiers = { verifier = "worker", deep = "research" }
    """
    settings = loaded(tmp_path, text)
    assert settings == Settings(
        pipeline=("one", "two"),
        max_holds=8,
        test_secs=30,
        tiers={**TIERS, "verifier": "worker", "deep": "research"},
        models={"verifier": "b", "worker": "a"},
        model="a",
        files=(
            ReadFile(
                path=str(tmp_path / "home/stella.toml"),
                sha256=hashlib.sha256(text.encode()).hexdigest(),
            ),
        ),
    )


@pytest.mark.behaviour("D-7.trust")
def test_a_projects_file_has_no_say_without_trust_and_a_notice_lists_what_it_says(
    tmp_path: Path,
) -> None:
    """[D-7, S2-13, A-70, A-72]"""
    project = """
    [ui]
    live = false
    [model]
    default = "theirs"
    temperature = 1.0
    [tiers]
    plan = "theirs"
    [pipeline]
    default = "theirs"
    test_timeout_secs = 1
    tiers = { verifier = "plan" }
    """
    home, workspace = ready(tmp_path, "[model]\ndefault = 'mine'", project)
    settings = load(home, workspace, {})
    assert (settings.model, settings.models) == ("mine", {"worker": "mine"})
    assert (settings.pipeline, settings.test_secs) == (None, limits.TEST_SECS_DEFAULT)
    assert settings.tiers == TIERS
    assert [Path(file.path).parent for file in settings.files] == [home, workspace]
    assert settings.notices == ()
    assert settings.left_out == (
        (
            f"{workspace}/stella.toml: 7 values left out: model.temperature, model.default, "
            "pipeline.default, pipeline.test_timeout_secs, pipeline.tiers.verifier, tiers.plan, "
            "ui.live"
        ),
    )


@pytest.mark.behaviour("A-70.settings")
def test_what_no_project_may_say_is_told_with_trust_and_without(tmp_path: Path) -> None:
    """[S2-28, A-70] And what a trusted one may say in a later release."""
    text = """
    [providers.x]
    [prices.x]
    [ui]
    live = false
    [[hooks.Stop]]
    hooks = [{ command = "a" }, { command = "b" }]
    """
    home, workspace = ready(tmp_path, project=text)
    where = f"{workspace}/stella.toml"
    never = (
        f"{where}: 2 values without effect: providers, prices; "
        "in a project's file they never have one, they are the person's alone"
    )
    settings = load(home, workspace, {})
    assert settings.notices == (never,)
    assert settings.left_out == (
        f"{where}: 2 hook commands left out",
        f"{where}: 1 value left out: ui.live",
    )
    trusted = load(home, workspace, {}, trusted=True)
    assert trusted.left_out == ()
    assert trusted.notices == (
        never,
        f"{where}: 1 value without effect: hooks; this release does not act on them yet",
    )


@pytest.mark.behaviour("S2-25.plugins")
def test_both_files_switch_plugins_off_and_neither_hides_the_other(tmp_path: Path) -> None:
    """[I-43, S2-25] Who has a say over which is the roster's to say."""
    texts = ('[plugins]\na = "off"\nb = "on"', '[plugins]\nb = "off"\na = "on"')
    for trusted in (False, True):
        settings = load(*ready(tmp_path, *texts), {}, trusted=trusted)
        assert (settings.off, settings.project_off) == (frozenset("a"), frozenset("b"))
        assert (settings.notices, settings.left_out) == ((), ())


@pytest.mark.behaviour("S2-4.reading")
def test_a_command_that_reads_goes_on_without_the_faulty_file_and_says_so(tmp_path: Path) -> None:
    """[S2-4]"""
    home, workspace = ready(tmp_path, '[plugins]\na = "off"', "[modle]")
    settings = load_to_read(home, workspace, {}, trusted=False)
    assert settings.off == frozenset("a")
    assert settings.notices == (
        (
            f'{workspace}/stella.toml: modle: unknown section "modle"; did you mean model?; '
            "this file is left out"
        ),
    )
    (home / "stella.toml").write_text("[")
    both = load_to_read(home, workspace, {}, trusted=False)
    assert (len(both.notices), both.off) == (2, frozenset())


def test_a_trusted_projects_file_goes_before_the_persons(tmp_path: Path) -> None:
    """[S2-10, S2-11]"""
    home, workspace = ready(
        tmp_path,
        "[tiers]\nworker = 'mine'\nplan = 'mine'\n[pipeline]\ndefault = 'mine'\ntiers.x = 'plan'",
        "[tiers]\nworker = 'theirs'\n[pipeline]\ntest_timeout_secs = 9\ntiers.y = 'plan'",
    )
    settings = load(home, workspace, {}, trusted=True)
    assert settings.models == {"worker": "theirs", "plan": "mine"}
    assert (settings.model, settings.pipeline, settings.test_secs) == ("theirs", ("mine",), 9)
    assert settings.tiers == {**TIERS, "x": "plan", "y": "plan"}
    assert settings.notices == ()


@pytest.mark.behaviour("D-7.lower")
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("person", "project", "bound"),
    [
        (None, 1, 1),
        (None, limits.HOLDS_DEFAULT, limits.HOLDS_DEFAULT),
        (None, limits.HOLDS_DEFAULT + 1, limits.HOLDS_DEFAULT),
        (5, 0, 0),
        (5, 5, 5),
        (5, 8, 5),
        (0, 1, 0),
        (5, None, 5),
    ],
)
def test_a_project_lowers_the_bound_on_holds_and_never_raises_it(
    tmp_path: Path, person: int | None, project: int | None, bound: int, *, trusted: bool
) -> None:
    """[D-7, S2-12]"""
    texts = [
        "" if each is None else f"[pipeline]\nmax_holds = {each}" for each in (person, project)
    ]
    settings = load(*ready(tmp_path, *texts), {}, trusted=trusted)
    assert settings.max_holds == bound
    if project is not None and project > bound:
        (notice,) = settings.notices
        assert f"pipeline.max_holds is {project}, above the {bound} that hold" in notice
    else:
        assert settings.notices == ()


@pytest.mark.behaviour("S2-4.files")
def test_all_faults_of_all_files_are_told_together(tmp_path: Path) -> None:
    """[S2-4]"""
    home, workspace = ready(
        tmp_path, "[pipeline]\nmax_holds = 9\nx = 1", "[modle]\n[pipeline.tiers]\na = 'b'"
    )
    keys = "default, max_holds, test_timeout_secs, tiers"
    no = "is not one of the words allowed here"
    seats = "worker, triage, research, plan, verdict"
    assert refused(home, workspace).split("\n") == [
        "several faults:",
        f'{home}/stella.toml: pipeline.x: unknown key "x"; legal here: {keys}',
        f"{home}/stella.toml: pipeline.max_holds: expected 0 to 8, got 9",
        f'{workspace}/stella.toml: modle: unknown section "modle"; did you mean model?',
        f'{workspace}/stella.toml: pipeline.tiers.a: "b" {no}; legal here: {seats}',
    ]


def test_a_syntax_fault_has_its_line_and_column(tmp_path: Path) -> None:
    """[S2-4]"""
    home, workspace = ready(tmp_path, "[model]\ndefault =\n")
    assert refused(home, workspace).startswith(f"{home}/stella.toml:2:10: the file is not TOML: ")


@pytest.mark.behaviour("S2-2")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("directory", "expected a regular file, got a directory"),
        ("link", "expected a regular file, got a symbolic link"),
        ("pipe", "expected a regular file, got a fifo"),
        ("large", f"it holds more than {limits.SETTINGS_BYTES} bytes"),
        ("bytes", "byte 2 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused(tmp_path: Path, kind: str, told: str) -> None:
    """[S2-2]"""
    for at in (0, 1):
        folder = tmp_path / str(at)
        folder.mkdir()
        places = ready(folder)
        path = places[at] / "stella.toml"
        match kind:
            case "directory":
                path.mkdir()
            case "link":
                (folder / "real.toml").write_text("")
                path.symlink_to(folder / "real.toml")
            case "pipe":
                os.mkfifo(path)
            case "large":
                path.write_bytes(b"#" * limits.SETTINGS_BYTES)
                path.chmod(0o600)
                assert len(load(*places, {}).files) == 1, "at the limit it is read"
                path.write_bytes(b"#" * (limits.SETTINGS_BYTES + 1))
            case _:
                path.write_bytes(b"# \xff")
                path.chmod(0o600)
        assert refused(*places) == f"{path}: {told}"


@pytest.mark.behaviour("S2-2.mode")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_of_the_person_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    """[S2-2] with the repair; a project's file is as it was committed."""
    home, workspace = ready(tmp_path, "", "")
    (workspace / "stella.toml").chmod(mode)
    load(home, workspace, {})
    path = home / "stella.toml"
    path.chmod(mode)
    assert refused(home, workspace) == (
        f"{path}: group or others may write it; run: chmod go-w {path}"
    )
    path.chmod(0o644)
    load(home, workspace, {})


def test_a_file_that_cannot_be_read_is_refused() -> None:
    """[S2-2] for a process without root's powers."""
    with open_folder() as folder:
        home, workspace = ready(folder, "", "")
        (home / "stella.toml").chmod(0o200)
        expected = f"{home}/stella.toml: Permission denied"
        assert said_by_nobody(lambda: refused(home, workspace)) == expected
        (home / "stella.toml").chmod(0o644)
        home.chmod(0o600)
        assert said_by_nobody(lambda: refused(home, workspace)) == expected
        home.chmod(0o700)


@pytest.mark.behaviour("S2-3")
@pytest.mark.parametrize("value", ["1", " TRUE ", "yes", "On"])
def test_a_variable_leaves_both_files_out(tmp_path: Path, value: str) -> None:
    """[S2-3, S2-31]"""
    home, workspace = ready(tmp_path, "[broken", "[broken")
    assert load(home, workspace, {"STELLA_NO_SETTINGS": value}) == Settings()


@pytest.mark.parametrize("value", ["", " ", "0", "false", "No", "off"])
def test_a_variable_that_is_off_leaves_nothing_out(tmp_path: Path, value: str) -> None:
    """[S2-31]"""
    home, workspace = ready(tmp_path, "[model]\ndefault = 'a'")
    assert load(home, workspace, {"STELLA_NO_SETTINGS": value}).model == "a"


def test_a_variable_that_is_neither_is_a_usage_error(tmp_path: Path) -> None:
    """[S2-31]"""
    with pytest.raises(UsageError, match="STELLA_NO_SETTINGS: expected 1, true, yes or on"):
        load(*ready(tmp_path), {"STELLA_NO_SETTINGS": "maybe"})


@pytest.mark.behaviour("A-81.none")
@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_managed_settings_are_never_passed_over(tmp_path: Path, kind: str) -> None:
    """[A-81] This release cannot apply them, so it does nothing where there are some."""
    path = tmp_path / "managed.toml"
    env = {"STELLA_MANAGED_SETTINGS": str(path), "STELLA_NO_SETTINGS": "1"}
    places = ready(tmp_path)
    assert load(*places, env) == Settings()
    if kind == "file":
        path.write_text("")
    else:
        path.symlink_to(tmp_path / "none")
    assert refused(*places, env) == f"{path}: managed settings come with a later release"


def test_a_file_of_another_format_is_told_of_once(tmp_path: Path) -> None:
    """[S2-2]"""
    home, workspace = ready(tmp_path, "", "")
    for place in (home, workspace):
        (place / "settings.json").write_text("{}")
    (notice,) = load(home, workspace, {}).notices
    assert notice == f"{home}/settings.json: not read; settings stand in stella.toml"


def test_what_a_file_says_is_shown_escaped(tmp_path: Path) -> None:
    home, workspace = ready(tmp_path, project='[pipeline.tiers]\n"a\\u001b[31m" = "plan"')
    (notice,) = load(home, workspace, {}).left_out
    assert "\x1b" not in notice
    assert "pipeline.tiers.a\\u{1B}[31m" in notice


def test_a_project_that_says_very_much_to_no_effect_is_told_of_in_few_words(
    tmp_path: Path,
) -> None:
    """[A-70, A-72]: limits.IGNORED_SHOWN, at the limit and one past it."""
    head = "[pipeline.tiers]\n"
    rows = [f't{n} = "plan"\n' for n in range(limits.IGNORED_SHOWN)]
    (all_of_them,) = loaded(tmp_path, project=head + "".join(rows)).left_out
    assert f"{limits.IGNORED_SHOWN} values left out" in all_of_them
    assert all_of_them.endswith(f"pipeline.tiers.t{limits.IGNORED_SHOWN - 1}")
    long = "x" * 4 * limits.FAULT_VALUE_CHARS
    (cut,) = loaded(tmp_path, project=f'{head}{long} = "plan"\n{"".join(rows)}').left_out
    assert cut.endswith(" and 1 more")
    assert f"pipeline.tiers.t{limits.IGNORED_SHOWN - 1}" not in cut
    assert "more characters]" in cut
    assert len(cut) < len(all_of_them) + 2 * limits.FAULT_VALUE_CHARS
