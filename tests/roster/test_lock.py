"""What a person accepted is kept exactly, read strictly, and written whole."""

import os
import resource
import stat
import tomllib
from collections.abc import Callable
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from stella import limits
from stella.consent.answer import digest_of
from stella.errors import RosterError
from stella.files.write import TEMPORARY
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.lock import Records
from stella.roster.lock import accepted_at
from stella.roster.lock import digest
from stella.roster.lock import put
from stella.roster.lock import put_back
from stella.roster.lock import read_records
from stella.roster.lock import replace
from stella.roster.lock import with_record
from stella.roster.lock import without_record
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import places
from tests.making.child import NOBODY
from tests.making.child import said
from tests.making.packages import settled

TEXT = "Install the plugin `verify`?\nIt says \\u{1B}."
SHA = f"sha256:{'0' * 63}1"


def record(name: str = "verify", text: str = TEXT, **files: str) -> Record:
    return Record(
        name=name,
        digest=SHA,
        consent=digest_of(text),
        consent_text=text,
        accepted_at="2025-03-04T10:11:12Z",
        accepted_by=AcceptedBy.TTY,
        source="/home/dev/plugins/verify",
        program="/usr/bin/python3",
        files=files or {"main.py": SHA, "lib/a b.py": SHA},
    )


def user(root: Path) -> Tier:
    return settled(root).tier(Scope.USER)


def project(root: Path) -> Tier:
    return settled(root).tier(Scope.PROJECT)


def kept(tier: Tier, *records: Record) -> Tier:
    for number, each in enumerate(records):
        put(tier, each, mark=str(number))
    return tier


def forget(tier: Tier, name: str) -> None:
    replace(tier, without_record(tier, name), mark="x")


def table(tier: Tier) -> dict[str, Any]:
    return tomllib.loads(tier.record_path.read_text("utf-8"))


def rewritten(tier: Tier, change: Callable[[dict[str, Any]], None]) -> Records:
    """Read what is left after somebody changed the file by hand."""
    tree = table(tier)
    change(tree)
    tier.record_path.write_text(tomli_w.dumps(tree), "utf-8")
    return read_records(tier)


@pytest.mark.parametrize("make", [user, project])
def test_a_record_reads_back_as_it_was_written(
    tmp_path: Path, make: Callable[[Path], Tier]
) -> None:
    """I-26."""
    tier = kept(make(tmp_path), record("b"), record("a"))
    assert read_records(tier).by_name == {"a": record("a"), "b": record("b")}
    assert read_records(tier).notices == ()


@pytest.mark.behaviour("I-26")
def test_the_file_has_exactly_the_keys_of_the_contract(tmp_path: Path) -> None:
    """I-26, I-27: no version, because the manifest has none."""
    tier = kept(user(tmp_path), record())
    assert table(tier) == {
        "schema": "plugin-lock/v1",
        "plugin": [
            {
                "name": "verify",
                "digest": SHA,
                "consent": digest_of(TEXT),
                "consent_text": TEXT,
                "accepted_at": "2025-03-04T10:11:12Z",
                "accepted_by": "tty",
                "source": "/home/dev/plugins/verify",
                "program": "/usr/bin/python3",
                "files": {"main.py": SHA, "lib/a b.py": SHA},
            }
        ],
    }
    assert tier.record_path.read_text("utf-8").startswith('schema = "plugin-lock/v1"\n')
    assert "\n[[plugin]]\n" in tier.record_path.read_text("utf-8")


@pytest.mark.behaviour("I-26")
def test_the_file_of_a_workspace_says_which_one_it_is_about(tmp_path: Path) -> None:
    """I-26: path, device and inode."""
    tier = kept(project(tmp_path), record())
    found = (tmp_path / "shop").stat()
    assert table(tier)["workspace"] == {
        "path": str(tmp_path / "shop"),
        "device": found.st_dev,
        "inode": found.st_ino,
    }


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_file_is_the_persons_alone(tmp_path: Path, umask: int) -> None:
    """I-26, A32, S2-42."""
    old = os.umask(umask)
    try:
        tiers = [kept(tier, record()) for tier in settled(tmp_path).tiers]
    finally:
        os.umask(old)
    assert {stat.S_IMODE(tier.record_path.stat().st_mode) for tier in tiers} == {0o600}


def test_a_record_replaces_the_one_of_its_name_and_no_other(tmp_path: Path) -> None:
    tier = kept(user(tmp_path), record("a"), record("b"), record("a", "new text"))
    assert read_records(tier).by_name == {"a": record("a", "new text"), "b": record("b")}
    assert len(table(tier)["plugin"]) == 2


def test_a_dropped_record_is_gone_and_the_others_stay(tmp_path: Path) -> None:
    tier = kept(user(tmp_path), record("a"), record("b"))
    forget(tier, "a")
    assert not read_records(tier).has("a")
    assert read_records(tier).by_name == {"b": record("b")}
    forget(tier, "b")
    assert read_records(tier) == Records(by_name={})


def test_without_a_file_nothing_was_accepted_and_nothing_is_written(tmp_path: Path) -> None:
    for tier in settled(tmp_path).tiers:
        assert read_records(tier) == Records(by_name={})
        assert not read_records(tier).has("a")
    assert list((tmp_path / "home").iterdir()) == []


def _set(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["plugin"][0].__setitem__(key, value)


def _without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["plugin"][0].pop(key)


@pytest.mark.behaviour("I-27")
@pytest.mark.parametrize(
    ("change", "said_of_it"),
    [
        (_set("extra", "x"), 'unknown key "extra"'),
        (_set("digest", "sha256:xyz"), "digest: expected sha256: and 64 hex digits"),
        (_set("digest", SHA + "\n"), "digest: expected"),
        (_set("digest", SHA.upper()), "digest: expected"),
        (_set("consent", SHA), "consent: is not the digest of consent_text"),
        (_set("consent_text", "Install nothing?"), "consent: is not the digest of consent_text"),
        (_set("accepted_at", "yesterday"), "accepted_at: expected a time"),
        (_set("accepted_at", datetime(2025, 3, 4, tzinfo=UTC)), "accepted_at: expected a string"),
        (_set("accepted_by", "model"), '"model" is not one of the words allowed here'),
        (_set("files", {"main.py": "md5:0"}), "main.py: expected sha256:"),
        (_set("files", []), "files: expected a table"),
        (_set("name", 7), "name: expected a string"),
        (_set("program", "python3"), "program: expected an absolute path"),
        (_set("program", ""), "program: expected an absolute path"),
        (_set("program", 7), "program: expected a string"),
        (_without("digest"), 'the required key "digest" is missing'),
        (_without("consent_text"), 'the required key "consent_text" is missing'),
    ],
)
def test_a_record_that_is_not_exactly_one_is_none_and_hides_no_other(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said_of_it: str
) -> None:
    """I-27, A32, I-44: a notice names the entry and what to do."""
    tier = kept(user(tmp_path), record("a"), record("b"))
    records = rewritten(tier, change)
    assert records.by_name == {"b": record("b")}
    (notice,) = records.notices
    assert notice.startswith(f"{tier.record_path}: [[plugin]] entry 1: ")
    assert said_of_it in notice
    assert "`stella plugin remove NAME`" in notice


@pytest.mark.behaviour("I-27")
def test_an_optional_version_is_legal(tmp_path: Path) -> None:
    """I-27."""
    tier = kept(user(tmp_path), record())
    assert rewritten(tier, _set("version", "1.0")).by_name["verify"].version == "1.0"


def test_a_plugin_without_a_program_has_a_record_without_one(tmp_path: Path) -> None:
    """E131."""
    tier = kept(user(tmp_path), record())
    assert rewritten(tier, _without("program")).by_name["verify"].program is None


def test_two_records_of_one_name_are_none(tmp_path: Path) -> None:
    tier = kept(user(tmp_path), record("a"), record("b"))
    records = rewritten(tier, _set("name", "b"))
    assert records.by_name == {}
    assert '"b" has two records, so it has none' in records.notices[0]


def test_a_faulty_record_is_kept_for_repair_when_another_is_written(tmp_path: Path) -> None:
    """I-27, D89: it counts as none, and is not thrown away."""
    tier = kept(user(tmp_path), record("a"), record("b"))
    rewritten(tier, _set("accepted_at", datetime(2025, 3, 4, tzinfo=UTC)))
    put(tier, record("c"), mark="x")
    assert [each["name"] for each in table(tier)["plugin"]] == ["a", "b", "c"]
    assert table(tier)["plugin"][0]["accepted_at"] == datetime(2025, 3, 4, tzinfo=UTC)
    assert set(read_records(tier).by_name) == {"b", "c"}
    assert read_records(tier).has("a")
    forget(tier, "a")
    assert not read_records(tier).has("a")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"schema = 1",
        b'schema = "plugin-lock/v2"',
        b'schema = "plugin-lock/v1"\nmore = 1',
        b'schema = "plugin-lock/v1"\nplugin = 1',
        b'schema = "plugin-lock/v1"\nplugin = [1]',
        b"not toml",
        b'schema = "\xff"',
        b"x = " + b"[" * 10_000,
        b'schema = "plugin-lock/v1"\n[[plu',
    ],
)
def test_a_file_that_is_none_of_ours_holds_no_record_and_is_put_aside(
    tmp_path: Path, data: bytes
) -> None:
    """I-27, A32, D89: nothing in it is believed, and nothing in it is lost."""
    tier = user(tmp_path)
    tier.record_path.write_bytes(data)
    records = read_records(tier)
    assert records.by_name == {}
    assert records.damaged
    assert len(records.notices) == 1
    assert records.notices[0].startswith(f"{tier.record_path}: ")
    assert records.notices[0].isprintable()
    assert tier.record_path.read_bytes() == data
    put(tier, record(), mark="mark")
    assert read_records(tier).by_name == {"verify": record()}
    aside = tier.record_path.with_name("plugins.lock.toml.damaged-mark")
    assert aside.read_bytes() == data


@pytest.mark.parametrize(
    "change",
    [
        lambda place: place.update(path="/elsewhere"),
        lambda place: place.update(device=place["device"] + 1),
        lambda place: place.update(inode=place["inode"] + 1),
    ],
)
def test_a_file_about_another_workspace_holds_no_record(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    """I-26, D88: path, device and inode must all match."""
    tier = kept(project(tmp_path), record())
    records = rewritten(tier, lambda tree: change(tree["workspace"]))
    assert records.by_name == {}
    assert "another directory or an earlier one of this path" in records.notices[0]
    put(tier, record("new"), mark="x")
    assert set(read_records(tier).by_name) == {"new"}


def test_a_file_of_a_workspace_that_names_none_holds_no_record(tmp_path: Path) -> None:
    """And a file of the person's own tier that names one holds none either."""
    here = settled(tmp_path)
    own, shop = here.tier(Scope.USER), here.tier(Scope.PROJECT)
    kept(own, record())
    kept(shop, record())
    data = own.record_path.read_bytes()
    own.record_path.write_bytes(shop.record_path.read_bytes())
    shop.record_path.write_bytes(data)
    for tier in here.tiers:
        assert read_records(tier).by_name == {}
        assert len(read_records(tier).notices) == 1


def test_another_directory_at_the_same_path_has_accepted_nothing(tmp_path: Path) -> None:
    """D88: the rename swap."""
    tier = kept(project(tmp_path), record())
    (tmp_path / "shop").rename(tmp_path / "old")
    (tmp_path / "shop").mkdir()
    assert read_records(tier).by_name == {}
    (tmp_path / "shop").rmdir()
    assert read_records(tier).by_name == {}
    (tmp_path / "old").rename(tmp_path / "shop")
    assert read_records(tier).by_name == {"verify": record()}


def _linked(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _doubled(path: Path) -> None:
    os.link(path, path.with_name("second"))


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        _linked,
        _doubled,
        _fifo,
        _directory,
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        lambda path: os.chown(path, NOBODY, NOBODY),
    ],
)
def test_a_file_that_somebody_else_could_have_written_proves_nothing(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    """A32, S2-42: a link, a second name, another kind, another owner, open to others."""
    tier = kept(project(tmp_path), record())
    spoil(tier.record_path)
    records = read_records(tier)
    assert records.by_name == {}
    assert len(records.notices) == 1
    put(tier, record("new"), mark="mark")
    assert read_records(tier).by_name == {"new": record("new")}
    assert os.path.lexists(f"{tier.record_path}.damaged-mark")


def test_a_link_in_place_of_the_directory_of_records_is_not_followed(tmp_path: Path) -> None:
    tier = kept(project(tmp_path), record())
    (tmp_path / "home/consent").rename(tmp_path / "elsewhere")
    (tmp_path / "home/consent").symlink_to(tmp_path / "elsewhere")
    assert read_records(tier).by_name == {}
    with pytest.raises(RosterError):
        put(tier, record(), mark="x")


def test_more_bytes_than_the_limit_are_neither_read_nor_written(tmp_path: Path) -> None:
    tier = kept(user(tmp_path), record())
    size = tier.record_path.stat().st_size
    with tier.record_path.open("ab") as file:
        file.write(b"#" * (limits.LOCK_BYTES - size))
    assert set(read_records(tier).by_name) == {"verify"}
    with tier.record_path.open("ab") as file:
        file.write(b"#")
    assert f"more than {limits.LOCK_BYTES} bytes" in read_records(tier).notices[0]
    before = tier.record_path.stat()
    with pytest.raises(RosterError, match=f"the limit is {limits.LOCK_BYTES}"):
        put(tier, record(text="x" * limits.LOCK_BYTES), mark="x")
    assert os.path.samestat(before, tier.record_path.stat())


def test_a_full_disk_leaves_the_old_records(tmp_path: Path) -> None:
    """A28."""
    tier = kept(project(tmp_path), record("a"))
    before = tier.record_path.read_bytes()

    def work() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), len(before)))
        put(tier, record("b"), mark="x")
        return "was written"

    assert said(work) == f"RosterError: {tier.record_path}: File too large"
    assert tier.record_path.read_bytes() == before
    assert [path.name for path in tier.record_path.parent.iterdir()] == [tier.record_path.name]


def test_what_a_killed_writer_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    """Only of the same tier: the writer of another may still be at work."""
    here = settled(tmp_path)
    tier, other = here.tier(Scope.PROJECT), places(here.home, tmp_path / "more")
    kept(tier, record("a"))
    left = tier.record_path.with_name(f"{TEMPORARY}{tier.key}-left")
    odd = tier.record_path.with_name(f"{TEMPORARY}{tier.key}-odd")
    alive = tier.record_path.with_name(f"{TEMPORARY}{other.tier(Scope.PROJECT).key}-left")
    left.touch()
    odd.mkdir()
    alive.touch()
    put(tier, record("b"), mark="x")
    assert [path.exists() for path in (left, odd, alive)] == [False, True, True]


def test_a_moment_is_written_in_whole_seconds() -> None:
    """I-26."""
    moment = datetime(2025, 3, 4, 10, 11, 12, 999_999, tzinfo=UTC)
    assert accepted_at(moment) == "2025-03-04T10:11:12Z"


def test_the_four_ways_to_accept_are_words_of_the_file() -> None:
    """I-26, I-34."""
    assert [word.value for word in AcceptedBy] == ["tty", "yes", "trust", "env"]


def test_the_file_is_put_back_to_what_it_was_and_only_from_what_was_written(tmp_path: Path) -> None:
    """[I-37, Q-12] What somebody else wrote meanwhile is left alone."""
    tier = user(tmp_path)
    path = tier.record_path
    first = with_record(tier, record("a"))
    assert put_back(tier, None, digest(first), mark="m") is True
    replace(tier, first, mark="m")
    second = with_record(tier, record("b"))
    replace(tier, second, mark="m")
    assert put_back(tier, first, "0" * 64, mark="m") is False
    assert path.read_bytes() == second
    assert put_back(tier, first, digest(second), mark="m") is True
    assert path.read_bytes() == first
    assert put_back(tier, None, digest(first), mark="m") is True
    assert not path.exists()
    assert put_back(tier, first, digest(second), mark="m") is False


def test_a_damaged_file_that_this_change_put_aside_comes_back(tmp_path: Path) -> None:
    """[I-27, I-37]"""
    tier = user(tmp_path)
    path = tier.record_path
    path.write_bytes(b"\xff")
    path.chmod(0o600)
    put(tier, record(), mark="m")
    assert put_back(tier, None, digest(path.read_bytes()), mark="other") is True
    put(tier, record(), mark="n")
    assert put_back(tier, None, "", mark="m") is True
    assert path.read_bytes() == b"\xff"
    assert [each.name for each in path.parent.iterdir() if "damaged" in each.name] == []


def test_nobody_writes_in_place_of_what_the_system_did_not_give(tmp_path: Path) -> None:
    """[I-27] A workspace that is gone says nothing of whose records these are."""
    tier = kept(project(tmp_path), record())
    (tmp_path / "shop").rmdir()
    with pytest.raises(RosterError, match="No such file"):
        with_record(tier, record("b"))
