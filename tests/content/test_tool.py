"""A tool file: what it must say, what it may claim, and what no claim changes."""

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.content.tool import RESERVED
from stella.content.tool import WITHHELD
from stella.content.tool import ToolFile
from stella.content.tool import read_tool

WHOLE = """\
name = "lint_fix"
description = "Apply the linter's safe fixes to the workspace."
command = ["${plugin_dir}/scripts/lint-fix.sh"]
timeout_ms = 60000
[env]
RULESET = "${plugin_dir}/rules/strict.yaml"
[input_schema]
type = "object"
[input_schema.properties.path]
type = "string"
"""


def text(
    name: str = '"fix"', description: str = '"Fixes."', command: str = '["true"]', more: str = ""
) -> bytes:
    return f"name = {name}\ndescription = {description}\ncommand = {command}\n{more}".encode()


def value(data: bytes) -> ToolFile:
    reading = read_tool(data)
    assert reading.value is not None, reading.faults
    return reading.value


def fault(data: bytes) -> str:
    faults = read_tool(data).faults
    assert len(faults) == 1, faults
    assert "\n" not in faults[0]
    return faults[0]


@pytest.mark.behaviour("P-10")
def test_the_example_of_the_rules_reads_as_it_is_written() -> None:
    """P-12: the placeholder stays as written here."""
    tool = value(WHOLE.encode())
    assert (tool.name, tool.command) == ("lint_fix", ("${plugin_dir}/scripts/lint-fix.sh",))
    assert tool.env == {"RULESET": "${plugin_dir}/rules/strict.yaml"}
    assert tool.timeout_ms == 60_000
    assert tool.input_schema == {"type": "object", "properties": {"path": {"type": "string"}}}
    assert (tool.output_schema, tool.risk, tool.withheld) == (None, Risk.HIGH, None)


def test_the_smallest_file_gets_the_defaults() -> None:
    tool = value(text())
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert tool.timeout_ms == limits.TOOL_MS_DEFAULT
    assert (tool.env, tool.read_only, tool.idempotent) == ({}, False, False)


@pytest.mark.parametrize(
    ("written", "counts"),
    [
        ("0", limits.TOOL_MS_DEFAULT),
        ("1", 1),
        (f"{limits.TOOL_MS_MAX}", limits.TOOL_MS_MAX),
        (f"{limits.TOOL_MS_MAX + 1}", limits.TOOL_MS_MAX),
        (f"{limits.U64_MAX}", limits.TOOL_MS_MAX),
    ],
)
def test_a_time_limit_is_clamped(written: str, counts: int) -> None:
    assert value(text(more=f"timeout_ms = {written}\n")).timeout_ms == counts


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (text(name='"x"'), "name: expected 2 to 64"),
        (text(name='"Fix"'), "name: expected 2 to 64"),
        (text(name='"1fix"'), "name: expected 2 to 64"),
        (text(name='"_fix"'), "name: expected 2 to 64"),
        (text(name='"fix-it"'), "name: expected 2 to 64"),
        (text(name='"fix\\n"'), "name: expected 2 to 64"),
        (text(name='"fíx"'), "name: expected 2 to 64"),
        (text(name='""'), "name: expected 2 to 64"),
        (text(name=f'"{"x" * (limits.TOOL_NAME_CHARS + 1)}"'), "name: expected 2 to 64"),
        (text(name="3"), "name: expected a string"),
        (text(description='" \\t"'), "description: is blank"),
        (text(command="[]"), "command: expected a program"),
        (text(command='["  "]'), "command: expected a program"),
        (text(command='"true"'), "command: expected a list"),
        (text(command='["true", 1]'), "command[1]: expected a string"),
        (text(command='["true", "a\\u0000b"]'), "command[1]: holds a NUL"),
        (text(more="timeout_ms = -1\n"), "timeout_ms: "),
        (text(more="timeout_ms = 1.5\n"), "timeout_ms: "),
        (text(more="timeout_ms = true\n"), "timeout_ms: "),
        (text(more="[env]\nA = 1\n"), "env.A: expected a string"),
        (text(more='[env]\n"A=B" = "x"\n'), 'env: "A=B"'),
        (text(more='[env]\n"" = "x"\n'), 'env: ""'),
        (text(more='[env]\nA = "x\\u0000y"\n'), 'env: "A"'),
        (text(more='read_only = "yes"\n'), "read_only: expected true or false"),
        (text(more="idempotent = 1\n"), "idempotent: expected true or false"),
        (text(more="risk = 3\n"), "risk: expected a string"),
        (text(more='input_schema = "x"\n'), "input_schema: expected a table"),
        (text(more='[input_schema]\ntype = "strange"\n'), "input_schema: type: "),
        (text(more="[output_schema]\nminimum = 2020-01-01\n"), "output_schema: 2020-01-01 is a"),
        (b"name = \n", "the file is not TOML: "),
        (b"\xff", "byte 0 is not UTF-8"),
    ],
)
def test_a_faulty_file_says_where_and_why(data: bytes, said: str) -> None:
    assert fault(data).startswith(said)


def test_all_faults_of_a_file_are_told() -> None:
    faults = read_tool(text(name='"X"', description='" "', command="[]")).faults
    assert [each.partition(":")[0] for each in faults] == ["name", "description", "command"]
    assert len(read_tool(b"name = 1\ncommand = 2\n").faults) == 3


def test_the_longest_name_is_taken() -> None:
    name = "x" * limits.TOOL_NAME_CHARS
    assert value(text(name=f'"{name}"')).name == name


def test_a_file_has_a_limit() -> None:
    assert value(text(more="#".ljust(limits.CONTENT_BYTES - len(text()), "x"))).name == "fix"
    assert "more than" in fault(text(more="#".ljust(limits.CONTENT_BYTES + 1 - len(text()), "x")))


def test_a_byte_order_mark_at_the_beginning_is_passed_over() -> None:
    assert value(b"\xef\xbb\xbf" + text()).name == "fix"


@pytest.mark.behaviour("P-11")
def test_a_tool_full_of_unknown_keys_is_told_in_a_few_lines() -> None:
    """[P-11] limits.IGNORED_SHOWN and how many more there are."""
    keys = "".join(f"key{at} = 1\n" for at in range(limits.IGNORED_SHOWN + 2))
    assert read_tool(text(more=keys)).notes[limits.IGNORED_SHOWN :] == ("2 more notes",)


def test_unknown_keys_are_notes_with_the_near_word() -> None:
    reading = read_tool(text(more='timeout = 1\ntimout_ms = 2\nx = "y"\n'))
    assert reading.value is not None
    assert reading.notes == (
        'the key "timeout" is unknown and ignored',
        'the key "timout_ms" is unknown and ignored; did you mean timeout_ms?',
        'the key "x" is unknown and ignored',
    )


@pytest.mark.parametrize("more", ["[foundry]\n", "[foundry]\nby = 'me'\n", "foundry = true\n"])
def test_the_mark_of_a_self_authored_tool_withholds_it(more: str) -> None:
    """P-11: its file is sound, and it is not offered."""
    reading = read_tool(text(more=more))
    assert reading.value is not None
    assert (reading.value.withheld, reading.notes) == (WITHHELD, ())


@pytest.mark.behaviour("P-13")
@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_refused(name: str) -> None:
    assert fault(text(name=f'"{name}"')) == f"name: {name} is reserved; choose another"


def test_no_reserved_name_is_left_out() -> None:
    """P-13: the list of the rules, counted."""
    assert len(RESERVED) == 39


@pytest.mark.parametrize(
    ("claim", "counts"),
    [
        ("low", Risk.HIGH),
        ("medium", Risk.HIGH),
        ("high", Risk.HIGH),
        ("destructive", Risk.DESTRUCTIVE),
    ],
)
def test_a_claim_of_risk_can_only_raise(claim: str, counts: Risk) -> None:
    """A-6, P-10."""
    reading = read_tool(text(more=f'risk = "{claim}"\nread_only = true\nidempotent = true\n'))
    assert reading.value is not None
    assert (reading.value.risk, reading.notes) == (counts, ())
    assert (reading.value.read_only, reading.value.idempotent) == (True, True)


@pytest.mark.parametrize(
    ("token", "hint"),
    [
        ("hgh", "; did you mean high?"),
        ("catastrophic", ""),
        ("", ""),
        ("Low", "; did you mean low?"),
    ],
)
def test_an_unknown_risk_is_destructive_and_said(token: str, hint: str) -> None:
    """M-52, P-10."""
    reading = read_tool(text(more=f'risk = "{token}"\n'))
    assert reading.value is not None
    assert reading.value.risk is Risk.DESTRUCTIVE
    assert reading.notes == (f'risk: "{token}" is no known grade and is read as destructive{hint}',)


def test_keywords_that_no_call_is_checked_for_are_told() -> None:
    """E-25."""
    more = '[input_schema.properties.path]\ntype = "string"\npattern = "^a"\nformat = "uri"\n'
    assert read_tool(text(more=more)).notes == (
        "input_schema: 2 keywords no call is checked for: format, pattern",
    )


def test_author_text_in_a_message_shows_what_it_hides() -> None:
    """C-5."""
    reading = read_tool(text(name='"x\\u001b[31m\\n"', more='"a\\u202eb" = 1\n'))
    assert "\\u{1B}[31m" in reading.faults[0]
    assert "a\\u{202E}b" in reading.notes[0]
