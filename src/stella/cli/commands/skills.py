"""`stella skills`: every skill that a session could select, and what is wrong with the rest.

No command of this module starts anything.
"""

import click

from stella.cli.here import looked_at
from stella.cli.main import Group
from stella.cli.options import WORKSPACE
from stella.cli.page import document
from stella.cli.page import result
from stella.session.skill_list import list_json
from stella.session.skill_list import list_lines
from stella.session.skill_list import rows


@click.group(cls=Group, name="skills", help="Look at the skills a session has.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(name="list", help="List every skill, and why one is not used.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the skills by origin; notices go to standard error."""
    here = looked_at(workspace)
    here.tell()
    roster = here.roster()
    found = rows(here.content(roster), roster)
    if as_json:
        document(list_json(found))
    else:
        result(*list_lines(found))
