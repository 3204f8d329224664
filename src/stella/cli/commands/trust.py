"""`stella trust`: what this workspace would bring, and the one question about it [I-52, I-57].

Nothing of the workspace is started, and nothing but a terminal answers the question.
"""

import click

from stella.cli.here import refuse_session
from stella.cli.here import standing_in
from stella.cli.options import WORKSPACE
from stella.cli.page import reminder
from stella.cli.page import result
from stella.cli.page import tell
from stella.cli.prompt import ask
from stella.clock import SystemClock
from stella.consent.reach import widest
from stella.errors import RosterError
from stella.errors import UsageError
from stella.escape import listed
from stella.escape import visible
from stella.roster.contribution import RIGHTS
from stella.roster.contribution import Contribution
from stella.roster.scope import Places
from stella.roster.trust import VARIABLE
from stella.roster.trust import read_trust
from stella.roster.trust import standing
from stella.roster.trust_file import read_trust_file
from stella.roster.trusting import revoke
from stella.roster.trusting import trust_workspace
from stella.settings.ambient import Ambient
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of
from stella.settings.schema import hook_entries

_SHOWN = 20
_NO_TERMINAL = (
    f"stella trust needs one, because nobody else can answer it; {VARIABLE}=1 trusts what one "
    "process is started in"
)


@click.command(name="trust", help="Show what this workspace would run, and ask whether it may.")
@click.option("--list", "as_list", is_flag=True, help="Every workspace that was trusted.")
@click.option("--revoke", "taken_back", is_flag=True, help="Trust this workspace no more.")
@WORKSPACE
def command(*, as_list: bool, taken_back: bool, workspace: str | None) -> int:
    """Show, ask, record; or list the records, or forget one [I-52, I-57]."""
    if as_list and taken_back:
        raise UsageError("--list and --revoke exclude each other; give one of them")
    if as_list:
        around = ambient()
        workspace_of(workspace, around)
        return _list(around)
    around, where = standing_in(workspace)
    refuse_session(around)
    return _revoke(where) if taken_back else _trust(around, where)


def _trust(around: Ambient, where: Places) -> int:
    def asked(found: Contribution) -> bool:
        lines = found.text.split("\n")
        declared = [each for offer in found.offers for each in offer.manifest.capabilities]
        # Without a declaration there may be programs all the same, and more than plugins have.
        said = (RIGHTS, widest(declared)) if declared else (RIGHTS,)
        tell(*lines, *reminder(lines, said[-1], said[:-1]), "")
        return ask("trust", _NO_TERMINAL)

    done = trust_workspace(where, around.env.get("PATH"), hook_entries, asked, SystemClock())
    if done is None:
        tell("not trusted")
        return 0
    tell(*done.notices, f"trusted {visible(str(where.workspace))}")
    if done.plugins:
        tell(f"accepted with it: {listed(done.plugins, _SHOWN)}")
    if not (now := read_trust(where, around.env)).trusted:
        tell(f"this has no effect here: {now.why}")
    return 0


def _list(around: Ambient) -> int:
    """Print path, time and state of each record; what is wrong is a notice [I-57]."""
    file = read_trust_file(around.home)
    tell(*(f"notice  {notice}" for notice in file.notices))
    if not file.by_path:
        result("no workspace is trusted; `stella trust` in one shows it and asks")
    for path, record in sorted(file.by_path.items()):
        result(f"{visible(path)}  {record.trusted_at}  {standing(record).value}")
    return 0


def _revoke(where: Places) -> int:
    if not revoke(where, SystemClock()):
        raise RosterError(
            f"{visible(str(where.workspace))} was not trusted; `stella trust --list` shows what was"
        )
    tell(
        f"{visible(str(where.workspace))} is trusted no more, from the next session on; plugins "
        "that were accepted here are as they were, see `stella plugin list`"
    )
    return 0
