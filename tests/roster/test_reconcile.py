"""What is declared against what is on disk: both directions, all kinds, one message."""

from pathlib import Path

import pytest

from stella.content.record import SCHEMA
from stella.content.record import Kind
from stella.content.record import Record
from stella.content.record import RuleSet
from stella.content.skill import Skill
from stella.content.skill import read_skill
from stella.content.tool import ToolFile
from stella.content.tool import read_tool
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import read_manifest
from stella.roster.content import Content
from stella.roster.content import Found
from stella.roster.content import Placed
from stella.roster.content import Told
from stella.roster.reconcile import Finding
from stella.roster.reconcile import identities
from stella.roster.reconcile import reconcile
from stella.roster.reconcile import report
from stella.roster.reconcile import texts_differ
from tests.making.content import SKILL
from tests.making.content import TOOL
from tests.making.content import declared


def manifest(
    tools: tuple[str, ...] = (), skills: tuple[str, ...] = (), records: tuple[str, ...] = ()
) -> PluginManifest:
    text = declared(tools=tools, skills=skills, records=records)
    return read_manifest(f'name = "bundle"\n{text}'.encode()).manifest


def tool(name: str, path: str = "") -> Placed[ToolFile]:
    value = read_tool(TOOL.format(name=name).encode()).value
    assert value is not None
    return Placed(path=path or f"tools/{name}.toml", value=value)


def skill(slug: str, name: str = "") -> Placed[Skill]:
    value = read_skill(SKILL.format(name=name or slug).encode(), slug).value
    assert value is not None
    return Placed(path=f"skills/{slug}/SKILL.md", value=value)


def rules(path: str, *lineages: str) -> Placed[RuleSet]:
    records = tuple(
        Record(lineage_id=each, kind=Kind.RULE, statement="Fix it.") for each in lineages
    )
    return Placed(path=path, value=RuleSet(schema=SCHEMA, set_id="set", records=records))


def found(
    *,
    tools: tuple[Placed[ToolFile], ...] = (),
    skills: tuple[Placed[Skill], ...] = (),
    rules: tuple[Placed[RuleSet], ...] = (),
    faults: tuple[Told, ...] = (),
) -> Found:
    content = Content(directory=Path("/p"), tools=tools, skills=skills, rules=rules)
    return Found(content=content, faults=faults)


def said(findings: tuple[Finding, ...]) -> list[str]:
    return [each.message for each in findings]


def test_what_is_declared_and_there_is_nothing_to_say_about() -> None:
    """F8: a file that is both found and declared is one tool."""
    both = found(tools=(tool("fix"),), skills=(skill("s"),), rules=(rules("rules/r.toml", "r"),))
    assert reconcile(manifest(("fix",), ("s",), ("r",)), both) == ()
    assert reconcile(manifest(), found()) == ()


@pytest.mark.behaviour("K-65")
@pytest.mark.behaviour("P-6")
def test_both_directions_refuse() -> None:
    findings = reconcile(manifest(("a",)), found(tools=(tool("deploy", "tools/a.toml"),)))
    assert said(findings) == [
        'tools/: tool "a" is declared in [[tools]] and absent',
        'tools/a.toml: tool "deploy" is not declared in [[tools]]',
    ]
    assert [(each.rule, each.word, each.place) for each in findings] == [
        ("P-6", "Absent", ("tools", 0, "name")),
        ("P-6", "Undeclared", ()),
    ]


def test_the_same_identity_twice_on_disk_refuses() -> None:
    """P-6."""
    findings = reconcile(
        manifest(("fix",), records=("r",)),
        found(
            tools=(tool("fix", "tools/a.toml"), tool("fix", "tools/b.toml")),
            rules=(rules("rules/r.toml", "r", "r"),),
        ),
    )
    assert said(findings) == [
        'rules/r.toml: record "r" stands in rules/r.toml already',
        'tools/b.toml: tool "fix" stands in tools/a.toml already',
    ]
    assert {each.word for each in findings} == {"Twice"}


@pytest.mark.behaviour("P-5")
@pytest.mark.behaviour("K-175")
def test_a_skill_is_called_what_its_directory_is_called() -> None:
    """P-5; a name that is not its directory's makes no skill, and it is said once."""
    reading = read_skill(SKILL.format(name="b").encode(), "a")
    told = tuple(Told(path="skills/a/SKILL.md", says=says) for says in reading.faults)
    findings = reconcile(manifest(skills=("a",)), found(faults=told))
    assert said(findings) == [
        'skills/a/SKILL.md: name: "b" is not the directory\'s, "a"',
    ]


def test_each_lineage_of_each_file_is_an_identity() -> None:
    """P-5."""
    both = (rules("rules/a.toml", "x", "y"), rules("rules/b.toml", "z"))
    assert said(reconcile(manifest(records=("x", "z")), found(rules=both))) == [
        'rules/a.toml: record "y" is not declared in [[records]]',
    ]


@pytest.mark.behaviour("P-7")
def test_one_message_has_all_kinds_sorted_by_path_with_near_misses() -> None:
    findings = reconcile(
        manifest(("lint_fix",), ("audit",), ("shop-fix",)),
        found(
            tools=(tool("lint_fx"),),
            skills=(skill("audits"),),
            rules=(rules("rules/r.toml", "shop-fxi"),),
            faults=(Told(path="tools/bad.toml", says="the file is not TOML"),),
        ),
    )
    assert report(findings) == (
        "what it ships is not what it declares:\n"
        '  rules/: record "shop-fix" is declared in [[records]] and absent; did you mean shop-fxi?'
        "\n"
        '  rules/r.toml: record "shop-fxi" is not declared in [[records]]; did you mean shop-fix?\n'
        '  skills/audit/SKILL.md: skill "audit" is declared in [[skills]] and absent; did you mean'
        " audits?\n"
        '  skills/audits/SKILL.md: skill "audits" is not declared in [[skills]]; did you mean'
        " audit?\n"
        '  tools/: tool "lint_fix" is declared in [[tools]] and absent; did you mean lint_fx?\n'
        "  tools/bad.toml: the file is not TOML\n"
        '  tools/lint_fx.toml: tool "lint_fx" is not declared in [[tools]]; did you mean lint_fix?'
    )
    assert [each.rule for each in findings] == ["P-6", "P-6", "P-6", "P-6", "P-6", "P-4", "P-6"]


def test_a_single_finding_is_one_line() -> None:
    findings = reconcile(manifest(("a",)), found())
    head, said = "what it ships is not what it declares: ", findings[0].message
    assert report(findings) == head + said


def test_identities_are_compared_trimmed() -> None:
    """M-54."""
    assert reconcile(manifest((" fix ",)), found(tools=(tool("fix"),))) == ()


@pytest.mark.behaviour("P-8")
def test_a_text_that_is_not_the_one_shown_is_told_with_both() -> None:
    content = found(
        tools=(tool("fix"),), skills=(skill("s"),), rules=(rules("rules/r.toml", "r", "free"),)
    ).content
    assert texts_differ(manifest(("fix",), ("s",), ("r",)), content) == ()
    shown = read_manifest(
        b'name = "bundle"\n'
        b'[[tools]]\nname = "fix"\ndescription = "Fixes\\n it."\n'
        b'[[skills]]\nslug = "s"\ndescription = " Fixes. "\n'
        b'[[records]]\nlineage = "r"\nstatement = "Break it."\n'
    ).manifest
    tool_says = 'tools/fix.toml: the text of tool "fix"'
    record_says = 'rules/r.toml: the text of record "r"'
    assert texts_differ(shown, content) == (
        f'{tool_says} is "Fixes.", and the one in [[tools]] is "Fixes it."',
        f'{record_says} is "Fix it.", and the one in [[records]] is "Break it."',
    )


def test_what_authors_named_shows_what_it_hides() -> None:
    """C-5."""
    findings = reconcile(manifest(), found(rules=(rules("rules/r.toml", "\x1b[1m"),)))
    assert "\\u{1B}[1m" in findings[0].message


def test_the_identities_on_disk_are_sorted_by_kind() -> None:
    """I-60."""
    content = found(tools=(tool("b_b"), tool("a_a")), skills=(skill("s"),)).content
    assert identities(content) == {"tools": ("a_a", "b_b"), "skills": ("s",), "records": ()}
