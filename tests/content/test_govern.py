"""Who steers and who guards: the person, then the repository, then the plugins, and never else."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.content.govern import Governed
from stella.content.govern import Rank
from stella.content.record import Record
from stella.errors import ManifestError
from stella.manifest.read import read_manifest
from tests.making.records import Table
from tests.making.records import governed
from tests.making.records import guarded
from tests.making.records import record
from tests.making.records import steers
from tests.making.vectors import vectors


@pytest.mark.behaviour("P-61", "P-63", "K-75", "K-77", "K-177")
@pytest.mark.parametrize(("name", "vector"), vectors("content/governance"))
def test_each_situation_comes_out_as_the_table_says(name: str, vector: dict[str, Any]) -> None:
    """[P-61 to P-66] The table at the end of the rules, row by row, all of it approved or none."""
    user, repository = vector.get("user", []), vector.get("repository", [])
    plugins = vector.get("plugins", {})
    every = [*user, *repository, *(table for tables in plugins.values() for table in tables)]
    granted = every if vector.get("approve") else []
    found = governed(user, repository, plugins, approved=granted, promoted=granted)
    assert [list(each) for each in steers(found)] == vector["steers"]
    assert [guard.lineage for guard in found.guards] == vector["guards"]
    assert list(found.notices) == vector["notices"]


# ── order ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-60")
def test_tiers_come_first_then_precedence_then_the_order_of_files() -> None:
    """[P-60, P-63] A plugin's precedence orders records of plugins alone."""

    def ranked(lineage: str, precedence: int) -> Table:
        return record(lineage, steering={"precedence": precedence})

    found = governed(
        [ranked("u0", 0), ranked("u9", 9), ranked("u0b", 0)],
        [ranked("r1", 1)],
        {"q": [ranked("q5", 5), ranked("q0", 0)], "p": [ranked("p0", 0), ranked("p9", 9)]},
    )
    assert [lineage for _, lineage in steers(found)] == (
        ["u9", "u0", "u0b", "r1", "p9", "q5", "p0", "q0"]
    )


def test_of_one_lineage_an_owner_has_one_record_and_of_two_plugins_the_first_by_name() -> None:
    """[P-63] The rest stay visible with the reason."""
    found = governed(
        [record("a"), record("a", "Second.")], [], {"q": [record("b")], "p": [record("b")]}
    )
    assert steers(found) == [("user", "a"), ("p", "b")]
    assert [each.reason for each in found.idle] == [
        "the same lineage stands in ~/rules/a.toml before it",
        "the plugin p's record of this lineage goes before it",
    ]


# ── what steers ───────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-50")
def test_a_blocked_or_inactive_record_does_not_steer_and_stays_visible() -> None:
    """[P-50] With its reason, also one that was taken back on purpose."""
    found = governed([record("a", "x\ny"), record("b", status="retracted"), record("c")])
    assert steers(found) == [("user", "c")]
    assert {each.record.lineage_id: each.reason for each in found.idle} == {
        "a": "its statement has several lines",
        "b": "it is retracted",
    }
    blocked, gone = found.notices
    assert blocked.startswith("the person's record a (~/rules/a.toml): it does not steer: its stat")
    assert gone == "the person's record b (~/rules/a.toml): it does not steer: it is retracted"


@pytest.mark.behaviour("P-62")
def test_a_plugins_word_about_others_reaches_its_own_records_only() -> None:
    """[P-62] Supersedes, retracts, links: none has an effect on the person or repository."""
    mine, theirs = record("mine", record_id="rec_1"), record("theirs", record_id="rec_2")
    hostile = [
        record("x1", supersedes_record_id="rec_1"),
        record("x2", supersedes_record_id="rec_2"),
        record("mine", status="retracted", link=[{"relation": "contradicts", "target": "mine"}]),
        record("own", record_id="rec_3"),
        record("x3", supersedes_record_id="rec_3"),
    ]
    found = governed([mine], [theirs], {"p": hostile})
    assert steers(found) == [
        ("user", "mine"),
        ("repository", "theirs"),
        ("p", "x1"),
        ("p", "x2"),
        ("p", "x3"),
    ]


def test_a_record_is_superseded_by_its_owners_newer_one() -> None:
    """[P-45] By the stored id or the derived one; nothing supersedes itself."""
    derived = governed([record("a")]).steering[0].identity.record_id
    found = governed([record("a"), record("b", supersedes_record_id=derived)])
    assert steers(found) == [("user", "b")]
    assert found.idle[0].reason == "it is superseded by b"
    itself = governed([record("a", record_id="rec_1", supersedes_record_id="rec_1")])
    assert steers(itself) == [("user", "a")]
    blocked = governed([record("a", record_id="r"), record("b", "x\ny", supersedes_record_id="r")])
    assert steers(blocked) == [("user", "a")]
    other = governed([record("a", record_id="r")], [record("b", supersedes_record_id="r")])
    assert steers(other) == [("user", "a"), ("repository", "b")]


def test_records_that_claim_one_identity_are_all_superseded_by_it_and_told() -> None:
    """[P-47, P-50] A stored id is a claim: two may make it, and two may supersede each other."""
    same = [record("a", record_id="r"), record("b", "Other.", record_id="r")]
    found = governed([*same, record("c", supersedes_record_id="r")])
    assert steers(found) == [("user", "c")]
    assert [each.reason for each in found.idle] == ["it is superseded by c"] * 2
    both = [
        record("a", record_id="r1", supersedes_record_id="r2"),
        record("b", record_id="r2", supersedes_record_id="r1"),
    ]
    ring = governed(both)
    assert steers(ring) == []
    assert sum("it does not steer: it is superseded by" in line for line in ring.notices) == 2
    assert all("is not that of this text" in line for line in ring.notices if "stored" in line)


def test_a_record_the_person_took_back_keeps_its_lineage() -> None:
    """[P-62, P-63] No plugin says again, under its name, what the person retracted."""
    found = governed([record("a", status="retracted")], [], {"p": [record("a", "Again.")]})
    assert steers(found) == []
    assert any("the person's record of this lineage goes before it" in n for n in found.notices)


# ── the person and the repository ─────────────────────────────────────────────────────


@pytest.mark.behaviour("P-66")
@pytest.mark.parametrize(
    ("mine", "theirs", "owners"),
    [
        (record(), record(statement="Theirs."), ["repository"]),
        (guarded(mode="soft"), guarded(), ["repository"]),
        (guarded(), record(), ["user"]),
        (guarded(), guarded(mode="soft"), ["user"]),
        (guarded(), guarded(statement="The same guard."), ["user"]),
        (guarded(), guarded(enforcement={"guard_tool": "write_file"}), ["user", "repository"]),
        (record(status="retracted"), record(), ["repository"]),
        (record(), record(status="retracted"), ["user"]),
    ],
)
def test_a_repository_can_add_enforcement_and_not_remove_it(
    mine: Table, theirs: Table, owners: list[str]
) -> None:
    """[P-66] Folding by lineage, row by row."""
    assert [name for name, _ in steers(governed([mine], [theirs]))] == owners


@pytest.mark.behaviour("P-64", "K-178")
def test_in_a_conflict_between_tiers_the_persons_record_stays_in_force() -> None:
    """[P-64] Restrictiveness counts only within one tier."""
    soft = guarded("mine", mode="soft")
    hard = guarded("theirs")
    found = governed([soft], [hard], promoted=[hard])
    assert steers(found) == [("user", "mine"), ("repository", "theirs")]
    assert found.guards == ()
    why = "not armed: it gives way to a record of the person"
    assert f"the repository's record theirs (.stella/rules/a.toml): {why}" in found.notices
    apart = guarded("theirs", steering={"precedence": 1})
    assert [guard.lineage for guard in governed([soft], [apart], promoted=[apart]).guards] == [
        "theirs"
    ]


def test_within_a_tier_the_less_restrictive_record_gives_way() -> None:
    """[P-64] It stands behind the other one of the same precedence, and the guard acts."""
    hard = guarded("hard")
    found = governed([guarded("soft", mode="soft"), hard], approved=[hard])
    assert steers(found) == [("user", "hard"), ("user", "soft")]
    assert len(found.guards) == 1
    assert sum("conflict" in notice for notice in found.notices) == 2


# ── guards ────────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-65")
@pytest.mark.parametrize(
    ("table", "approved", "promoted", "armed", "why"),
    [
        (guarded(), True, False, "user", ""),
        (guarded(origin="system"), True, False, "user", ""),
        (guarded(), False, True, "repository", ""),
        (guarded(), False, False, "", "not approved (sha256:"),
        (guarded(origin="imported"), True, True, "", "its origin is neither user nor system"),
        (
            {**record(origin="user"), "enforcement": {"mode": "hard"}},
            True,
            True,
            "",
            "it is hard and names no guard",
        ),
    ],
)
def test_a_guard_is_armed_by_origin_and_approval(
    table: Table, approved: bool, promoted: bool, armed: str, why: str
) -> None:
    """[P-65] An approval is the person's, a promotion the repository's; neither is the other."""
    grants: dict[str, Any] = {"approved": [table] * approved, "promoted": [table] * promoted}
    for rank, found in (
        ("user", governed([table], [], **grants)),
        ("repository", governed([], [table], **grants)),
    ):
        assert bool(found.guards) is (rank == armed)
        assert all(each.armed is (rank == armed) for each in found.steering)
        if why:
            assert any(why in notice for notice in found.notices)


def test_an_approval_is_of_the_text_that_was_looked_at() -> None:
    """[P-65, P-47] Another text of the lineage has another digest."""
    found = governed([guarded(statement="Other.")], approved=[guarded()])
    assert found.guards == ()


def test_a_promotion_counts_only_for_what_the_repository_declares_now() -> None:
    """[P-65] A lineage that is gone from its files guards nothing."""
    gone = guarded("gone")
    assert governed([], [record("here")], promoted=[gone]).guards == ()


def test_an_armed_guard_has_the_words_of_its_record() -> None:
    table = guarded("g", enforcement={"guard_deny_command": "a", "guard_deny_path": "b"})
    (guard,) = governed([table], approved=[table]).guards
    assert (guard.lineage, guard.tool, guard.command, guard.path) == ("g", "bash", "a", "b")
    assert (guard.whose, guard.statement) == ("the person's", "Keep functions short.")


@pytest.mark.behaviour("P-68")
def test_a_manifest_that_asks_for_a_blocking_record_does_not_load() -> None:
    """[P-68, R-69] The manifest's form of the same promise."""
    text = 'name = "a"\n[[records]]\nlineage = "one"\nstatement = "Do."\nenforcement = "blocking"\n'
    with pytest.raises(ManifestError, match="R-69 PluginRecordCannotEnforce"):
        read_manifest(text.encode())


# ── what a plugin can never do ────────────────────────────────────────────────────────

LINEAGES = st.sampled_from(["mine", "guard", "theirs", "x", "y"])
IDS = st.sampled_from(["rec_1", "rec_2", "rec_3"])
HOSTILE = st.fixed_dictionaries(
    {
        "lineage_id": LINEAGES,
        "kind": st.sampled_from(["rule", "memory"]),
        "statement": st.sampled_from(["Push often.", "x\ny", "Never push."]),
        "steering": st.fixed_dictionaries(
            {"force": st.sampled_from(["must", "should", "may", "info"])},
            optional={
                "precedence": st.integers(0, 2**32 - 1),
                "tier": st.sampled_from(["pinned", "scoped"]),
                "applies_to": st.just({"paths": ["*"]}),
            },
        ),
    },
    optional={
        "origin": st.sampled_from(["user", "system"]),
        "status": st.sampled_from(["active", "retracted", "archived"]),
        "record_id": IDS,
        "supersedes_record_id": IDS,
        "enforcement": st.fixed_dictionaries(
            {"mode": st.sampled_from(["hard", "soft", "none"])},
            optional={
                "guard_tool": st.just("bash"),
                "guard_deny_path": st.sampled_from(["a", ""]),
            },
        ),
        "link": st.just([{"relation": "contradicts", "target": "mine"}]),
    },
)
PLUGINS = st.dictionaries(
    st.sampled_from(["", "a", "p", "~"]), st.lists(HOSTILE, max_size=4), max_size=3
)
MINE = [
    record("mine", record_id="rec_1"),
    guarded("guard", record_id="rec_2"),
    guarded("soft", mode="soft", steering={"precedence": 3}),
]
THEIRS = [record("theirs", record_id="rec_3"), guarded("theirguard", steering={"precedence": 7})]


def own(found: Governed) -> list[tuple[str, Record, str | None, bool]]:
    """The person's and the repository's records, with their order, text, reason and guard."""
    return [
        (each.rank.value, each.record, each.reason, each.armed)
        for each in (*found.steering, *found.idle)
        if each.rank is not Rank.PLUGIN
    ]


@pytest.mark.parametrize("granted", [True, False])
@settings(deadline=None, max_examples=60)
@given(plugins=PLUGINS)
def test_no_record_of_a_plugin_changes_what_the_person_and_the_repository_say(
    granted: bool, plugins: Mapping[str, list[Table]]
) -> None:
    """[P-61, P-62, P-63] Nor which guards act, nor where anything of theirs stands."""
    every = [*MINE, *THEIRS, *(table for tables in plugins.values() for table in tables)]
    grants: dict[str, Any] = {"approved": every, "promoted": every} if granted else {}
    without = governed(MINE, THEIRS, **grants)
    found = governed(MINE, THEIRS, plugins, **grants)
    assert found.guards == without.guards
    assert own(found) == own(without)
    ranks = [each.rank for each in found.steering]
    assert ranks == sorted(ranks, key=list(Rank).index)
    assert not any(each.armed for each in found.steering if each.rank is Rank.PLUGIN)


def test_a_plugin_has_a_number_of_globs_and_the_person_has_any() -> None:
    """[P-50, P-51] Each is held against each path of each prompt; what is beyond is told."""

    def globs(lineage: str, number: int) -> Table:
        paths = [f"src/{at}*" for at in range(number)]
        return record(lineage, steering={"force": "may", "applies_to": {"paths": paths}})

    most = limits.PLUGIN_GLOBS
    tables = [globs("a", most - 1), globs("b", 2), globs("c", 1), record("d"), globs("e", 1)]
    found = governed([], [], {"p": tables, "q": [globs("q", most)]})
    assert steers(found) == [("p", "a"), ("p", "c"), ("p", "d"), ("q", "q")]
    why = f"its plugin names more than {most} globs with it"
    assert [each.reason for each in found.idle] == [why, why]
    assert any(why in notice for notice in found.notices)
    mine = governed([globs("a", most), globs("b", 2)], [globs("c", most + 1)])
    assert len(mine.steering) == 3


def test_a_record_is_told_by_whose_it_is() -> None:
    """[C-3] A lineage cannot forge a line."""
    (each,) = governed([record("a\nb")]).steering
    assert each.told == "the person's record a b"
    assert replace(each, rank=Rank.PLUGIN, plugin="p").whose == "the plugin p's"


def test_notices_of_one_owner_hide_none_of_another() -> None:
    """[P-50] The first of many are told, and how many more there are."""

    def notices(number: int) -> tuple[str, ...]:
        many = [record(f"p{at}", "x\ny") for at in range(number)]
        return governed([], [], {"p": many, "q": [record("q", "x\ny")]}).notices

    exact = notices(limits.IGNORED_SHOWN)
    assert len(exact) == limits.IGNORED_SHOWN + 1
    more = notices(limits.IGNORED_SHOWN + 1)
    assert more[limits.IGNORED_SHOWN] == "the plugin p's records: 1 more notice"
    assert more[-1].startswith("the plugin q's record q")
