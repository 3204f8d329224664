"""The example of a tool, as it stands in the repository, called by a model in a real run."""

from pathlib import Path
from typing import Any

import pytest

from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "lint-tool"
ROUGH = "one  \ntwo\nthree\t\n"


def rough(folder: Path) -> Place:
    """A place with the example installed and a file to mend."""
    where = place(folder)
    where.install(EXAMPLE)
    (where.root / "notes.txt").write_text(ROUGH, "utf-8")
    return where


def called(where: Place, *words: str, **given: Any) -> Json:
    """Have the model call the tool once and return what the call came to."""
    where.scripted(asks("lint_fix", **given), says())
    done = where.run("--permissions", "all", *words)
    assert done.code == 0, done.err
    [finished] = where.told("tool_finished")
    return finished


@pytest.mark.behaviour("F8")
def test_the_model_calls_the_tool_and_gets_its_result(tmp_path: Path) -> None:
    """P-12, P-15, P-20: the placeholder became the installed directory, in words and names."""
    where = rough(tmp_path)
    finished = called(where, path="notes.txt")
    assert finished["output"]["ok"]["content"] == "notes.txt: 2 lines ended with blanks\n"
    assert (where.root / "notes.txt").read_text("utf-8") == "one\ntwo\nthree\n"
    [judged] = where.told("authz")
    assert (judged["tool"], judged["principal"]) == ("lint_fix", "plugin:lint-tool")
    assert (judged["risk"], judged["decision"]) == ("high", "allow")
    [offered] = where.told("tools_offered")
    [own] = [tool for tool in offered["tools"] if tool["origin"] != "builtin"]
    assert (own["name"], own["origin"], own["read_only"]) == (
        "lint_fix",
        "plugin:lint-tool",
        False,
    )
    changed = [
        record["data"]["path"] for record in where.records() if record["type"] == "file_change"
    ]
    assert changed == ["notes.txt"]
    assert not where.told("notice")


def test_after_one_byte_of_the_script_changed_it_does_not_start(tmp_path: Path) -> None:
    """I-30, I-31, A-36: the tool is not even offered, and the notice says why."""
    where = rough(tmp_path)
    script = where.root / ".stella/plugins/lint-tool/scripts/lint-fix.sh"
    script.write_text(script.read_text("utf-8") + "#", "utf-8")
    finished = called(where, path="notes.txt")
    assert finished["output"]["error"]["class"] == "not_found"
    assert (where.root / "notes.txt").read_text("utf-8") == ROUGH
    [notice] = where.told("notice")
    assert notice["text"].startswith(
        "lint-tool is not what was accepted: changed scripts/lint-fix.sh"
    )


def test_a_byte_that_changes_in_the_session_is_seen_before_the_start(tmp_path: Path) -> None:
    """I-30, P-15."""
    where = rough(tmp_path)
    spoil = "printf '#' >> .stella/plugins/lint-tool/scripts/lint-fix.sh"
    where.scripted(asks("bash", command=spoil), asks("lint_fix", path="notes.txt"), says())
    done = where.run("--permissions", "all")
    assert done.code == 0, done.err
    _, finished = where.told("tool_finished")
    error = finished["output"]["error"]
    assert (error["class"], error["cause"]) == ("refused_by_policy", "plugin")
    assert "scripts/lint-fix.sh" in error["message"]
    assert (where.root / "notes.txt").read_text("utf-8") == ROUGH


def test_the_mode_judges_it_as_it_judges_every_tool_of_its_grade(tmp_path: Path) -> None:
    """A-20, A-36, P-20."""
    where = rough(tmp_path)
    where.scripted(asks("lint_fix", path="notes.txt"), says())
    done = where.run("--permissions", "read-only")
    [refusal] = done.result["refusals"]
    assert (refusal["tool"], refusal["cause"]) == ("lint_fix", "mode")
    assert refusal["principal"] == "plugin:lint-tool"
    assert (where.root / "notes.txt").read_text("utf-8") == ROUGH


@pytest.mark.parametrize("path", ["../notes.txt", "/etc/passwd", "gone.txt"])
def test_it_refuses_what_is_no_file_of_the_workspace(tmp_path: Path, path: str) -> None:
    finished = called(rough(tmp_path), path=path)
    assert finished["output"]["error"]["message"].startswith("exit code 2\n[stderr]\n")
