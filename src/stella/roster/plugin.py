"""One plugin as a roster has it: what it declares, whether it may run, and the way out if not.

A value: nothing here looks at a file or starts anything.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from stella.codec import Word
from stella.escape import visible
from stella.manifest.fault import ManifestFault
from stella.manifest.loop import Power
from stella.manifest.plugin import PluginManifest
from stella.roster.cache import Noted
from stella.roster.drift import Acceptance
from stella.roster.drift import Accepted
from stella.roster.drift import Changed
from stella.roster.drift import NotAccepted
from stella.roster.drift import barrier
from stella.roster.drift import explained
from stella.roster.lock import Record
from stella.roster.offer import Offer
from stella.roster.scope import Scope
from stella.roster.ships import Ships
from stella.roster.trust import VARIABLE


class State(Word):
    """What `list` calls the acceptance of a plugin [I-61]."""

    OK = "ok"
    CHANGED = "changed"
    NOT_ACCEPTED = "not-accepted"
    WITHHELD = "withheld"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin of the roster; its `manifest.name` is who it is at every gate [I-45].

    `record` is what was accepted, as read with the roster: a later change of it on disk has no
    effect on a session that holds this [Q-29]. `acceptance` is of that same moment, and so is
    `ships`, which is None unless the bytes are the accepted ones [I-31]. `noted` is what an
    earlier session saw of the tree, if that may stand in for reading it [I-29].
    `offered` is what the next run shows and records because the variable lets it [I-34]; until
    that is done nothing of the plugin starts. `off` says that settings switch it off [I-43].
    `refused` says that nobody's yes would make it run: what `acceptance` tells is wrong with it.
    """

    manifest: PluginManifest
    warnings: tuple[ManifestFault, ...]
    scope: Scope
    directory: Path
    record: Record | None
    acceptance: Acceptance
    ships: Ships | None = None
    notices: tuple[str, ...] = ()
    noted: Noted | None = None
    offered: Offer | None = None
    off: bool = False
    refused: bool = False

    @property
    def name(self) -> str:
        """The manifest's name [I-45]."""
        return self.manifest.name

    @property
    def state(self) -> State:
        """The word for its acceptance [I-61]."""
        if self.off:
            return State.OFF
        if self.offered is not None:
            return State.OK
        match self.acceptance:
            case Accepted():
                return State.WITHHELD if self.withheld else State.OK
            case Changed():
                return State.CHANGED
            case NotAccepted():
                return State.NOT_ACCEPTED
            case _:
                assert_never(self.acceptance)

    @property
    def withheld(self) -> str | None:
        """Why nothing it ships is used though its bytes are accepted, in one line [P-9]."""
        return None if self.ships is None else self.ships.withheld

    @property
    def barrier(self) -> str | None:
        """Why it may not run and what to do about it, in one line; None when it may [I-30]."""
        return barrier(self.name, self.acceptance, self.way_out)

    @property
    def explained(self) -> tuple[str, ...]:
        """The whole message about a plugin that may not run, line by line [I-31]."""
        return explained(self.name, self.acceptance, self.way_out)

    @property
    def way_out(self) -> str:
        """What a person does about a plugin that is not accepted [I-30, I-34]."""
        if self.refused:
            return f"`stella plugin check {visible(str(self.directory))}` tells all of it"
        accept = f"`stella plugin accept {self.name}`"
        if self.record is None:
            if self.scope is Scope.USER:
                return f"to use it: {accept}"
            return (
                f"to use it: {accept}, or `stella trust` for all that this workspace brings, "
                f"or {VARIABLE}=1 in the environment of one run"
            )
        removal = f"`stella plugin remove {self.name}`"
        return f"{accept} shows what it is now and asks, {removal} takes it away"

    @property
    def pipeline(self) -> str | None:
        """The name a run selects it by, None when it can be no member of a pipeline [D-8]."""
        return pipeline_of(self.manifest)


def pipeline_of(manifest: PluginManifest) -> str | None:
    """Return the name a run selects a plugin by, None when it can be no member [D-8, M-36]."""
    asked = manifest.loop.holds(Power.POINTS) and manifest.loop.points
    return manifest.pipeline if asked and manifest.runtime else None
