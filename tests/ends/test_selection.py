"""Pipelines that cannot run are refused before anything is spent or written [D-1 to D-10]."""

from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import Place
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import tree
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.plugins import steering
from tests.making.plugins import written

ANSWERS: Final = 'print(\'{"point":"before_turn","body":{"protocol_version":1}}\')\n'
BUNDLE: Final = 'name = "bundle"\n'
MUTE: Final = """\
name = "mute"

[loop]
participation = "steering"
points = ["before_turn"]
"""
STAGED: Final = """\
name = "{name}"

[wrapper]
id = "{id}"
stages = [{{ name = "{first}" }}, {{ name = "{second}" }}]

[loop]
participation = "steering"
points = ["before_turn"]

[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = 20
env = ["PATH"]
"""


def ready(folder: Path, *plugins: Path) -> Place:
    where = place(folder)
    where.install(*plugins)
    where.scripted(works(), says())
    return where


def staged(folder: Path, name: str, wrapper: str, *stages: str) -> Path:
    first, second = stages or ("triage", "execute")
    text = STAGED.format(name=name, id=wrapper, first=first, second=second)
    return written(folder / name, text, ANSWERS)


def refused(where: Place, code: int, word: str, *flags: str) -> str:
    """Run, which must be refused with nothing done, and return the message [S-23, D-10]."""
    before = tree(where.root.parent)
    done = where.run(*flags)
    assert tree(where.root.parent) == before
    assert done.code == code
    assert tuple(done.result) == ("status", "error", "exit_code")
    assert (done.result["status"], done.result["exit_code"]) == ("refused", code)
    assert done.result["error"]["code"] == word
    message: str = done.result["error"]["message"]
    assert done.err == f"stella: {message}\n"
    assert "Traceback" not in done.err
    return message


@pytest.mark.behaviour("K-160")
def test_a_member_with_one_byte_changed_is_not_accepted(tmp_path: Path) -> None:
    """[D-10, I-30, I-31]"""
    where = ready(tmp_path, arbiter(tmp_path / "judge", HONEST))
    program = where.root / ".stella" / "plugins" / "judge" / "main.py"
    program.write_bytes(program.read_bytes() + b"\n")
    message = refused(where, 1, "not_accepted", *granted("judge"))
    assert "judge is not what was accepted: changed main.py" in message
    assert "stella plugin accept" in message


def test_a_member_that_nobody_accepted_is_not_accepted(tmp_path: Path) -> None:
    """[I-30, I-34] A folder that came with the workspace."""
    where = ready(tmp_path)
    arbiter(where.root / ".stella" / "plugins" / "judge", HONEST)
    message = refused(where, 1, "not_accepted", *granted("judge"))
    assert message.startswith("judge does not run: nobody accepted it here; to use it: ")


@pytest.mark.behaviour("I-43.run")
def test_a_member_that_is_switched_off_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """[I-43, I-65] Off in settings of the person; the message says how it goes on again."""
    where = ready(tmp_path, arbiter(tmp_path / "judge", HONEST))
    (where.home / "stella.toml").write_text('[plugins]\njudge = "off"\n')
    message = refused(where, 1, "pipeline", *granted("judge"))
    assert message == (
        "judge is switched off in settings; `stella plugin enable judge` switches it on"
    )


@pytest.mark.behaviour("D-8")
@pytest.mark.behaviour("K-64")
def test_a_member_without_a_process_is_refused(tmp_path: Path) -> None:
    """[D-8]"""
    where = ready(tmp_path, written(tmp_path / "mute", MUTE, ""))
    message = refused(where, 1, "pipeline", "--pipeline", "mute")
    assert message == "mute has no [runtime], so there is no process to ask"


@pytest.mark.behaviour("D-8")
@pytest.mark.behaviour("K-90")
def test_a_plugin_that_is_never_asked_is_no_member(tmp_path: Path) -> None:
    """[D-8]"""
    where = ready(tmp_path, written(tmp_path / "bundle", BUNDLE, ""))
    message = refused(where, 1, "pipeline", "--pipeline", "bundle")
    assert "NotAWrapper: bundle has grade none and points none" in message


@pytest.mark.behaviour("D-3")
@pytest.mark.behaviour("K-64")
def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    """[D-3]"""
    where = ready(tmp_path)
    message = refused(where, 2, "usage", "--pipeline", "judge")
    assert 'no plugin "judge"' in message
    assert "stella plugin list" in message
    where.install(arbiter(tmp_path / "judge", HONEST), staged(tmp_path, "guide", "survey-v1"))
    message = refused(where, 2, "usage", "--pipeline", "jugde")
    assert "did you mean judge" in message
    assert "installed: guide, judge, survey-v1" in message


@pytest.mark.behaviour("K-89")
def test_the_same_plugin_twice_and_an_empty_part_are_usage_errors(tmp_path: Path) -> None:
    """[D-1, D-4]"""
    where = ready(tmp_path, staged(tmp_path, "guide", "survey-v1"))
    message = refused(where, 2, "usage", "--pipeline", "survey-v1, guide")
    assert '"survey-v1" and "guide" are the same plugin' in message
    message = refused(where, 2, "usage", "--pipeline", "guide,,")
    assert "empty part" in message


@pytest.mark.behaviour("D-38")
@pytest.mark.behaviour("K-64", "K-85", "K-86", "K-87")
def test_members_are_selected_by_id_or_name_and_the_variant_names_both(tmp_path: Path) -> None:
    """[D-2, D-38, M-36]"""
    guide = staged(tmp_path, "guide", "survey-v1")
    where = ready(tmp_path, guide, arbiter(tmp_path / "judge", HONEST))
    result = where.run("--pipeline", "survey-v1,judge", "--test-command", "python3 check.py")
    assert (result.code, result.result["pipeline"]) == (0, "survey-v1,judge")
    asked = [(told["plugin"], told.get("stage")) for told in where.told("plugin_exchange")]
    assert asked == [("guide", "triage"), ("guide", "execute"), ("judge", "execute")]


@pytest.mark.behaviour("D-35")
@pytest.mark.behaviour("K-63")
def test_two_arbiters_and_two_orders_are_refused(tmp_path: Path) -> None:
    """[D-34, D-35]"""
    where = ready(
        tmp_path,
        arbiter(tmp_path / "judge", HONEST),
        arbiter(tmp_path / "other", HONEST, name="other"),
        staged(tmp_path, "one", "one-v1", "recall", "execute"),
        staged(tmp_path, "two", "two-v1", "execute", "recall"),
    )
    message = refused(where, 1, "pipeline", "--pipeline", "judge,other")
    assert "TwoArbiters" in message
    assert "judge" in message
    assert "other" in message
    message = refused(where, 1, "pipeline", "--pipeline", "one,two")
    assert "ConflictingStageOrder" in message


@pytest.mark.behaviour("D-6")
@pytest.mark.behaviour("K-88")
def test_a_pipeline_and_none_exclude_each_other(tmp_path: Path) -> None:
    """[D-5, D-6]"""
    where = ready(tmp_path, steering(tmp_path / "guide", ANSWERS))
    message = refused(where, 2, "usage", "--pipeline", "guide", "--no-pipeline")
    assert "--pipeline and --no-pipeline exclude each other" in message
    result = where.run("--no-pipeline").result
    assert (result["status"], result["pipeline"]) == ("completed", None)
    assert where.told("plugin_exchange") == []


@pytest.mark.behaviour("K-91")
def test_a_test_without_a_pipeline_is_a_usage_error(tmp_path: Path) -> None:
    """[D-10] Every such flag is named."""
    where = ready(tmp_path)
    given = {
        "--test-command": ("true",),
        "--watch-tests": ("*",),
        "--test-timeout": ("5",),
        "--red-on-error": (),
        "--max-holds": ("1",),
    }
    flags = [word for flag, value in given.items() for word in (flag, *value)]
    message = refused(where, 2, "usage", *flags)
    for flag in given:
        assert f"{flag} needs a pipeline" in message


@pytest.mark.behaviour("K-119")
def test_more_holds_than_there_are_is_a_usage_error(tmp_path: Path) -> None:
    """[D-45]"""
    where = ready(tmp_path, arbiter(tmp_path / "judge", HONEST))
    message = refused(where, 2, "usage", *granted("judge"), "--max-holds", "9")
    assert message == "--max-holds: expected 0 to 8, got 9"


@pytest.mark.behaviour("D-10")
def test_a_model_is_looked_for_after_the_members(tmp_path: Path) -> None:
    """[D-10, M2-15] The first refusal is that of the first step."""
    where = ready(tmp_path)
    done = where.stella("run", "go", "--output-format", "json")
    assert (done.code, done.result["error"]["code"]) == (1, "no_model")
    message = refused(where, 2, "usage", "--pipeline", "judge", "--model", "script:gone.jsonl")
    assert 'no plugin "judge"' in message
