"""How often and how long to wait for a model that does not answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """When to try a call again.

    Attributes:
        retries: How many more times after the first.
        first: Seconds before the first retry; each later wait doubles.
        longest: The longest wait of our own, in seconds.
        obeys: The longest wait that a server may ask for; one that asks for more is given up.
    """

    retries: int = 5
    first: float = 1.0
    longest: float = 60.0
    obeys: float = 300.0

    def wait(self, failures: int, asked: float | None, chance: float) -> float | None:
        """Seconds to wait before the next try; None to give up.

        Args:
            failures: How many tries have failed, at least 1.
            asked: What the server asked for; None if it did not say.
            chance: A number in [0, 1) that spreads the tries of many clients.
        """
        if failures > self.retries:
            return None
        if asked is not None and asked > self.obeys:
            return None
        own = min(self.first * 2.0 ** (failures - 1), self.longest) * (0.5 + chance / 2)
        return max(own, asked or 0.0)
