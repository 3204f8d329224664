"""A package is looked at without being touched, and everything wrong with it is told at once."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.roster.check import Checked
from stella.roster.check import PackageFault
from stella.roster.check import check
from stella.roster.check import check_json
from stella.roster.check import check_lines
from stella.settings.sections import SETTABLE
from tests.making.content import declared
from tests.making.content import put
from tests.making.content import skill
from tests.making.content import tool
from tests.making.manifests import manifest_vectors
from tests.making.packages import NOTES
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import programs
from tests.making.packages import seen
from tests.making.packages import settled

BOTH = """\
name = "Both"
[loop]
participation = "observer"
hooks = ["TurnEnd"]
[runtime]
argv = ["python3", " "]
timeout_secs = 1
[[capabilities]]
tool = "bash"
risk = "hgh"
purpose = "p"
"""


def checked(source: Path, path_value: str | None = None) -> Checked:
    """Check a package beside a fresh home and workspace."""
    here = settled(source.parent / "places")
    return check(source, here, path_value, SETTABLE)


def setting(key: str, value: str) -> str:
    """A setting that a package asks for."""
    return f'[[configure]]\nkey = "{key}"\nvalue = "{value}"\npurpose = "it"'


def told(found: Checked) -> list[tuple[str, str]]:
    return [
        *((fault.rule, fault.name) for fault in found.manifest),
        *((fault.rule, fault.name) for fault in found.package),
    ]


def machine(found: Checked) -> Any:
    text = check_json(found)
    assert text.isascii()
    assert "\n" not in text
    return json.loads(text)


def test_a_sound_package_has_no_fault(tmp_path: Path) -> None:
    """[I-64]"""
    source = meter(tmp_path / "meter")
    found = checked(source)
    assert found.passed
    assert check_lines(found, source) == ("meter: no faults",)
    assert machine(found) == {"name": "meter", "faults": [], "warnings": []}


def test_every_step_runs_that_still_can(tmp_path: Path) -> None:
    """[I-64, Q-13]; manifest, name, walk: one fault hides none of another step."""
    source = notes(tmp_path / "both", manifest=BOTH)
    (source / "link").symlink_to("main.py")
    found = checked(source)
    assert not found.passed
    assert told(found) == [
        ("R-5", "HooksRequireSteering"),
        ("R-56", "BlankRuntimeArg"),
        ("I-3", "NameRefused"),
        ("I-5", "KindRefused"),
    ]
    assert [warning.name for warning in found.warnings] == ["UnknownRiskToken"]
    lines = check_lines(found, source)
    assert lines[0] == "plugin.toml cannot be loaded: 2 faults"
    assert lines[1] == "  1. R-5 HooksRequireSteering at line 4, column 1"
    assert f"{source} cannot be installed: 2 faults" in lines
    assert "  1. I-3 NameRefused at line 1, column 1" in lines
    assert "plugin.toml has 1 warning" in lines
    assert not any("no faults" in line for line in lines)


def test_the_object_has_the_same_faults_the_headline_first(tmp_path: Path) -> None:
    """[I-64, Q-13]"""
    source = notes(tmp_path / "both", manifest=BOTH)
    found = machine(checked(source))
    assert list(found) == ["name", "faults", "warnings"]
    assert found["name"] == "Both"
    keys = ["rule", "name", "line", "column", "key", "message", "near"]
    assert all(list(row) == keys for row in (*found["faults"], *found["warnings"]))
    assert found["faults"][0] == {
        "rule": "R-5",
        "name": "HooksRequireSteering",
        "line": 4,
        "column": 1,
        "key": "loop.hooks",
        "message": '[loop] hooks = ["TurnEnd"] needs participation "steering" or "arbiter", but the'
        ' manifest says "observer". fix: raise participation, or delete hooks',
        "near": [],
    }
    assert [row["key"] for row in found["faults"]] == ["loop.hooks", "runtime.argv[1]", "name"]
    (warning,) = found["warnings"]
    assert (warning["key"], warning["near"]) == ("capabilities[0].risk", ["high"])


def test_for_a_decoding_fault_the_name_is_the_reason(tmp_path: Path) -> None:
    """[Q-13]; entries count from 0, and a name that is none is null."""
    text = "name = 1\n[[tools]]\n[[tools]]\nname = 'x'\ndescription = 'd'\nslug = 1\n"
    source = notes(tmp_path / "x", manifest=text)
    found = machine(checked(source))
    assert found["name"] is None
    assert [(row["rule"], row["name"], row["key"]) for row in found["faults"]] == [
        ("R-1", "wrong-type", "name"),
        ("R-1", "missing-key", "tools[0].name"),
        ("R-1", "missing-key", "tools[0].description"),
        ("R-1", "unknown-key", "tools[1].slug"),
    ]


def test_what_is_no_package_is_one_fault(tmp_path: Path) -> None:
    """[I-2, I-5, I-64]"""
    missing = checked(tmp_path / "missing")
    assert told(missing) == [("I-2", "Unreadable")]
    assert (missing.name, missing.manifest, missing.warnings) == (None, (), ())
    (tmp_path / "empty").mkdir()
    here = settled(tmp_path / "here")
    assert told(check(tmp_path / "empty", here, None, SETTABLE)) == [("I-2", "NotAPlugin")]
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert told(check(tmp_path / "link", here, None, SETTABLE)) == [("I-5", "KindRefused")]
    assert check_lines(check(tmp_path / "missing", here, None, SETTABLE), tmp_path / "missing") == (
        f"{tmp_path}/missing cannot be installed: 1 fault",
        "  1. I-2 Unreadable",
        f"     {tmp_path}/missing: No such file or directory.",
    )


def test_a_manifest_that_is_no_file_is_told_once(tmp_path: Path) -> None:
    """[I-5]; reading it and walking over it meet the same link."""
    source = notes(tmp_path / "x")
    (source / "plugin.toml").rename(source / "other.toml")
    (source / "plugin.toml").symlink_to("other.toml")
    found = checked(source)
    assert told(found) == [("I-5", "KindRefused")]
    assert "plugin.toml: expected a regular file, got a symbolic link." in found.package[0].message


def test_a_manifest_above_the_limit_is_not_read(tmp_path: Path) -> None:
    """[M-1, M-11]"""
    source = notes(tmp_path / "x", manifest='name = "x"\n' + "#" * limits.MANIFEST_BYTES)
    assert told(checked(source)) == [("R-1", "too-large")]


def executable_bit(source: Path) -> None:
    (source / "bin/meter").chmod(0o644)


def setuid(source: Path) -> None:
    (source / "main.py").chmod(0o4755)


def hard_link(source: Path) -> None:
    (source / "twin").hardlink_to(source / "main.py")


def deep(source: Path) -> None:
    source.joinpath(*["d"] * (limits.PACKAGE_DEPTH + 1)).mkdir(parents=True)


def reserved(source: Path) -> None:
    (source / ".stella-configured.json").touch()


def hidden(source: Path) -> None:
    (source / "a\u200bb").touch()


def bytes_name(source: Path) -> None:
    Path(os.fsdecode(os.fsencode(source) + b"/\xff")).touch()


def twins(source: Path) -> None:
    (source / "README").touch()
    (source / "readme").touch()


def content(source: Path) -> None:
    put(source / "tools" / "x.toml", "name = \n")


def undeclared(source: Path) -> None:
    tool(source, "extra")


def misnamed(source: Path) -> None:
    with (source / "plugin.toml").open("a") as manifest:
        manifest.write(declared(skills=("a",)))
    skill(source, "a", "b")


def gone(source: Path) -> None:
    (source / "bin/meter").unlink()


@pytest.mark.parametrize(
    ("spoil", "rule", "name"),
    [
        (deep, "I-4", "LimitCrossed"),
        (hidden, "I-4", "FileNameRefused"),
        (bytes_name, "I-4", "FileNameRefused"),
        (twins, "I-4", "FileNameRefused"),
        (setuid, "I-5", "KindRefused"),
        (hard_link, "I-5", "KindRefused"),
        (reserved, "I-6", "ReservedName"),
        (content, "P-4", "ContentUnreadable"),
        (misnamed, "P-4", "ContentUnreadable"),
        (undeclared, "P-6", "Undeclared"),
        (gone, "T-3", "ProgramRefused"),
        (executable_bit, "T-3", "ProgramRefused"),
    ],
)
def test_what_would_refuse_an_install_is_told_with_its_rule(
    tmp_path: Path, spoil: Any, rule: str, name: str
) -> None:
    """[I-3 to I-6, P-1, T-3, I-64]"""
    source = meter(tmp_path / "meter")
    spoil(source)
    assert told(checked(source)) == [(rule, name)]


@pytest.mark.parametrize("word", ["../out", "${plugin_dir}/../out"])
def test_a_program_has_the_place_of_its_word(tmp_path: Path, word: str) -> None:
    """[T-3, M-6]"""
    text = meter(tmp_path / "meter") / "plugin.toml"
    text.write_text(text.read_text("utf-8").replace("${plugin_dir}/bin/meter", word), "utf-8")
    (fault,) = checked(text.parent).package
    assert (fault.rule, fault.line, fault.column) == ("T-3", 6, 9)
    assert fault.place == "runtime.argv[0]"
    assert fault.title == "T-3 ProgramRefused at line 6, column 9"


def test_what_is_declared_and_absent_has_the_place_of_its_key(tmp_path: Path) -> None:
    """P-6, P-7, I-64: and what is odd about content is a warning."""
    source = notes(tmp_path / "x", manifest=NOTES + declared(tools=("one", "two")))
    tool(source, "one", 'color = "red"\n')
    tool(source, "twi")
    put(source / "tools" / "helper.sh", "x\n")
    text = source / "plugin.toml"
    text.write_text(text.read_text().replace('"Fixes."', '"Breaks."', 1))
    found = machine(checked(source))
    assert [(row["name"], row["key"], row["line"], row["near"]) for row in found["faults"]] == [
        ("Absent", "tools[1].name", 6, ["twi"]),
        ("Undeclared", "", None, ["two"]),
    ]
    assert [(row["rule"], row["name"]) for row in found["warnings"]] == [
        ("P-8", "TextDiffers"),
        ("P-11", "PassedOver"),
        ("P-4", "NeverLoaded"),
    ]


def test_a_script_no_system_can_start_is_a_warning(tmp_path: Path) -> None:
    """[G8]"""
    source = meter(tmp_path / "meter", program="#!/bin/sh\r\nexit\r\n")
    found = checked(source)
    assert found.passed
    (warning,) = found.warnings
    assert isinstance(warning, PackageFault)
    assert (warning.rule, warning.name, warning.line) == ("T-3", "CarriageReturn", 6)
    lines = check_lines(found, source)
    assert lines[0] == "plugin.toml has 1 warning"
    assert lines[-1] == "meter: no faults"


def test_what_is_not_there_to_be_started_is_a_warning(tmp_path: Path) -> None:
    """[I-64, T-3]"""
    source = meter(tmp_path / "meter")
    text = source / "plugin.toml"
    words = 'argv = ["python4", "${plugin_dir}/gone.py"]'
    told_so = text.read_text("utf-8").replace('argv = ["${plugin_dir}/bin/meter"]', words)
    text.write_text(told_so, "utf-8")
    found = checked(source)
    assert found.passed
    assert [(each.name, each.line, each.column) for each in found.warnings] == [
        ("ProgramNotFound", 6, 9),
        ("FileNotFound", 6, 20),
    ]


def test_a_check_writes_nothing_and_starts_nothing(tmp_path: Path) -> None:
    """[I-64, I-67]"""
    source = meter(tmp_path / "meter", program=f"#!/bin/sh\n: > {tmp_path}/was-started\n")
    path_value = programs(tmp_path / "programs")
    here = settled(tmp_path / "here")
    before = seen(tmp_path)
    assert check(source, here, path_value, SETTABLE).passed
    assert seen(tmp_path) == before


def test_names_and_paths_forge_no_line(tmp_path: Path) -> None:
    """[C-5]"""
    source = notes(tmp_path / "a\n  9. R-2 Forged", manifest='name = "a\\nb"\n')
    lines = check_lines(checked(source), source)
    assert not any("\n" in line for line in lines)
    assert lines[0].endswith("a 9. R-2 Forged cannot be installed: 1 fault")


@pytest.mark.parametrize("path", manifest_vectors("manifest/refused"), ids=lambda path: path.stem)
def test_every_refused_vector_is_told_as_its_report(tmp_path: Path, path: Path) -> None:
    """[M-12, I-64]"""
    source = tmp_path / "x"
    source.mkdir()
    (source / "plugin.toml").write_bytes(path.read_bytes())
    lines = check_lines(checked(source), source)
    expected = path.with_suffix(".expected.txt").read_text("utf-8").splitlines()
    assert list(lines[: len(expected)]) == expected


@pytest.mark.behaviour("I-64.install")
@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        (
            '[[configure]]\nkey = "ui.theme_x"\nvalue = "plain"\npurpose = "it"',
            "S2-15",
            "did you mean ui.theme?",
        ),
        (
            '[[configure]]\nkey = "ui.live"\nvalue = "yes"\npurpose = "it"',
            "Q-24",
            "expected true or false",
        ),
        (f'description = "{"x" * limits.CONSENT_BYTES}"', "I-2", "more than anybody reads"),
    ],
)
def test_what_no_install_takes_is_found(tmp_path: Path, text: str, rule: str, says: str) -> None:
    """[I-64, S2-15, Q-24] An author's check is green for nothing that nobody can install."""
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "plugin.toml").write_text(f'name = "odd"\n{text}\n', "utf-8")
    (fault,) = checked(tmp_path / "odd").package
    assert fault.rule == rule
    assert says in fault.message
