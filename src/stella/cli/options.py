"""The options that several commands have alike."""

from typing import Final

import click

WORKSPACE: Final = click.option("--workspace", metavar="DIR", help="Root of the work.")
