"""What every question about a plugin has in common."""

from pathlib import Path

import pytest

from stella import limits
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.errors import PackageRefused
from stella.manifest.plugin import PluginManifest
from stella.roster.question import other_copies
from stella.roster.question import recordable
from stella.roster.question import text_of
from stella.roster.scope import Scope
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import settled


def test_a_text_that_nobody_reads_is_refused() -> None:
    """[I-2] limits.CONSENT_BYTES, at it and past it."""
    bare = len(consent_text(PluginManifest(name="a", description="x"), Resolution()).encode())
    at = PluginManifest(name="a", description="x" * (limits.CONSENT_BYTES - bare + 1))
    assert len(text_of(at, Resolution()).encode()) == limits.CONSENT_BYTES
    past = PluginManifest(name="a", description="x" * (limits.CONSENT_BYTES - bare + 2))
    with pytest.raises(PackageRefused, match="more than anybody reads; the limit is"):
        text_of(past, Resolution())


def test_a_path_that_a_record_cannot_hold_is_none() -> None:
    """[I-26]"""
    assert recordable("/bin/sh") == "/bin/sh"
    assert recordable("/bin/\udcff") is None
    assert recordable(None) is None


def test_who_has_another_copy_is_told_by_name(tmp_path: Path) -> None:
    """[I-2, I-42]"""
    here = settled(tmp_path)
    assert other_copies(here, Scope.PROJECT) == {}
    done = put(notes(tmp_path / "source"), here, Scope.USER)
    found = other_copies(here, Scope.PROJECT)
    assert list(found) == ["notes"]
    assert found["notes"].startswith(f"notes is in the user scope too, at {done.directory}; in ")
    assert other_copies(here, Scope.USER) == {}
