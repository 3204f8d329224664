"""The commands of `stella plugin` that write, and what a person is shown first [I-1, I-33, I-65].

None starts a process of any plugin [I-67]. Each first undoes what a crash left half done [Q-12].
"""

import re
from collections.abc import Callable
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from typing import Final
from typing import TypeVar

import click

from stella.cli.here import refuse_session
from stella.cli.here import standing_in
from stella.cli.options import WORKSPACE
from stella.cli.page import reminder
from stella.cli.page import result
from stella.cli.page import tell
from stella.cli.page import tell_consent
from stella.cli.prompt import ask
from stella.clock import SystemClock
from stella.consent.reach import widest
from stella.errors import RosterError
from stella.errors import UsageError
from stella.escape import counted
from stella.escape import visible
from stella.manifest.oracle import FlipPolicy
from stella.manifest.plugin import PluginManifest
from stella.providers.keys import KEY_VARIABLES
from stella.roster.accept import Standing
from stella.roster.accept import accept as accept_plugin
from stella.roster.change import mend
from stella.roster.drift import first
from stella.roster.install import Declined
from stella.roster.install import Installed
from stella.roster.install import Proposal
from stella.roster.install import Question
from stella.roster.install import Wish
from stella.roster.install import install as install_package
from stella.roster.lock import AcceptedBy
from stella.roster.remove import remove as remove_plugin
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.switching import Switched
from stella.roster.switching import disable as disable_plugin
from stella.roster.switching import enable as enable_plugin
from stella.roster.switching import offs
from stella.settings.ambient import Ambient
from stella.settings.sections import SETTABLE
from stella.wire.points import Call

FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_YES = click.option(
    "--yes", is_flag=True, help="Accept without a question; all is shown all the same."
)
_ACCEPT = click.option(
    "--accept",
    "digest",
    metavar="DIGEST",
    help="Accept without a question if the consent text has this digest.",
)
_ANSWER: Final = "give --yes to accept what is shown above, or --accept with its digest"
_DECLINED: Final = {
    Question.INSTALL: "not installed",
    Question.UPGRADE: "not installed; the copy that was accepted stays as it is",
    Question.ACCEPT: "not accepted",
}


def _scope(default: Scope | None) -> Callable[[FC], FC]:
    """Return the option of a command that is about one scope; None: whichever has the plugin."""
    return click.option(
        "--scope",
        type=click.Choice([scope.value for scope in Scope]),
        default=default and default.value,
        show_default=default is not None,
        help="Whose plugin it is.",
    )


@click.command(help="Install the plugin in DIR after showing all that it declares.")
@click.argument("directory", metavar="DIR")
@_scope(Scope.PROJECT)
@click.option("--upgrade", is_flag=True, help="Put it in the place of the installed copy.")
@_YES
@_ACCEPT
@WORKSPACE
def install(  # noqa: PLR0913  # one parameter for each word of the command line
    directory: str,
    *,
    scope: str,
    upgrade: bool,
    yes: bool,
    digest: str | None,
    workspace: str | None,
) -> None:
    """Show the consent text, ask, copy, set, record [I-2, I-9, I-36]."""
    around, where = _writing(workspace, digest)
    wish = Wish(
        source=around.cwd / Path(directory),
        scope=Scope(scope),
        places=where,
        path_value=around.env.get("PATH"),
        registered=KEY_VARIABLES,
        settable=SETTABLE,
        upgrade=upgrade,
    )
    done = install_package(wish, partial(_answered, yes=yes, digest=digest), SystemClock())
    if isinstance(done, Declined):
        tell(_DECLINED[Question.UPGRADE if upgrade else Question.INSTALL])
        return
    tell(*_success(done, where, upgrade=upgrade))


@click.command(help="Accept an installed plugin as it is now, after showing what changed.")
@click.argument("name", metavar="NAME")
@_scope(None)
@_YES
@_ACCEPT
@WORKSPACE
def accept(
    name: str, *, scope: str | None, yes: bool, digest: str | None, workspace: str | None
) -> None:
    """Show what changed and the whole text, ask, record [I-33]."""
    around, where = _writing(workspace, digest)
    wish = Wish(
        source=where.workspace,
        scope=Scope.PROJECT,
        places=where,
        path_value=around.env.get("PATH"),
        registered=KEY_VARIABLES,
        settable=SETTABLE,
    )
    answered = partial(_answered, yes=yes, digest=digest)
    chosen = None if scope is None else Scope(scope)
    done = accept_plugin(name, wish, answered, SystemClock(), scope=chosen)
    if isinstance(done, Declined):
        tell(_DECLINED[Question.ACCEPT])
        return
    at = visible(str(done.directory))
    if isinstance(done, Standing):
        tell(
            f"{done.name} in {at} is as it was accepted; there is nothing to do",
            *_off(done.name, where),
        )
        return
    tell(f"accepted {done.name} in {at}", *_off(done.name, where))


@click.command(help="Switch a plugin off: nothing of it runs.")
@click.argument("name", metavar="NAME")
@_scope(Scope.USER)
@WORKSPACE
def disable(name: str, *, scope: str, workspace: str | None) -> None:
    """Write the off into the settings of a scope [I-65]."""
    _, where = _writing(workspace)
    done = disable_plugin(name, where, Scope(scope), SystemClock())
    word = "is off now" if done.written else "was off already"
    tell(f"{visible(name)} {word}, in {visible(str(done.path))}")


@click.command(help="Take back what switched a plugin off.")
@click.argument("name", metavar="NAME")
@_scope(Scope.USER)
@WORKSPACE
def enable(name: str, *, scope: str, workspace: str | None) -> None:
    """Take the off out of the settings of a scope [I-65]."""
    _, where = _writing(workspace)
    done = enable_plugin(name, where, Scope(scope), SystemClock())
    tell(*_enabled(name, done))


@click.command(help="Remove a plugin, every copy of it.")
@click.argument("name", metavar="NAME")
@WORKSPACE
def remove(name: str, *, workspace: str | None) -> None:
    """Put settings back, remove the directories and the records; gone is gone [I-66]."""
    _, where = _writing(workspace)
    removed = remove_plugin(name, where, SystemClock(), settable=SETTABLE)
    for directory in removed.directories:
        result(f"removed {visible(str(directory))}")
    for setting in removed.restored:
        result(f"restored {setting}")
    for record in removed.records:
        result(f"dropped the record in {visible(str(record))}")
    tell(*removed.left)


COMMANDS: Final[tuple[click.Command, ...]] = (install, accept, disable, enable, remove)


def _writing(workspace: str | None, digest: str | None = None) -> tuple[Ambient, Places]:
    """Begin a command that writes: not from within a session, and from a whole state [Q-12]."""
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise UsageError(
            f'--accept: expected sha256: and 64 hex digits, got "{visible(digest)}"; the digest of '
            "a consent text is shown below it"
        )
    around, where = standing_in(workspace)
    refuse_session(around)
    tell(*(f"notice  {told}" for told in mend(where)))
    return around, where


def _answered(proposal: Proposal, *, yes: bool, digest: str | None) -> AcceptedBy | None:
    """Show everything on standard error, then ask, unless a flag has answered [S-3, I-9].

    Raises `RosterError` when the text is not the one whose digest was given.
    """
    compared = tuple(_compared(proposal))
    below = tuple(_below(proposal))
    tell(*compared)
    tell_consent(proposal.consent)
    shown = (*compared, *proposal.consent.split("\n"), *below)
    tell(*below, *reminder(shown, widest(proposal.manifest.capabilities), compared[:-1]), "")
    if digest is not None and digest != proposal.consent_digest:
        raise RosterError(
            f"{visible(proposal.manifest.name)}: --accept names {digest}, but the consent text is "
            f"{proposal.consent_digest}; {_DECLINED[proposal.question]}"
        )
    if yes or digest is not None:
        return AcceptedBy.YES
    return AcceptedBy.TTY if ask(proposal.question.value, _ANSWER) else None


def _below(proposal: Proposal) -> Iterable[str]:
    """Yield what is told after the consent text [I-2, steps 7 to 9]."""
    yield from ("", "The digest of the text above, for --accept:", proposal.consent_digest)
    if proposal.warnings:
        yield from ("", *proposal.warnings.split("\n"))
    for name in proposal.withheld:
        yield f"withheld: {visible(name)} is a credential and is not passed on"
    yield from proposal.notes


def _compared(proposal: Proposal) -> Iterable[str]:
    """Yield what differs from what was accepted before, nothing for a first install [I-36]."""
    if proposal.difference is None:
        return
    if proposal.files:
        yield f"Files, against what was accepted before: {', '.join(first(proposal.files))}"
    else:
        yield "No file differs from what was accepted before."
    if proposal.difference:
        yield "The consent text differs, then (-) and now (+):"
        yield from (f"  {line}" for line in proposal.difference)
    else:
        yield "The consent text is equal to the one that was accepted before."
    yield ""


def _success(done: Installed, where: Places, *, upgrade: bool) -> Iterable[str]:
    name = done.manifest.name
    yield f"{'upgraded' if upgrade else 'installed'} {name} in {visible(str(done.directory))}"
    if done.configured:
        changed = counted(done.configured, "setting")
        yield f"changed {changed} in {visible(str(done.settings))}"
    yield from done.left
    yield from _off(name, where)
    yield from _next_step(done.manifest)


def _off(name: str, where: Places) -> Iterable[str]:
    """Yield that a plugin does not run although it is accepted [I-2, step 15]."""
    for path in offs(name, where):
        yield (
            f"{visible(name)} will not run: it is switched off in {visible(str(path))}; see "
            f"`stella plugin enable {visible(name)}`"
        )


def _enabled(name: str, done: Switched) -> Iterable[str]:
    shown, at = visible(name), visible(str(done.path))
    if done.written:
        yield f"{shown} is not switched off in {at} any more"
    else:
        yield f"{shown} was not switched off in {at}"
    for path in done.also_off:
        yield f"{shown} is still off: {visible(str(path))} says so"


def _next_step(manifest: PluginManifest) -> Iterable[str]:
    if manifest.loop.points:
        pipeline = manifest.pipeline
        named = manifest.name if any(c.isspace() or c == "," for c in pipeline) else pipeline
        flip = manifest.oracle is not None and manifest.oracle.flip is FlipPolicy.REQUIRED
        test = ' --test-command "…"' if flip or Call.RUN_TEST in manifest.loop.calls else ""
        yield f'next: stella run --pipeline {named}{test} --model script:FILE "…"'
