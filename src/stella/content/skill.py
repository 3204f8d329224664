"""A skill's file: a text that joins a prompt when it matches [P-30, P-31]."""

from dataclasses import dataclass

from stella.content.reading import Reading
from stella.escape import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill as its file says."""

    name: str
    description: str
    body: str


def read_skill(data: bytes, directory: str) -> Reading[Skill]:
    """Return the skill in the bytes of a file that stands in `directory` [P-30]."""
    _, _, rest = data.decode("utf-8", "replace").partition("---\n")
    head, _, body = rest.partition("---\n")
    keys = dict(line.partition(": ")[::2] for line in head.split("\n"))
    if not keys.get("description") or not body.strip():
        return Reading(value=None, faults=(f"{visible(directory)}: no description or no body",))
    name = keys.get("name", directory)
    return Reading(value=Skill(name=name, description=keys["description"], body=body))
