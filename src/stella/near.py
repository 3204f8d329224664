"""Near misses: which legal word somebody probably meant [M-8, Q-22]."""

from collections.abc import Iterable

from stella import limits


def near(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of `candidates` that are near `word`, nearest first.

    A candidate qualifies when its distance is at most 2 and smaller than its length, both
    case-folded and with `_` read as `-`. Ties stand in byte order [M-8].
    """
    written = _folded(word)
    found: list[tuple[int, bytes, str]] = []
    for candidate in set(candidates):
        folded = _folded(candidate)
        if abs(len(folded) - len(written)) > limits.NEAR_DISTANCE:
            continue
        far = distance(written, folded)
        if far <= limits.NEAR_DISTANCE and far < len(candidate):
            found.append((far, candidate.encode("utf-8", "surrogatepass"), candidate))
    return tuple(name for _, _, name in sorted(found)[: limits.NEAR_SHOWN])


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """Return the clause that ends a message about an unknown `word`, or an empty string.

    Near words when there are any; else the whole vocabulary when it holds 20 or fewer [M-8].
    """
    legal = tuple(candidates)
    return clause(near(word, legal), legal)


def clause(found: tuple[str, ...], legal: tuple[str, ...]) -> str:
    """Return the clause of `suggestion` for near words that are known already."""
    if found:
        return f"did you mean {' or '.join(found)}?"
    if legal and len(legal) <= limits.VOCABULARY_SHOWN:
        return f"legal here: {', '.join(legal)}"
    return ""


def distance(left: str, right: str) -> int:
    """Return the optimal string alignment distance of two texts over characters [Q-22]."""
    older: list[int] = []
    old = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            best = min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        older, old = old, row
    return old[-1]


def _folded(text: str) -> str:
    return text.casefold().replace("_", "-")
