import pytest

from tests.making.manifests import broken
from tests.making.manifests import faults
from tests.making.manifests import manifest_vectors

SECTION_17 = (
    ("R-2",),
    ("R-3", "R-4"),
    ("R-5",),
    ("R-6",),
    ("R-7",),
    ("R-8",),
    ("R-9",),
    ("R-10",),
    ("R-11",),
    ("R-12",),
    ("R-13",),
    ("R-14",),
    ("R-15",),
    ("R-16",),
    ("R-17",),
    ("R-18",),
    ("R-19",),
    ("R-20",),
    ("R-21",),
    ("R-77", "R-78"),
    ("R-79",),
    ("R-80",),
    ("R-22",),
    ("R-23",),
    ("R-24",),
    ("R-25",),
    ("R-26",),
    ("R-27",),
    ("R-28",),
    ("R-29",),
    ("R-30", "R-31"),
    ("R-32", "R-33", "R-34"),
    ("R-35",),
    ("R-37",),
    ("R-38",),
    ("R-39", "R-40"),
    ("R-41",),
    ("R-42",),
    ("R-43",),
    ("R-44", "R-45", "R-46", "R-47", "R-48", "R-49", "R-50", "R-52", "R-51"),
    ("R-54",),
    ("R-55",),
    ("R-56",),
    ("R-57",),
    ("R-58", "R-59", "R-60"),
    ("R-61",),
    ("R-62",),
    ("R-63", "R-64", "R-65", "R-66"),
    ("R-67", "R-68", "R-69", "R-70"),
    ("R-71", "R-72", "R-73", "R-74", "R-75", "R-76"),
)
"""The order of faults; rules in one row take turns, entry by entry [M-62]."""


@pytest.mark.behaviour("M-62")
def test_faults_of_every_refused_vector_stand_in_the_order_of_section_17() -> None:
    """[M-4, M-62]"""
    rank = {rule: number for number, row in enumerate(SECTION_17) for rule in row}
    assert len(rank) == 77
    for path in manifest_vectors("manifest/refused"):
        ranks = [rank.get(fault.rule, -1) for fault in faults(path.read_text("utf-8"))]
        assert ranks == sorted(ranks), path.stem


def test_inside_an_entry_rules_stand_in_the_order_of_section_17() -> None:
    """[M-62]"""
    for path in manifest_vectors("manifest/refused"):
        entries: dict[tuple[str | int, ...], list[int]] = {}
        for fault in faults(path.read_text("utf-8")):
            row = next((row for row in SECTION_17 if fault.rule in row and len(row) > 1), None)
            if row is not None:
                size = next(i for i, step in enumerate(fault.path, 1) if isinstance(step, int))
                entries.setdefault(fault.path[:size], []).append(row.index(fault.rule))
        assert all(ranks == sorted(ranks) for ranks in entries.values()), path.stem


def test_decoding_faults_come_first_wherever_they_stand() -> None:
    """[M-4, K-79]"""
    text = 'name = " "\n[loop]\nhooks = ["TurnEnd"]\n[runtime]\nargv = []\ntimeout_secs = ""\n'
    assert broken(text) == ["R-1 wrong-type", "R-2", "R-5", "R-54", "R-55"]


def test_an_unknown_word_neither_hides_nor_invents_another_fault() -> None:
    """[M-5, K-82]"""
    clean = '[[capabilities]]\ntool = ""\nrisk = "low"\npurpose = "p"\n'
    text = (
        f'name = "x"\n[loop]\nparticipation = "stearing"\nhooks = ["Stop"]\nmax_holds = 0\n{clean}'
    )
    assert broken(text) == ["R-1 unknown-token", "R-21", "R-63"]
