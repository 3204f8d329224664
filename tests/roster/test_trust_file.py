"""[I-52, I-53] The file of trusted workspaces: strict, private, and never overwritten unread."""

import os
import tomllib
from functools import partial
from pathlib import Path

import msgspec
import pytest
import tomli_w

from stella.errors import RosterError
from stella.roster.items import items_of
from stella.roster.trust_file import Trusted
from stella.roster.trust_file import TrustFile
from stella.roster.trust_file import drop_trusted
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import read_trust_file
from stella.roster.trust_file import trusted_now
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.clocks import NOON


def workspace(folder: Path, name: str = "shop") -> Path:
    path = folder / name
    (path / ".stella").mkdir(parents=True)
    (path / ".stella/mcp.toml").write_text("[servers]\n")
    return path


def trusted(path: Path) -> Trusted:
    return trusted_now(path, items_of(path), NOON)


def test_a_record_is_read_back_and_private(tmp_path: Path) -> None:
    """[I-52, I-53, S2-40]"""
    path, home = workspace(tmp_path), tmp_path / "home"
    assert read_trust_file(home) == TrustFile(by_path={})
    record = trusted(path)
    assert put_trusted(home, record, mark="m") is None
    found = read_trust_file(home)
    assert (found.by_path, found.notices, found.damaged) == ({str(path): record}, (), False)
    assert (home / "trust.toml").stat().st_mode & 0o777 == 0o600
    assert (record.device, record.inode) == (path.stat().st_dev, path.stat().st_ino)
    assert record.trusted_at == "2026-08-11T12:00:00Z"
    other = trusted(workspace(tmp_path, "other"))
    put_trusted(home, other, mark="n")
    put_trusted(home, other, mark="o")
    assert list(read_trust_file(home).by_path) == [str(path), str(tmp_path / "other")]
    assert drop_trusted(home, str(path), mark="p")
    assert not drop_trusted(home, str(path), mark="q")
    assert list(read_trust_file(home).by_path) == [str(tmp_path / "other")]


@pytest.mark.behaviour("D89")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "schema"),
        (b'schema = "trust/v1', "Unterminated string"),
        (b'schema = "trust/v2"', "schema"),
        (b"schema = 1", "schema"),
        (b'schema = "trust/v1"\nworkspace = "all"', "workspace"),
        (b'schema = "trust/v1"\nmore = 1', "more"),
        (b"\xff", "utf-8"),
    ],
)
def test_a_file_that_is_none_trusts_nothing_and_is_kept_for_repair(
    tmp_path: Path, data: bytes, told: str
) -> None:
    """[attacks D89, I-53]"""
    path, home = workspace(tmp_path), tmp_path / "home"
    home.mkdir()
    (home / "trust.toml").write_bytes(data)
    (home / "trust.toml").chmod(0o600)
    found = read_trust_file(home)
    assert (dict(found.by_path), found.damaged) == ({}, True)
    (notice,) = found.notices
    assert notice.startswith(f"{home}/trust.toml: ")
    assert told in notice
    assert notice.endswith("the file is kept for repair; this trusts nothing")
    with pytest.raises(RosterError, match="kept for repair"):
        drop_trusted(home, str(path), mark="m")
    assert (home / "trust.toml").read_bytes() == data
    said = put_trusted(home, trusted(path), mark="m")
    assert said == f"{notice}: it is {home}/trust.toml.damaged-m now"
    assert (home / "trust.toml.damaged-m").read_bytes() == data
    assert list(read_trust_file(home).by_path) == [str(path)]


@pytest.mark.behaviour("D89.entries")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"path": "shop"}, "path: expected an absolute path"),
        ({"trusted_at": "yesterday"}, "trusted_at"),
        ({"digest": "sha256:" + "0" * 64}, "digest: is not the one over files"),
        ({"files": {"a": "0644 md5:0"}}, "a: expected a mode"),
        ({"device": "1"}, "device"),
        ({"more": 1}, "more"),
        ({"inode": None}, "inode"),
    ],
)
def test_an_entry_that_is_no_record_hides_no_other_and_stays(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    """[attacks D89] It is kept as it stands when another one is written."""
    path, home = workspace(tmp_path), tmp_path / "home"
    put_trusted(home, trusted(path), mark="m")
    faulty = msgspec.to_builtins(trusted(workspace(tmp_path, "faulty"))) | change
    faulty = {key: value for key, value in faulty.items() if value is not None}
    tables = tomllib.loads((home / "trust.toml").read_text())
    tables["workspace"] = [faulty, *tables["workspace"]]
    (home / "trust.toml").write_text(tomli_w.dumps(tables))
    found = read_trust_file(home)
    assert list(found.by_path) == [str(path)]
    (notice,) = found.notices
    assert f"{home}/trust.toml: [[workspace]] entry 1: " in notice
    assert told in notice
    put_trusted(home, trusted(workspace(tmp_path, "third")), mark="n")
    assert faulty in tomllib.loads((home / "trust.toml").read_text())["workspace"]


def test_two_records_of_one_path_are_none(tmp_path: Path) -> None:
    """[attacks D89]"""
    path, home = workspace(tmp_path), tmp_path / "home"
    put_trusted(home, trusted(path), mark="m")
    tables = tomllib.loads((home / "trust.toml").read_text())
    tables["workspace"] *= 2
    (home / "trust.toml").write_text(tomli_w.dumps(tables))
    found = read_trust_file(home)
    assert found.by_path == {}
    assert found.notices == (
        f'{home}/trust.toml: "{path}" has two records, so it has none; this trusts nothing',
    )


def _writes(home: Path, path: Path) -> None:
    put_trusted(home, trusted(path), mark=path.name)


@pytest.mark.behaviour("D91")
def test_writers_at_once_lose_no_record(tmp_path: Path) -> None:
    """[attacks D91]"""
    home = tmp_path / "home"
    paths = [workspace(tmp_path, f"w{number}") for number in range(12)]
    pids = [start(partial(_writes, home, path)) for path in paths]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * len(paths)
    assert set(read_trust_file(home).by_path) == set(map(str, paths))
    assert read_trust_file(home).notices == ()


def test_a_workspace_that_is_gone_cannot_be_trusted(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match="No such file"):
        trusted(tmp_path / "none")


@pytest.mark.behaviour("D89.unreadable")
def test_a_file_that_the_system_does_not_give_is_not_written_over() -> None:
    """[attacks D89] It may be a good one, so it is neither put aside nor believed."""
    with open_folder() as folder:

        def work() -> str:
            path, home = workspace(folder), folder / "home"
            put_trusted(home, trusted(path), mark="m")
            before = (home / "trust.toml").read_bytes()
            (home / "trust.toml").chmod(0)
            found = read_trust_file(home)
            assert (dict(found.by_path), found.unreadable) == ({}, True)
            for write in (
                lambda: put_trusted(home, trusted(path), mark="n"),
                lambda: drop_trusted(home, str(path), mark="o"),
            ):
                with pytest.raises(RosterError, match="Permission denied; this trusts nothing"):
                    write()
            (home / "trust.toml").chmod(0o600)
            assert (home / "trust.toml").read_bytes() == before
            return "kept"

        assert said_by_nobody(work) == "kept"
