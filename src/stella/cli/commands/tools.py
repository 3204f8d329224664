"""`stella tools`: every tool that a session would offer, and what is wrong with the rest [T2-61].

No command of this module starts anything.
"""

from pathlib import Path

import click

from stella.cli.here import looked_at
from stella.cli.here import standing_in
from stella.cli.main import Group
from stella.cli.options import WORKSPACE
from stella.cli.page import document
from stella.cli.page import result
from stella.cli.page import tell
from stella.roster.carried import STELLA
from stella.roster.content import TOOLS
from stella.session.tool_list import list_json
from stella.session.tool_list import list_lines
from stella.session.tool_list import rows
from stella.session.tool_list import validated
from stella.settings.ambient import ambient


@click.group(cls=Group, name="tools", help="Look at the tools a session has.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(name="list", help="List every tool, and why one is not offered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the tools in the order in which they are offered; notices go to standard error."""
    here = looked_at(workspace)
    here.tell()
    roster = here.roster()
    found = rows(here.content(roster), roster)
    if as_json:
        document(list_json(found))
    else:
        result(*list_lines(found))


@command.command(help="Look for everything that is wrong with the tool files of DIR.")
@click.argument("directory", metavar="[DIR]", required=False)
@WORKSPACE
def validate(directory: str | None, *, workspace: str | None) -> int:
    """Print every fault of every file; return 1 when there is one.

    Without DIR it is the workspace's own tools and the person's, as far as there are any.
    """
    if directory is not None:
        chosen = [ambient().cwd / Path(directory)]
    else:
        _, where = standing_in(workspace)
        own = (where.workspace / STELLA, where.home)
        chosen = [each for each in own if (each / TOOLS).exists()]
    sound = True
    for each in chosen:
        lines, passed = validated(each)
        result(*lines)
        sound = sound and passed
    if not chosen:
        tell("there are no tool files here")
    return 0 if sound else 1
