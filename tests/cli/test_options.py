"""The options that several commands have alike."""

import click

from stella.cli.options import WORKSPACE


def test_a_workspace_is_given_by_one_word_or_not_at_all() -> None:
    """[S-7]"""

    @click.command()
    @WORKSPACE
    def command(*, workspace: str | None) -> str | None:
        return workspace

    assert command.main([], standalone_mode=False) is None
    assert command.main(["--workspace", "x"], standalone_mode=False) == "x"
