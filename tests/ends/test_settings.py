"""Settings as the command reads them: what holds without a flag, and what ends it at once."""

from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import TEST
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import tree
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.plugins import steering

ANSWERS: Final = 'print(\'{"point":"before_turn","body":{"protocol_version":1}}\')\n'
GUIDED: Final = '[pipeline]\ndefault = "guide"\n'
JUDGED: Final = '[pipeline]\ndefault = "judge"\n'


def ready(folder: Path, text: str, *, project: str = "") -> Place:
    """A workspace with a judge and a guide, and with settings."""
    where = place(folder)
    judge = arbiter(folder / "judge", HONEST, max_holds=8)
    where.install(judge, steering(folder / "guide", ANSWERS))
    where.scripted(works(), says(), says("x"), says("y"), says("z"))
    settings(where.home, text)
    if project:
        settings(where.root, project)
    return where


def settings(folder: Path, text: str) -> None:
    (folder / "stella.toml").write_text(text, "utf-8")
    (folder / "stella.toml").chmod(0o600)


def refused(where: Place, code: str, *words: str) -> str:
    """Run, which must end with 2 and leave everything as it is, and return the message."""
    before = tree(where.root.parent)
    done = where.run(*words)
    assert tree(where.root.parent) == before
    assert (done.code, done.result["error"]["code"]) == (2, code)
    message: str = done.result["error"]["message"]
    assert done.err == f"stella: {message}\n"
    return message


@pytest.mark.behaviour("K-88", "D-5")
def test_a_default_pipeline_is_selected_unless_a_flag_says_otherwise(tmp_path: Path) -> None:
    """[D-5, D-6]"""
    where = ready(tmp_path, GUIDED)
    assert where.run().result["pipeline"] == "guide"
    assert where.run("--no-pipeline").result["pipeline"] is None
    message = refused(where, "usage", "--pipeline", "guide", "--no-pipeline")
    assert message == "--pipeline and --no-pipeline exclude each other; give one of them"


@pytest.mark.behaviour("D-5.whole")
def test_the_flag_replaces_the_default_as_a_whole(tmp_path: Path) -> None:
    """[D-5]"""
    where = ready(tmp_path, '[pipeline]\ndefault = "guide, judge"\n')
    result = where.run("--pipeline", "judge", "--test-command", TEST).result
    assert (result["pipeline"], result["status"]) == ("judge", "met")


def test_test_flags_belong_to_a_default_pipeline_too(tmp_path: Path) -> None:
    """[D-10]"""
    where = ready(tmp_path, JUDGED)
    message = refused(where, "usage", "--no-pipeline", "--test-command", TEST)
    assert message.startswith("--test-command needs a pipeline")
    result = where.run("--test-command", TEST, "--red-on-error", "--watch-tests", "*.py").result
    assert (result["pipeline"], result["status"]) == ("judge", "met")


def test_a_default_that_is_not_installed_is_refused(tmp_path: Path) -> None:
    """[D-3]"""
    where = ready(tmp_path, '[pipeline]\ndefault = "jugde"\n')
    before = tree(where.root)
    done = where.run()
    assert "judge" in done.result["error"]["message"]
    assert tree(where.root) == before


@pytest.mark.behaviour("D-7.holds")
@pytest.mark.parametrize(
    ("own", "project", "flags", "rounds"),
    [(1, "", (), 2), (3, "max_holds = 0", (), 1), (0, "max_holds = 3", ("--max-holds", "1"), 2)],
)
def test_the_bound_on_holds_is_the_persons_and_a_project_lowers_it(
    tmp_path: Path, own: int, project: str, flags: tuple[str, ...], rounds: int
) -> None:
    """[D-7, S2-10, S2-12] a bound above the person's is told of and ignored."""
    text = f"{JUDGED}max_holds = {own}\n"
    where = ready(tmp_path, text, project=f"[pipeline]\n{project}\n" if project else "")
    where.scripted(*(says(str(number)) for number in range(9)))
    done = where.run("--test-command", TEST, *flags)
    assert done.result["rounds"] == rounds
    assert ("can only lower the bound" in done.err) == (project == "max_holds = 3")


def test_a_project_without_trust_selects_nothing(tmp_path: Path) -> None:
    """[D-7, A-70, A-72]"""
    where = ready(tmp_path, "", project=GUIDED)
    done = where.run()
    assert done.result["pipeline"] is None
    assert (
        f"{where.root}: stella.toml: 1 value left out: pipeline.default; because it is not trusted "
        "(nobody trusted this workspace); `stella trust` shows it and asks"
    ) in done.err


@pytest.mark.behaviour("M2-51.order", "S2-14")
def test_settings_choose_the_model_where_nothing_else_does(tmp_path: Path) -> None:
    """[M2-15, M2-51, S2-14]"""
    where = ready(tmp_path, "")
    settings(where.home, f'[tiers]\nworker = "script:{where.script}"\n')
    done = where.stella("run", "go", "--output-format", "json")
    assert done.result["status"] == "completed"
    (opened,) = where.told("session_opened")
    assert (opened["model"], opened["model_source"]) == (f"script:{where.script}", "settings")
    assert [row["path"] for row in opened["settings"]] == [str(where.home / "stella.toml")]
    assert len(opened["settings"][0]["sha256"]) == 64
    assert opened["tiers"]["verifier"] == "verdict"


@pytest.mark.parametrize(
    ("words", "env", "source"),
    [
        (("--model", "{good}"), {"STELLA_MODEL": "script:/none"}, "flag"),
        (("--tier", "worker={good}"), {"STELLA_MODEL": "script:/none"}, "flag"),
        (("--tier", "cheap=script:/none"), {"STELLA_MODEL": "{good}"}, "STELLA_MODEL"),
    ],
)
def test_flags_and_the_variable_go_before_settings(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str], source: str
) -> None:
    """[M2-15, M2-54, S2-10]"""
    where = ready(tmp_path, '[model]\ndefault = "script:/none"\n')
    good = f"script:{where.script}"
    given = [word.format(good=good) for word in words]
    named = {name: value.format(good=good) for name, value in env.items()}
    done = where.stella("run", "go", "--output-format", "json", *given, env=named)
    assert done.result["status"] == "completed"
    assert where.told("session_opened")[0]["model_source"] == source


def test_two_models_for_the_session_on_one_line_are_a_usage_error(tmp_path: Path) -> None:
    """[M2-51, M2-54]"""
    where = ready(tmp_path, "")
    assert "--tier worker" in refused(where, "usage", "--tier", "worker=other")
    assert "did you mean verifier?" in refused(where, "usage", "--tier", "verifer=x")


@pytest.mark.behaviour("S2-4")
def test_faulty_settings_end_the_command_before_it_starts_anything(tmp_path: Path) -> None:
    """[S2-4, S-10, S-23]"""
    where = ready(tmp_path, "[budget]\nrun_usd = 1.0\n", project="[pipelines]\n")
    later = "this release does not act on it yet; take it out, so that nobody relies on it"
    unknown = 'unknown section "pipelines"; did you mean pipeline?'
    assert refused(where, "settings").split("\n") == [
        "several faults:",
        f"{where.home}/stella.toml: budget: {later}",
        f"{where.root}/stella.toml: pipelines: {unknown}",
    ]
    assert where.stella("plugin", "list").code == 0


def test_a_file_that_others_may_write_is_refused_with_its_repair(tmp_path: Path) -> None:
    """[S2-2]"""
    where = ready(tmp_path, GUIDED)
    path = where.home / "stella.toml"
    path.chmod(0o664)
    assert refused(where, "settings") == (
        f"{path}: group or others may write it; run: chmod go-w {path}"
    )


def test_a_variable_leaves_settings_out(tmp_path: Path) -> None:
    """[S2-3, S2-31]"""
    where = ready(tmp_path, GUIDED, project="[broken")
    done = where.stella("run", "go", *where.asked, env={"STELLA_NO_SETTINGS": "yes"})
    assert (done.result["status"], done.result["pipeline"]) == ("completed", None)
    done = where.stella("run", "go", *where.asked, env={"STELLA_NO_SETTINGS": "perhaps"})
    assert (done.code, done.result["error"]["code"]) == (2, "usage")
    assert "STELLA_NO_SETTINGS" in done.err


@pytest.mark.behaviour("S2-43")
def test_a_home_that_lies_in_the_workspace_is_refused_before_its_settings_are_read(
    tmp_path: Path,
) -> None:
    """[S2-43]"""
    where = ready(tmp_path, "")
    inner = where.root / "inner"
    inner.mkdir()
    (inner / "stella.toml").write_text("[broken")
    done = where.stella("run", "go", *where.asked, env={"STELLA_HOME": str(inner)})
    assert (done.code, done.result["error"]["code"]) == (2, "usage")
    assert "must lie apart" in done.err
