"""`stella version`: what this is and which contracts it speaks [S-1]."""

import click

from stella import __version__
from stella import codec
from stella.cli.page import document
from stella.cli.page import result
from stella.wire.points import PROTOCOL_VERSION

JOURNAL_SCHEMA = 1
LINES = (
    f"stella {__version__}",
    f"protocol {PROTOCOL_VERSION}",
    f"journal schema {JOURNAL_SCHEMA}",
)


@click.command(name="version", help="Show the version and the contracts it speaks.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--workspace", metavar="DIR", hidden=True)
def command(*, as_json: bool, workspace: str | None) -> None:
    """Print version, protocol and journal schema."""
    del workspace  # every command takes it [S-2]; this one reads nothing
    if as_json:
        answer = {
            "version": __version__,
            "protocol": PROTOCOL_VERSION,
            "journal_schema": JOURNAL_SCHEMA,
        }
        document(codec.encode(answer).decode())
        return
    result(*LINES)
