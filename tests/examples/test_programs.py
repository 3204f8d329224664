"""What every example program does with a host it does not serve, and with none at all."""

import json
from pathlib import Path

import pytest

from tests.making.ends import place
from tests.making.examples import EXAMPLES
from tests.making.examples import PROGRAMS
from tests.making.examples import asked
from tests.making.examples import program
from tests.making.examples import request

POINTS = {
    "steering-recall": "before_turn",
    "steering-plan": "before_turn",
    "budget-arbiter": "after_turn",
    "best-of-three": "after_turn",
}
LINE_BYTES = 16 * 1024 * 1024


def unserved(name: str, *lines: object, raw: bytes | None = None) -> str:
    """Why a program gives no answer: one line on stderr, nothing on stdout [W-29]."""
    done = asked(name, *lines, raw=raw)
    assert (done.returncode, done.stdout) == (1, b"")
    text = done.stderr.decode("ascii")
    assert text.startswith(f"{name}: ")
    assert text.index("\n") == len(text) - 1
    return text


@pytest.mark.behaviour("W-13")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("version", [0, 2, True, 1.0, "1", None])
def test_another_version_of_the_protocol_gets_no_answer(name: str, version: object) -> None:
    """[W-13, W-29]"""
    line = request(POINTS[name], protocol_version=version)
    assert "protocol version 1" in unserved(name, line)


@pytest.mark.behaviour("W-29")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("point", ["drive", "after_life", ["before_turn"], None])
def test_an_unknown_point_gets_no_answer(name: str, point: object) -> None:
    """[W-29]"""
    unserved(name, request("x") | {"point": point})


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"before_turn\n",
        b"\xff\n",
        b"[1]\n",
        b"{}\n",
        b'{"point":"before_turn"}\n',
        b'{"point":"before_turn","body":[]}\n',
        b'{"point":"after_turn","body":{"protocol_version":1,"round":0}}\n',
        b"[" * 100_000 + b"\n",
    ],
    ids=lambda raw: raw[:20].decode("ascii", "replace"),
)
def test_what_is_no_request_gets_no_answer(name: str, raw: bytes) -> None:
    """[W-29]"""
    if name == "best-of-three" and b"after_turn" in raw:
        raw = raw.replace(b"after", b"before").replace(b'"round":0', b'"no":0')
    unserved(name, raw=raw)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("over", [0, 1])
def test_a_line_is_read_up_to_its_bound_and_no_further(name: str, over: int) -> None:
    """What lies on the bound is read and found to be no JSON, one byte more is not read."""
    why = unserved(name, raw=b"x" * (LINE_BYTES - 1 + over) + b"\n")
    assert ("at most 16 MiB" if over else "not JSON") in why


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_installs_without_a_warning_and_stands_as_it_is(name: str, tmp_path: Path) -> None:
    """[I-9, I-60]"""
    where = place(tmp_path)
    done = where.stella("plugin", "install", str(EXAMPLES / name), "--yes")
    assert (done.code, done.out) == (0, ""), done.err
    consent, _, end = done.err.partition("Nothing above is granted until you accept.\n")
    assert consent.startswith(f"Install the plugin `{name}`?\n")
    about, digest, _, first, second, *more = end.strip().split("\n")
    assert (about, digest[:7]) == ("The digest of the text above, for --accept:", "sha256:")
    assert first.startswith(f"installed {name} in ")
    assert second.startswith(f"next: stella run --pipeline {name} ")
    assert more == []
    (listed,) = json.loads(where.stella("plugin", "list", "--json").out)
    assert listed["name"] == name


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_package_holds_its_manifest_its_program_and_a_page(name: str) -> None:
    files = sorted(path.name for path in (EXAMPLES / name).iterdir())
    assert files == sorted(["README.md", "plugin.toml", program(name).name])
    page = (EXAMPLES / name / "README.md").read_text("utf-8")
    assert page.startswith(f"# {name}\n")
    assert f"stella plugin install examples/plugins/{name}" in page
