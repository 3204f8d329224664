"""Near misses: which legal word somebody probably meant [M-8, Q-22]."""

from collections.abc import Iterable

from stella import limits


def near(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of `candidates` that are near `word`, nearest first.

    A candidate qualifies when its distance is at most 2 and smaller than its length, both
    case-folded and with `_` read as `-`. Ties stand in byte order [M-8].
    """
    written = _folded(word)
    letters = frozenset(written)
    found: list[tuple[int, bytes, str]] = []
    for candidate in set(candidates):
        folded = _folded(candidate)
        # An edit brings in one new letter at most, and most words are told apart by that.
        if len(letters.difference(folded)) > limits.NEAR_DISTANCE:
            continue
        far = _within(written, folded, limits.NEAR_DISTANCE)
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


def _within(left: str, right: str, most: int) -> int:
    """Return the distance of two texts, or a number above `most` when it is above.

    Equal beginnings cost nothing, and each difference is one of four edits, so few steps are
    looked at, whatever the lengths. `most` is small.
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if same is None:
        return abs(len(left) - len(right))
    if most == 0:
        return 1
    left, right = left[same:], right[same:]
    ends = [(left[1:], right[1:]), (left[1:], right), (left, right[1:])]
    if left[:2] == right[1::-1]:
        ends.append((left[2:], right[2:]))
    return 1 + min(_within(*rest, most - 1) for rest in ends)


def _folded(text: str) -> str:
    return text.casefold().replace("_", "-")
