"""Which skills fit a prompt, and which scoped records: pure functions of text [P-34, P-51]."""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from stella import limits
from stella.authority.glob import matches
from stella.content.govern import Standing
from stella.content.record import AppliesTo
from stella.content.skill import Origin
from stella.content.skill import Skill
from stella.content.words import paths
from stella.content.words import terms
from stella.content.words import words

_PER_DOMAIN: Final = Fraction(1, 2)
_FOR_AUTO: Final = Fraction(2, 100)
_LEAST: Final = Fraction(8, 100)
_SHARED: Final = 2


def select(prompt: str, skills: Iterable[Skill], domains: Iterable[str] = ()) -> tuple[Skill, ...]:
    """Return the skills that fit a prompt, best first, at most `limits.SKILLS_SELECTED` [P-34].

    `domains` are those that are active. Ties stand by name, by code point [E-141].
    """
    wanted = terms(prompt)
    active = {domain.casefold() for domain in domains}
    scored = [(_score(skill, wanted, active), skill) for skill in skills]
    fitting = [(score, skill) for score, skill in scored if score is not None]
    fitting.sort(key=lambda each: (-each[0], each[1].slug))
    return tuple(skill for _, skill in fitting[: limits.SKILLS_SELECTED])


def _score(skill: Skill, wanted: frozenset[str], active: set[str]) -> Fraction | None:
    """Return the score of a skill, None for one that does not fit."""
    own = terms(f"{skill.slug} {skill.description}")
    shared = len(own & wanted)
    matched = sum(domain.casefold() in active for domain in skill.domains)
    score = Fraction(shared, len(own)) if own else Fraction(0)
    score += _PER_DOMAIN * matched
    if skill.origin is Origin.AUTO:
        score += _FOR_AUTO
    fits = (matched or shared >= _SHARED) and score >= _LEAST
    return score if fits else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prompt as records are matched with it."""

    text: str
    words: frozenset[str]
    paths: tuple[str, ...]

    @classmethod
    def of(cls, prompt: str) -> "Asked":
        """Read a prompt; its first `limits.MATCHED_CHARS` characters count."""
        text = prompt[: limits.MATCHED_CHARS].lower()
        return cls(text=text, words=words(prompt), paths=paths(prompt))


def scoped(records: Sequence[Standing], prompt: str) -> tuple[Standing, ...]:
    """Return the records of the volatile part that fit a prompt, in their order [P-51]."""
    asked = Asked.of(prompt)
    return tuple(
        each
        for each in records
        if not each.record.pinned
        and each.record.steering is not None
        and fits(each.record.steering.applies_to, asked)
    )


def fits(applies: AppliesTo, asked: Asked) -> bool:
    """Return whether any populated dimension matches; one that has none fits nothing [P-51]."""
    return any(_matching(applies, asked))


def _matching(applies: AppliesTo, asked: Asked) -> Iterator[bool]:
    yield any(_stands(word.lower().split(), asked) for word in applies.tasks)
    for keyword in applies.keywords:
        said = keyword.lower().split()
        yield " ".join(said) in asked.text if len(said) > 1 else _stands(said, asked)
    for pattern in applies.paths:
        yield any(matches(pattern.removeprefix("./"), path) for path in asked.paths)


def _stands(said: list[str], asked: Asked) -> bool:
    """Return whether one word stands whole in a prompt; one with signs in it is looked for."""
    word = " ".join(said)
    if not word or word in asked.words or word.isalnum():
        return word in asked.words
    if word not in asked.text:  # which is told a hundred times as fast
        return False
    return re.search(f"(?<!\\w){re.escape(word)}(?!\\w)", asked.text) is not None
