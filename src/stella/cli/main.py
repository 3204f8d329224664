"""The command `stella`: its commands, loaded when they are used, and the one way out.

Every error passes through `stella.cli.fault`, which knows the exit codes. Standard output
carries results only [S-3].
"""

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from typing import Final
from typing import NoReturn

import click

from stella.cli.fault import exit_status
from stella.cli.streams import say
from stella.cli.streams import settle
from stella.escape import visible
from stella.near import suggestion
from stella.process.conceal import conceal

COMMANDS: Final = {
    "run": "stella.cli.commands.run",
    "plugin": "stella.cli.commands.plugin",
    "tools": "stella.cli.commands.tools",
    "skills": "stella.cli.commands.skills",
    "trust": "stella.cli.commands.trust",
    "journal": "stella.cli.commands.journal",
    "demo": "stella.cli.commands.demo",
    "version": "stella.cli.commands.version",
}
"""Each command and the module that holds it as `command`, in the order of the help."""

WINDOWS: Final = "stella runs on Linux and macOS; Windows is not supported."


class Group(click.Group):
    """A group of commands that answers a wrong name with the near ones [S-2]."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` name; raise a usage error for a name that is none."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            hint = suggestion(name, self.list_commands(ctx))
            raise click.UsageError(f'no command "{visible(name)}"; {hint}', ctx)
        return super().resolve_command(ctx, args)


class Loaded(Group):
    """The commands of `stella`; a command's module is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its exact name, or None."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command


def _version(ctx: click.Context, _: click.Parameter, given: object) -> None:
    """Do what `stella version` does, and nothing else."""
    if given:
        ctx.invoke(import_module(COMMANDS["version"]).command, as_json=False, workspace=None)
        ctx.exit()


@click.command(
    cls=Loaded,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, callback=_version, is_eager=True, expose_value=False)
@click.pass_context
def stella(ctx: click.Context) -> None:
    """A coding agent's turn loop with plugins that say when work is done."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: Sequence[str], platform: str = sys.platform) -> int:
    """Run one command line and return its exit status; nothing is raised [S-10, I-70]."""
    if platform == "win32":
        sys.stderr.write(f"{WINDOWS}\n")
        return 1

    def invoked() -> Any:
        return stella.main(args=list(arguments), prog_name="stella", standalone_mode=False)

    return exit_status(invoked, arguments)


def main() -> NoReturn:
    """Run the process's own command line and exit."""
    settle()
    if (left_open := conceal()) is not None:
        say(sys.stderr, f"stella: {left_open}")
    status = run(sys.argv[1:])
    if sys.platform != "win32":
        # It has been said what came of it; a signal while the interpreter ends must not differ.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    sys.exit(status)
