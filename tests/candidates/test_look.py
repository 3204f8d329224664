"""What stands at a name is read whole, and a link is never followed."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stella.candidates.candidate import Item
from stella.candidates.look import item_at
from stella.candidates.look import kind_at
from stella.files.kind import Kind
from stella.files.tree import DIRECTORY
from tests.making.candidates import put


@pytest.fixture
def top(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path, DIRECTORY)
    yield opened
    os.close(opened)


def test_where_no_directory_is_nothing_stands() -> None:
    assert kind_at(None, "file") is None
    assert item_at(None, "file") is None


def test_a_file_is_read_whole_and_a_link_by_its_text(tmp_path: Path, top: int) -> None:
    text = os.urandom(3 * 1024 * 1024)
    (tmp_path / "file").write_bytes(text)
    (tmp_path / "link").symlink_to("file")
    put(tmp_path / "run", "", 0o755)
    os.mkfifo(tmp_path / "pipe")
    blocks: list[bytes] = []
    found = item_at(top, "file", sink=blocks.append)
    assert found == Item(kind=Kind.FILE, digest=hashlib.sha256(text).hexdigest())
    assert b"".join(blocks) == text
    digest = hashlib.sha256(b"file").hexdigest()
    assert item_at(top, "link") == Item(kind=Kind.LINK, digest=digest, target="file")
    assert item_at(top, "run") == Item(
        kind=Kind.FILE, digest=hashlib.sha256(b"").hexdigest(), program=True
    )
    assert item_at(top, "pipe") == Item(kind=Kind.FIFO)
    assert item_at(top, "none") is None
    assert item_at(top, ".") == Item(kind=Kind.DIRECTORY)
