"""How bad a tool call can be [A-2]. The word a person is shown is the word the gate reads."""

from stella.codec import Word


class Risk(Word):
    """The four grades, in rising order [A-2, M-50]."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    DESTRUCTIVE = "destructive"

    @property
    def rank(self) -> int:
        """Return 0 for the lowest grade to 3 for the highest."""
        return tuple(Risk).index(self)


def risk_of(token: str) -> Risk | None:
    """Return the grade a token names, or None; a reader takes None as destructive [A-2, M-52]."""
    return next((grade for grade in Risk if grade.value == token), None)
