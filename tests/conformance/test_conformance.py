"""The conformance program: it must fail for whatever is not exactly right."""

import sys
from pathlib import Path

import pytest

from tests.making.shipped import CONFORMANCE
from tests.making.shipped import MAIN
from tests.making.shipped import PLUGIN
from tests.making.shipped import PYTHON
from tests.making.shipped import conformance
from tests.making.shipped import some_vectors
from tests.making.shipped import started

ANSWER = 'body = {"protocol_version": PROTOCOL_VERSION, "evidence": evidence}'
PRINT = (
    'print(json.dumps({"point": "after_turn", "body": body}, separators=(",", ":")), flush=True)'
)
EXPECTED = (
    '{"point":"after_turn","body":{"evidence":{"measurements":{"p":1,"test-duration-ms":0}}}}'
)
SLOW = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("conformance", sys.argv[1])
conformance = importlib.util.module_from_spec(spec)
sys.modules["conformance"] = conformance
spec.loader.exec_module(conformance)
conformance.VECTOR_SECS = 0.3
sys.exit(conformance.main(sys.argv[2:]))
"""


def written(folder: Path, **parts: str) -> Path:
    """Return a folder with the vector `01-x`, its parts given by their suffix."""
    for suffix, text in parts.items():
        (folder / f"01-x.{suffix.replace('_', '.')}").write_text(text)
    return folder


def printing(text: str, *more: str) -> tuple[str, ...]:
    """Return a plugin that prints a text whatever it is asked, then does more."""
    return (*PYTHON, "-c", "; ".join([f"print({text!r})", *more]))


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (ANSWER, ANSWER.replace("evidence}", 'evidence, "verdict": "met"}'), '+  "verdict": "met"'),
        (ANSWER, ANSWER.replace("evidence}", '{**evidence, "tamper": "clean"}}'), '"tamper"'),
        (PRINT, f'print("running"); {PRINT}', "not one JSON document"),
        (PRINT, f"{PRINT}; {PRINT}", "not one JSON document"),
        (f"{PRINT}\n", f"{PRINT}\n        return 3\n", "expected exit status 0, got 3"),
        ('"test-duration-ms"] = ran.millis', '"test-duration-ms"] = 0.5', "unsigned 64-bit"),
        ('["failed", "passed"] = "achieved"', '["failed", "passed"] = "not-achieved"', "flip"),
        ("return 1\n    return 0", "return 0\n    return 0", "expected a non-zero exit status"),
        (
            'print(f"verify: {refusal}", file=sys.stderr)',
            'print(f"verify: {refusal}\\nsorry", file=sys.stderr)',
            "+sorry",
        ),
        (
            'print(f"verify: {refusal}", file=sys.stderr)',
            'print(f"verify: {refusal}", file=sys.stderr); print("{}")',
            "expected nothing on stdout",
        ),
    ],
)
@pytest.mark.behaviour("K-200")
def test_a_plugin_that_differs_in_one_place_fails(
    right: str, wrong: str, said: str, tmp_path: Path
) -> None:
    source = MAIN.read_text("utf-8")
    assert source.count(right) == 1
    mutant = tmp_path / "main.py"
    mutant.write_text(source.replace(right, wrong))
    folder = some_vectors(tmp_path / "vectors", "01", "62")
    result = conformance("--testdata", folder, "--", *PYTHON, mutant)
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.endswith("\n1 passed, 1 failed\n")
    assert said in result.stdout


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (EXPECTED, None),
        (EXPECTED.replace('-ms":0', '-ms":18446744073709551615'), None),
        (EXPECTED.replace('-ms":0', '-ms":18446744073709551616'), "unsigned 64-bit"),
        (EXPECTED.replace('-ms":0', '-ms":-1'), "unsigned 64-bit"),
        (EXPECTED.replace('-ms":0', '-ms":true'), "unsigned 64-bit"),
        (EXPECTED.replace('-ms":0', '-ms":null'), "unsigned 64-bit"),
        (EXPECTED.replace(',"test-duration-ms":0', ""), "test-duration-ms"),
        (EXPECTED.replace('"p":1', '"p":1.0'), '"p": 1.0'),
        (EXPECTED.replace('"p":1', '"p":true'), '"p": true'),
        (EXPECTED.replace('"p":1', '"p":1,"p":1'), "a key stands twice"),
        (EXPECTED.replace('"p":1', '"p":NaN'), "NaN is no JSON"),
        (f"[{EXPECTED}]", "["),
        ("", "not one JSON document"),
    ],
)
@pytest.mark.behaviour("K-200", "K-202")
def test_an_answer_is_equal_as_a_json_value_of_exact_types(
    answer: str, said: str | None, tmp_path: Path
) -> None:
    # [K-200, K-202]
    folder = written(tmp_path, request_json="{}", expected_json=EXPECTED)
    result = conformance("--testdata", folder, "--", *printing(answer))
    assert result.returncode == (0 if said is None else 1), result.stdout
    assert said is None or said in result.stdout


def test_stderr_beside_an_answer_is_compared_only_when_the_vector_says_so(tmp_path: Path) -> None:
    # [K-201]
    plugin = printing(EXPECTED, "import sys", "sys.stderr.write(' noted\\n')")
    folder = written(tmp_path, request_json="{}", expected_json=EXPECTED)
    assert conformance("--testdata", folder, "--", *plugin).returncode == 0
    written(tmp_path, stderr_txt="noted\n")
    assert conformance("--testdata", folder, "--", *plugin).returncode == 0
    written(tmp_path, stderr_txt="other\n")
    assert conformance("--testdata", folder, "--", *plugin).returncode == 1


@pytest.mark.behaviour("K-202")
def test_a_plugin_sees_path_alone_and_a_fresh_copy_of_the_workspace(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; root = pathlib.Path(sys.stdin.read()); "
        "names = sorted(os.environ.keys() - {'LC_CTYPE'}); "
        "copy = (root / 'a' / 'b.txt').read_text(); (root / 'a' / 'b.txt').write_text('spoilt'); "
        'print(f\'["{names}","{copy}"]\')'
    )
    folder = written(
        tmp_path, request_json="${workspace_root}", expected_json="""["['PATH']","x"]"""
    )
    (folder / "01-x.workspace" / "a").mkdir(parents=True)
    (folder / "01-x.workspace" / "a" / "b.txt").write_text("x")
    for _ in range(2):
        result = conformance("--testdata", folder, "--", *PYTHON, "-c", code)
        assert result.returncode == 0, result.stdout


def test_a_vector_with_host_calls_fails_and_says_that_it_is_not_run(tmp_path: Path) -> None:
    # [K-201]
    folder = written(tmp_path, request_json="{}", expected_json=EXPECTED, calls_json="[]")
    result = conformance("--testdata", folder, "--", *printing(EXPECTED))
    assert result.returncode == 1
    assert result.stdout == (
        "FAIL 01-x\n     a vector with calls.json: host calls are not run by this program yet\n"
        "0 passed, 1 failed\n"
    )


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({}, "holds no vector"),
        ({"readme": "not one"}, "holds no vector"),
        (
            {"request_json": "{}"},
            "01-x: needs exactly one of expected.json and refusal.txt, has neither",
        ),
        ({"request_json": "{}", "expected_json": "{}", "refusal_txt": "no"}, "has both"),
        ({"refusal_txt": "no"}, "01-x: has no 01-x.request.json"),
        ({"stderr_txt": "no"}, "01-x: has no 01-x.request.json"),
    ],
)
@pytest.mark.behaviour("K-200")
def test_a_folder_that_is_no_set_of_vectors_is_refused(
    parts: dict[str, str], said: str, tmp_path: Path
) -> None:
    # [K-200]
    result = conformance("--testdata", written(tmp_path, **parts), "--plugin", PLUGIN)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_vector_that_is_not_named_as_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "First.request.json").write_text("{}")
    result = conformance("--testdata", tmp_path, "--plugin", PLUGIN)
    assert result.returncode == 1
    assert "First: a vector is named like" in result.stderr


def test_a_plugin_that_does_not_end_is_ended_and_fails(tmp_path: Path) -> None:
    folder = written(tmp_path, request_json="{}", expected_json=EXPECTED)
    words = ("-B", "-c", SLOW, CONFORMANCE, "--testdata", folder, "--", "sleep", "600")
    with started(*PYTHON, *words) as program:
        stdout, _ = program.communicate(timeout=30)
    assert program.returncode == 1
    assert b"did not end within" in stdout


def test_a_plugin_that_does_not_start_fails(tmp_path: Path) -> None:
    folder = written(tmp_path, request_json="{}", expected_json=EXPECTED)
    result = conformance("--testdata", folder, "--", "no-such-program-of-anyone")
    assert result.returncode == 1
    assert "did not start" in result.stdout


def test_a_manifest_without_a_command_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plugin.toml").write_text('name = "notes"\n')
    result = conformance("--plugin", tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "no [runtime] argv can be read" in result.stderr


@pytest.mark.parametrize("words", [[], ["--"], ["--plugin", "x", "--", "y"], ["--plugins", "x"]])
def test_a_wrong_command_line_is_refused(words: list[str]) -> None:
    result = conformance(*words)
    assert (result.returncode, result.stdout) == (2, "")


def test_it_imports_the_standard_library_only() -> None:
    imports = [
        line.split()[1].partition(".")[0]
        for line in CONFORMANCE.read_text("utf-8").splitlines()
        if line.startswith(("import ", "from "))
    ]
    assert "json" in imports
    assert set(imports) <= sys.stdlib_module_names
