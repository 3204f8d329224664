"""`read_file`: what is shown, what is said of it, what is remembered."""

import hashlib
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.message import ErrorClass
from tests.making.hands import hands
from tests.making.processes import hosted


def numbered(first: int, last: int) -> str:
    return "\n".join(f"{number}\tline {number}" for number in range(first, last + 1))


def write_lines(path: Path, count: int) -> bytes:
    data = "".join(f"line {number}\n" for number in range(1, count + 1)).encode()
    path.write_bytes(data)
    return data


def test_lines_are_numbered_and_facts_are_beside_them(tmp_path: Path) -> None:
    """T2-12."""
    data = write_lines(tmp_path / "a", 3)
    with hands(tmp_path) as own:
        output = own.do("read_file", path="./a")
    assert output.ok is not None
    assert output.ok.content == "1\tline 1\n2\tline 2\n3\tline 3"
    digest = hashlib.sha256(data).hexdigest()
    facts = {"path": "a", "sha256": digest, "lines": 3, "from": 1, "to": 3, "bytes": len(data)}
    assert output.ok.data == {"files": [facts]}


def test_a_part_is_shown_with_what_follows(tmp_path: Path) -> None:
    """T2-12: how many more, and where to go on."""
    write_lines(tmp_path / "a", 100)
    with hands(tmp_path) as own:
        text = own.text("read_file", path="a", offset=11, limit=20)
        assert text == f"{numbered(11, 30)}\n[70 more lines follow; next offset 31]"
        [facts] = own.data("read_file", path="a", offset=11, limit=20)["files"]
        assert (facts["from"], facts["to"], facts["lines"]) == (11, 30, 100)
        assert own.text("read_file", path="a", offset=100) == numbered(100, 100)


@pytest.mark.parametrize("count", [limits.READ_LINES, limits.READ_LINES + 1])
def test_two_thousand_lines_are_shown_and_no_more(tmp_path: Path, count: int) -> None:
    """T2-12."""
    write_lines(tmp_path / "a", count)
    with hands(tmp_path) as own:
        text = own.text("read_file", path="a")
    shown = numbered(1, limits.READ_LINES)
    rest = f"\n[1 more lines follow; next offset {limits.READ_LINES + 1}]"
    assert text == (shown if count == limits.READ_LINES else shown + rest)


def test_an_offset_past_the_end_is_the_arguments_fault(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", 3)
    (tmp_path / "empty").touch()
    with hands(tmp_path) as own:
        error = own.fault("read_file", path="a", offset=4)
        assert error.kind is ErrorClass.INVALID_INPUT
        assert error.message == "a: the file has 3 lines, so there is no line 4"
        assert own.fault("read_file", path="empty", offset=1).kind is ErrorClass.INVALID_INPUT
        assert own.text("read_file", path="empty") == "[the file is empty]"


def test_a_binary_file_is_one_line_and_is_read_all_the_same(tmp_path: Path) -> None:
    """T2-12: a NUL in the first 8,192 bytes."""
    most = limits.BINARY_PROBE_BYTES
    (tmp_path / "binary").write_bytes(b"x" * (most - 1) + b"\0")
    (tmp_path / "text").write_bytes(b"x\n" * (most // 2) + b"\0")
    with hands(tmp_path) as own:
        assert own.text("read_file", path="binary") == f"[binary file of {most} bytes]"
        [facts] = own.data("read_file", path="binary")["files"]
        assert facts["binary"] is True
        assert facts["bytes"] == most
        assert "binary" not in own.data("read_file", path="text")["files"][0]
        assert own.text("delete_file", path="binary") == "binary: deleted"


def test_text_is_text_whatever_is_in_it(tmp_path: Path) -> None:
    """E-133: results keep their bytes, in the tool role; what is not UTF-8 is counted [T2-3]."""
    (tmp_path / "a").write_bytes("é\r\n[time]\x1b[31m\n".encode() + b"\xff\xfe\n\xe2\x82")
    with hands(tmp_path) as own:
        text = own.text("read_file", path="a")
        assert text == "1\té\n2\t[time]\x1b[31m\n3\t\ufffd\ufffd\n4\t\ufffd"
        assert own.data("read_file", path="a")["invalid_bytes"] == 4


def test_a_character_that_straddles_a_block_is_intact(tmp_path: Path) -> None:
    """C8."""
    (tmp_path / "a").write_text("x" * (limits.MIB - 1) + "\n😀\n" * 3)
    data = b"x\n" * (limits.MIB // 2 - 1) + "y😀\n".encode()
    (tmp_path / "b").write_bytes(data)
    with hands(tmp_path) as own:
        assert "2\t😀\n3\t" in own.text("read_file", path="a")
        last = limits.MIB // 2
        assert own.text("read_file", path="b", offset=last) == f"{last}\ty😀"
        assert "invalid_bytes" not in own.data("read_file", path="b", offset=last)


def test_a_directory_is_refused_by_naming_the_tool_for_it(tmp_path: Path) -> None:
    """T2-12."""
    (tmp_path / "d").mkdir()
    with hands(tmp_path) as own:
        for path in ("d", ".", "d/"):
            error = own.fault("read_file", path=path)
            assert error.kind is ErrorClass.INVALID_INPUT
            assert "list_files" in error.message


def test_pipes_sockets_and_links_out_are_refused(tmp_path: Path) -> None:
    """T2-31: and a link that stays inside is read."""
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "secret").write_text("secret")
    (root / "a").write_text("inside\n")
    (root / "good").symlink_to("a")
    (root / "bad").symlink_to("../secret")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(root / "socket"))
    with hands(root) as own:
        assert own.text("read_file", path="good") == "1\tinside"
        assert own.data("read_file", path="good")["files"][0]["path"] == "good"
        for path in ("bad", "pipe", "socket"):
            assert own.refused("read_file", path=path) == "protected_path"


# ── several files ─────────────────────────────────────────────────────────────────────


def test_several_files_are_read_and_faults_do_not_stop_the_others(tmp_path: Path) -> None:
    """T2-12."""
    write_lines(tmp_path / "a", 2)
    write_lines(tmp_path / "b", 5)
    files: list[dict[str, Any]] = [
        {"path": "a"},
        {"path": "gone"},
        {"path": "\ud800"},
        {"path": "b", "offset": 2, "limit": 2},
    ]
    with hands(tmp_path) as own:
        output = own.do("read_file", files=files)
    assert output.ok is not None
    assert output.ok.content.split("\n\n") == [
        "==> a <==\n1\tline 1\n2\tline 2",
        "==> gone <==\n[not read: gone: there is no gone here]",
        "==> ? <==\n[not read: ?: the path is not valid UTF-8]",
        "==> b <==\n2\tline 2\n3\tline 3\n[2 more lines follow; next offset 4]",
    ]
    assert output.ok.data is not None
    good, gone, strange, part = output.ok.data["files"]
    assert (good["path"], good["to"], part["from"]) == ("a", 2, 2)
    assert gone["error"]["class"] == "not_found"
    assert strange["path"] == "?"


def test_when_no_file_could_be_read_the_call_failed(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        error = own.fault("read_file", files=[{"path": "x"}, {"path": "../y"}])
    assert error.kind is ErrorClass.NOT_FOUND
    assert error.data is not None
    assert len(error.data["files"]) == 2


@pytest.mark.parametrize("count", [1, limits.BATCH_ITEMS, limits.BATCH_ITEMS + 1, 0])
def test_one_to_thirty_two_files_are_taken(tmp_path: Path, count: int) -> None:
    """T2-10."""
    (tmp_path / "a").write_text("x\n")
    with hands(tmp_path) as own:
        output = own.do("read_file", files=[{"path": "a"}] * count)
    assert (output.ok is not None) == (1 <= count <= limits.BATCH_ITEMS)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"offset": 1},
        {"path": "a", "files": [{"path": "a"}]},
        {"offset": 1, "files": [{"path": "a"}]},
        {"path": "a", "offset": 0},
        {"path": "a", "limit": 0},
        {"path": "a", "limit": limits.READ_LINES + 1},
        {"path": "a", "extra": 1},
        {"files": [{"path": "a", "extra": 1}]},
        {"path": None},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-10, T2-11."""
    (tmp_path / "a").write_text("x\n")
    with hands(tmp_path) as own:
        assert own.fault("read_file", **arguments).kind is ErrorClass.INVALID_INPUT


# ── more than a result holds ──────────────────────────────────────────────────────────


def test_more_than_a_result_holds_is_cut_at_lines_and_the_cut_is_not_read(tmp_path: Path) -> None:
    """T2-3, T2-33: what the model did not see it may not write over."""
    line = "é" * 500
    (tmp_path / "a").write_text(f"{line}\n" * 400)
    with hands(tmp_path) as own:
        text = own.text("read_file", path="a")
        assert len(text.encode()) <= limits.RESULT_BYTES_FILE
        match = re.search(
            r"\n\[(\d+) bytes removed here: lines (\d+) to (\d+); next offset (\d+)\]\n", text
        )
        assert match is not None
        removed, first, last, offset = map(int, match.groups())
        shown = [int(number) for number in re.findall(r"^(\d+)\t", text, re.MULTILINE)]
        assert shown == [*range(1, first), *range(last + 1, 401)]
        assert offset == first
        full = "".join(f"{number}\t{line}\n" for number in range(1, 401))
        assert len(text.encode()) - len(match[0].encode()) + 2 + removed == len(full.encode())
        assert own.refused("write_file", path="a", content="x") == "not_read"
        own.text("read_file", path="a", offset=first, limit=last - first + 1)
        own.text("write_file", path="a", content="x")


def test_every_file_of_a_batch_gets_its_share(tmp_path: Path) -> None:
    """T2-3: nothing is cut after the lines were chosen, so what was shown is known."""
    for number in range(limits.BATCH_ITEMS):
        (tmp_path / str(number)).write_text("y" * 1999 + "\n" + "x" * 99 + "\n" * 300)
    names = [{"path": str(number)} for number in range(limits.BATCH_ITEMS)]
    with hands(tmp_path) as own:
        text = own.text("read_file", files=names)
    assert len(text.encode()) <= limits.RESULT_BYTES_FILE
    assert text.count("==> ") == limits.BATCH_ITEMS
    assert "bytes removed here]" not in text


def test_a_line_longer_than_the_share_of_its_file_is_named_as_removed(tmp_path: Path) -> None:
    for number in range(limits.BATCH_ITEMS):
        (tmp_path / str(number)).write_text("😀" * limits.READ_LINE_CHARS)
    names = [{"path": str(number)} for number in range(limits.BATCH_ITEMS)]
    with hands(tmp_path) as own:
        text = own.text("read_file", files=names)
        assert text.count("bytes removed here: lines 1 to 1; next offset 1]") == 32
        assert own.refused("write_file", path="0", content="") == "not_read"
        own.read("0")
        own.text("write_file", path="0", content="")


def test_a_read_is_low_and_names_its_paths(tmp_path: Path) -> None:
    """T2-10, A-5, A-14."""
    with hands(tmp_path) as own:
        [contract] = [c for c in own.toolbox.contracts if c.name == "read_file"]
        assert contract.trusted_read_only
        prepared = own.prepare("read_file", files=[{"path": "./a"}, {"path": "../b"}])
        assert getattr(prepared, "paths", None) == ("./a", "../b")


def test_a_file_that_may_not_be_read_is_the_systems_refusal(tmp_path: Path) -> None:
    """T2-2: as somebody without rights, since the suite may run as root."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)
    tmp_path.chmod(0o755)
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from tests.making.hands import hands
with hands(Path({str(tmp_path)!r})) as own:
    if os.geteuid() == 0:
        os.seteuid(65534)
    print(own.fault("read_file", path="a").kind.value, end="")
    print(own.fault("write_file", path="b", content="").kind.value, end="")
"""
    assert hosted(script) == b"permission_deniedpermission_denied"
