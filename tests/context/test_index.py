"""[D-51] The index follows the files, reads what changed only, and answers in one order."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from threading import Event

import pytest

from stella import limits
from stella.context import index
from stella.context.folders import Contents
from stella.context.folders import Folders
from stella.context.folders import Parts
from stella.context.gather import Bounds
from stella.context.gather import Origin
from stella.context.gather import TooMuch
from stella.context.gather import notes
from stella.context.gather import workspace
from stella.context.index import Index
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.wire.host_result import Frame
from tests.making.workspaces import fill


@dataclass(slots=True, kw_only=True)
class Counting(Folders):
    """Notes what is read, and sets `stop` after the read numbered `most`."""

    read_paths: list[str] = field(default_factory=list)
    most: int = -1
    stop: Event = field(default_factory=Event)

    def read(self, parts: Parts) -> Contents | None:
        self.read_paths.append("/".join(parts))
        if len(self.read_paths) == self.most:
            self.stop.set()
        return Folders.read(self, parts)


@contextmanager
def opened(root: Path, stop: Event | None = None) -> Iterator[Index]:
    with index.opened(root.parent / f"{root.name}.db", stop or Event()) as made:
        yield made


def updated(
    root: Path, *, bounds: Bounds | None = None, home: Path | None = None, most: int = -1
) -> list[str]:
    """Bring the index up to date and return the paths of the files that were read."""
    bounds = bounds or Bounds()
    stop = Event()
    with held(os.open(root, DIRECTORY)) as top, opened(root, stop) as made:
        folders = Counting(top=top, most=most, stop=stop)
        with closing(folders):
            sources = [(folders, workspace(folders, None, bounds))]
            if home is not None:
                person = kept(home)
                sources.append((person, notes(person, (), Origin.PERSON)))
            try:
                made.update(sources, bounds)
            finally:
                for other, _ in sources[1:]:
                    other.close()
                    os.close(other.top)
    return folders.read_paths


def kept(home: Path) -> Counting:
    return Counting(top=os.open(home, DIRECTORY))


def best(root: Path, question: str, most: int = 8) -> tuple[Frame, ...]:
    with opened(root) as made:
        return made.best(question, most)


def labels(root: Path, question: str, most: int = 8) -> list[str]:
    return [frame.label for frame in best(root, question, most)]


def place(folder: Path, **texts: str) -> Path:
    fill(folder / "w", **texts)
    return folder / "w"


def test_what_is_found_says_where_it_stands(tmp_path: Path) -> None:
    root = place(tmp_path, src__a_py="\nimport x\nx.whale()\n", doc_md="# Sea\nwhale\n")
    updated(root)
    assert best(root, '"whale"') == (
        Frame(label="Sea", kind="file", source="workspace", uri="doc.md", content="# Sea\nwhale"),
        Frame(
            label="src/a.py:2-3",
            kind="file",
            source="workspace",
            uri="src/a.py",
            content="import x\nx.whale()",
        ),
    )


def test_notes_of_the_person_have_no_uri(tmp_path: Path) -> None:
    """Where the person's home lies is nothing a plugin is told."""
    root = place(tmp_path, a_txt="nothing")
    fill(tmp_path / "home", memory__n_md="whale\n", memory__m_md="# Big\nwhale, whale, whale\n")
    updated(root, home=tmp_path / "home")
    assert best(root, '"whale"') == (
        Frame(label="Big", kind="memory", source="notes", content="# Big\nwhale, whale, whale"),
        Frame(label="n.md:1-1", kind="memory", source="notes", content="whale"),
    )


def test_the_best_passage_of_each_file_is_given(tmp_path: Path) -> None:
    filler = "filler words only\n" * 200
    root = place(tmp_path, a_txt=f"whale\n{filler}whale whale whale\n", b_txt="one whale here\n")
    updated(root)
    found = best(root, '"whale"')
    assert sorted(frame.uri or "" for frame in found) == ["a.txt", "b.txt"]
    assert next(f.content for f in found if f.uri == "a.txt").endswith("whale whale whale")


def test_equal_scores_stand_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """[D-51] and the bound is met by the first of them."""
    texts = {f"{name}_txt": "whale" for name in ("c", "a", "d", "b")}
    root = place(tmp_path, **texts)
    updated(root)
    assert labels(root, '"whale"') == [f"{name}.txt:1-1" for name in "abcd"]
    assert labels(root, '"whale"', 2) == ["a.txt:1-1", "b.txt:1-1"]


def test_a_name_finds_a_file_too(tmp_path: Path) -> None:
    root = place(tmp_path, src__parser_py="x = 1\n", other_py="y = 1\n")
    updated(root)
    assert labels(root, '"parser"') == ["src/parser.py:1-1"]


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale", b_txt="shark", bin="x\0y")
    assert updated(root) == ["a.txt", "b.txt", "bin"]
    assert updated(root) == []
    (root / "b.txt").write_text("whale")
    (root / "c.txt").write_text("whale")
    (root / "a.txt").unlink()
    assert updated(root) == ["b.txt", "c.txt"]
    assert labels(root, '"whale" OR "shark"') == ["b.txt:1-1", "c.txt:1-1"]


def test_a_file_of_the_same_size_and_time_is_read_again(tmp_path: Path) -> None:
    """Times can be set; the time of the change cannot."""
    root = place(tmp_path, a_txt="whale")
    updated(root)
    before = (root / "a.txt").stat()
    (root / "a.txt").write_text("shark")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert updated(root) == ["a.txt"]
    assert labels(root, '"whale"') == []


def test_binary_files_are_remembered_and_found_by_nobody(tmp_path: Path) -> None:
    root = place(tmp_path, a_bin="whale\0whale", b_txt="whale")
    updated(root)
    assert labels(root, '"whale" OR "bin"') == ["b.txt:1-1"]
    assert updated(root) == []


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="x")
    (root / "a.txt").write_bytes(b"caf\xe9 whale")
    updated(root)
    (frame,) = best(root, '"whale"')
    assert frame.content == "caf\ufffd whale"


def test_a_file_is_indexed_up_to_the_limit_of_its_size(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale" + " " * (limits.RECALL_FILE_BYTES - 5))
    updated(root)
    assert labels(root, '"whale"') == ["a.txt:1-1"]
    (root / "a.txt").write_text("whale" + " " * (limits.RECALL_FILE_BYTES - 4))
    assert updated(root) == []
    assert labels(root, '"whale"') == []


def test_as_many_bytes_of_text_are_indexed_as_the_bound_says(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale", b_txt="shark", c_bin="\0" * 1000)
    updated(root, bounds=Bounds(bytes=10))
    with pytest.raises(TooMuch, match="more than 9 bytes"):
        updated(root, bounds=Bounds(bytes=9))
    assert updated(root) == [], "what was done is kept"


def test_a_text_that_looks_like_a_statement_is_text(tmp_path: Path) -> None:
    text = "'); DROP TABLE files; -- \" OR whale"
    root = place(tmp_path, a_sql=text)
    updated(root)
    assert best(root, '"drop"')[0].content == text
    assert updated(root) == []


def test_a_search_that_is_given_up_keeps_what_was_done(tmp_path: Path) -> None:
    root = place(tmp_path, **{f"f{number}_txt": "whale" for number in range(9)})
    assert len(updated(root, most=3)) == 3
    assert len(updated(root)) == 6
    assert len(labels(root, '"whale"')) == 8


def test_a_search_that_is_given_up_drops_nothing(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale", z_txt="whale")
    updated(root)
    (root / "a.txt").write_text("shark")
    updated(root, most=1)
    assert labels(root, '"whale"') == ["z.txt:1-1"]


def test_the_work_is_kept_batch_by_batch(tmp_path: Path) -> None:
    """The connection is closed in the middle, as the end of the process would do it."""
    many = limits.RECALL_BATCH + 1
    root = place(tmp_path, **{f"f{number:04}_txt": "whale" for number in range(many)})

    class Broken(Counting):
        def read(self, parts: Parts) -> Contents | None:
            if len(self.read_paths) == limits.RECALL_BATCH:
                raise KeyboardInterrupt
            return Counting.read(self, parts)

    with held(os.open(root, DIRECTORY)) as top, opened(root) as made:
        folders = Broken(top=top)
        with closing(folders), pytest.raises(KeyboardInterrupt):
            made.update([(folders, workspace(folders, None, Bounds()))], Bounds())
    assert len(updated(root)) == 1


def test_a_question_can_be_ended(tmp_path: Path) -> None:
    root = place(tmp_path, **{f"f{number}_txt": "whale " * 3000 for number in range(200)})
    updated(root)
    stop = Event()
    with opened(root, stop) as made:
        stop.set()
        with pytest.raises(sqlite3.OperationalError) as ended:
            made.best('"whale" OR "shark"', 8)
    assert not index.damaged(ended.value)


def both(root: Path) -> None:
    updated(root)
    best(root, '"whale"')


@pytest.mark.parametrize("kind", ["garbage", "tables", "version", "column"])
def test_a_damaged_file_is_told_from_one_that_cannot_be_used(tmp_path: Path, kind: str) -> None:
    root = place(tmp_path, a_txt="whale")
    path = tmp_path / "w.db"
    if kind == "garbage":
        path.write_bytes(b"this is no database, whatever its name is" * 100)
    else:
        updated(root)
        change = {
            "tables": "DROP TABLE spans",
            "version": f"PRAGMA user_version = {index.VERSION + 1}",
            "column": "ALTER TABLE files RENAME COLUMN mark TO other",
        }
        with closing(sqlite3.connect(path)) as other:
            other.execute(change[kind])
            other.commit()
    with pytest.raises(sqlite3.Error) as found:
        both(root)
    assert index.damaged(found.value)


def test_a_directory_in_place_of_the_file_is_no_damage(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale")
    (tmp_path / "w.db").mkdir()
    with pytest.raises(sqlite3.Error) as found:
        updated(root)
    assert not index.damaged(found.value)
