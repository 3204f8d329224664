"""How far a plugin takes part in a run [M-59]: one word per grade, the ladder in rising order.

The word stands in a manifest, in the consent text, in the journal and in the grant that
`again` reads. What a grade allows is the manifest's table, not here.
"""

from stella.codec import Word


class Grade(Word):
    """The four grades of participation; each includes the ones before it [M-59, J-4]."""

    NONE = "none"
    OBSERVER = "observer"
    STEERING = "steering"
    ARBITER = "arbiter"

    @property
    def rank(self) -> int:
        """Return 0 for the lowest grade to 3 for the highest."""
        return tuple(Grade).index(self)
