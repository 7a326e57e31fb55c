"""Timing two or more ways of doing a thing against each other, on a machine that is never quiet.

The ways take turns, round by round, and the fastest round of each is what counts: whatever
else the machine does only ever adds. What is held against a goal is a ratio, because the
seconds of one machine mean nothing on another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Timings:
    """What was measured.

    Attributes:
        seconds: Per way, the seconds of each round.
    """

    seconds: Mapping[str, list[float]]

    def ratio(self, way: str, yardstick: str) -> float:
        """Return how many times the yardstick's time one way takes, fastest round against
        fastest.
        """
        return min(self.seconds[way]) / min(self.seconds[yardstick])

    def paired_ratio(self, way: str, yardstick: str) -> float:
        """Return how many times the yardstick's time one way takes: the median over the rounds.

        For rounds that differ in their work, of which the fastest is not the same for both.
        """
        pairs = zip(self.seconds[way], self.seconds[yardstick], strict=True)
        return median(one / other for one, other in pairs)

    def milliseconds(self) -> dict[str, float]:
        """Return every way's fastest round, for the report."""
        return {f"{way}_ms": 1000 * min(seconds) for way, seconds in self.seconds.items()}


def in_turns(
    ways: Mapping[str, Callable[[int], object]], rounds: int, *, rehearsed: bool = False
) -> Timings:
    """Let every way do its thing in each round, after one round that only warms up.

    Args:
        ways: By name, what is timed; it is told the round's number.
        rounds: How many rounds count.
        rehearsed: Do the thing once, untimed, before each time that counts. Threads of one
            library go on spinning for a while after their work, in the way of the next one.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            if rehearsed:
                way(number)
            started = perf_counter()
            way(number)
            if number:
                seconds[name].append(perf_counter() - started)
    return Timings(seconds)
