"""The candidates of one run: made, found by their plugin, adopted, and taken away [D-54 to D-57].

A workspace is a work tree of the person's repository that stands on the checked-out commit, in
which the host has put its own copy of the tree as it is now. Whatever happens after a workspace
is noted, `discard_all` in this process or `reclaim` in a later one finds it.
"""

import os
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stella.candidates import registry
from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Changed
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Discarded
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Leaked
from stella.candidates.landing import changes_of
from stella.candidates.landing import landed
from stella.candidates.making import Means
from stella.candidates.making import Noted
from stella.candidates.making import ground_of
from stella.candidates.making import made
from stella.candidates.making import noted
from stella.candidates.patch import Change
from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import path_of
from stella.candidates.place import standing
from stella.candidates.registry import Note
from stella.candidates.registry import Unknown
from stella.candidates.removal import remove
from stella.clock import Clock
from stella.escape import visible
from stella.files.aside import aside
from stella.process.git import Unanswered
from stella.process.git import listed
from stella.process.git import repository
from stella.process.worktree import records_of


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A workspace that is noted on disk; `candidate` once it is whole, until it is used."""

    noted: Noted
    records: Path
    candidate: Candidate | None = None


class Workspaces:
    """The candidates of one run in the workspace whose canonical root is `root`.

    `path_value` is where git is looked up, without what lies in the workspace.
    """

    def __init__(
        self, root: Path, *, path_value: str, clock: Clock, bounds: Bounds | None = None
    ) -> None:
        self.root = root
        self.means = Means(path_value=path_value, clock=clock, bounds=bounds or Bounds())
        self._entries: dict[str, _Entry] = {}
        self._ends: list[Discarded | Leaked] = []

    async def create(self, plugin: str) -> Candidate | Failed:
        """Make a workspace that holds what the real tree holds now, or say why there is none.

        A failure leaves nothing. A cancel leaves a noted workspace for `discard_all` [T-23].
        """
        ground = await ground_of(self.root, env_path=self.means.path_value)
        if isinstance(ground, Failed):
            return ground
        try:
            this = noted(self.root, plugin, self.means.clock)
        except OSError as error:
            return Failed(reason=f"no candidate can be noted: {error.strerror or error}")
        # Nothing is awaited between the note on disk and this.
        entry = self._entries[this.name] = _Entry(noted=this, records=ground.records)
        done = await made(self.root, this, ground, self.means)
        if isinstance(done, Candidate):
            entry.candidate = done
            return done
        gone = await self._removed(this.name)
        left = f"; some of it is left: {gone.reason}" if isinstance(gone, Leaked) else ""
        return Failed(reason=f"{done.reason}{left}", denial=done.denial)

    def find(self, plugin: str, handle: str) -> Candidate | None:
        """Return the plugin's own candidate of that handle while it may be used [D-56, D-57].

        None for an unknown, an adopted, a discarded and another plugin's handle alike.
        """
        return next(
            (each for each in self.live() if (each.plugin, each.handle) == (plugin, handle)), None
        )

    def live(self) -> tuple[Candidate, ...]:
        """Return every candidate that may be used, in the order in which they were made."""
        every = (entry.candidate for entry in self._entries.values())
        return tuple(each for each in every if each is not None)

    async def changed(self, candidate: Candidate) -> tuple[Changed, ...] | Failed:
        """Return what differs from the copy's start, in path order, measured on disk [D-55]."""
        changes = await self._changes(candidate)
        return changes if isinstance(changes, Failed) else tuple(each.told for each in changes)

    async def adopt(
        self, candidate: Candidate, seen: tuple[Changed, ...] | None = None
    ) -> Adopted | Failed:
        """Put a candidate's changes into the real tree, all or none [D-57].

        With `seen` it is refused when they are not those any more that `changed` gave.
        After a failure the tree is as it was and the candidate may still be used; after a
        success its handle is used up. The others stay until `discard_all`. A cancel undoes
        what was done, unless all was done by then.
        """
        if self.find(candidate.plugin, candidate.handle) is None:
            reason = f'"{visible(candidate.handle)}": there is no such candidate'
            return Failed(reason=reason, denial=Denial.UNKNOWN_HANDLE)
        changes = await self._changes(candidate)
        if isinstance(changes, Failed):
            return changes
        if seen is not None and seen != tuple(each.told for each in changes):
            return Failed(reason="it was changed while it was adopted; nothing was adopted")
        return await aside(lambda stop: self._adopted(candidate, changes, stop))

    async def discard(self, candidate: Candidate) -> Discarded | Leaked:
        """Take one candidate away; its handle is unknown from now on, whatever comes of it."""
        if candidate.name not in self._entries:
            return Discarded(handle=candidate.handle, plugin=candidate.plugin)
        return await self._removed(candidate.name)

    async def discard_all(self) -> tuple[Discarded | Leaked, ...]:
        """Take every workspace of this run away, half-made and adopted ones too [D-57, D-85].

        What leaked stays noted and is tried again, here or by a later `reclaim`. What a cancel kept
        from being returned is returned by the next call.
        """
        for name in tuple(self._entries):
            self._ends.append(await self._removed(name))
        ends, self._ends = tuple(self._ends), []
        return ends

    async def reclaim(self) -> tuple[Discarded | Leaked, ...]:
        """Take away what hosts that run no more left behind in this workspace [T-33].

        An adoption that one of them did not finish is undone. What a living host made stays;
        so does what nobody can say whose it is, which is told as leaked.
        """
        try:
            with standing(self.root, NOTES) as notes:
                names = [] if notes is None else registry.registered(notes)
                if notes is not None:
                    registry.sweep(notes)
        except OSError as error:
            reason = error.strerror or str(error)
            place = visible(str(path_of(self.root, NOTES)))
            return (Leaked(handle="", plugin="", place=place, reason=reason),)
        records = await self._records() if names else None
        told = [await aside(partial(self._reclaimed, name, records)) for name in names]
        return tuple(each for each in told if each is not None)

    async def _changes(self, candidate: Candidate) -> tuple[Change, ...] | Failed:
        within = candidate.repository
        names = await listed(str(within.top), env_path=self.means.path_value, within=within)
        inner = candidate.root.relative_to(within.top).parts
        prefix = "".join(f"{part}/" for part in inner)
        return await aside(
            lambda stop: changes_of(self.root, candidate, names, self.means.terms(prefix, stop))
        )

    def _adopted(
        self, candidate: Candidate, changes: tuple[Change, ...], stop: threading.Event
    ) -> Adopted | Failed:
        done = landed(self.root, candidate, changes, bounds=self.means.bounds, stop=stop)
        if isinstance(done, Adopted):
            # Here and not where it is awaited: a cancel must not make it adoptable again.
            self._entries[candidate.name].candidate = None
        return done

    async def _removed(self, name: str) -> Discarded | Leaked:
        entry = self._entries[name]
        entry.candidate = None
        reason = await aside(lambda _: remove(self.root, name, entry.records))
        if reason is None:
            del self._entries[name]
            os.close(entry.noted.lock)
        return self._told(name, entry.noted.note, reason)

    def _reclaimed(
        self, name: str, records: Path | None, stop: threading.Event
    ) -> Discarded | Leaked | None:
        if stop.is_set():
            return None
        found: registry.Claim | Unknown | None
        try:
            with standing(self.root, NOTES) as notes:
                found = None if notes is None else registry.claim(notes, name)
        except OSError as error:
            found = Unknown(reason=error.strerror or str(error))
        if found is None:
            return None
        if isinstance(found, Unknown):
            return self._told(name, None, found.reason)
        try:
            return self._told(name, found.note, remove(self.root, name, records))
        finally:
            os.close(found.file)

    async def _records(self) -> Path | None:
        within = repository(self.root)
        if within is None:
            return None
        records = await records_of(within, env_path=self.means.path_value)
        return None if isinstance(records, Unanswered) else records

    def _told(self, name: str, note: Note | None, reason: str | None) -> Discarded | Leaked:
        handle, plugin = ("", "") if note is None else (note.handle, note.plugin)
        if reason is None:
            return Discarded(handle=handle, plugin=plugin)
        place = visible(str(path_of(self.root, WORK) / name))
        return Leaked(handle=handle, plugin=plugin, place=place, reason=reason)
