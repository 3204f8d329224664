"""The one glob grammar: `*` is any run of characters, `/` too; all else is itself [A-10]."""


def matches(pattern: str, text: str) -> bool:
    """Return whether the whole of `text` fits `pattern`, in time that grows with their product."""
    head, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, tail = rest
    if len(text) < len(head) + len(tail) or not text.startswith(head) or not text.endswith(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for piece in middle:
        # The leftmost place leaves the most room for what follows, so it is never wrong.
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
