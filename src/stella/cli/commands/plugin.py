"""`stella plugin`: what is installed, and the one question before anything is [I-1, I-60 to I-66].

No command of this module starts a process of any plugin [I-67].
"""

from pathlib import Path

import click

from stella.cli.commands.plugin_change import COMMANDS
from stella.cli.here import looked_at
from stella.cli.here import standing_in
from stella.cli.main import Group
from stella.cli.options import WORKSPACE
from stella.cli.page import document
from stella.cli.page import result
from stella.cli.page import tell
from stella.providers.keys import KEY_VARIABLES
from stella.roster.check import check as check_package
from stella.roster.check import check_json
from stella.roster.check import check_lines
from stella.roster.listing import list_json
from stella.roster.listing import list_lines
from stella.roster.listing import show_lines
from stella.roster.start import Lookup
from stella.settings.sections import SETTABLE


@click.group(cls=Group, name="plugin", help="Install, look at and remove plugins.")
def command() -> None:
    """Hold the commands of this module."""


for each in COMMANDS:
    command.add_command(each)


@command.command(help="Look for everything in DIR that would refuse its install.")
@click.argument("directory", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@WORKSPACE
def check(directory: str, *, as_json: bool, workspace: str | None) -> int:
    """Print every fault and warning; return 1 when there is a fault [I-64, M-12]."""
    around, where = standing_in(workspace)
    source = around.cwd / Path(directory)
    checked = check_package(source, where, around.env.get("PATH"), SETTABLE)
    if as_json:
        document(check_json(checked))
    else:
        result(*check_lines(checked, source))
    return 0 if checked.passed else 1


@command.command(name="list", help="List the plugins of this workspace.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the roster; notices go to standard error and change no exit code [I-60]."""
    here = looked_at(workspace)
    roster = here.roster()
    here.tell()
    tell(*(f"notice  {notice}" for notice in roster.told))
    if as_json:
        document(list_json(roster))
    else:
        result(*list_lines(roster, KEY_VARIABLES))


@command.command(help="Show what a plugin declares, what was accepted, and its files.")
@click.argument("name", metavar="NAME")
@WORKSPACE
def show(name: str, *, workspace: str | None) -> None:
    """Print the consent text, the record, the state and the files [I-63]."""
    here = looked_at(workspace)
    here.tell()
    lookup = Lookup(path_value=here.around.env.get("PATH"), workspace=here.where.workspace)
    result(*show_lines(here.roster().plugin(name), lookup))
