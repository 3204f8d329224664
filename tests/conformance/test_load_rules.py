"""Each load rule by a pair: a manifest that loads, and the one edit that breaks this rule alone.

What the message has to name is beside it [M-7, section 16].
"""

from dataclasses import dataclass
from typing import Final

import pytest

from stella.manifest.codes import CODES
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from tests.making.manifests import ARBITER
from tests.making.manifests import check
from tests.making.manifests import steering
from tests.making.manifests import wrapper

NOTES: Final = 'name = "probe"\n'
RUNS: Final = """\
name = "probe"
[loop]
participation = "observer"
events = ["*", "agent.turn.*"]
[runtime]
argv = ["probe", "-v"]
timeout_secs = 1
env = ["PATH", "HOME"]
"""
POINTS: Final = steering("", 'points = ["before_turn", "after_turn"]\n')
CALLS: Final = steering("", 'points = ["before_turn"]\ncalls = ["recall", "emit"]\nmax_calls = 1\n')
FANOUT: Final = steering(
    "", 'points = ["before_turn"]\ncalls = ["candidate_fanout"]\nmax_fanout_width = 1\n'
)
HOOKS: Final = steering("", 'hooks = ["TurnStart", "TurnEnd"]\n')
DRIVER: Final = f'{NOTES}[driver]\ncalls = ["work_start", "work_status"]\nmax_calls = 1\n'
COMMAND: Final = ARBITER.replace(
    'measurements = ["p50", "p99"]',
    'measurements = ["p50", "p99"]\ncommand = { argv = ["make"], timeout_secs = 1 }',
)
CHECKED: Final = ARBITER + check("p50 <= 5")
SUBLOOP: Final = steering('[subloop]\nstages = ["ask", "answer"]\n[roles.judge]\ntier = "small"\n')
STAGES: Final = wrapper(
    ("triage", None), ("lint", None), ("plan", "plans"), ("research", "questions > 0")
)
LISTED: Final = steering('[wrapper]\nid = "w"\nstages = [{ name = "x" }]\n')
REACH: Final = """\
name = "probe"
[[capabilities]]
tool = "bash"
risk = "low"
purpose = "to look"
scope = ["only here"]
[[capabilities]]
tool = "grep"
risk = "low"
purpose = "to find"
"""
SHIPS: Final = """\
name = "probe"
[[tools]]
name = "fix"
description = "Fixes."
[[tools]]
name = "mend"
description = "Mends."
[[records]]
lineage = "no-print"
statement = "Do not print."
enforcement = "advisory"
"""
SETS: Final = """\
name = "probe"
[[configure]]
key = "ui.theme"
value = "plain"
purpose = "to read"
[[configure]]
key = "ui.width"
value = [80]
purpose = "to see"
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """What turns a manifest that loads into one that breaks a rule, and what is said of it.

    `also` are the rules that nobody can help breaking together with it.
    """

    rule: str
    good: str
    old: str
    new: str
    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def bad(self) -> str:
        """The manifest after the edit, which must change it in one place."""
        assert self.good.count(self.old) == 1, self.old
        return self.good.replace(self.old, self.new)


GRADES: Final = ('"observer"', '"steering" or "arbiter"')

EDITS: Final = (
    Edit("R-1", NOTES, '"probe"\n', '"probe"\nversion = 1\n', ("unknown-key", '"version"')),
    Edit("R-2", NOTES, '"probe"', '" "', ("mandatory",)),
    Edit("R-3", HOOKS, '"TurnEnd"', '"TurnStart"', ('"TurnStart"', "delete one")),
    Edit("R-4", HOOKS, '"TurnEnd"', '"PreIssueWork"', ("outside turns", 'delete "PreIssueWork"')),
    Edit("R-5", HOOKS, '"steering"', '"observer"', GRADES),
    Edit("R-6", POINTS, '"before_turn"', '"after_turn"', ('"after_turn"', "delete one")),
    Edit("R-7", POINTS, '"steering"', '"observer"', GRADES),
    Edit("R-8", CALLS, '"emit"', '"recall"', ('"recall"', "delete one")),
    Edit("R-9", CALLS, '"steering"', '"observer"', GRADES, ("R-7",)),
    Edit("R-10", CALLS, '"before_turn"', "", ("while answering a point", "add a point")),
    Edit("R-11", CALLS, '"recall", "emit"', "", ("nothing to bound", "delete max_calls")),
    Edit("R-12", CALLS, "max_calls = 1", "max_calls = 0", ("delete the calls",)),
    Edit("R-13", FANOUT, '"candidate_fanout"', '"recall"', ("nothing to bound", "to calls")),
    Edit("R-14", FANOUT, "_width = 1", "_width = 0", ('delete "candidate_fanout"',)),
    Edit("R-15", DRIVER, '"work_status"', '"work_start"', ('"work_start"', "delete one")),
    Edit("R-16", DRIVER, '"work_start", "work_status"', "", ("nothing to bound",)),
    Edit("R-17", DRIVER, "max_calls = 1", "max_calls = 0", ("leave calls empty",)),
    Edit("R-18", HOOKS, '"TurnEnd"', '"Stop"', ('"steering"', '"arbiter"')),
    Edit("R-19", ARBITER, '["Stop"]', '["TurnEnd"]', ("never called", 'add "Stop"')),
    Edit("R-20", HOOKS, '"steering"\n', '"steering"\nmax_holds = 1\n', ('"steering"', '"arbiter"')),
    Edit("R-21", ARBITER, '"arbiter"\n', '"arbiter"\nmax_holds = 0\n', ("lower the grade",)),
    Edit("R-22", HOOKS, "[loop]", '[requirements]\na = "b"\n[loop]', ('"steering"', '"arbiter"')),
    Edit("R-23", ARBITER, 'fast = "it is fast"\n', "", ("cites a requirement", "add")),
    Edit("R-24", ARBITER, '"it is fast"', '" "', ("fast",)),
    Edit(
        "R-25",
        f'{POINTS}[runtime]\nargv = ["probe"]\ntimeout_secs = 1\n',
        "[runtime]",
        '[oracle]\nflip = "required"\n[runtime]',
        ('"steering"', '"arbiter"'),
    ),
    Edit("R-26", COMMAND, '["make"]', "[]", ("name a program",)),
    Edit("R-27", COMMAND, "timeout_secs = 1 }", "timeout_secs = 0 }", ("at least 1",)),
    Edit("R-28", ARBITER, '[runtime]\nargv = ["probe"]\ntimeout_secs = 30\n', "", ("[runtime]",)),
    Edit("R-29", ARBITER, '"after_turn"', '"before_turn"', ("evidence", 'add "after_turn"')),
    Edit("R-30", ARBITER, '"p99"', '" "', ("entry 2",)),
    Edit("R-31", ARBITER, '"p99"', '"p50"', ('"p50"',)),
    Edit("R-32", CHECKED, 'requirement = "fast"', 'requirement = "fats"', ('"fats"', "fast")),
    Edit("R-33", CHECKED, "p50 <= 5", "p50 <= 5.5", ('requirement "fast"', "p50 <= 5.5", "digits")),
    Edit("R-34", CHECKED, "p50 <= 5", "p5 <= 5", ('requirement "fast"', '"p5"', "p50", "p99")),
    Edit(
        "R-35",
        ARBITER.replace('"required"', '"not-applicable"') + check("p50 <= 5"),
        "[requirements]\n",
        '[requirements]\nslow = "never"\n',
        ("slow", "add a check"),
    ),
    Edit("R-37", SUBLOOP.split("[roles")[0], '"steering"', '"observer"', GRADES),
    Edit("R-38", SUBLOOP, '"ask", "answer"', "", ("at least one",)),
    Edit("R-39", SUBLOOP, '"answer"', '" "', ("entry 2",)),
    Edit("R-40", SUBLOOP, '"answer"', '"ask"', ('"ask"',)),
    Edit("R-41", STAGES, '"steering"', '"observer"', GRADES),
    Edit("R-42", STAGES, 'id = "w"', 'id = ""', ("recorded on each run",)),
    Edit("R-43", LISTED, '{ name = "x" }', "", ("at least one",)),
    Edit("R-44", STAGES, '"lint"', '" "', ("entry 2",)),
    Edit("R-45", STAGES, '"lint"', '"context_recall"', ('write "recall"',)),
    Edit("R-46", STAGES, '"lint"', '"Execute"', ('"Execute"', "first character", "execute")),
    Edit("R-47", STAGES, '"lint"', '"triage"', ('"triage"',)),
    Edit("R-48", STAGES, "questions > 0", "questions>0", ('stage "research"', "spaces")),
    Edit("R-49", STAGES, '"plans"', '"planz"', ('stage "plan"', '"planz"', "plans", "tests-green")),
    Edit("R-50", STAGES, "questions > 0", "questions", ('"research"', "true or false", "a count")),
    Edit("R-51", STAGES, '"plans"', '"tests-red"', ('stage "plan"', "tests-red", "verify", "move")),
    Edit(
        "R-52",
        wrapper(("triage", None), ("plan", "plans")),
        'name = "triage"\n',
        'name = "triage"\nif = "test-command"\n',
        ('stage "plan"', "plans", "triage", "remove the condition"),
    ),
    Edit("R-54", RUNS.replace("events", "# "), '"observer"', '"none"', ("[runtime]",)),
    Edit("R-55", RUNS, '"probe", "-v"', "", ("name a program",)),
    Edit("R-56", RUNS, '"-v"', '" "', ("entry 2",)),
    Edit("R-57", RUNS, "timeout_secs = 1", "timeout_secs = 0", ("at least 1",)),
    Edit("R-58", RUNS, '"HOME"', '""', ("entry 2",)),
    Edit("R-59", RUNS, '"HOME"', '"A=B"', ('"A=B"', "never match")),
    Edit("R-60", RUNS, '"HOME"', '"PATH"', ('"PATH"',)),
    Edit("R-61", SUBLOOP, '[subloop]\nstages = ["ask", "answer"]\n', "", ("add [subloop]",)),
    Edit("R-62", SUBLOOP, '"small"', '" "', ("[roles.judge]",)),
    Edit("R-63", REACH, '"grep"', '" "', ("entry 2",)),
    Edit("R-64", REACH, '"to find"', '" "', ('tool "grep"', "reason")),
    Edit("R-65", REACH, '"only here"', '" "', ('tool "bash"',)),
    Edit("R-66", REACH, '"grep"', '" bash"', ("bash", "scope")),
    Edit("R-67", SHIPS, '"no-print"', '" "', ("[[records]] entry 1",)),
    Edit("R-68", SHIPS, '"Mends."', '" "', ('tool "mend"',)),
    Edit("R-69", SHIPS, '"advisory"', '"blocking"', ("no-print", "own promotion", '"advisory"')),
    Edit("R-70", SHIPS, '"mend"', '"fix "', ("tool", "fix")),
    Edit("R-71", SETS, '"ui.width"', '" "', ("entry 2",)),
    Edit("R-72", SETS, '"to see"', '" "', ("ui.width", "reason")),
    Edit("R-73", SETS, '"ui.width"', '"width"', ('"width"', "section.key")),
    Edit("R-74", SETS, '"ui.width"', '"mcp.x"', ('"mcp.x"', "external tool servers", "ask the")),
    Edit("R-75", SETS, "[80]", "[[80]]", ("ui.width", "one leaf")),
    Edit("R-76", SETS, '"ui.width"', '"ui.theme"', ("ui.theme",)),
    Edit("R-77", RUNS, '"agent.turn.*"', '"agent.*.end"', ('"agent.*.end"', "*", ".*", "full")),
    Edit("R-78", RUNS, '"agent.turn.*"', '"*"', ('"*"',)),
    Edit("R-79", RUNS, '"observer"', '"none"', ('"none"', '"observer" or'), ("R-54",)),
    Edit("R-80", RUNS, RUNS[RUNS.index("[runtime]") :], "", ("add [runtime]",)),
)


def rules(text: str) -> list[str]:
    found = examine(text.encode())
    return [fault.rule for fault in found.faults] if isinstance(found, Unloadable) else []


@pytest.mark.behaviour(
    "M-7",
    "R-1", "R-2", "R-3", "R-4", "R-5", "R-6", "R-7", "R-8", "R-9", "R-10", "R-11", "R-12",
    "R-13", "R-14", "R-15", "R-16", "R-17", "R-18", "R-19", "R-20", "R-21", "R-22", "R-23",
    "R-24", "R-25", "R-26", "R-27", "R-28", "R-29", "R-30", "R-31", "R-32", "R-33", "R-34",
    "R-35", "R-37", "R-38", "R-39", "R-40", "R-41", "R-42", "R-43", "R-44", "R-45", "R-46",
    "R-47", "R-48", "R-49", "R-50", "R-51", "R-52", "R-54", "R-55", "R-56", "R-57", "R-58",
    "R-59", "R-60", "R-61", "R-62", "R-63", "R-64", "R-65", "R-66", "R-67", "R-68", "R-69",
    "R-70", "R-71", "R-72", "R-73", "R-74", "R-75", "R-76", "R-77", "R-78", "R-79", "R-80",
)  # fmt: skip
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.rule)
def test_one_edit_breaks_one_rule_and_the_message_says_which_and_how(edit: Edit) -> None:
    """[M-4, M-5, M-6, M-7]"""
    assert rules(edit.good) == []
    found = examine(edit.bad.encode())
    assert isinstance(found, Unloadable)
    assert {each.rule for each in found.faults} == {edit.rule, *edit.also}
    (fault,) = [fault for fault in found.faults if fault.rule == edit.rule]
    assert (fault.rule, fault.code) == (edit.rule, CODES[edit.rule])
    assert fault.line is not None
    told = f"{fault.title} {fault.message} {fault.fix}"
    assert all(word in told for word in edit.says), told


def test_every_rule_has_its_edit() -> None:
    """[M-61]"""
    every = [rule for rule in CODES if rule.startswith("R-")]
    assert [edit.rule for edit in EDITS] == [rule for rule in every if rule not in {"R-36", "R-53"}]
