"""Lift: how episodes ended with memory and without, within kinds of task.

It compares episodes that happened, and none was drawn by lot.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.ledger import Source
from deltamem_tui.memory.episodes.credit import use_of
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.kinds import kind_of
from deltamem_tui.text import counted

_Z = 1.959963984540054
"""The 0.975 quantile of the normal distribution: intervals are of 95 %."""


@dataclass(frozen=True, slots=True)
class Share:
    """Successes among judged episodes."""

    judged: int = 0
    successes: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)."""
        n, mean = self.judged, self.successes / self.judged
        around, whole = _Z * sqrt(mean * (1 - mean) / n + (_Z / 2 / n) ** 2), 1 + _Z**2 / n
        middle = mean + _Z**2 / (2 * n)
        low, high = (middle - around) / whole, (middle + around) / whole
        # What rounding leaves of a bound that is 0 or 1.
        return (low if self.successes else 0.0), (high if self.successes < n else 1.0)

    def __str__(self) -> str:
        return f"{self.successes:,} of {self.judged:,}" if self.judged else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two shares, and where it may lie."""

    value: float
    low: float
    high: float


def difference(pairs: Iterable[tuple[Share, Share]]) -> Difference | None:
    """Return the mean of first shares less second ones, pair by pair, with its interval.

    Pairs are weighted by n1 n2 / (n1 + n2) as Mantel and Haenszel do, so that a kind of task that
    is easy and shown often does not pass for help. The interval takes, of each share, the distance
    from its mean to Wilson's bound (Newcombe 1998, method 10; Zou and Donner 2008). Pairs of which
    one side has no episode are left out; None if no pair is left.
    """
    both = [(a, b) for a, b in pairs if a.judged and b.judged]
    weights = [a.judged * b.judged / (a.judged + b.judged) for a, b in both]
    value = below = above = 0.0
    for (a, b), each in zip(both, weights, strict=True):
        weight, mine, other = each / sum(weights), a.successes / a.judged, b.successes / b.judged
        (low, high), (least, most) = a.interval, b.interval
        value += weight * (mine - other)
        below += weight**2 * ((mine - low) ** 2 + (most - other) ** 2)
        above += weight**2 * ((high - mine) ** 2 + (other - least) ** 2)
    return Difference(value, value - sqrt(below), value + sqrt(above)) if both else None


@dataclass(frozen=True, slots=True)
class BankLift:
    """The evidence of receipts and verdicts on a bank.

    Attributes:
        kinds: Per kind of task, the judged episodes with memory and without.
        episodes: All episodes of the bank.
        without_receipt: How many of them do not say what they were shown; they are left out.
        without_verdict: How many of the others neither log nor person judged.
    """

    kinds: Mapping[str, tuple[Share, Share]]
    episodes: int
    without_receipt: int
    without_verdict: int

    def record(self) -> dict[str, Any]:
        """Return it as commands print it."""
        kinds = [
            {"kind": name, "with_memory": asdict(some), "without_memory": asdict(none)}
            for name, (some, none) in self.kinds.items()
        ]
        found = difference(self.kinds.values())
        return asdict(self) | {"difference": asdict(found) if found else None, "kinds": kinds}

    def notes(self) -> list[str]:
        """Return what a person has to know to read the numbers."""
        if self.without_receipt == self.episodes:
            return [
                "no episode says what it was shown; see `recall --receipt` and `import --receipts`"
            ]
        notes = ["no kind of task has judged episodes both with memory and without"]
        if found := difference(self.kinds.values()):
            said = "too few to tell them apart"
            if found.low > 0 or found.high < 0:
                said = f"those with memory succeeded {'more' if found.value > 0 else 'less'} often"
            value = f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
            notes = [f"within kinds, success with memory less that without: {value}; {said}"]
        if self.without_receipt or self.without_verdict:
            notes.append(
                f"of {counted(self.episodes, 'episode')} left out: {self.without_receipt:,} "
                f"without a receipt, {self.without_verdict:,} without a verdict"
            )
        notes.append(
            "episodes were not assigned at random: one that was shown nothing is often the first "
            "of its kind"
        )
        return notes


def bank_lift(bank: Bank) -> BankLift:
    """Compare episodes with memory and without; reads every one once.

    An episode ended as a person says, else the log.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    sources: tuple[Source, ...] = ("user", "stated")
    ended: defaultdict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    total = without_receipt = without_verdict = 0
    for episode in episodes(bank):
        total += 1
        use = use_of(episode)
        if use is None:
            without_receipt += 1
        elif said := [use.words[each][0] for each in sources if each in use.words]:
            ended[kind_of(bank, episode)][bool(use.nodes), said[0]] += 1
        else:
            without_verdict += 1

    kinds = {
        kind: (
            Share(counts[True, True] + counts[True, False], counts[True, True]),
            Share(counts[False, True] + counts[False, False], counts[False, True]),
        )
        for kind, counts in ended.items()
    }
    return BankLift(kinds, total, without_receipt, without_verdict)
