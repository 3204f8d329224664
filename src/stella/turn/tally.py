"""What a turn or a run used: tokens, calls and money, unknown kept apart from zero [E-82, E-85]."""

from decimal import Decimal

from stella.message import Reply
from stella.turn.facts import ModelReplied
from stella.turn.facts import UsageTotal


class Tally:
    """Adds up replies. Money is summed in decimals and rounded half-even to 8 places [M2-63]."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(
            (
                "input_tokens",
                "output_tokens",
                "cached_input_tokens",
                "cache_write_tokens",
                "reasoning_tokens",
                "model_calls",
                "unreported_calls",
                "unpriced_calls",
            ),
            0,
        )
        self._money = Decimal(0)

    def charge(self, reply: Reply | ModelReplied) -> None:
        """Add one reply, or the record of one."""
        counts, usage = self._counts, reply.usage
        counts["input_tokens"] += usage.input_tokens
        counts["output_tokens"] += usage.output_tokens
        counts["cached_input_tokens"] += usage.cached_input_tokens or 0
        counts["cache_write_tokens"] += usage.cache_write_tokens or 0
        counts["reasoning_tokens"] += usage.reasoning_tokens or 0
        counts["model_calls"] += 1
        counts["unreported_calls"] += not usage.reported
        if reply.cost_usd is None:
            counts["unpriced_calls"] += 1
        else:
            self._money += Decimal(str(reply.cost_usd))

    def add(self, other: "Tally") -> None:
        """Add everything of another tally."""
        for key, count in other._counts.items():  # noqa: SLF001  # the same class
            self._counts[key] += count
        self._money += other._money  # noqa: SLF001  # the same class

    @property
    def known_usd(self) -> Decimal:
        """The part of the cost that is known, exact."""
        return self._money

    @property
    def unpriced(self) -> int:
        """How many calls have no known cost [E-82]."""
        return self._counts["unpriced_calls"]

    @property
    def usage(self) -> UsageTotal:
        """The counts and the part of the cost that is known."""
        return UsageTotal(known_cost_usd=self._rounded(), **self._counts)

    @property
    def cost_usd(self) -> float | None:
        """The whole cost, or None as soon as one call has no price [E-82]."""
        return None if self._counts["unpriced_calls"] else self._rounded()

    def _rounded(self) -> float:
        return float(round(self._money, 8))
