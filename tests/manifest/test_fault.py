from pathlib import Path

import pytest

from stella import limits
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Path as Place
from stella.manifest.fault import Reason
from stella.manifest.fault import fault
from stella.manifest.fault import head
from stella.manifest.fault import report
from stella.manifest.fault import sentence
from stella.manifest.fault import warning_report
from tests.making.manifests import VECTORS
from tests.making.manifests import manifest_vectors
from tests.making.regenerate import expected
from tests.making.regenerate import expected_file


@pytest.mark.behaviour("M-12")
@pytest.mark.parametrize(
    "path",
    [p for kind in ("accepted", "refused") for p in manifest_vectors(f"manifest/{kind}")],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_manifest_has_the_report_of_its_vector(path: Path) -> None:
    """[M-4, M-6, M-7, M-9, M-12, F1, F2, F11, B41 to B55]"""
    assert expected(path) == expected_file(path).read_text("utf-8")


def test_every_expected_report_belongs_to_a_vector() -> None:
    """[M-12]; a vector whose manifest was deleted would be compared with nothing."""
    kinds = ("accepted", "refused")
    kept = {path for kind in kinds for path in (VECTORS / "manifest" / kind).iterdir()}
    paths = {path for kind in kinds for path in manifest_vectors(f"manifest/{kind}")}
    assert kept == paths | {expected_file(path) for path in paths}
    assert all(expected_file(path).read_text("utf-8") for path in paths if "refused" in path.parts)


def test_the_form_of_a_report_is_the_manuals() -> None:
    """[M-12]"""
    five = ManifestFault(
        rule="R-5", path=("loop", "hooks"), message="a b.", fix="do c", line=5, column=1
    )
    one = ManifestFault(rule="R-1", path=(), message="d.", reason=Reason.SYNTAX)
    assert report("plugin.toml", (five, one)) == (
        "plugin.toml cannot be loaded: 2 faults\n"
        "  1. R-5 HooksRequireSteering at line 5, column 1\n"
        "     a b.\n"
        "     fix: do c\n"
        "  2. R-1 Parse (syntax)\n"
        "     d."
    )
    assert report("plugin.toml", (one,)).startswith("plugin.toml cannot be loaded: 1 fault\n")


def test_ten_faults_keep_their_texts_in_a_column() -> None:
    """[M-12]"""
    one = ManifestFault(rule="R-2", path=("name",), message="m.")
    assert report("p", (one,) * 10).endswith("  10. R-2 EmptyName\n      m.")


def test_the_name_of_the_file_cannot_forge_a_line() -> None:
    """[C-5]"""
    one = ManifestFault(rule="R-2", path=("name",), message="m.")
    assert report("a\n\x1bb", (one,)).startswith("a \\u{1B}b cannot be loaded: 1 fault\n")
    assert warning_report("a\nb", (one,)).startswith("a b has 1 warning\n")


@pytest.mark.parametrize(
    ("path", "block", "key", "place"),
    [
        ((), "top level", "", ""),
        (("name",), "top level", "name", "name"),
        (("loop",), "[loop]", "", "loop"),
        (("loop", "hooks"), "[loop]", "hooks", "loop.hooks"),
        (("loop", "hooks", 1), "[loop]", "hooks entry 2", "loop.hooks[1]"),
        (("oracle", "command", "argv"), "[oracle.command]", "argv", "oracle.command.argv"),
        (
            ("oracle", "checks", 1, "check"),
            "[[oracle.checks]] entry 2",
            "check",
            "oracle.checks[1].check",
        ),
        (("oracle", "checks"), "[oracle]", "checks", "oracle.checks"),
        (("capabilities",), "top level", "capabilities", "capabilities"),
        (("capabilities", 1, "tool"), "[[capabilities]] entry 2", "tool", "capabilities[1].tool"),
        (
            ("capabilities", 0, "scope", 0),
            "[[capabilities]] entry 1",
            "scope entry 1",
            "capabilities[0].scope[0]",
        ),
        (("roles", "a\nb", "tier"), "[roles.a b]", "tier", "roles.a b.tier"),
        (("requirements", "x y"), "[requirements]", "x y", "requirements.x y"),
        (("settings",), "top level", "settings", "settings"),
    ],
)
def test_a_path_names_its_block_its_key_and_its_place(
    path: Place, block: str, key: str, place: str
) -> None:
    """[M-6, I-64, Q-13]"""
    found = ManifestFault(rule="R-2", path=path, message="m.")
    assert (found.block, found.key, found.place) == (block, key, place)


def test_a_message_begins_with_block_key_and_value_as_written() -> None:
    """[M-7]"""
    assert head(("loop", "hooks"), '["Stop"]') == '[loop] hooks = ["Stop"]'
    assert head(("loop", "hooks")) == "[loop] hooks"
    assert head(("loop",), "1") == "[loop] = 1"
    assert head(("oracle",)) == "[oracle]"
    tool = head(("capabilities", 0, "purpose"), label='tool "bash"')
    assert tool == '[[capabilities]] entry 1 (tool "bash")'


def test_a_fault_carries_all_that_a_machine_is_told() -> None:
    """[M-6, I-64, Q-13]"""
    found = fault("R-2", ("name",), "is blank", value=" ", fix="write it", near=("a",))
    assert found.code == found.name == "EmptyName"
    assert (found.value, found.fix, found.near) == ('" "', "write it", ("a",))
    assert (found.line, found.column, found.reason) == (None, None, None)
    assert str(found) == 'R-2 EmptyName: top level name = " " is blank.'
    parse = ManifestFault(rule="R-1", path=(), message="m.", reason=Reason.UNKNOWN_KEY)
    assert (parse.code, parse.name) == ("Parse", "unknown-key")


def test_a_question_is_not_ended_twice() -> None:
    assert sentence("did you mean a?") == "did you mean a?"
    assert sentence("it is a") == "it is a."


def test_a_long_key_is_cut_in_every_form_of_its_place() -> None:
    """[M-7, I-64]: limits.FAULT_VALUE_CHARS, at the limit and one past it."""
    most = "k" * limits.FAULT_VALUE_CHARS
    told = f"{most} [1 more characters]"
    for path, before in (((most,), ""), (("requirements", most), "requirements.")):
        found = fault("R-21", path, "is wrong")
        assert (found.key, found.place) == (most, before + most)
        found = fault("R-21", (*path[:-1], f"{most}k"), "is wrong")
        assert (found.key, found.place) == (told, before + told)
        assert f" {told} is wrong." in found.message
    assert fault("R-61", ("roles", f"{most}k", "tier"), "x").block == f"[roles.{told}]"
