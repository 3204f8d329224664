"""`stella skills`: every skill that a session could select, and what is wrong with the rest.

No command of this module starts anything.
"""

import click

from stella.cli.here import looked_at
from stella.cli.main import Group
from stella.cli.page import document
from stella.cli.page import result
from stella.cli.page import tell
from stella.roster.carried import carried
from stella.roster.left_out import left_out
from stella.roster.trust import WAY_OUT
from stella.session.skill_list import list_json
from stella.session.skill_list import list_lines
from stella.session.skill_list import rows

_WORKSPACE = click.option("--workspace", metavar="DIR", help="Root of the work.")


@click.group(cls=Group, name="skills", help="Look at the skills a session has.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(name="list", help="List every skill, and why one is not used.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@_WORKSPACE
def list_(*, as_json: bool, workspace: str | None) -> None:
    """Print the skills by origin; notices go to standard error."""
    here = looked_at(workspace)
    here.tell()
    roster, trust = here.roster(), here.trust
    content = carried(here.where, roster, trusted=trust.trusted, vouched=trust.files)
    if not trust.trusted:
        for kind in left_out(here.where.workspace):
            tell(f"notice  {kind}, because it is not trusted ({trust.why}); {WAY_OUT}")
    tell(*(f"notice  {notice}" for notice in content.notes))
    found = rows(content, roster)
    if as_json:
        document(list_json(found))
    else:
        result(*list_lines(found))
