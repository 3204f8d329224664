"""`stella journal show` and `verify`: what a session did, and whether it is whole [J2-50]."""

import click

from stella.cli.main import Group
from stella.cli.page import document
from stella.cli.page import result
from stella.cli.page import tell
from stella.escape import counted
from stella.escape import visible
from stella.journal import find
from stella.journal import recover
from stella.journal import show as listing
from stella.near import suggestion
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of


@click.group(cls=Group, name="journal", help="Look into the record of a session.")
def command() -> None:
    """Hold the commands of this module."""


@command.command(help="Print the records of a session: an id, the beginning of one, or `last`.")
@click.argument("session", metavar="ID")
@click.option("--turn", metavar="T", help="Only a turn, such as t1, with its agents.")
@click.option("--type", "types", metavar="T,…", help="Only records of these types.")
@click.option("--json", "as_json", is_flag=True, help="The records as they stand, one per line.")
@click.option("--workspace", metavar="DIR", help="Where the session lies.")
def show(
    session: str, *, turn: str | None, types: str | None, as_json: bool, workspace: str | None
) -> int:
    """Print records up to the first fault; exit 1 when there is one [J2-33]."""
    kinds = listing.kinds(types) if types is not None else frozenset()
    path = find.resolve(workspace_of(workspace, ambient()), session)
    reading = recover.read(path)
    for line in listing.show(reading.records, turn=turn, types=kinds, as_json=as_json):
        document(line) if as_json else result(line)
    if turn is not None and next(listing.show(reading.records, turn=turn), None) is None:
        turns = dict.fromkeys(each.turn for each in reading.records if each.turn is not None)
        hint = suggestion(turn, turns) or "leave it out to see every turn"
        tell(f'--turn: no record of a turn "{visible(turn)}"; {hint}')
    for note in reading.notes():
        tell(note)
    return 1 if reading.damage else 0


@command.command(help="Check that a session's record is what was written.")
@click.argument("session", metavar="[ID]", required=False)
@click.option("--head", metavar="HASH", help="The hash its last line must have.")
@click.option("--all", "every", is_flag=True, help="Every session of the workspace.")
@click.option("--workspace", metavar="DIR", help="Where the session lies.")
def verify(session: str | None, *, head: str | None, every: bool, workspace: str | None) -> int:
    """Print one line per session; exit 1 with the first bad line of any that is damaged.

    Without an id it is the last one.
    """
    root = workspace_of(workspace, ambient())
    if every and (head is not None):
        raise click.UsageError("--all and --head exclude each other")
    if every and session is not None:
        raise click.UsageError(
            f'--all checks every session, "{visible(session)}" is one; give one of them'
        )
    named = session or find.LAST
    paths = [s.path for s in find.sessions(root)] if every else [find.resolve(root, named)]
    bad = 0
    for path in paths:
        report = recover.verify(path, head)
        name = visible(path.parent.name)
        if report.damage is not None:
            bad += 1
            result(f"{name}: damaged at {report.damage}")
            continue
        torn = f", the last one torn ({counted(report.torn, 'byte')})" if report.torn else ""
        writer = f", open in process {report.writer}" if report.writer else ""
        records = counted(report.records, "record")
        result(f"{name}: ok, {records}{torn}{writer}, head {report.head}")
        for kind, count in sorted(report.skipped.items()):
            tell(f"{name}: {counted(count, 'record')} of unknown type {visible(kind)}")
    return 1 if bad else 0
