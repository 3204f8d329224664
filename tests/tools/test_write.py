"""`write_file`: exactly the contents, or nothing."""

import hashlib
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.tools.toolbox import Prepared
from tests.making.hands import hands
from tests.making.hands import permit_for
from tests.making.hands import picture


def test_exactly_the_content_is_written(tmp_path: Path) -> None:
    """T2-13: parents are made, nothing is added or normalised."""
    content = "é\r\nx\tno newline at the end"
    with hands(tmp_path) as own:
        output = own.do("write_file", path="a/b/c.txt", content=content)
    data = content.encode()
    assert (tmp_path / "a/b/c.txt").read_bytes() == data
    assert output.ok is not None
    assert output.ok.content == f"a/b/c.txt: created, {len(data)} bytes, 2 lines"
    digest = hashlib.sha256(data).hexdigest()
    facts = {"path": "a/b/c.txt", "created": True, "bytes": len(data), "lines": 2}
    assert output.ok.data == {"files": [facts | {"sha256": digest}]}


def test_a_new_file_is_0644_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    """T2-13: whatever the umask."""
    (tmp_path / "old").write_text("x\n")
    (tmp_path / "old").chmod(0o750)
    umask = os.umask(0o077)
    try:
        with hands(tmp_path) as own:
            own.read("old")
            own.text("write_file", files=[{"path": p, "content": "y"} for p in ("old", "new")])
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644


def test_the_bit_that_lends_rights_falls_when_a_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "a").chmod(0o4755)
    with hands(tmp_path) as own:
        own.read("a")
        own.text("write_file", path="a", content="y")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


@pytest.mark.parametrize("size", [limits.WRITE_BYTES, limits.WRITE_BYTES + 1])
def test_four_mebibytes_are_written_and_one_byte_more_is_not(tmp_path: Path, size: int) -> None:
    """T2-13."""
    with hands(tmp_path) as own:
        output = own.do("write_file", path="a", content="x" * size)
    assert (tmp_path / "a").exists() == (size == limits.WRITE_BYTES)
    assert output.error is None or output.error.kind is ErrorClass.INVALID_INPUT


def test_bytes_are_counted_and_not_characters(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        error = own.fault("write_file", path="a", content="é" * (limits.WRITE_BYTES // 2 + 1))
    assert error.kind is ErrorClass.INVALID_INPUT


def test_content_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        error = own.fault("write_file", path="a", content="ab\ud800")
    assert (error.kind, "character 2" in error.message) == (ErrorClass.INVALID_INPUT, True)
    assert picture(tmp_path) == {}


# ── reading first ─────────────────────────────────────────────────────────────────────


def test_an_existing_file_has_to_be_read_in_full(tmp_path: Path) -> None:
    """T2-33: and is untouched otherwise."""
    (tmp_path / "a").write_text("1\n2\n3\n")
    with hands(tmp_path) as own:
        assert own.refused("write_file", path="a", content="x") == "not_read"
        own.text("read_file", path="a", limit=2)
        error = own.fault("write_file", path="a", content="x")
        assert (error.cause, "edit_file" in error.message) == ("not_read", True)
        assert (tmp_path / "a").read_text() == "1\n2\n3\n"
        own.text("read_file", path="a", offset=3)
        assert own.text("write_file", path="a", content="x") == "a: written over, 1 byte, 1 line"


def test_a_file_that_changed_since_it_was_read_is_untouched(tmp_path: Path) -> None:
    """T2-33: the same size and the same times do not hide it."""
    (tmp_path / "a").write_text("old")
    with hands(tmp_path) as own:
        own.read("a")
        status = (tmp_path / "a").stat()
        (tmp_path / "a").write_text("OLD")
        os.utime(tmp_path / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert own.refused("write_file", path="a", content="x") == "changed_since_read"
    assert (tmp_path / "a").read_text() == "OLD"


def test_our_own_write_counts_as_read(tmp_path: Path) -> None:
    """T2-33."""
    with hands(tmp_path) as own:
        for content in ("1", "2", "3"):
            own.text("write_file", path="a", content=content)
    assert (tmp_path / "a").read_text() == "3"


def test_a_read_under_another_spelling_or_through_a_link_counts(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("x")
    (tmp_path / "link").symlink_to("d/a")
    with hands(tmp_path) as own:
        own.read("link")
        own.text("write_file", path=f"{tmp_path}/d/./a", content="y")


def test_a_read_of_another_agent_does_not_count(tmp_path: Path) -> None:
    """T2-33."""
    (tmp_path / "a").write_text("x")
    with hands(tmp_path) as parent, hands(tmp_path) as child:
        parent.read("a")
        assert child.refused("write_file", path="a", content="y") == "not_read"


# ── what is never written ─────────────────────────────────────────────────────────────


def test_links_hard_links_and_special_files_are_not_written(tmp_path: Path) -> None:
    """T2-31: reading them first makes no difference."""
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "outside").write_text("outside")
    (root / "a").write_text("a")
    (root / "link").symlink_to("a")
    (root / "out").symlink_to("../outside")
    os.link(tmp_path / "outside", root / "hard")
    os.mkfifo(root / "pipe")
    (root / "dir").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(root / "socket"))
    before = picture(tmp_path)
    with hands(root) as own:
        own.read("a", "link", "hard")
        for path in ("link", "out", "hard", "pipe", "socket", ".git/config", ".stella/private/x"):
            assert own.refused("write_file", path=path, content="x") == "protected_path"
        for path in ("dir", ".", "../outside", ""):
            error = own.fault("write_file", path=path, content="x")
            assert error.kind is ErrorClass.INVALID_INPUT
        assert own.fault("write_file", path="a/b", content="x").kind is ErrorClass.NOT_FOUND
        assert own.refused("write_file", path=str(tmp_path / "x"), content="x") is not None
    assert picture(tmp_path) == before


def test_what_steers_later_sessions_is_destructive_and_else_medium(tmp_path: Path) -> None:
    """T2-32: in the single form and in a batch."""
    with hands(tmp_path) as own:
        for path, risk in {
            "a": Risk.MEDIUM,
            "stella.toml": Risk.DESTRUCTIVE,
            ".stella/rules/x.md": Risk.DESTRUCTIVE,
            "sub/stella.toml": Risk.MEDIUM,
        }.items():
            single = own.prepare("write_file", path=path, content="")
            batch = own.prepare(
                "write_file", files=[{"path": p, "content": ""} for p in ("z", path)]
            )
            assert isinstance(single, Prepared)
            assert isinstance(batch, Prepared)
            assert (single.risk, batch.risk) == (risk, risk)
            assert (single.paths, batch.paths) == ((path,), ("z", path))


def test_a_permitted_call_may_write_what_steers_later_sessions(tmp_path: Path) -> None:
    """T2-32: it is graded, not forbidden."""
    with hands(tmp_path) as own:
        own.text("write_file", path=".stella/rules/x.md", content="rule\n")
        prepared = own.prepare("write_file", path="stella.toml", content="")
        assert isinstance(prepared, Prepared)
        assert permit_for(prepared).risk is Risk.DESTRUCTIVE
    assert (tmp_path / ".stella/rules/x.md").read_text() == "rule\n"


# ── batches ───────────────────────────────────────────────────────────────────────────


def files(**contents: str) -> list[dict[str, str]]:
    return [{"path": path, "content": content} for path, content in contents.items()]


def test_a_batch_is_written_in_full(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        text = own.text("write_file", files=files(a="1\n", b="22\n"))
    assert text == "a: created, 2 bytes, 1 line\nb: created, 3 bytes, 1 line"
    assert {name: entry[2] for name, entry in picture(tmp_path).items()} == {
        "a": b"1\n",
        "b": b"22\n",
    }


def test_all_faults_of_a_batch_are_told_and_nothing_is_written(tmp_path: Path) -> None:
    """T2-34."""
    (tmp_path / "old").write_text("x")
    (tmp_path / "link").symlink_to("old")
    before = picture(tmp_path)
    items = [{"path": path, "content": "y"} for path in ("new", "old", "link", "../out", "d/../x")]
    with hands(tmp_path) as own:
        error = own.fault("write_file", files=items)
    lines = error.message.splitlines()
    assert lines[0] == "nothing was changed:"
    assert [line.partition(":")[0] for line in lines[1:]] == ["old", "link", "../out", "d/../x"]
    assert (error.kind, error.cause) == (ErrorClass.REFUSED_BY_POLICY, "not_read")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("twin", ["a", "./a", "{root}/a"])
def test_a_path_twice_in_a_batch_is_refused(tmp_path: Path, twin: str) -> None:
    """T2-34: however it is spelled, new or old."""
    items = [{"path": path, "content": "x"} for path in ("a", twin.format(root=tmp_path))]
    with hands(tmp_path) as own:
        error = own.fault("write_file", files=items)
    assert error.kind is ErrorClass.INVALID_INPUT
    assert "twice" in error.message
    assert picture(tmp_path) == {}


def test_a_batch_that_cannot_be_finished_is_taken_back(tmp_path: Path) -> None:
    """T2-34: `a` cannot be both a file and a directory."""
    (tmp_path / "old").write_text("x")
    with hands(tmp_path) as own:
        own.read("old")
        before = picture(tmp_path)
        items = [{"path": path, "content": "y"} for path in ("old", "a", "a/b")]
        error = own.fault("write_file", files=items)
        assert error.message.endswith("nothing was changed")
        assert picture(tmp_path) == before
        own.text("write_file", path="old", content="the record is still that of the old bytes")


@pytest.mark.parametrize("count", [limits.BATCH_ITEMS, limits.BATCH_ITEMS + 1, 0])
def test_a_batch_has_one_to_thirty_two_items(tmp_path: Path, count: int) -> None:
    """T2-10."""
    items = [{"path": f"f{number}", "content": ""} for number in range(count)]
    with hands(tmp_path) as own:
        output = own.do("write_file", files=items)
    assert (output.ok is not None) == (count == limits.BATCH_ITEMS)
    assert len(picture(tmp_path)) == (count if output.ok else 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": "a"},
        {"content": "a"},
        {"path": "a", "content": "", "files": [{"path": "b", "content": ""}]},
        {"content": "", "files": [{"path": "b", "content": ""}]},
        {"files": [{"path": "b"}]},
        {"path": "a", "content": "", "mode": 0o777},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-11."""
    with hands(tmp_path) as own:
        assert own.fault("write_file", **arguments).kind is ErrorClass.INVALID_INPUT
    assert picture(tmp_path) == {}


def test_a_workspace_that_is_gone_is_an_answer(tmp_path: Path) -> None:
    """B13: deleted in the middle of a session."""
    root = tmp_path / "ws"
    root.mkdir()
    with hands(root) as own:
        root.rmdir()
        assert own.fault("write_file", path="a", content="x").kind is ErrorClass.NOT_FOUND
        assert own.fault("read_file", path="a").kind is ErrorClass.NOT_FOUND
        assert own.fault("bash", command="true").kind is ErrorClass.ENVIRONMENT
