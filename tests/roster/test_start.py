"""Consent shows the program that is started, and looking for it starts nothing."""

import json
from pathlib import Path

import pytest

from stella import limits
from stella.consent.text import Resolution
from stella.errors import PackageRefused
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import read_manifest
from stella.manifest.runtime import Runtime
from stella.process.program import Program
from stella.roster.start import Lookup
from stella.roster.start import absent
from stella.roster.start import accepted_program
from stella.roster.start import line_end_warning
from stella.roster.start import refuse_unstartable
from stella.roster.start import replaced
from stella.roster.start import resolution
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import programs
from tests.making.packages import settled
from tests.making.plugins import executable

OBSERVER = """\
name = "meter"
[loop]
participation = "observer"
[runtime]
argv = {argv}
timeout_secs = 30
"""
PLACE = Path("/tier/meter")


def manifest(*argv: str) -> PluginManifest:
    words = ", ".join(f"'{word}'" for word in argv)
    return read_manifest(OBSERVER.format(argv=f"[{words}]").encode()).manifest


def walked(root: Path) -> Package:
    with tree.opened(root) as opened:
        return tree.walk(opened)


def cleared(word: str, directory: Path, recorded: str | Path | None, where: Lookup) -> Program:
    runtime = Runtime(argv=(word, "-x"), timeout_secs=1)
    return accepted_program(runtime, directory, str(recorded) if recorded else None, where)


def test_only_the_exact_placeholder_is_replaced_and_every_time() -> None:
    """M-34, B20, B56: a directory with spaces and quotes stays one word."""
    words = ("${plugin_dir}/a:${plugin_dir}", "${plugin_dir", "$plugin_dir", "${HOME}", "$(id)")
    place = Path("/a b/'\"$x")
    assert replaced(words, place) == (f"{place}/a:{place}", *words[1:])


def test_a_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    """T-3, E131: shown as an absolute path, which is then recorded."""
    here = settled(tmp_path)
    where = lookup(here, programs(tmp_path / "bin"))
    found = str(tmp_path / "bin/python3")
    root = notes(tmp_path / "package")
    assert resolution(manifest("python3"), walked(root), PLACE, where) == Resolution(runtime=found)
    assert not (tmp_path / "bin/was-started").exists()


def test_a_name_that_was_nowhere_is_not_started(
    tmp_path: Path,
) -> None:
    """T-8."""
    here = settled(tmp_path)
    found = cleared("python4", PLACE, None, lookup(here, str(tmp_path)))
    assert found.not_started == "python4: no such program was found when it was accepted"
    root = notes(tmp_path / "package")
    shown = resolution(manifest("python4"), walked(root), PLACE, lookup(here, str(tmp_path)))
    assert shown == Resolution()


@pytest.mark.behaviour("Q-30")
def test_an_interpreter_in_the_workspace_is_never_used(tmp_path: Path) -> None:
    """Q-30, E131: neither by an absolute nor by a relative entry of PATH."""
    here = settled(tmp_path)
    inside = programs(here.workspace / "bin")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(here.workspace / "bin/python3")
    root = walked(notes(tmp_path / "package"))
    for path in (inside, "bin", ".", "", str(tmp_path / "bin")):
        where = lookup(here, path)
        assert resolution(manifest("python3"), root, PLACE, where).runtime is None


@pytest.mark.parametrize(
    "word", ["${plugin_dir}/bin/meter", "./bin/meter", "bin/meter", "bin/../bin/meter"]
)
def test_a_program_of_the_package_is_shown_where_it_will_be(tmp_path: Path, word: str) -> None:
    """T-3: before it is there, by what the package holds."""
    root = meter(tmp_path / "package")
    where = lookup(settled(tmp_path))
    shown = resolution(manifest(word), walked(root), PLACE, where)
    assert shown == Resolution(runtime="/tier/meter/bin/meter")
    refuse_unstartable(manifest(word), walked(root), PLACE, where)
    program = str(root / "bin/meter")
    for recorded in (program, None):
        assert cleared(word, root, recorded, where) == Program(path=program)


@pytest.mark.parametrize("word", ["${plugin_dir}/bin/none", "bin", "${plugin_dir}/"])
def test_a_program_the_package_does_not_hold_is_refused(tmp_path: Path, word: str) -> None:
    """G7: it could never be started."""
    package = walked(meter(tmp_path / "package"))
    if word == "bin":
        word = "./bin"
    with pytest.raises(PackageRefused, match=r"\[runtime\] argv entry 1: the package has no file"):
        refuse_unstartable(manifest(word), package, PLACE, lookup(settled(tmp_path)))


def test_a_program_without_the_right_to_be_executed_is_refused_with_the_fix(
    tmp_path: Path,
) -> None:
    """G7."""
    root = meter(tmp_path / "package")
    (root / "bin/meter").chmod(0o644)
    where = lookup(settled(tmp_path))
    with pytest.raises(PackageRefused, match=r"bin/meter may not be executed; .* chmod \+x"):
        refuse_unstartable(manifest("bin/meter"), walked(root), PLACE, where)
    assert resolution(manifest("bin/meter"), walked(root), PLACE, where).runtime is None


@pytest.mark.parametrize("word", ["python3", "/usr/bin/env", "/tier/meter/../other/x"])
def test_a_program_outside_the_package_is_not_the_packages_business(
    tmp_path: Path, word: str
) -> None:
    where = lookup(settled(tmp_path))
    refuse_unstartable(manifest(word), walked(notes(tmp_path / "package")), PLACE, where)


@pytest.mark.parametrize(
    "word",
    [
        "${plugin_dir}/../../../check.sh",
        "${plugin_dir}/bin/../../x",
        "${plugin_dir}/../meter/bin/meter",
        "${plugin_dir}x/bin/meter",
        "${plugin_dir}/..",
        "../x",
        "./../meter/bin/meter",
        "bin/../../meter/bin/meter",
        "x${plugin_dir}",
        "/x/${plugin_dir}",
    ],
)
def test_a_path_that_leaves_the_package_is_refused(tmp_path: Path, word: str) -> None:
    """B56: at any step, and before anything stands there."""
    package, where = walked(meter(tmp_path / "package")), lookup(settled(tmp_path))
    with pytest.raises(PackageRefused) as refused:
        refuse_unstartable(manifest(word), package, PLACE, where)
    assert str(refused.value) == (
        f'[runtime] argv entry 1 = "{word}": expected a program inside the package, got a path '
        "that leaves it; ship the program in the package, or write the name of one on PATH"
    )


def test_an_absolute_path_in_the_workspace_is_refused(tmp_path: Path) -> None:
    """B56, Q-30: as written or through a link; one of the plugin's own directory is its own."""
    here = settled(tmp_path)
    (tmp_path / "into").symlink_to(here.workspace / "check.sh")
    package = walked(meter(tmp_path / "package"))
    for word in (here.workspace / "check.sh", tmp_path / "into"):
        with pytest.raises(PackageRefused, match="expected a program outside the workspace"):
            refuse_unstartable(manifest(str(word)), package, PLACE, lookup(here))
    own = here.workspace / ".stella/plugins/meter"
    refuse_unstartable(manifest(f"{own}/bin/meter"), package, own, lookup(here))


def test_the_recorded_program_is_started_whatever_path_says(tmp_path: Path) -> None:
    """E131, J5: it is never looked up again."""
    where = lookup(settled(tmp_path), programs(tmp_path / "earlier"))
    program = Path(programs(tmp_path / "bin"), "python3")
    assert cleared("python3", PLACE, program, where) == Program(path=str(program))
    program.chmod(0o644)
    said = f"{program}: the program that was accepted is gone or may not be executed"
    assert cleared("python3", PLACE, program, where).not_started == said
    program.unlink()
    assert cleared("python3", PLACE, program, where).not_started == said


def test_a_recorded_program_that_leads_elsewhere_by_now_is_not_started(tmp_path: Path) -> None:
    """B56, Q-30: by real path, at the start."""
    here = settled(tmp_path)
    evil = Path(programs(here.workspace), "python3")
    link = tmp_path / "python3"
    link.symlink_to(evil)
    root = meter(tmp_path / "package")
    (root / "out").symlink_to(evil)
    where = lookup(here)
    for program in (link, evil):
        why = cleared("python3", PLACE, program, where).not_started or ""
        assert "expected a program outside the workspace" in why
    for word, program in (
        ("./out", root / "out"),
        (str(root / "out"), root / "out"),
        ("./x", evil),
    ):
        why = cleared(word, root, program, where).not_started or ""
        assert "expected a program inside the package" in why


def test_the_words_are_those_of_the_manifest_with_the_directory_in_place() -> None:
    """M-34"""
    assert replaced(("python3", "${plugin_dir}/x"), PLACE) == ("python3", "/tier/meter/x")


def test_an_absolute_program_is_shown_when_it_can_be_executed(tmp_path: Path) -> None:
    where = lookup(settled(tmp_path))
    package = walked(notes(tmp_path / "package"))
    program = executable(tmp_path / "run", "#!/bin/sh\n")
    found = [
        resolution(manifest(word), package, PLACE, where).runtime
        for word in (str(program), f"{tmp_path}/x/../run", f"{tmp_path}/none", str(tmp_path))
    ]
    assert found == [str(program), str(program), None, None]


def test_a_plugin_without_a_process_has_no_program(tmp_path: Path) -> None:
    root = notes(tmp_path / "package")
    bare = read_manifest(b'name = "notes"').manifest
    where = lookup(settled(tmp_path))
    refuse_unstartable(bare, walked(root), PLACE, where)
    assert resolution(bare, walked(root), PLACE, where) == Resolution()
    with tree.opened(root) as opened:
        assert line_end_warning(bare, opened, PLACE) is None


@pytest.mark.parametrize(
    ("program", "warned"),
    [
        ("#!/bin/sh\r\necho\r\n", True),
        ("#!/bin/sh\r\n", True),
        ("#!/bin/sh\necho\r\n", False),
        ("echo\r\n", False),
        ("", False),
    ],
)
def test_a_script_with_the_wrong_line_end_is_warned_about(
    tmp_path: Path, program: str, *, warned: bool
) -> None:
    """G8."""
    root = meter(tmp_path / "package")
    (root / "bin/meter").write_bytes(program.encode())
    with tree.opened(root) as opened:
        warning = line_end_warning(manifest("bin/meter"), opened, PLACE)
    assert (warning or "").startswith(
        "bin/meter: its first line ends with a carriage return"
    ) is warned


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            [
                "sh",
                "${plugin_dir}/bin/meter",
                "${plugin_dir}/bin",
                "bin/x",
                "${plugin_dir}",
                "${plugin_dir}/",
            ],
            [],
        ),
        (["nosuch"], ['ProgramNotFound [runtime] argv entry 1 = "nosuch": no such program here']),
        (
            ["main.py"],
            [
                (
                    'ProgramNotFound [runtime] argv entry 1 = "main.py": no such program here; '
                    "the package's own is ${plugin_dir}/main.py"
                )
            ],
        ),
        (
            ["sh", "${plugin_dir}/./gone.sh"],
            ['FileNotFound [runtime] argv entry 2: the package has no file "./gone.sh"'],
        ),
        (None, ["NoRuntime [loop] {key}: without [runtime] no process can answer them"]),
    ],
)
@pytest.mark.parametrize("key", ["points", "hooks"])
def test_what_is_not_there_to_be_started_is_told(
    tmp_path: Path, words: list[str] | None, found: list[str], key: str
) -> None:
    """[M-9, T-3] A warning each: it may stand on the machine that runs the plugin."""
    root = meter(tmp_path / "package")
    (root / "main.py").write_text("", "utf-8")
    beside = tmp_path / "programs"
    beside.mkdir()
    executable(beside / "sh", "#!/bin/sh\n")
    asked = {"points": '"before_turn"', "hooks": '"TurnEnd"'}[key]
    runtime = f"[runtime]\nargv = {json.dumps(words)}\ntimeout_secs = 1\n" if words else ""
    loop = f'[loop]\nparticipation = "steering"\n{key} = [{asked}]\n'
    loaded = read_manifest(f'name = "meter"\n{loop}{runtime}'.encode()).manifest
    where = lookup(settled(tmp_path), str(beside))
    told = absent(loaded, walked(root), tmp_path / "there", where)
    assert [f"{each.name} {each.says}" for each in told] == [
        line.replace("{key}", key) for line in found
    ]


def test_a_plugin_that_asks_for_nothing_misses_nothing(tmp_path: Path) -> None:
    bare = read_manifest(b'name = "notes"').manifest
    root = notes(tmp_path / "package")
    assert not list(absent(bare, walked(root), PLACE, lookup(settled(tmp_path))))


def test_the_oracles_own_command_is_looked_up_the_same_way(tmp_path: Path) -> None:
    """C-1, M-24: it is shown and never started."""
    text = """\
name = "judge"
[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["after_turn"]
[requirements]
done = "it is done"
[oracle]
flip = "required"
command = { argv = ["${plugin_dir}/bin/meter"], timeout_secs = 1 }
"""
    root = meter(tmp_path / "package")
    loaded = read_manifest(text.encode()).manifest
    shown = resolution(loaded, walked(root), PLACE, lookup(settled(tmp_path)))
    assert shown == Resolution(oracle="/tier/meter/bin/meter")


@pytest.mark.parametrize("before", ["${plugin_dir}/", "../", "./"])
def test_a_refusal_is_short_however_long_the_program_is_spelled(
    tmp_path: Path, before: str
) -> None:
    """[M-7] limits.FAULT_VALUE_CHARS"""
    package, where = walked(meter(tmp_path / "package")), lookup(settled(tmp_path))
    word = before + "x" * 4 * limits.FAULT_VALUE_CHARS
    with pytest.raises(PackageRefused) as refused:
        refuse_unstartable(manifest(word), package, PLACE, where)
    assert "more characters]" in str(refused.value)
    assert len(str(refused.value)) < 3 * limits.FAULT_VALUE_CHARS
