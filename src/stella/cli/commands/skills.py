"""`stella skills`: every skill that a session could select, and what is wrong with the rest.

No command of this module starts anything.
"""

import click

from stella.cli.main import Group
from stella.cli.page import document
from stella.cli.page import result
from stella.cli.page import tell
from stella.roster.carried import carried
from stella.roster.roster import read_roster
from stella.roster.scope import places
from stella.session.skill_list import list_json
from stella.session.skill_list import list_lines
from stella.session.skill_list import rows
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of

_WORKSPACE = click.option("--workspace", metavar="DIR", help="Root of the work.")


@click.group(cls=Group, name="skills", help="Look at the skills a session has.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(name="list", help="List every skill, and why one is not used.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@_WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the skills by origin; notices go to standard error."""
    around = ambient()
    where = places(around.home, workspace_of(workspace, around))
    roster = read_roster(where, around.env.get("PATH"))
    content = carried(where, roster, trusted=False)
    tell(*(f"notice  {notice}" for notice in content.notices))
    found = rows(content, roster)
    if as_json:
        document(list_json(found))
    else:
        result(*list_lines(found))
