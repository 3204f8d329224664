"""The skills there are and which of them may be selected: whose word counts of two [P-33]."""

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from stella.content.skill import Skill
from stella.escape import brief
from stella.escape import visible

Skills = Sequence[tuple[str, Skill]]
"""The skills of one origin in their order, each with the path a person is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One skill that could be read, its origin and path, and why it is not used, if so.

    `origin` is `user`, `workspace` or `plugin:<name>`; `plugin` is None for the first two.
    """

    origin: str
    path: str
    skill: Skill
    plugin: str | None = None
    reason: str | None = None


def offers(
    user: Skills = (), workspace: Skills = (), plugins: Iterable[tuple[str, Skills]] = ()
) -> tuple[Offer, ...]:
    """Return every skill, those of the person, the workspace and the plugins by name [P-33].

    Of two with one name the workspace's goes before the person's, and a plugin's is used only
    where the name is free.
    """
    chosen: dict[str, int] = {}
    every: list[Offer] = []
    for origin, skills in (("user", user), ("workspace", workspace)):
        for path, skill in skills:
            offer = Offer(origin=origin, path=path, skill=skill)
            older = chosen.get(skill.slug)
            if older is not None:
                every[older] = replace(every[older], reason=_taken(offer))
            chosen[skill.slug] = len(every)
            every.append(offer)
    for name, skills in sorted(plugins, key=lambda each: each[0]):
        for path, skill in skills:
            other = chosen.get(skill.slug)
            offer = Offer(
                origin=f"plugin:{name}",
                path=path,
                skill=skill,
                plugin=name,
                reason=None if other is None else _taken(every[other]),
            )
            chosen.setdefault(skill.slug, len(every))
            every.append(offer)
    return tuple(every)


def _taken(by: Offer) -> str:
    return f"the name {brief(by.skill.slug)} is that of {visible(by.path)}"
