"""The search worker: what it finds, when it stops, what it never opens."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stella.tools import search_worker
from stella.tools.search_worker import compiled
from stella.tools.search_worker import main
from stella.tools.search_worker import opened

Record = tuple[str, str, int, int, str]


def question(root: Path, pattern: str, paths: list[str], **terms: str) -> bytes:
    """The fields of a question, in their order."""
    status = root.stat()
    given = {
        "device": str(status.st_dev),
        "inode": str(status.st_ino),
        "literal": "-",
        "case": "-",
        "around": "0",
        "most": "500",
        "line_chars": "300",
        "line_bytes": "1048576",
        "probe_bytes": "8192",
    }
    fields = [*(given | terms).values(), pattern, *paths]
    return b"".join(os.fsencode(field) + b"\0" for field in fields)


def records(data: bytes) -> list[Record]:
    fields = data.decode("utf-8", "surrogateescape").split("\0")
    assert fields.pop() == ""
    assert len(fields) % 5 == 0
    return [
        (kind, path, int(line), int(strange), text)
        for kind, path, line, strange, text in zip(*[iter(fields)] * 5, strict=True)
    ]


def found(root: Path, pattern: str, *paths: str, **terms: str) -> list[Record]:
    out = io.BytesIO()
    assert main(io.BytesIO(question(root, pattern, list(paths), **terms)), out, str(root)) == 0
    return records(out.getvalue())


def brief(root: Path, pattern: str, *paths: str, **terms: str) -> list[str]:
    """Kind, line and text of each record."""
    return [
        f"{kind}{line}:{text}" for kind, _, line, _, text in found(root, pattern, *paths, **terms)
    ]


def test_lines_that_match_are_told_with_path_and_number(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\n\nthree")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "b").write_text("two\n")
    assert found(tmp_path, "t.", "a", "d/b") == [
        ("m", "a", 2, 0, "two"),
        ("m", "a", 4, 0, "three"),
        ("m", "d/b", 1, 0, "two"),
    ]
    assert brief(tmp_path, "e$", "a") == ["m1:one", "m4:three"]
    assert brief(tmp_path, "^$", "a") == ["m3:"]


def test_literal_text_and_any_case(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a.b\naxb\nA.B\nÉ\n")
    assert brief(tmp_path, "a.b", "a") == ["m1:a.b", "m2:axb"]
    assert brief(tmp_path, "a.b", "a", literal="L") == ["m1:a.b"]
    assert brief(tmp_path, "a.b", "a", literal="L", case="I") == ["m1:a.b", "m3:A.B"]
    assert brief(tmp_path, "é", "a", case="I") == ["m4:É"]


def test_lines_around_a_match_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3 x\n4\n5 x\n6\n7\n8\n9\n10 x\n")
    assert brief(tmp_path, "x", "a", around="1") == [
        *("c2:2", "m3:3 x", "c4:4", "m5:5 x", "c6:6"),
        *("c9:9", "m10:10 x"),
    ]
    assert [line[0] for line in brief(tmp_path, "x", "a", around="5")] == list("ccmcmccccm")


def test_it_stops_at_the_last_match_that_was_asked_for(tmp_path: Path) -> None:
    """The lines after it are still told; whether there are more matches is not looked for."""
    (tmp_path / "a").write_text("x1\nx2\nx3\n4\n")
    (tmp_path / "b").write_text("x\n")
    assert brief(tmp_path, "x", "a", "b", most="2") == ["m1:x1", "m2:x2", "l0:"]
    assert brief(tmp_path, "x", "a", "b", most="2", around="2") == [
        *("m1:x1", "m2:x2", "c3:x3", "c4:4", "l0:"),
    ]
    assert brief(tmp_path, "x", "a", "b", most="3", around="5")[-2:] == ["c4:4", "l0:"]
    assert brief(tmp_path, "x", "a", "b", most="4")[-1] == "l0:"
    assert brief(tmp_path, "x", "a", "b", most="5")[-1] == "m1:x"


def test_long_lines_are_cut_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 10 + "\n" + "x" * 11 + "\n")
    assert brief(tmp_path, "x", "a", line_chars="10") == [
        "m1:xxxxxxxxxx",
        "m2:xxxxxxxxxx [1 more characters]",
    ]


def test_a_line_longer_than_is_looked_at_in_one_go_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 15 + b"x" + b"b" * 8 + b"x\nlast x\n")
    terms = {"line_bytes": "8"}
    assert [line[:2] for line in brief(tmp_path, "x", "a", **terms)] == ["m1", "m2"]
    assert [line[:2] for line in brief(tmp_path, "last", "a", **terms)] == ["m2"]


def test_bytes_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\xff\xfe\nx\n")
    assert found(tmp_path, "x", "a") == [
        ("m", "a", 1, 2, "x\ufffd\ufffd"),
        ("m", "a", 2, 0, "x"),
    ]


def test_binary_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\n" + b"y" * 5 + b"\0")
    (tmp_path / "late").write_bytes(b"x\n" + b"y" * 20 + b"\0x\n")
    assert found(tmp_path, "x", "a") == []
    assert brief(tmp_path, "x", "late", probe_bytes="10") == ["m1:x", f"m2:{'y' * 20}\ufffdx"]


@pytest.mark.parametrize(
    ("pattern", "position"), [("(", 0), ("ab[", 2), ("a{99999999999999}", 0), ("(" * 5000, 0)]
)
def test_an_expression_that_is_none_is_refused_with_its_position(
    tmp_path: Path, pattern: str, position: int
) -> None:
    (tmp_path / "a").write_text("x\n")
    [(kind, path, line, _, text)] = found(tmp_path, pattern, "a")
    assert (kind, path, line) == (search_worker.REFUSED, "", position)
    assert text


def test_any_text_is_an_expression_when_it_is_literal() -> None:
    assert compiled("a(b[", literal=True, any_case=False).search("xa(b[y")


def test_what_is_no_plain_file_below_the_root_is_not_opened(tmp_path: Path) -> None:
    """A23, T2-31: replaced since it was listed, by whatever."""
    root = tmp_path / "ws"
    (root / "d").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret\n")
    (root / "good").write_text("secret of ours\n")
    (root / "d" / "good").write_text("secret of ours\n")
    (root / "link").symlink_to("../secret")
    (root / "dir").symlink_to("..")
    (root / "inner").symlink_to("d")
    os.mkfifo(root / "pipe")
    paths = ["link", "dir/secret", "inner/good", "pipe", "d", "gone", "d/gone", "good/x"]
    assert found(root, "secret", *paths, "good", "d/good") == [
        ("m", "good", 1, 0, "secret of ours"),
        ("m", "d/good", 1, 0, "secret of ours"),
    ]
    top = os.open(root, os.O_RDONLY)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in paths:
        assert opened(top, path) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    os.close(top)


def test_names_need_not_be_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\n")
    (tmp_path / name).write_text("x\n")
    assert found(tmp_path, "x", name) == [("m", name, 1, 0, "x")]


def test_another_directory_in_the_roots_place_is_not_searched(tmp_path: Path) -> None:
    """G175: the root is known by what it is, not by its name."""
    (tmp_path / "a").write_text("x\n")
    out = io.BytesIO()
    asked = question(tmp_path, "x", ["a"], inode="1")
    assert main(io.BytesIO(asked), out, str(tmp_path)) == 1
    assert out.getvalue() == b""


def test_it_runs_as_a_program_with_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """O358: nothing of the directory it runs in is imported."""
    (tmp_path / "a").write_text("x\n")
    for name in ("re.py", "collections.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit(9)")
    done = subprocess.run(
        [sys.executable, "-I", "-S", search_worker.__file__],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        input=question(tmp_path, "x", ["a"]),
        capture_output=True,
        check=True,
    )
    assert records(done.stdout) == [("m", "a", 1, 0, "x")]
