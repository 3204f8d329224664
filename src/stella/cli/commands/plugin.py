"""`stella plugin`: what is installed, and the one question before anything is [I-1, I-60 to I-66].

No command of this module starts a process of any plugin [I-67].
"""

from collections.abc import Iterable
from pathlib import Path

import click

from stella.cli.here import looked_at
from stella.cli.here import refuse_session
from stella.cli.here import standing_in
from stella.cli.main import Group
from stella.cli.page import document
from stella.cli.page import reminder
from stella.cli.page import result
from stella.cli.page import tell
from stella.cli.page import tell_consent
from stella.cli.prompt import ask
from stella.clock import SystemClock
from stella.escape import visible
from stella.manifest.oracle import FlipPolicy
from stella.manifest.plugin import PluginManifest
from stella.providers.keys import KEY_VARIABLES
from stella.roster.check import check as check_package
from stella.roster.check import check_json
from stella.roster.check import check_lines
from stella.roster.install import Declined
from stella.roster.install import Proposal
from stella.roster.install import Wish
from stella.roster.install import install as install_package
from stella.roster.listing import list_json
from stella.roster.listing import list_lines
from stella.roster.listing import show_lines
from stella.roster.lock import AcceptedBy
from stella.roster.remove import remove as remove_plugin
from stella.roster.scope import Scope
from stella.roster.start import Lookup
from stella.wire.points import Call

_WORKSPACE = click.option("--workspace", metavar="DIR", help="Root of the work.")


@click.group(cls=Group, name="plugin", help="Install, look at and remove plugins.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(help="Install the plugin in DIR after showing all that it declares.")
@click.argument("directory", metavar="DIR")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.PROJECT.value,
    show_default=True,
    help="Whose plugin it becomes.",
)
@click.option("--yes", is_flag=True, help="Accept without a question; all is shown all the same.")
@_WORKSPACE
def install(directory: str, *, scope: str, yes: bool, workspace: str | None) -> None:
    """Show the consent text, ask, copy, record [I-2, I-9]."""
    around, where = standing_in(workspace)
    refuse_session(around)
    wish = Wish(
        source=around.cwd / Path(directory),
        scope=Scope(scope),
        places=where,
        path_value=around.env.get("PATH"),
        registered=KEY_VARIABLES,
    )
    done = install_package(wish, lambda proposal: _accepted(proposal, yes=yes), SystemClock())
    if isinstance(done, Declined):
        tell("not installed")
        return
    tell(f"installed {done.manifest.name} in {visible(str(done.directory))}")
    tell(*_next_step(done.manifest))


def _accepted(proposal: Proposal, *, yes: bool) -> AcceptedBy | None:
    """Show everything on standard error, then ask, unless `--yes` has answered [S-3, I-9]."""
    tell_consent(proposal.consent)
    if proposal.warnings:
        tell("", *proposal.warnings.split("\n"))
    for name in proposal.withheld:
        tell(f"withheld: {visible(name)} is a credential and is not passed on")
    tell(*proposal.notes, *reminder(proposal.consent), "")
    if yes:
        return AcceptedBy.YES
    accepted = ask("install", "give --yes to accept what is shown above")
    return AcceptedBy.TTY if accepted else None


def _next_step(manifest: PluginManifest) -> Iterable[str]:
    if manifest.loop.points:
        pipeline = manifest.pipeline
        named = manifest.name if any(c.isspace() or c == "," for c in pipeline) else pipeline
        flip = manifest.oracle is not None and manifest.oracle.flip is FlipPolicy.REQUIRED
        test = ' --test-command "…"' if flip or Call.RUN_TEST in manifest.loop.calls else ""
        yield f'next: stella run --pipeline {named}{test} --model script:FILE "…"'


@command.command(help="Look for everything in DIR that would refuse its install.")
@click.argument("directory", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@_WORKSPACE
def check(directory: str, *, as_json: bool, workspace: str | None) -> int:
    """Print every fault and warning; return 1 when there is a fault [I-64, M-12]."""
    around, where = standing_in(workspace)
    source = around.cwd / Path(directory)
    checked = check_package(source, where, around.env.get("PATH"))
    if as_json:
        document(check_json(checked))
    else:
        result(*check_lines(checked, source))
    return 0 if checked.passed else 1


@command.command(name="list", help="List the plugins of this workspace.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@_WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the roster; notices go to standard error and change no exit code [I-60]."""
    here = looked_at(workspace)
    roster = here.roster()
    here.tell()
    tell(*(f"notice  {notice}" for notice in roster.notices))
    if as_json:
        document(list_json(roster))
    else:
        result(*list_lines(roster, KEY_VARIABLES))


@command.command(help="Show what a plugin declares, what was accepted, and its files.")
@click.argument("name", metavar="NAME")
@_WORKSPACE
def show(name: str, *, workspace: str | None) -> None:
    """Print the consent text, the record, the state and the files [I-63]."""
    here = looked_at(workspace)
    here.tell()
    lookup = Lookup(path_value=here.around.env.get("PATH"), workspace=here.where.workspace)
    result(*show_lines(here.roster().plugin(name), lookup))


@command.command(help="Remove a plugin, every copy of it.")
@click.argument("name", metavar="NAME")
@_WORKSPACE
def remove(name: str, *, workspace: str | None) -> None:
    """Remove the directories and the records; what is gone is gone [I-66]."""
    around, where = standing_in(workspace)
    refuse_session(around)
    removed = remove_plugin(name, where, SystemClock())
    for directory in removed.directories:
        result(f"removed {visible(str(directory))}")
    for record in removed.records:
        result(f"dropped the record in {visible(str(record))}")
