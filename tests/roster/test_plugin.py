"""[I-61, I-34] What one plugin is called, whether it may run, and what a person does if not."""

from dataclasses import replace
from pathlib import Path

import pytest

from stella.roster.drift import Changed
from stella.roster.drift import NotAccepted
from stella.roster.offer import offer
from stella.roster.plugin import Plugin
from stella.roster.plugin import State
from stella.roster.plugin import pipeline_of
from stella.roster.roster import read_roster
from stella.roster.scope import Scope
from tests.making.packages import lookup
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import settled


def plugin(tmp_path: Path) -> Plugin:
    here = settled(tmp_path)
    put(notes(tmp_path / "notes"), here)
    return read_roster(here, None).plugin("notes")


@pytest.mark.behaviour("I-61")
def test_each_state_has_its_word(tmp_path: Path) -> None:
    """[I-61] Off goes before all; what the variable lets run is called so, and still barred."""
    accepted = plugin(tmp_path)
    changed = replace(accepted, acceptance=Changed(paths=("changed a",)))
    strange = replace(accepted, record=None, acceptance=NotAccepted(why="x"))
    found = offer(accepted.directory, lookup(settled(tmp_path / "x")))
    offered = replace(strange, offered=found)
    every = (accepted, changed, strange, offered, *(replace(each, off=True) for each in (changed,)))
    words = [each.state.value for each in every]
    assert words == ["ok", "changed", "not-accepted", "ok", "off"]
    assert {word.value for word in State} >= set(words)
    assert [each.barrier is None for each in every] == [True, False, False, False, False]
    assert pipeline_of(accepted.manifest) is accepted.pipeline is None


def test_the_way_out_is_about_the_scope_and_the_reason(tmp_path: Path) -> None:
    """[I-30, I-34]"""
    accepted = plugin(tmp_path)
    assert accepted.way_out == (
        "`stella plugin accept notes` shows what it is now and asks, "
        "`stella plugin remove notes` takes it away"
    )
    theirs = replace(accepted, record=None)
    assert theirs.way_out.count("`stella plugin accept notes`, or `stella trust` for") == 1
    assert replace(theirs, scope=Scope.USER).way_out == "to use it: `stella plugin accept notes`"
