"""Which tools of files are offered, whose they are, and what a person is told of the rest."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stella.authority.gate import Mode
from stella.authority.risk import Risk
from stella.content.tool import RESERVED
from stella.roster.carried import carried
from stella.roster.items import items_of
from stella.roster.roster import Roster
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.session.custom import Claim
from stella.session.custom import Extra
from stella.session.custom import claims
from stella.session.custom import custom_tools
from stella.session.custom import extra_of
from stella.session.custom import let_through
from stella.session.facts import ToolsOffered
from stella.session.options import Options
from stella.session.session import Finished
from stella.tools.all import TOOLS
from stella.turn.facts import CallJudged
from stella.turn.facts import Noticed
from stella.turn.facts import ToolFinished
from tests.making.content import accepted_as_it_stands
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import tool
from tests.making.packages import put as install
from tests.making.packages import settled
from tests.making.sessions import calls
from tests.making.sessions import finished
from tests.making.sessions import options
from tests.making.sessions import says
from tests.making.sessions import script


def wanted(here: Places, *lines: Mapping[str, Any], **more: Any) -> Options:
    """The options of a run in the workspace of `here`, its model's replies being `lines`."""
    replies = script(here.home.parent / "replies", *lines)
    return options(here.workspace, here.home, replies, **({"trusted": True} | more))


def extra(here: Places, **more: Any) -> Extra:
    return extra_of(wanted(here, **more), here.workspace, here, read_roster(here, None))


def offered(found: Extra) -> list[tuple[str, str]]:
    return [(each.contract.name, each.contract.origin) for each in found.tools]


def test_every_built_in_name_is_reserved() -> None:
    """P-13, T2-5: no file can take one."""
    assert {each.contract.name for each in TOOLS} <= RESERVED


@pytest.mark.behaviour("P-14")
@pytest.mark.behaviour("K-74")
def test_the_first_claim_of_a_name_holds_and_a_later_one_is_told_of(tmp_path: Path) -> None:
    here = settled(tmp_path)
    there = here.workspace / ".stella"
    for folder, names in ((there, ("a_one", "b_one")), (here.home, ("b_one", "c_one"))):
        for name in names:
            tool(folder, name)
    tool(there, "a_one", file="z.toml")
    install(bundle(tmp_path / "two", "two", tools=("c_one", "d_one")), here)
    install(bundle(tmp_path / "one", "one", tools=("d_one",)), here)
    found = extra(here)
    assert offered(found) == [
        ("a_one", "workspace"),
        ("b_one", "workspace"),
        ("c_one", "user"),
        ("d_one", "plugin:one"),
    ]
    plugins = there / "plugins"
    taken = "left out: the name {} is taken by {}, which is what runs"
    assert [text for _, text in found.notices] == [
        f"{there}/tools/z.toml: {taken.format('a_one', f'{there}/tools/a_one.toml')}",
        f"{here.home}/tools/b_one.toml: {taken.format('b_one', f'{there}/tools/b_one.toml')}",
        f"{plugins}/two/tools/c_one.toml: "
        + taken.format("c_one", f"{here.home}/tools/c_one.toml"),
        f"{plugins}/two/tools/d_one.toml: "
        + taken.format("d_one", f"{plugins}/one/tools/d_one.toml"),
    ]


def test_a_withheld_file_claims_no_name(tmp_path: Path) -> None:
    """P-11."""
    here = settled(tmp_path)
    tool(here.workspace / ".stella", "fix", "[foundry]\n")
    tool(here.home, "fix")
    found = extra(here)
    assert offered(found) == [("fix", "user")]
    assert len(found.notices) == 1
    assert "[foundry]" in found.notices[0][1]


def test_what_is_left_out_is_told_once_with_the_reason(tmp_path: Path) -> None:
    """I-31, P-14, P-67: what lacks trust or acceptance is told by the roster and `left_out`."""
    here = settled(tmp_path)
    tool(here.workspace / ".stella")
    put(here.home / "tools" / "bad.toml", "name = \n")
    done = install(bundle(tmp_path / "one", "one", tools=("one_tool",)), here)
    put(done.directory / "more", "x\n")
    found = extra(here, trusted=False)
    assert offered(found) == []
    [(_, bad)] = found.notices
    assert bad.startswith(f"{here.home}/tools/bad.toml: the file is not TOML")


def test_a_withheld_plugin_is_told_of_in_every_session(tmp_path: Path) -> None:
    """P-9, I-44."""
    here = settled(tmp_path)
    done = install(bundle(tmp_path / "one", "one", tools=("one_tool",)), here)
    tool(done.directory, "extra")
    accepted_as_it_stands(here, done.directory)
    assert offered(extra(here)) == []
    [notice] = told(finished(wanted(here, calls("one_tool"), says("done"))), Noticed)
    assert notice.text.startswith("one: what it ships is withheld: tools/extra.toml: ")


def claim_of(here: Places) -> tuple[tuple[Claim, ...], Roster]:
    roster = read_roster(here, None)
    return claims(carried(here, roster, trusted=True)), roster


@pytest.mark.parametrize(
    ("capability", "ceiling"),
    [
        ("", Risk.HIGH),
        ('[[capabilities]]\ntool = "one_tool"\nrisk = "low"\npurpose = "p"\n', Risk.HIGH),
        ('[[capabilities]]\ntool = "other"\nrisk = "destructive"\npurpose = "p"\n', Risk.HIGH),
        (
            '[[capabilities]]\ntool = "one_tool"\nrisk = "destructive"\npurpose = "p"\n',
            Risk.DESTRUCTIVE,
        ),
    ],
)
def test_a_declaration_covers_high_and_a_capability_more(
    tmp_path: Path, capability: str, ceiling: Risk
) -> None:
    """A-41."""
    here = settled(tmp_path)
    source = bundle(tmp_path / "one", "one", tools=("one_tool",))
    with (source / "plugin.toml").open("a") as manifest:
        manifest.write(capability)
    install(source, here)
    [own] = custom_tools(*claim_of(here), {}, here.workspace)
    assert own.contract.ceiling is ceiling


def test_what_the_person_lets_through_is_never_a_credential_for_a_script_tool() -> None:
    """P-17, T2-46."""
    env = {"STELLA_SUBPROCESS_ENV_ALLOW": " SSH_AUTH_SOCK, GITHUB_TOKEN,,"}
    assert let_through(env) == {"SSH_AUTH_SOCK", "GITHUB_TOKEN"}
    assert let_through(env, credentials=False) == {"SSH_AUTH_SOCK"}
    assert let_through({}) == frozenset()


# ── in a session ──────────────────────────────────────────────────────────────────────


def told(done: Finished, kind: type) -> list[Any]:
    return [fact for fact in done.told if isinstance(fact, kind)]


def own_tool(folder: Path, body: str, name: str = "own_tool") -> None:
    """A tool of a person's that is a line of shell."""
    command = f'["/bin/sh", "-c", {body!r}]'
    text = f'name = "{name}"\ndescription = "Does."\ncommand = {command}\n'
    put(folder / "tools" / f"{name}.toml", text)


def test_a_model_calls_a_tool_of_the_person_and_hears_its_result(tmp_path: Path) -> None:
    """P-15, P-20, E-23."""
    here = settled(tmp_path)
    own_tool(here.home, "cat; pwd; echo $STELLA_SESSION_ID")
    run = wanted(here, calls("own_tool", a=1), says("done"), mode=Mode.ALL)
    done = finished(run)
    [ended] = told(done, ToolFinished)
    given, session = ended.output.ok.content.split("\n")[:2]
    assert given == '{"a":1}' + str(here.workspace)
    assert session == done.result.session
    [judged] = told(done, CallJudged)
    assert (judged.tool, judged.principal, judged.risk) == ("own_tool", "user", "high")
    assert told(done, Noticed) == []


@pytest.mark.parametrize(
    ("mode", "risk", "cause"),
    [
        (Mode.READ_ONLY, "low", "mode"),
        (Mode.WORKSPACE, "low", None),
        (Mode.WORKSPACE, "destructive", "mode"),
        (Mode.ALL, "destructive", None),
    ],
)
def test_the_gate_judges_it_by_its_grade_alone(
    tmp_path: Path, mode: Mode, risk: str, cause: str | None
) -> None:
    """A-6, A-20, A-36: refused is not started."""
    here = settled(tmp_path)
    own_tool(here.home, ": > ran")
    file = here.home / "tools" / "own_tool.toml"
    file.write_text(file.read_text() + f'risk = "{risk}"\nread_only = true\n')
    done = finished(wanted(here, calls("own_tool"), says("done"), mode=mode))
    assert told(done, CallJudged)[0].cause == cause
    assert (here.workspace / "ran").exists() == (cause is None)


def test_a_destructive_tool_of_a_plugin_needs_a_capability(tmp_path: Path) -> None:
    """A-41, A-51: whatever the mode."""
    here = settled(tmp_path)
    source = bundle(tmp_path / "one", "one", tools=("one_tool",))
    tool(source, "one_tool", 'risk = "destructive"\n')
    install(source, here)
    done = finished(wanted(here, calls("one_tool"), says("done"), mode=Mode.ALL))
    [judged] = told(done, CallJudged)
    assert (judged.principal, judged.decision, judged.cause) == (
        "plugin:one",
        "deny",
        "capability",
    )
    assert [(row.source, row.deciding) for row in judged.trace] == [
        ("capability", True),
        ("mode", False),
    ]


def test_a_tool_of_the_workspace_is_offered_only_with_trust(tmp_path: Path) -> None:
    """P-67."""
    here = settled(tmp_path)
    own_tool(here.workspace / ".stella", ": > ran")
    for trusted in (False, True):
        run = wanted(here, calls("own_tool"), says("done"), mode=Mode.ALL, trusted=trusted)
        done = finished(run)
        assert (here.workspace / "ran").exists() == trusted
        assert told(done, Noticed) == []


def test_a_file_that_is_not_the_trusted_one_by_now_is_left_out(tmp_path: Path) -> None:
    """I-53: the trust is about bytes, and these are others."""
    here = settled(tmp_path)
    own_tool(here.workspace / ".stella", ": > ran")
    vouched = items_of(here.workspace).files
    assert [name for name, _ in offered(extra(here, vouched=vouched))] == ["own_tool"]
    own_tool(here.workspace / ".stella", ": > other")
    found = extra(here, vouched=vouched)
    assert offered(found) == []
    [(_, text)] = found.notices
    assert text.endswith("tools/own_tool.toml: changed while it was read; left out")


def test_a_home_inside_the_workspace_has_no_tools(tmp_path: Path) -> None:
    """I-56."""
    here = settled(tmp_path)
    home = here.workspace / "home"
    own_tool(home, ": > ran")
    replies = script(tmp_path / "replies", calls("own_tool"), says("done"))
    done = finished(options(here.workspace, home, replies, mode=Mode.ALL, env=dict(os.environ)))
    assert not (here.workspace / "ran").exists()
    assert done.told
    assert not [each for each in told(done, ToolsOffered) if len(each.tools) > len(TOOLS)]
