import pytest

from stella import limits
from tests.making.manifests import ARBITER
from tests.making.manifests import broken
from tests.making.manifests import check
from tests.making.manifests import faults

APPLICABLE = 'flip = "required"'
NOT_APPLICABLE = 'flip = "not-applicable"'


def without(text: str, line: str) -> str:
    """Return the text without a line, which must be in it."""
    assert line in text
    return text.replace(line, "")


@pytest.mark.behaviour("M-22")
def test_an_arbiter_has_requirements() -> None:
    """[R-23, M-60, K-3]"""
    head = 'name = "x"\n[loop]\nparticipation = "arbiter"\nhooks = ["Stop"]\n'
    assert broken(head) == ["R-23"]
    assert broken(f"{head}[requirements]\n") == ["R-23"]
    assert broken(f"requirements = 1\n{head}") == ["R-1 wrong-type"]


@pytest.mark.behaviour("M-60")
def test_an_arbiter_needs_no_oracle() -> None:
    """[M-60]"""
    head = 'name = "x"\n[loop]\nparticipation = "arbiter"\nhooks = ["Stop"]\n'
    assert broken(f'{head}[requirements]\na = "b"\n"" = "a key may be blank"\n') == []


@pytest.mark.parametrize("grade", ["none", "observer", "steering"])
def test_requirements_below_arbiter_break_one_rule_even_when_empty(grade: str) -> None:
    """[R-22, Q-7]"""
    assert broken(f'name = "x"\n[loop]\nparticipation = "{grade}"\n[requirements]\n') == ["R-22"]


def test_blank_requirements_are_named_in_byte_order() -> None:
    """[R-24, M-62]"""
    text = ARBITER.replace('fast = "it is fast"', 'b = " "\na = ""\nfast = "x"')
    assert [each.path for each in faults(text)] == [("requirements", "a"), ("requirements", "b")]


def test_the_description_of_a_requirement_that_did_not_decode_is_not_judged() -> None:
    """[M-5]"""
    text = ARBITER.replace('fast = "it is fast"', 'a = 1\nb = ""')
    assert broken(text) == ["R-1 wrong-type", "R-24"]


@pytest.mark.behaviour("M-24")
def test_an_oracle_decides_with_a_command_or_the_runtime() -> None:
    """[R-28, M-24, K-10]"""
    runtime = '[runtime]\nargv = ["probe"]\ntimeout_secs = 30\n'
    command = '[oracle.command]\nargv = ["x"]\ntimeout_secs = 1\n'
    assert broken(without(ARBITER, runtime)) == ["R-28"]
    assert broken(without(ARBITER, runtime) + command) == []
    assert broken("runtime = 1\n" + without(ARBITER, runtime)) == ["R-1 wrong-type"]


def test_a_command_names_a_program_and_has_time() -> None:
    """[R-26, R-27, M-28]"""
    command = "[oracle.command]\nargv = {}\ntimeout_secs = {}\n"
    assert broken(ARBITER + command.format("[]", 0)) == ["R-26", "R-27"]
    assert broken(ARBITER + command.format('[""]', 1)) == []
    assert broken(ARBITER + command.format("[1]", 1)) == ["R-1 wrong-type"]


@pytest.mark.behaviour("M-25")
def test_evidence_arrives_after_the_turn() -> None:
    """[R-29, M-25, K-9]"""
    assert broken(ARBITER.replace('["after_turn"]', '["before_turn"]')) == ["R-29"]
    assert broken(ARBITER.replace('["after_turn"]', '["aftre_turn"]')) == ["R-1 unknown-token"]


def test_measurements_are_named_and_stand_once() -> None:
    """[R-30, R-31, M-23]"""
    text = ARBITER.replace('["p50", "p99"]', '["p50", " ", " ", "p50"]')
    assert broken(text) == ["R-30", "R-30", "R-31"]


def test_a_check_is_for_a_declared_requirement() -> None:
    """[R-32]"""
    found = faults(ARBITER + check("p50 <= 5", "fst"))
    assert [each.rule for each in found] == ["R-32"]
    assert found[0].near == ("fast",)
    assert "did you mean fast? declared: fast" in found[0].message


def test_a_check_reads_a_declared_measurement() -> None:
    """[R-34, M-26, K-13]"""
    found = faults(ARBITER + check("p5 <= 5"))
    assert [each.rule for each in found] == ["R-34"]
    assert found[0].near == ("p50", "p99")
    assert "declared: p50, p99" in found[0].message


@pytest.mark.behaviour("M-8")
def test_at_most_20_declared_names_are_listed() -> None:
    """[M-8]"""
    names = [f"measure{number:02}" for number in range(limits.VOCABULARY_SHOWN + 1)]
    listed = ", ".join(f'"{name}"' for name in names)
    found = faults(ARBITER.replace('"p50", "p99"', listed) + check("other <= 5"))
    assert found[0].message.endswith(f"declared: {', '.join(names[:-1])} and 1 more.")
    exactly = ARBITER.replace('"p50", "p99"', ", ".join(f'"{name}"' for name in names[:-1]))
    assert faults(exactly + check("other <= 5"))[0].message.endswith(f"{names[-2]}.")


def test_a_text_that_is_no_check_reads_nothing() -> None:
    """[M-5, K-80]"""
    assert broken(ARBITER + check("p5<=5")) == ["R-33"]


def test_a_name_that_may_be_in_what_did_not_decode_is_not_unknown() -> None:
    """[M-5, Q-7]"""
    text = ARBITER.replace('"p99"', "99") + check("p99 <= 5")
    assert broken(text) == ["R-1 wrong-type"]
    text = ARBITER.replace('fast = "it is fast"', "fast = 1") + check("p50 <= 5")
    assert broken(text) == ["R-1 wrong-type"]


def test_a_check_half_of_which_did_not_decode_is_judged_by_the_other_half() -> None:
    """[M-5]"""
    half = "[[oracle.checks]]\nrequirement = 1\ncheck = 'p5 <= 5'\n"
    assert broken(ARBITER + half) == ["R-1 wrong-type", "R-34"]
    half = "[[oracle.checks]]\nrequirement = 'fst'\ncheck = 1\n"
    assert broken(ARBITER + half) == ["R-1 wrong-type", "R-32"]


@pytest.mark.behaviour("M-27")
def test_without_a_flip_every_requirement_has_a_check() -> None:
    """[R-35, M-27, K-11]"""
    text = ARBITER.replace(APPLICABLE, NOT_APPLICABLE).replace(
        'fast = "it is fast"', 'fast = "a"\nsmall = "b"'
    )
    found = faults(text + check("p50 <= 5"))
    assert [(each.rule, each.key) for each in found] == [("R-35", "small")]
    assert broken(text + check("p50 <= 5") + check("p50 <= 5", "small")) == []


def test_an_unparsable_check_still_counts_as_a_check() -> None:
    """[R-35, Q-7]"""
    text = ARBITER.replace(APPLICABLE, NOT_APPLICABLE)
    assert broken(text + check("p50<=5")) == ["R-33"]


@pytest.mark.parametrize(
    "entry", ["[[oracle.checks]]\nrequirement = 1\ncheck = 'p50 <= 5'\n", "oracle.checks = [1]\n"]
)
def test_a_check_that_did_not_decode_may_be_the_missing_one(entry: str) -> None:
    """[M-5, Q-7]"""
    text = ARBITER.replace(APPLICABLE, NOT_APPLICABLE)
    written = (
        text + entry
        if entry.startswith("[[")
        else entry + without(text, "[oracle]\n").replace("flip", "[oracle]\nflip")
    )
    found = broken(written)
    assert "R-35" not in found
    assert found[0].startswith("R-1")
