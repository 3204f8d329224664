"""[I-52, Q-2] The text that `stella trust` shows: all that is executable, as it would run."""

from pathlib import Path

import pytest

from stella import limits
from stella.errors import Untrusted
from stella.roster.contribution import Contribution
from stella.roster.contribution import Teller
from stella.roster.contribution import contribution
from stella.roster.items import items_of
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.settings.schema import hook_entries
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled

HEAD = "What it brings is then used, and runs with your own rights on this machine."
FOOT = (
    "Nothing above is used until you accept. A later change of these files ends the trust; a "
    "program elsewhere that one of them names may change without that."
)
SETTINGS = """
[model]
default = "script:theirs"
[plugins]
notes = "off"
[providers.x]
base_url = "http://x"
[[hooks.PreToolUse]]
matcher = "bash"
hooks = [{ command = "scripts/guard.sh --now" }, { argv = ["python3", "a b.py"] }]
[[hooks.Stop]]
hooks = [{ argv = "odd", command = "both" }, 3]
"""
SERVERS = """
[servers.tickets]
cmd = "ticket-server"
args = ["--stdio"]
"""


def brings(here: Places, **files: str) -> None:
    for path, text in files.items():
        (here.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (here.workspace / path).write_text(text)


def found(here: Places) -> Contribution:
    return contribution(here, None, hook_entries)


def lines(here: Places) -> list[str]:
    return found(here).text.split("\n")


def test_a_workspace_that_brings_nothing_has_a_short_text(tmp_path: Path) -> None:
    here = settled(tmp_path)
    assert lines(here) == [f"Trust the workspace {here.workspace}?", HEAD, "", FOOT]
    assert (found(here).offers, found(here).marks) == ((), {})


@pytest.mark.behaviour("I-52", "H8", "Q-2")
def test_everything_that_would_run_is_told_with_its_words_and_when(tmp_path: Path) -> None:
    """[I-52, Q-2, reports H8] And nothing is started or written for it."""
    here = settled(tmp_path)
    brings(
        here,
        **{
            "stella.toml": SETTINGS,
            ".stella/mcp.toml": SERVERS,
            ".stella/tools/lint.toml": 'name = "lint"\ncommand = ["python3", "x y.py"]\n'
            'env = { A = "b" }\n',
            ".stella/tools/odd.toml": 'name = "odd"\ncommand = "rm -rf"\n',
            ".stella/tools/none.toml": "[[",
            ".stella/tools/lint.py": "print(1)\n",
            ".stella/skills/a/SKILL.md": "x",
            ".stella/rules/r.toml": "x",
            ".stella/memory/m.md": "x",
            "AGENTS.md": "be good\n",
        },
    )
    before = seen(tmp_path)
    assert lines(here) == [
        f"Trust the workspace {here.workspace}?",
        HEAD,
        "",
        "tools, programs the model may start on its own:",
        "  - .stella/tools/lint.py (a file for a tool)",
        r'  - lint: python3 "x y.py" with "{\"A\":\"b\"}" (.stella/tools/lint.toml)',
        "  - .stella/tools/none.toml (no tool can be made of it)",
        '  - odd: "rm -rf" (.stella/tools/odd.toml)',
        "",
        "hook commands of stella.toml, each started at its event:",
        '  - PreToolUse: "scripts/guard.sh --now"',
        '  - PreToolUse: python3 "a b.py"',
        r'  - Stop: "{\"argv\":\"odd\",\"command\":\"both\"}"',
        '  - Stop: "3"',
        "",
        "servers of .stella/mcp.toml, started with a session or connected to:",
        r'  - tickets: "{\"cmd\":\"ticket-server\",\"args\":[\"--stdio\"]}"',
        "",
        "settings of stella.toml that then count:",
        '  - model.default = "script:theirs"',
        '  - plugins.notes = "off"',
        "",
        "skills, added to a prompt when they match:",
        "  - .stella/skills/a/SKILL.md",
        "",
        "rules, steering every matching turn:",
        "  - .stella/rules/r.toml",
        "",
        "text that every session reads:",
        "  - AGENTS.md, 8 bytes; a later change of it does not end the trust",
        "",
        "other files, which any of the above may use:",
        "  - .stella/memory/m.md",
        "",
        FOOT,
    ]
    assert seen(tmp_path) == before
    assert "AGENTS.md" not in found(here).marks


@pytest.mark.behaviour("I-34.trust")
def test_each_plugin_without_a_matching_record_comes_with_its_whole_consent_text(
    tmp_path: Path,
) -> None:
    """[I-34, I-52] One that was accepted does not, nor what no install would take."""
    here = settled(tmp_path)
    put(notes(tmp_path / "a", "accepted"), here)
    changed = put(notes(tmp_path / "c", "changed"), here).directory
    (changed / "main.py").write_text("print(2)\n")
    new = meter(here.workspace / ".stella/plugins/meter")
    (notes(here.workspace / ".stella/plugins/linked", "linked") / "l").symlink_to("/")
    notes(here.workspace / ".stella/plugins/broken", manifest="[")
    notes(here.home / "plugins/mine", "mine")
    of = found(here)
    assert [each.name for each in of.offers] == ["changed", "meter"]
    for offer in of.offers:
        title = f"plugin {offer.name}, which nobody accepted here as it is:"
        block = "\n".join(f"      {line}" if line else "" for line in offer.consent.split("\n"))
        assert f"\n\n{title}\n{block}\n" in of.text
    tier = here.workspace / ".stella/plugins"
    assert "plugins that cannot be used as they are:" in of.text
    assert f"  - {tier}/linked: l: a symbolic link" in of.text
    assert f"  - {tier}/broken: left out: plugin.toml has" in of.text
    assert "accepted," not in of.text
    before = of.marks
    (new / "main.py").write_text("print(3)\n")
    assert found(here).marks.keys() == before.keys()
    assert found(here).marks != before


def test_what_an_author_hides_is_shown_and_said(tmp_path: Path) -> None:
    """[C-3, C-5] No name can move the cursor or begin a line of the host's."""
    here = settled(tmp_path)
    brings(
        here,
        **{
            ".stella/tools/a.toml": 'name = "\\u001b[2K"\ncommand = ["\\u202e"]\n',
            ".stella/x\n  - innocent": "",
        },
    )
    text = found(here).text
    assert r'"\u{1B}[2K": "\u{202E}" (.stella/tools/a.toml) [hidden characters]' in text
    assert r'  - ".stella/x\u{A}\u{20}\u{20}- innocent" [hidden characters]' in text
    assert text.endswith(
        "Some text above held hidden or control characters; they are shown as \\u{…}.\n" + FOOT
    )


def test_a_servers_file_that_nobody_can_read_is_told(tmp_path: Path) -> None:
    here = settled(tmp_path)
    deep = "[" * (limits.TOML_DEPTH + 1)
    for text in ("[[", "servers = 3", f"a = {deep}", "\udcff"):
        path = here.workspace / ".stella/mcp.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert "  - none that can be read" in lines(here)


@pytest.mark.behaviour("I-55.trust")
def test_what_no_trust_can_be_about_is_refused_by_its_name(tmp_path: Path) -> None:
    """[I-55]"""
    here = settled(tmp_path)
    (here.workspace / ".stella").mkdir()
    (here.workspace / ".stella/tools").symlink_to(tmp_path)
    with pytest.raises(Untrusted, match=r"cannot be trusted: \.stella/tools: is a symbolic link"):
        found(here)


def test_more_than_anybody_reads_is_refused(tmp_path: Path) -> None:
    """limits.TRUST_TEXT_BYTES, at the limit and one past it."""
    here = settled(tmp_path)
    brings(here, **{".stella/tools/a.toml": 'name = "a"\ncommand = [""]\n'})
    # The empty word stands in quotation marks, a longer one does not need them.
    most = "x" * (limits.TRUST_TEXT_BYTES - len(found(here).text.encode()) + 2)
    brings(here, **{".stella/tools/a.toml": f'name = "a"\ncommand = ["{most}"]\n'})
    assert len(found(here).text.encode()) == limits.TRUST_TEXT_BYTES
    brings(here, **{".stella/tools/a.toml": f'name = "a"\ncommand = ["{most}x"]\n'})
    with pytest.raises(Untrusted, match=f"takes {limits.TRUST_TEXT_BYTES + 1} bytes to tell"):
        found(here)


def test_a_file_that_changes_between_its_digest_and_its_text_is_refused(tmp_path: Path) -> None:
    """[A22] What is shown is what would be recorded."""
    here = settled(tmp_path)
    brings(here, **{".stella/mcp.toml": SERVERS})
    items = items_of(here.workspace)
    brings(here, **{".stella/mcp.toml": ""})
    with pytest.raises(Untrusted, match=r"\.stella/mcp\.toml: changed while it was read"):
        Teller(here, items, hook_entries).text((), ())
    (here.workspace / ".stella/mcp.toml").unlink()
    (here.workspace / ".stella").rmdir()
    with pytest.raises(Untrusted, match=r"\.stella: No such file"):
        Teller(here, items, hook_entries).text((), ())


@pytest.mark.behaviour("I-52.loss")
def test_what_a_person_loses_by_a_yes_is_told(tmp_path: Path) -> None:
    """[I-52, I-42, I-43] A copy in front of their own, and a word that switches theirs off."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here, Scope.USER)
    notes(here.workspace / ".stella" / "plugins" / "notes")
    brings(here, **{"stella.toml": '[plugins]\nnotes = "off"\nother = "off"\n"a.b" = "on"\n'})
    told = lines(here)
    assert '  - plugins.notes = "off", which switches off your own plugin of that name' in told
    assert '  - plugins.other = "off"' in told
    assert '  - plugins."a.b" = "on"' in told
    at = told.index("plugin notes, which nobody accepted here as it is:")
    assert told[at + 1].startswith(
        f"      notes is in the user scope too, at {done.directory}; in this workspace the copy of "
    )
