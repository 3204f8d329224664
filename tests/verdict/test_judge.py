import ast
import re
from itertools import product
from pathlib import Path

import pytest

from stella import codec
from stella import verdict as room
from stella.manifest.oracle import FlipPolicy
from stella.verdict.finding import Credited
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Met
from stella.verdict.finding import Unchecked
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unmet
from stella.verdict.finding import Unreported
from stella.verdict.finding import undecided
from stella.verdict.judge import Conjunct
from stella.verdict.judge import Credit
from stella.verdict.judge import Examined
from stella.verdict.judge import examined
from stella.verdict.judge import flip_credit
from stella.verdict.judge import judge
from stella.verdict.judge import judge_one
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import rule_of
from stella.wire.evidence import Flip
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tamper
from stella.wire.evidence import TamperState
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Point
from tests.making.verdicts import VECTORS
from tests.making.verdicts import AgainVector
from tests.making.verdicts import JudgeVector
from tests.making.verdicts import ProgressVector
from tests.making.verdicts import RunVector
from tests.making.verdicts import as_written
from tests.making.verdicts import clause
from tests.making.verdicts import compact
from tests.making.verdicts import evidence
from tests.making.verdicts import no_flip
from tests.making.verdicts import over_budget
from tests.making.verdicts import read_vector
from tests.making.verdicts import tampered
from tests.making.verdicts import unmet
from tests.making.verdicts import vector_paths

MET = Met(met=Credited(evidence=Provenance.PLUGIN_REPORTED))
TAMPERS: tuple[Tamper, ...] = (*TamperState, tampered())
ROOM = sorted(Path(str(room.__file__)).parent.glob("*.py"))
MAY_IMPORT = {
    "collections",
    "collections.abc",
    "dataclasses",
    "enum",
    "hashlib",
    "msgspec",
    "typing",
    "stella",
    "stella.codec",
    "stella.escape",
    "stella.manifest.grammar",
    "stella.manifest.oracle",
    "stella.wire.evidence",
    "stella.wire.grade",
}


@pytest.mark.behaviour("J-6", "J-9", "J-11", "J-12", "J-14", "J-15", "J-16", "J-17", "J-18", "J-50")
@pytest.mark.parametrize("path", vector_paths(JudgeVector), ids=lambda path: path.stem)
def test_judge_gives_the_verdict_of_the_vector(path: Path) -> None:
    """[J-6, J-9, J-12, J-14, J-17, J-18, J-50]"""
    vector, written = read_vector(JudgeVector, path), as_written(path)
    given = judge(vector.rule, vector.evidence)
    assert given == vector.verdict
    assert codec.encode(given).decode() == compact(written["verdict"])
    assert codec.encode(vector.rule).decode() == compact(written["rule"])
    assert codec.encode(vector.evidence).decode() == compact(written["evidence"])


def credit_by_table(policy: FlipPolicy, flip: Flip, tamper: Tamper) -> Credit:
    """The table of J-9, row by row."""
    rows: dict[tuple[Flip, Tamper], Credit] = {
        (Flip.ACHIEVED, TamperState.CLEAN): Conjunct.CREDITED,
        (Flip.ACHIEVED, TamperState.NOT_CHECKED): Unknowable.TAMPER_UNCHECKED,
        (Flip.ACHIEVED, tampered()): tampered(),
    }
    for any_tamper in TAMPERS:
        rows[Flip.NOT_ACHIEVED, any_tamper] = no_flip(Flip.NOT_ACHIEVED)
        rows[Flip.UNSATISFIABLE, any_tamper] = Unknowable.WITNESS_UNSATISFIABLE
        rows[Flip.NOT_ATTEMPTED, any_tamper] = Unknowable.FLIP_UNOBSERVABLE
        rows[Flip.UNOBSERVABLE, any_tamper] = Unknowable.FLIP_UNOBSERVABLE
    return rows[flip, tamper] if policy is FlipPolicy.REQUIRED else Conjunct.ABSENT


@pytest.mark.behaviour("J-9", "J-10")
@pytest.mark.behaviour("F146", "F160")
@pytest.mark.parametrize(
    ("policy", "flip", "tamper"), list(product(FlipPolicy, Flip, TAMPERS)), ids=str
)
def test_flip_credit_is_the_table_of_all_thirty_cases(
    policy: FlipPolicy, flip: Flip, tamper: Tamper
) -> None:
    """[J-9, J-10]"""
    assert flip_credit(policy, evidence(flip, tamper)) == credit_by_table(policy, flip, tamper)


TWO = rule_of(
    requirements={"a": "A", "b": "B"},
    flip="not-applicable",
    measurements=("x", "y"),
    checks=(("a", "x <= 0"), ("b", "y >= 5")),
)


@pytest.mark.behaviour("J-7")
@pytest.mark.behaviour("K-59")
def test_a_known_failure_is_not_hidden_by_a_missing_number() -> None:
    """[J-7]"""
    found = judge(TWO, evidence(x=1))
    assert isinstance(found, Unmet)
    assert [clause.requirement for clause in found.clauses] == ["a"]


@pytest.mark.behaviour("J-13", "K-61", "R-36")
def test_a_reported_zero_is_a_number_and_an_absent_one_is_none() -> None:
    """[J-13]"""
    assert isinstance(judge(TWO, evidence(x=0, y=5)), Met)
    missing = MeasurementMissing(measurement_missing=Unreported(requirement="a", measurement="x"))
    assert judge(TWO, evidence(y=5)) == undecided(missing)


@pytest.mark.behaviour("J-11", "J-14")
def test_everything_found_stands_in_order_requirement_by_requirement() -> None:
    """[J-11, J-12, J-14]"""
    rule = rule_of(
        requirements={"b": "B", "a": "A"},
        flip="required",
        measurements=("x",),
        checks=(("a", "x > 1"), ("b", "x == 1"), ("a", "x > 0"), ("a", "x > 2")),
    )
    assert rule.oracle is not None
    found = examined(rule.requirements, rule.oracle, evidence(Flip.UNSATISFIABLE, x=1))
    assert found == (
        Examined(
            requirement="a",
            clauses=(
                clause("a", over_budget("x > 1", 1), "A"),
                clause("a", over_budget("x > 2", 1), "A"),
            ),
            abstentions=(Unknowable.WITNESS_UNSATISFIABLE,),
        ),
        Examined(requirement="b", clauses=(), abstentions=(Unknowable.WITNESS_UNSATISFIABLE,)),
    )


def test_a_requirement_is_judged_as_if_it_stood_alone() -> None:
    """[S-43]"""
    rule = rule_of(
        requirements={"a": "a holds", "b": "B", "c": "C"},
        flip="not-applicable",
        measurements=("x",),
        checks=(("a", "x <= 0"), ("b", "x >= 1")),
    )
    seen = evidence(x=1)
    assert judge_one(rule, "a", seen) == unmet(clause("a", over_budget("x <= 0", 1)))
    assert judge_one(rule, "b", seen) == MET
    assert judge_one(rule, "c", seen) == undecided(
        Undecidable(undecidable=Unchecked(requirement="c"))
    )


@pytest.mark.behaviour("J-15")
def test_the_flip_policy_holds_for_a_requirement_judged_alone() -> None:
    """[S-43, J-15]"""
    rule = rule_of(requirements={"a": "a holds"}, flip="required")
    denied = unmet(clause("a", no_flip()))
    assert judge_one(rule, "a", evidence(Flip.NOT_ACHIEVED)) == denied
    assert judge_one(rule_of(requirements={"a": "A"}), "a", evidence()) == undecided(
        Unknowable.NO_ORACLE
    )


def test_judging_a_requirement_that_is_none_is_an_error_and_never_met() -> None:
    """[S-43, J-6]"""
    with pytest.raises(KeyError):
        judge_one(rule_of(requirements={}, flip="required"), "a", evidence())


def test_a_rule_with_very_many_requirements_and_checks_is_judged_at_once() -> None:
    """[J-1] The work grows with the sum of both, not with their product."""
    many = range(20_000)
    rule = rule_of(
        requirements={f"r{i}": "holds" for i in many},
        flip="not-applicable",
        measurements=("x",),
        checks=[(f"r{i}", "x <= 0") for i in many],
    )
    given = judge(rule, evidence(x=1))
    assert isinstance(given, Unmet)
    assert len(given.clauses) == len(many)


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


@pytest.mark.behaviour("J-3")
def test_the_room_imports_only_what_cannot_reach_the_world() -> None:
    """[J-3] No process, network, file, clock or model is in reach, and none is reached for."""
    assert {path.stem for path in ROOM} >= {"again", "judge", "progress"}
    for path in ROOM:
        foreign = {name for name in imports(path) if not name.startswith("stella.verdict.")}
        assert foreign <= MAY_IMPORT, path.name


@pytest.mark.behaviour("J-1")
def test_the_room_opens_nothing_and_waits_for_nothing() -> None:
    """[J-1, J-3]"""
    for path in ROOM:
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"open", "exec", "eval", "__import__", "compile", "input", "print"}
        assert not [
            node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)
        ]


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*")), ids=lambda path: path.name)
def test_every_file_of_the_vectors_is_a_vector_of_one_kind(path: Path) -> None:
    """A file that no test reads proves nothing; the format itself is in README.md."""
    if path.name == "README.md":
        return
    assert re.fullmatch(r"[0-9]{2,3}-[a-z0-9-]+\.json", path.name)
    kinds = (JudgeVector, AgainVector, ProgressVector, RunVector)
    assert [path in vector_paths(kind) for kind in kinds].count(True) == 1


def test_there_are_enough_vectors_for_somebody_who_writes_another_host() -> None:
    """And no two of one number."""
    numbers = [path.name.partition("-")[0] for path in VECTORS.glob("*.json")]
    assert len(set(numbers)) == len(numbers)
    assert len(numbers) >= 100


@pytest.mark.behaviour("J-2")
def test_nothing_addresses_the_judge_and_a_rule_is_nothing_but_data() -> None:
    """[J-2] No point, no call and no verb of the wire; a rule is its own text and numbers."""
    spoken = {word.value for kind in (Point, Call, Hook, DriverVerb) for word in kind}
    for name in ("judge", "again", "progress", "verdict"):
        assert not [word for word in spoken if name in word.lower()]
    assert codec.read(VerdictRule, codec.encode(TWO)) == TWO
    assert plain_data(codec.plain(TWO))


def plain_data(tree: object) -> bool:
    """Whether a value is text and numbers all the way down."""
    if isinstance(tree, dict):
        return all(isinstance(key, str) and plain_data(value) for key, value in tree.items())
    if isinstance(tree, list | tuple):
        return all(map(plain_data, tree))
    return isinstance(tree, str | int)
