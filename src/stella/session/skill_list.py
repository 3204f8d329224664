"""What `stella skills` says: every skill with its origin, and why one is not used [P-33].

Author text is shown so that it can forge nothing; a broken file hides no other. Nothing is
started, and nothing of a workspace's own is read that is not trusted.
"""

from collections.abc import Iterator

import msgspec

from stella import codec
from stella.content.skill import Skill
from stella.escape import visible
from stella.roster.carried import Carried
from stella.roster.content import SKILLS
from stella.roster.listing import printable
from stella.roster.roster import Roster
from stella.session.steered import offered_by
from stella.session.unused import barred
from stella.session.unused import faulty


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One skill in the array of `skills list --json`; no key is ever absent.

    `state` is `on`; `left-out` or `faulty` for a file; or the state of the plugin that ships it.
    `origin` is `user`, `workspace` or `plugin:<name>`. `name` and `description` are null where
    the file does not tell them, `reason` where the skill is on.
    """

    name: str | None
    origin: str
    state: str
    file: str
    description: str | None
    reason: str | None


def rows(carried: Carried, roster: Roster) -> tuple[Row, ...]:
    """Return every skill: those that were read, the faulty files, then those of barred plugins."""
    return (*_read(carried), *_unused(carried, roster))


def list_json(found: tuple[Row, ...]) -> str:
    """Return the rows as one JSON array of printable ASCII on one line [C76]."""
    return printable(codec.encode(found).decode())


def list_lines(found: tuple[Row, ...]) -> Iterator[str]:
    """Yield the rows as lines for a person [C-3, C-5]."""
    for row in found:
        name = "(no skill)" if row.name is None else visible(row.name)
        yield f"{name}  {visible(row.origin)}  {row.state}"
        if row.description is not None:
            yield f"  {visible(row.description)}"
        yield f"  {row.file}"
        if row.reason is not None:
            yield f"  {row.state}: {row.reason}"


def _read(carried: Carried) -> Iterator[Row]:
    for offer in offered_by(carried):
        state = "on" if offer.reason is None else "left-out"
        yield _row(offer.skill, offer.origin, visible(offer.path), state, offer.reason)


def _unused(carried: Carried, roster: Roster) -> Iterator[Row]:
    for file in faulty(carried, SKILLS):
        yield _row(None, file.origin, file.place, "faulty", file.reason)
    for plugin in barred(roster):
        for each in plugin.content.skills:
            place = plugin.content.place(each.path)
            yield _row(each.value, plugin.origin, place, plugin.state.value, plugin.reason)


def _row(skill: Skill | None, origin: str, place: str, state: str, reason: str | None) -> Row:
    return Row(
        name=None if skill is None else skill.slug,
        origin=origin,
        state=state,
        file=place,
        description=None if skill is None else skill.description,
        reason=reason,
    )
