"""The two files of grants on a real disk."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w

from stella.content.approvals import NO_APPROVALS
from stella.content.approvals import NO_PROMOTIONS
from stella.content.approvals import Schema
from stella.roster.grants import read_grants
from stella.roster.items import items_of
from stella.roster.scope import Places
from tests.making.packages import settled

HOLDS = ("one", "sha256:1")


def grants(schema: Schema) -> str:
    grant = [{"lineage_id": HOLDS[0], "record_hash": HOLDS[1]}]
    return tomli_w.dumps({"schema": schema.value, "grant": grant})


def both(folder: Path) -> tuple[Places, Path, Path]:
    """A person's approvals and a repository's promotions of one guard."""
    here = settled(folder)
    approved = here.home / "rules" / "approved.toml"
    promoted = here.workspace / ".stella" / "rules" / "promoted.toml"
    for path, schema in ((approved, Schema.APPROVALS), (promoted, Schema.PROMOTIONS)):
        path.parent.mkdir(parents=True)
        path.write_text(grants(schema), "utf-8")
    return here, approved, promoted


def test_both_files_grant_and_without_trust_the_persons_alone(tmp_path: Path) -> None:
    """[P-65, P-67]"""
    here, _, _ = both(tmp_path)
    found = read_grants(here, trusted=True)
    assert found.approved.holds(*HOLDS)
    assert found.promoted.holds(*HOLDS)
    untrusted = read_grants(here, trusted=False)
    assert untrusted.approved.holds(*HOLDS)
    assert untrusted.promoted == NO_PROMOTIONS
    assert (found.notices, untrusted.notices) == ((), ())


def test_promotions_that_are_not_the_trusted_ones_by_now_grant_nothing(tmp_path: Path) -> None:
    """[I-53, P-65]"""
    here, _, promoted = both(tmp_path)
    vouched = items_of(here.workspace).files
    assert read_grants(here, trusted=True, vouched=vouched).promoted.holds(*HOLDS)
    for others in (vouched, {}):
        promoted.write_text(promoted.read_text("utf-8") + "\n", "utf-8")
        found = read_grants(here, trusted=True, vouched=others)
        assert found.promoted == NO_PROMOTIONS
        assert found.approved.holds(*HOLDS)
        assert found.notices == (f"{promoted}: changed while it was read; it grants nothing",)


def test_where_there_is_no_file_nothing_is_granted_and_nothing_said(tmp_path: Path) -> None:
    """[P-65] Missing grants nothing."""
    found = read_grants(settled(tmp_path), trusted=True)
    assert (found.approved, found.promoted, found.notices) == (NO_APPROVALS, NO_PROMOTIONS, ())


def as_link(path: Path) -> None:
    aside = path.with_name("aside")
    path.rename(aside)
    path.symlink_to(aside)


def as_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def below_a_link(path: Path) -> None:
    aside = path.parent.with_name("aside")
    path.parent.rename(aside)
    path.parent.symlink_to(aside)


def as_the_other(path: Path) -> None:
    text = path.read_text("utf-8")
    swapped = text.replace("approvals", "x").replace("promotions", "approvals")
    path.write_text(swapped.replace("x", "promotions"), "utf-8")


@pytest.mark.parametrize("spoil", [as_link, as_fifo, below_a_link, as_the_other])
def test_a_file_that_is_wrong_grants_nothing_and_says_so(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    """[P-65] A link is not followed, a pipe stops nobody, the wrong schema is no other one."""
    here, approved, promoted = both(tmp_path)
    spoil(approved)
    spoil(promoted)
    found = read_grants(here, trusted=True)
    assert (found.approved, found.promoted) == (NO_APPROVALS, NO_PROMOTIONS)
    assert len(found.notices) == 2
    for path, notice in zip((approved, promoted), found.notices, strict=True):
        assert notice.startswith(f"{path}: ")
        assert notice.endswith("; it grants nothing")
