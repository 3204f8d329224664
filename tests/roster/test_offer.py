"""[I-34] What a person is shown of a plugin that already stands there, and what a yes records."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.consent.answer import digest_of
from stella.errors import PackageRefused
from stella.roster.drift import Accepted
from stella.roster.drift import check
from stella.roster.lock import AcceptedBy
from stella.roster.offer import offer
from tests.making.clocks import NOON
from tests.making.content import tool
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.packages import settled


def test_what_would_be_recorded_is_what_is_shown(tmp_path: Path) -> None:
    """[I-26, I-34, C-1] With the bytes and modes as they stand, a checkout's."""
    here = settled(tmp_path)
    directory = meter(here.workspace / ".stella/plugins/meter")
    (directory / "main.py").chmod(0o664)
    before = seen(tmp_path)
    found = offer(directory, lookup(here))
    record = found.record(AcceptedBy.TRUST, NOON)
    assert found.consent.startswith("Install the plugin `meter`?")
    assert f"program: {directory}/bin/meter" in found.consent
    assert (record.name, record.consent_text) == ("meter", found.consent)
    assert record.consent == digest_of(found.consent)
    assert (record.source, record.program) == (str(directory), f"{directory}/bin/meter")
    assert (record.accepted_by, record.accepted_at) == (AcceptedBy.TRUST, "2026-08-11T12:00:00Z")
    assert isinstance(check(directory, record, lookup(here)), Accepted)
    assert seen(tmp_path) == before
    bare = offer(notes(here.workspace / ".stella/plugins/notes"), lookup(here))
    assert bare.record(AcceptedBy.ENV, NOON).program is None


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("none", "plugin.toml: is not there"),
        ("faulty", "plugin.toml has 1 fault; first: "),
        ("link", "main.py: a symbolic link"),
        ("folder", "expected a directory, got a symbolic link"),
        ("program", "bin/meter may not be executed"),
        ("content", 'tools/fix.toml: tool "fix" is not declared in [[tools]]'),
        ("long", f"the limit is {limits.CONSENT_BYTES}"),
    ],
)
def test_what_no_install_would_take_is_not_offered(tmp_path: Path, kind: str, told: str) -> None:
    """[I-4, I-5, I-34] limits.CONSENT_BYTES, past it."""
    here = settled(tmp_path)
    directory = meter(tmp_path / "meter")
    manifest = directory / "plugin.toml"
    match kind:
        case "none":
            manifest.unlink()
        case "faulty":
            manifest.write_text("[loop]")
        case "link":
            (directory / "main.py").unlink()
            (directory / "main.py").symlink_to("/etc/passwd")
        case "folder":
            directory.rename(tmp_path / "real")
            directory.symlink_to(tmp_path / "real")
        case "program":
            (directory / "bin/meter").chmod(0o644)
        case "content":
            tool(directory, "fix")
        case _:
            text = manifest.read_text()
            long = "x" * limits.CONSENT_BYTES
            manifest.write_text(f'description = "{long}"\n{text}')
    with pytest.raises(PackageRefused) as refused:
        offer(directory, lookup(here))
    assert told in str(refused.value)


def test_a_program_whose_path_is_no_text_is_not_recorded(tmp_path: Path) -> None:
    here = settled(tmp_path)
    directory = meter(tmp_path / os.fsdecode(b"met\xff"))
    assert offer(directory, lookup(here)).record(AcceptedBy.ENV, NOON).program is None
