"""Workflows without a model: the patterns that the solved tasks of a kind have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.awm.definition import INDUCE, KIND, MOST, TASKS
from deltamem_tui.memory.findings import blanked, effective_actions, shortcut
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

LEAST_STEPS = 2
_LEAST_SUPPORT = 2
_LONGEST = 30
_STEP = re.compile(r"\s*\d{1,4}[.)]\s+(\S.*)")
_BLANK = re.compile(r"(?<!\w)\[[^\[\]]+\]")  # brackets after a word are a shop's: click[{item}]


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,  # noqa: ARG001 - workflows come from several episodes
    notes: Sequence[Node],  # noqa: ARG001 - what recurs does so without them
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Write the workflows of a kind.

    They are the patterns of two actions or more that two of its tasks or more have in common, the
    weightiest first. Where there are none, as with a single task, it is the shortest way.

    Raises:
        ExtractionError: Something else is wanted.
    """
    if purpose != INDUCE:
        raise ExtractionError(f"AWM does not write {purpose} by rules")
    title, texts = str(inputs[KIND]), inputs[TASKS]
    ways = [actions_in(text) for text in ([texts] if isinstance(texts, str) else texts)]
    whole = dict.fromkeys(completed(each, ways) for each in closed_patterns(ways))
    if patterns := chosen(whole):
        first, *others = (each.actions for each in patterns)
        further = [_workflow(f"{title}: {way[0]} … {way[-1]}", way) for way in others]
        reason = f"what {counted(len(ways), 'solved task')} have in common"
        return Extraction(_workflow(title, first), reason, further=tuple(further))
    ways = [way for way in ways if len(way) >= LEAST_STEPS]
    if not ways:
        return Extraction(None, "no task took two steps")
    return Extraction(_workflow(title, min(ways, key=len)), "the shortest way that is known")


def _workflow(title: str, actions: Sequence[str]) -> dict[str, str]:
    return {"title": title, "steps": "\n".join(numbered(actions))}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Actions that several sequences have, and in how many (`support`)."""

    actions: tuple[str, ...]
    support: int

    @property
    def weight(self) -> int:
        """What it saves: each occurrence in place of its actions one by one."""
        return self.support * (len(self.actions) - 1)


def closed_patterns(
    sequences: Sequence[Sequence[str]], least_support: int = _LEAST_SUPPORT
) -> list[Pattern]:
    """Return all runs of two actions to thirty that enough sequences have, the weightiest first.

    One that a longer one with the same support holds is left out. Runs are grown by one action at
    a time, from where shorter ones were frequent.
    """
    support: dict[tuple[str, ...], int] = {}
    places = {(at, start) for at, one in enumerate(sequences) for start in range(len(one))}
    for length in range(1, _LONGEST + 1):
        grown: dict[tuple[str, ...], set[tuple[int, int]]] = defaultdict(set)
        for at, start in places:
            if start + length <= len(sequences[at]):
                grown[tuple(sequences[at][start : start + length])].add((at, start))
        having = {run: len({at for at, _ in where}) for run, where in grown.items()}
        frequent = {run: count for run, count in having.items() if count >= least_support}
        places = {place for run in frequent for place in grown[run]}
        if length >= LEAST_STEPS:
            support |= frequent
    held = {
        part
        for run, count in support.items()
        for part in (run[1:], run[:-1])
        if support.get(part) == count
    }
    return sorted((Pattern(run, support[run]) for run in support.keys() - held), key=_rank)


def _rank(pattern: Pattern) -> tuple[int, int, tuple[str, ...]]:
    return -pattern.weight, -pattern.support, pattern.actions


def completed(pattern: Pattern, sequences: Sequence[Sequence[str]]) -> Pattern:
    """Return a pattern with what all its sequences have before and after it, in order.

    So a last step stays, though one of them does something else before it.
    """
    size = len(pattern.actions)
    parts = [
        (tuple(one[:at]), tuple(one[at + size :]))
        for one in sequences
        for at in [at for at in range(len(one)) if tuple(one[at : at + size]) == pattern.actions][
            :1
        ]
    ]
    before, after = (reduce(_common, each) for each in zip(*parts, strict=True))
    actions = (*before, *pattern.actions, *after)
    return Pattern(actions, sum(occurs(actions, one) for one in sequences))


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return what two sequences have in common, in order."""
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return tuple(action for same in blocks for action in first[same.a : same.a + same.size])


def occurs(actions: Sequence[str], sequence: Iterable[str]) -> bool:
    """Return whether actions occur in a sequence in their order, with anything between them."""
    rest = iter(sequence)
    return all(action in rest for action in actions)


def chosen(patterns: Iterable[Pattern], most: int = MOST) -> list[Pattern]:
    """At most so many patterns, the weightiest first, each at least half new beside each other."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=_rank):
        if len(kept) < most and all(_overlap(pattern, other) <= 0.5 for other in kept):
            kept.append(pattern)
    return kept


def _overlap(first: Pattern, second: Pattern) -> float:
    """Return the longest run that two patterns share, as a share of the shorter one."""
    matcher = SequenceMatcher(None, first.actions, second.actions, autojunk=False)
    return matcher.find_longest_match().size / min(len(first.actions), len(second.actions))


def actions_in(text: str) -> list[str]:
    """Return the actions of numbered steps, with single spaces."""
    found = (_STEP.fullmatch(line) for line in text.splitlines())
    return [" ".join(step[1].split()) for step in found if step]


def same_steps(text: str) -> str:
    """Return what two workflows with the same steps have in common, remarks aside."""
    return "\n".join(actions_in(text)).casefold()


def way_of(episode: Trajectory) -> str:
    """Return the shortest way to the goal that an episode shows, as numbered steps with blanks."""
    return "\n".join(numbered(shortcut(skimmed(episode)).plan))


def was_done(steps: str, episode: Trajectory) -> bool:
    """Return whether the steps of a workflow occur in an episode in their order."""
    read = skimmed(episode)
    done = blanked(read, effective_actions(read)), actions_in(way_of(episode))
    return any(occur(actions_in(steps), each) for each in done)


def occur(steps: Sequence[str], actions: Iterable[str]) -> bool:
    """Return whether actions fill all steps in their order; of no steps it is not said."""
    rest = iter(actions)
    return bool(steps) and all(any(_fills(step, action) for action in rest) for step in steps)


def _fills(step: str, action: str) -> bool:
    """Return whether an action is a step, with any words at its blanks."""
    first, *rest = map(re.escape, _BLANK.split(_folded(step)))
    if not rest:
        return _folded(step) == _folded(action)
    # Atomic groups keep hostile texts from costing more than their length.
    middle = "".join(f"(?>.+?{piece})" for piece in rest[:-1])
    return bool(re.fullmatch(f"{first}{middle}.+{rest[-1]}", _folded(action)))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
