"""What the person, the workspace and the plugins say to the model of a session [P-33 to P-67].

Read once when the session opens: the prefix holds the same bytes to its end [E-131]. Whatever is
inserted is guarded against the engine's prefixes [E-133].
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from typing import TypeVar

from stella import limits
from stella.content.govern import Governed
from stella.content.govern import Sets
from stella.content.govern import govern
from stella.content.guard import Guard
from stella.content.offers import Offer
from stella.content.offers import Skills
from stella.content.offers import offers
from stella.content.render import pinned_text
from stella.content.render import scoped_text
from stella.content.render import skills_text
from stella.content.select import scoped
from stella.content.select import select
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files import tree
from stella.roster.carried import Carried
from stella.roster.content import Content
from stella.roster.content import Placed
from stella.roster.grants import Grants
from stella.roster.grants import read_grants
from stella.roster.scope import Places
from stella.session.selection import Notice
from stella.turn.facts import MessageAppended
from stella.turn.prompt import guarded

T = TypeVar("T")

AGENTS: Final = "AGENTS.md"
NOTHING_GOVERNED: Final = Governed()
_UTF8_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """The texts of a session, and the guards that act in it.

    `agents` and `pinned` stand in the prefix, empty when there is nothing to say [E-130].
    """

    agents: str = ""
    pinned: str = ""
    offered: tuple[Offer, ...] = ()
    governed: Governed = NOTHING_GOVERNED
    notices: tuple[Notice, ...] = ()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards of person and repository that deny calls [P-65]."""
        return self.governed.guards

    def joining(self, prompt: str) -> MessageAppended | None:
        """Return the one message of skills and scoped records for a prompt, None without [E-132].

        Nothing says which domains are active in this release, so terms alone select [P-34].
        """
        usable = {offer.skill.slug: offer for offer in self.offered if offer.reason is None}
        chosen = select(prompt, [offer.skill for offer in usable.values()])
        skills = skills_text([(usable[skill.slug].plugin, skill) for skill in chosen])
        records = scoped_text(scoped(self.governed.steering, prompt))
        if not skills and not records:
            return None
        text = "\n\n".join(part for part in (skills, records) if part)
        origin = "skills" if skills else "records"
        return MessageAppended(role="user", origin=origin, text=guarded(text))


NOTHING: Final = Steered()
"""A session to which nobody says anything."""


def steered(
    root: Path,
    places: Places | None,
    content: Carried | None,
    *,
    trusted: bool,
    vouched: Mapping[str, str] | None = None,
) -> Steered:
    """Return what steers a session in a canonical workspace `root`. Raises nothing.

    `content` is what was read for the session; what was left out of it is told already. Without
    places there is none; an untrusted workspace brings nothing [P-67, Q-2], a trusted one what it
    is trusted with: `vouched`, as for `read_grants`.
    """
    agents, notices = _agents(root, trusted=trusted)
    if places is None or content is None:
        return Steered(agents=agents, notices=notices)
    grants = read_grants(places, trusted=trusted, vouched=vouched)
    governed = _governed(content, grants)
    offered = offered_by(content)
    return Steered(
        agents=agents,
        pinned=guarded(pinned_text(governed.steering)),
        offered=offered,
        governed=governed,
        notices=(
            *notices,
            *(("guards_not_granted", text) for text in grants.notices),
            *_shadowed(offered),
            *(("record_found", text) for text in governed.notices),
        ),
    )


def offered_by(found: Carried) -> tuple[Offer, ...]:
    """Return every skill that could be read, and whose of two with one name is used [P-33]."""

    def skills(content: Content) -> Skills:
        return _listed(content, content.skills)

    plugins = [(name, skills(content)) for name, content in found.plugins]
    return offers(skills(found.user), skills(found.workspace), plugins)


def _governed(found: Carried, grants: Grants) -> Governed:
    def sets(content: Content) -> Sets:
        return _listed(content, content.rules)

    return govern(
        sets(found.user),
        sets(found.workspace),
        [(name, sets(content)) for name, content in found.plugins],
        approved=grants.approved,
        promoted=grants.promoted,
    )


def _listed(content: Content, placed: Iterable[Placed[T]]) -> list[tuple[str, T]]:
    return [(str(content.directory / each.path), each.value) for each in placed]


def _shadowed(offered: Iterable[Offer]) -> Iterator[Notice]:
    for offer in offered:
        if offer.reason is not None:
            yield "skill_left_out", f"{visible(offer.path)}: left out: {offer.reason}"


# ── AGENTS.md ─────────────────────────────────────────────────────────────────────────


def _agents(root: Path, *, trusted: bool) -> tuple[str, tuple[Notice, ...]]:
    """Return the text of `AGENTS.md` for the prefix, and a notice when it cannot be read [E-130].

    Without trust it is left out unread, which is told with all that is left out so [A-72].
    """
    if not trusted:
        return "", ()
    place = visible(str(root / AGENTS))
    most = limits.AGENTS_CHARS
    try:
        with tree.opened(root) as held:
            # One character more than is shown, whatever its size.
            data = tree.read(held, AGENTS, (most + 1) * _UTF8_BYTES)
    except (OSError, PackageRefused) as error:
        return "", (("agents_left_out", f"{place} is left out: {visible(str(error))}"),)
    if data is None:
        return "", ()
    text = data.decode("utf-8-sig", "replace")
    if len(text) > most:
        text = f"{text[:most]}\n[cut: {AGENTS} has more than {most} characters]"
    return guarded(f"## {AGENTS}\n\n{text.rstrip()}") if text.strip() else "", ()
