"""What several sequences have in common: frequent patterns of actions side by side (AWM's rules).

A pattern is closed if no longer one that holds it occurs in as many sequences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce

_LEAST_LENGTH = 2
_LEAST_SUPPORT = 2
_MOST = 8
_LONGEST = 30


@dataclass(frozen=True, slots=True)
class Pattern:
    """Actions that occur side by side in several sequences.

    Attributes:
        actions: The actions, in order.
        support: In how many sequences they occur.
    """

    actions: tuple[str, ...]
    support: int

    @property
    def weight(self) -> int:
        """What it saves: each occurrence in place of its actions one by one."""
        return self.support * (len(self.actions) - 1)


def closed_patterns(
    sequences: Sequence[Sequence[str]], least_support: int = _LEAST_SUPPORT
) -> list[Pattern]:
    """All closed patterns of two actions to thirty, the weightiest first.

    Args:
        sequences: One an episode. A pattern counts once in each.
        least_support: In how many of them a pattern occurs at least.
    """
    support = _frequent(sequences, least_support)
    closed = set(support)
    for pattern, count in support.items():
        for part in (pattern[1:], pattern[:-1]):
            if support.get(part) == count:
                closed.discard(part)
    patterns = [Pattern(pattern, support[pattern]) for pattern in closed]
    return sorted(patterns, key=_rank)


def _frequent(sequences: Sequence[Sequence[str]], least_support: int) -> dict[tuple[str, ...], int]:
    """The patterns that occur often enough, with their support, grown one action at a time."""
    found: dict[tuple[str, ...], int] = {}
    places = {(at, start) for at, one in enumerate(sequences) for start in range(len(one))}
    for length in range(1, _LONGEST + 1):
        grown: dict[tuple[str, ...], set[tuple[int, int]]] = defaultdict(set)
        for at, start in places:
            if start + length <= len(sequences[at]):
                grown[tuple(sequences[at][start : start + length])].add((at, start))
        frequent = {
            pattern: where
            for pattern, where in grown.items()
            if len({at for at, _ in where}) >= least_support
        }
        if length >= _LEAST_LENGTH:
            found |= {one: len({at for at, _ in where}) for one, where in frequent.items()}
        places = {place for where in frequent.values() for place in where}
    return found


def completed(pattern: Pattern, sequences: Iterable[Sequence[str]]) -> Pattern:
    """The pattern with what all its sequences have before and after it, whatever lies between.

    So a last step stays, though one of them does something else before it.
    """
    size, sequences = len(pattern.actions), list(sequences)
    found = [(one, at) for one in sequences if (at := _start_of(pattern, one)) is not None]
    before = reduce(_common, (tuple(one[:at]) for one, at in found))
    after = reduce(_common, (tuple(one[at + size :]) for one, at in found))
    actions = (*before, *pattern.actions, *after)
    return Pattern(actions, sum(occurs(actions, one) for one in sequences))


def _start_of(pattern: Pattern, sequence: Sequence[str]) -> int | None:
    """Where a pattern stands in a sequence first, side by side; None if it does not."""
    size = len(pattern.actions)
    starts = range(len(sequence) - size + 1)
    return next((at for at in starts if tuple(sequence[at : at + size]) == pattern.actions), None)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """What two sequences have in common, in order."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return tuple(
        action for same in matcher.get_matching_blocks() for action in first[same.a :][: same.size]
    )


def chosen(patterns: Iterable[Pattern], most: int = _MOST) -> list[Pattern]:
    """At most so many patterns, the weightiest first, each at least half new beside each other."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=_rank):
        if len(kept) < most and all(_overlap(pattern, other) <= 0.5 for other in kept):
            kept.append(pattern)
    return kept


def _rank(pattern: Pattern) -> tuple[int, int, tuple[str, ...]]:
    return -pattern.weight, -pattern.support, pattern.actions


def _overlap(first: Pattern, second: Pattern) -> float:
    """The longest run that two patterns share, as a share of the shorter one."""
    longest, ends = 0, [0] * (len(second.actions) + 1)
    for action in first.actions:
        ends = [0] + [
            ends[at] + 1 if action == other else 0 for at, other in enumerate(second.actions)
        ]
        longest = max(longest, *ends)
    return longest / min(len(first.actions), len(second.actions))


def occurs(actions: Sequence[str], sequence: Iterable[str]) -> bool:
    """Whether actions occur in a sequence in their order, with anything between them."""
    rest = iter(sequence)
    return all(action in rest for action in actions)
