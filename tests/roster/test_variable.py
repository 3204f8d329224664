"""[I-34, Q-3] Plugins that run because the variable says so: shown once, recorded apart."""

from pathlib import Path

import pytest

from stella.process.program import Program
from stella.roster.lock import AcceptedBy
from stella.roster.lock import read_records
from stella.roster.plugin import Plugin
from stella.roster.plugin import State
from stella.roster.remove import remove
from stella.roster.roster import Roster
from stella.roster.roster import cleared
from stella.roster.roster import read_roster
from stella.roster.roster import records_changed
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.variable import meet
from tests.making.clocks import HandClock
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled

HEAD = "meter runs because STELLA_TRUST_PROJECT says so; "


def brought(tmp_path: Path) -> tuple[Places, Path]:
    """A workspace that brings a plugin nobody accepted."""
    here = settled(tmp_path)
    return here, meter(here.workspace / ".stella/plugins/meter")


def with_variable(here: Places) -> Roster:
    return read_roster(here, None, by_variable=True)


def met(here: Places) -> list[tuple[str, str]]:
    """What a run shows."""
    told: list[tuple[str, str]] = []

    def tell(_: Plugin, head: str, text: str) -> None:
        told.append((head, text))

    meet(with_variable(here), here, HandClock(), tell)
    return told


def starts(here: Places, *, by_variable: bool = True) -> Program | str:
    return cleared(read_roster(here, None, by_variable=by_variable).plugin("meter"), lookup(here))


@pytest.mark.behaviour("I-34.variable", "K-163a")
def test_bytes_that_are_met_first_are_shown_once_and_their_difference_once(tmp_path: Path) -> None:
    """[I-34, K-163a] The whole text, then nothing, then the difference, then nothing."""
    here, directory = brought(tmp_path)
    program = Program(path=f"{directory}/bin/meter")
    ((head, text),) = met(here)
    assert head == f"{HEAD}nobody accepted it here:"
    assert text.startswith("Install the plugin `meter`?")
    assert met(here) == []
    assert starts(here) == program
    manifest = directory / "plugin.toml"
    manifest.write_text(manifest.read_text().replace("= 30", "= 31"))
    (directory / "main.py").write_text("print(2)\n")
    ((head, text),) = met(here)
    assert head == f"{HEAD}it is not what was recorded:"
    assert text.split("\n") == [
        "changed main.py",
        "changed plugin.toml",
        "consent then (-) and now (+):",
        "  -   - runs as a process: `${plugin_dir}/bin/meter` (stopped after 30s)",
        "  +   - runs as a process: `${plugin_dir}/bin/meter` (stopped after 31s)",
    ]
    assert met(here) == []
    assert starts(here) == program


@pytest.mark.behaviour("Q-12", "I-40")
def test_a_command_that_reads_says_it_would_run_and_writes_nothing(tmp_path: Path) -> None:
    """[I-40, Q-12, I-61] And until it was shown, nothing of it starts."""
    here, _ = brought(tmp_path)
    before = seen(tmp_path)
    roster = with_variable(here)
    assert roster.plugin("meter").state is State.OK
    assert roster.notices == (
        (
            "meter was accepted by nobody as it is; STELLA_TRUST_PROJECT lets it run, and the next "
            "run shows what it declares"
        ),
    )
    assert "nobody accepted it here" in str(starts(here))
    assert seen(tmp_path) == before


@pytest.mark.behaviour("Q-3", "A37")
def test_what_the_variable_recorded_counts_only_while_it_is_set(tmp_path: Path) -> None:
    """[I-34, Q-3, attacks A37]"""
    here, _ = brought(tmp_path)
    met(here)
    assert read_roster(here, None).plugin("meter").state is State.NOT_ACCEPTED
    assert "nobody accepted it here" in str(starts(here, by_variable=False))


@pytest.mark.behaviour("Q-3.apart")
def test_it_is_kept_apart_and_never_replaces_what_a_person_accepted(tmp_path: Path) -> None:
    """[Q-3] After a change the person's record still stands, and with the old bytes it counts."""
    here = settled(tmp_path)
    directory = put(meter(tmp_path / "source"), here).directory
    tier = here.tier(Scope.PROJECT)
    data = tier.record_path.read_bytes()
    assert met(here) == []
    main = directory / "main.py"
    main.write_text("print(2)\n")
    ((_, text),) = met(here)
    assert text == "changed main.py"
    assert tier.record_path.read_bytes() == data
    assert starts(here) == Program(path=f"{directory}/bin/meter")
    assert "changed main.py" in str(starts(here, by_variable=False))
    main.write_text("print(1)\n")
    assert starts(here, by_variable=False) == starts(here) == Program(path=f"{directory}/bin/meter")
    (record,) = read_records(tier.apart).by_name.values()
    assert record.accepted_by is AcceptedBy.ENV


def test_a_record_in_the_wrong_file_counts_in_neither(tmp_path: Path) -> None:
    """[Q-3]"""
    here, _ = brought(tmp_path)
    met(here)
    tier = here.tier(Scope.PROJECT)
    tier.apart.record_path.rename(tier.record_path)
    assert read_roster(here, None).plugin("meter").state is State.NOT_ACCEPTED
    assert "made by env, which belongs into another file" in read_roster(here, None).notices[0]
    put(notes(tmp_path / "n"), here)
    tier.record_path.rename(tier.apart.record_path)
    assert "made by tty, which belongs into another file" in with_variable(here).notices[0]


def test_what_cannot_be_offered_does_not_run_and_says_why(tmp_path: Path) -> None:
    """[I-5, I-34]"""
    here, directory = brought(tmp_path)
    (directory / "bin/meter").chmod(0o644)
    roster = with_variable(here)
    assert roster.plugin("meter").state is State.NOT_ACCEPTED
    assert "meter does not run: [runtime] argv entry 1: bin/meter may not be" in roster.notices[0]
    assert met(here) == []


@pytest.mark.behaviour("A-72.no-yes")
def test_what_no_yes_would_make_run_says_its_own_reason(tmp_path: Path) -> None:
    """[A-72] It is not among those that a yes is all that is missing for."""
    here, directory = brought(tmp_path)
    other = meter(here.workspace / ".stella/plugins/other", "other")
    for package in (directory, other):
        (package / "bin/meter").chmod(0o644)
    told = with_variable(here).told
    for name, package, said in zip(("meter", "other"), (directory, other), told, strict=True):
        assert said.startswith(f"{name} does not run: [runtime] argv entry 1: bin/meter may not be")
        assert said.endswith(f"; `stella plugin check {package}` tells all of it")
    assert len(read_roster(here, None).told) == 1


def test_a_persons_own_tier_needs_their_own_yes(tmp_path: Path) -> None:
    """[I-30, K-163] The variable is about the project."""
    here = settled(tmp_path)
    meter(here.home / "plugins/meter")
    assert with_variable(here).plugin("meter").state is State.NOT_ACCEPTED
    assert met(here) == []


def test_where_no_record_can_be_kept_nothing_runs(tmp_path: Path) -> None:
    """[I-34] A kept record is what makes it run."""
    here, _ = brought(tmp_path)
    (here.home / "consent").symlink_to(tmp_path)
    _, (head, text) = met(here)
    assert head == "meter does not run: its record cannot be kept"
    assert text.startswith(f"{here.home}/consent: ")
    assert "nobody accepted it here" in str(starts(here))


def test_a_change_of_the_record_during_a_session_is_noticed(tmp_path: Path) -> None:
    """[Q-29]"""
    here, _ = brought(tmp_path)
    met(here)
    roster = with_variable(here)
    assert records_changed(roster, here) == ()
    here.tier(Scope.PROJECT).apart.record_path.unlink()
    (notice,) = records_changed(roster, here)
    assert notice.startswith("meter: what was accepted has changed on disk")


def test_removing_a_plugin_drops_this_record_too(tmp_path: Path) -> None:
    """[I-66]"""
    here, _ = brought(tmp_path)
    met(here)
    apart = here.tier(Scope.PROJECT).apart
    assert remove("meter", here, HandClock()).records == (apart.record_path,)
    assert read_records(apart).by_name == {}
