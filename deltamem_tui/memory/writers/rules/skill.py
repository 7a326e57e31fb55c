"""Skills for the task tree: how a success went, and what a failure ran into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.memory.writers.failure_markers import FAILED, PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.memory.writers.rules.dialect import Dialect, Goal, Move, tallied
from deltamem_tui.memory.writers.rules.edits import difference
from deltamem_tui.memory.writers.rules.procedure import Procedure, text_of
from deltamem_tui.memory.writers.rules.wording import (
    ARROW,
    Known,
    condense,
    distinct,
    key,
    payload_of,
    procedure_lines,
    record_lines,
    shortened,
    unlike,
)
from deltamem_tui.trajectory.model import Trajectory

_STEPS = 80
_TRAPS = 6
_FRUITLESS = 4
_NEW_TRAPS = 2
_NEW_UNEXPLORED = 1
_NEW_ANSWER_WORDS = 8
_TRIED_LINES = 8
_UNEXPLORED = 6


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as its dialect understands it."""

    trajectory: Trajectory
    dialect: Dialect
    goal: Goal
    moves: tuple[Move, ...]

    @classmethod
    def read(cls, trajectory: Trajectory, dialect: Dialect) -> Episode:
        """Understand an episode."""
        goal = dialect.goal(trajectory)
        return cls(trajectory, dialect, goal, tuple(dialect.moves(trajectory, goal)))

    def trigger(self, chain: Sequence[Node]) -> str:
        """The activation condition of what this episode adds to a chain.

        The first node on a kind of goal speaks for the kind, with nothing but the goal's
        own words, so that it is found from any instance of it. A later one names its
        instances, so that it is found before the general one where they come up again.
        A failure does not speak for the kind to a success: failures are pushed down in
        recall, and the first way that works must not be.
        """
        if self.is_spoken_for(chain) and self.goal.variant:
            return f"{self.goal.trigger} ({self.goal.variant})"
        return self.goal.trigger

    def is_spoken_for(self, chain: Sequence[Node]) -> bool:
        """Whether a node of the chain speaks for this kind of goal."""
        general = self.goal.trigger.casefold()
        return any(
            (node.label == "success" or not self.trajectory.outcome.success)
            and node.payload["activation_condition"].casefold().startswith(general)
            for node in chain
        )


def success(episode: Episode, chain: Sequence[Node]) -> Extraction:
    """What a success teaches: the whole way, or where it differs from the chain's.

    Put together with its chain, what is written gives this episode's own commands again.
    """
    steps = shortened(episode.dialect.procedure(episode.moves), _STEPS)
    if not steps:
        return Extraction(None, "no action of this episode had an effect")
    names = dict(episode.goal.slots)
    known = Procedure.of(chain)
    if known is None or not known.steps:
        reason = "the first way that works" if chain else "no match: the whole procedure"
        return Extraction(_skill(episode, chain, text_of(steps, names)), reason)
    if tuple(steps) == known.steps and (not names or names == known.names):
        return Extraction(None, "the chain has this way already")
    text = text_of(steps, names, known.steps)
    changes = len(difference(known.steps, steps))
    reason = f"differs from the chain in {changes} places" if changes else "worked with other names"
    return Extraction(payload_of(episode.trigger(chain), text), reason)


def failure(episode: Episode, chain: Sequence[Node]) -> Extraction:
    """What a failure teaches: what was tried and answered, and what was not tried."""
    traps = _traps(episode)
    known = {_gist(line) for line in record_lines(chain)}
    fresh = [trap for trap in traps if _gist(trap) not in known]
    fresh.sort(key=lambda trap: trap.startswith(TRIED))  # what failed by itself comes first
    if chain and not fresh:
        return Extraction(None, "the chain warns of everything that failed here")
    unexplored = Known(record_lines(chain)).lacks(
        episode.dialect.unexplored(episode.trajectory, episode.goal)
    )
    if episode.is_spoken_for(chain) and not unexplored and fresh[0].startswith(TRIED):
        return Extraction(None, "nothing failed here by itself, and the chain knows the goal")
    if chain:
        lines = [_briefly(trap) for trap in fresh[:_NEW_TRAPS]] + _earned(episode)
        unexplored = unexplored[:_NEW_UNEXPLORED]
    else:
        lines = _tried(episode) + fresh + _earned(episode)
        unexplored = unexplored[:_UNEXPLORED]
    if unexplored:
        lines.append(f"{UNEXPLORED} {'; '.join(unexplored)}")
    reason = "a trap the chain does not handle" if chain else "no match: a failure record"
    return Extraction(payload_of(episode.trigger(chain), "\n".join(lines)), reason)


def _skill(episode: Episode, chain: Sequence[Node], text: str) -> dict[str, str]:
    did = [move for move in episode.moves if move.effect == "done"]
    paid = [move for move in episode.moves if move.reward > 0]
    last = (paid or did)[-1]
    ending = f"`{last.action}` is answered: {last.answer}"
    return payload_of(episode.trigger(chain), text, ending)


def _traps(episode: Episode) -> list[str]:
    """What was refused or cost reward, what was done over and over, and how the episode ended."""
    last = episode.moves[-1]
    counted = [
        (move, times)
        for move, times in tallied(episode.moves)
        if _failed(move) or times >= _FRUITLESS
    ]
    counted.sort(key=lambda pair: (not _failed(pair[0]), -pair[1]))
    lines = [_trap(move, times) for move, times in counted]
    times = sum(move.wording == last.wording for move in episode.moves)
    lines.insert(0, _trap(last, times, "the last try"))
    return unlike(lines, _gist)[:_TRAPS]


def _failed(move: Move) -> bool:
    return move.effect == "refused" or move.reward < 0


def _trap(move: Move, times: int, aside: str = "") -> str:
    often = f"{times} times" if times > 1 else ""
    asides = ", ".join(part for part in (often, aside) if part)
    mark = FAILED if _failed(move) else TRIED
    return f"{mark} {move.action}{f' ({asides})' if asides else ''}{ARROW}{move.answer}"


def _gist(record: str) -> str:
    """The action of a record line and how its answer begins, without marks and counts."""
    action, _, answer = record.removeprefix(FAILED).removeprefix(TRIED).partition(ARROW)
    return f"{key(action)}{ARROW}{key(condense(answer, _NEW_ANSWER_WORDS))}"


def _briefly(trap: str) -> str:
    """A trap with its answer cut to how it begins."""
    action, arrow, answer = trap.partition(ARROW)
    return f"{action}{arrow}{condense(answer, _NEW_ANSWER_WORDS)}"


def _tried(episode: Episode) -> list[str]:
    """What the episode did before it failed, in order; none of it solved the task."""
    lines = episode.dialect.procedure(episode.moves)
    return [f"{TRIED} {'; '.join(shortened(lines, _TRIED_LINES))}"] if lines else []


def _earned(episode: Episode) -> list[str]:
    """Which part of a failed episode worked, where the environment paid for it."""
    reward = episode.trajectory.outcome.reward
    if reward is None or not 0 < reward < 1:
        return []
    paid = distinct(move.action for move in episode.moves if move.reward > 0)
    up_to = f", the last of it for: {paid[-1]}" if paid else ""
    return [f"{PARTIAL} {reward:.0%} of the reward{up_to}"]


def fused_skill(chain: Sequence[Node]) -> Extraction:
    """A chain as one self-contained skill, found by the match's activation condition."""
    known = Procedure.of(chain)
    steps = known.steps if known else tuple(procedure_lines(chain))
    names = (known and known.names) or {}
    text = text_of(steps, names)
    warnings = _warnings(record_lines(chain), steps)
    endings = [node.payload["termination_condition"] for node in chain]
    ending = next((text for text in reversed(endings) if text), "")
    payload = payload_of(
        chain[-1].payload["activation_condition"],
        "\n".join([*warnings, *filter(None, [text])]),
        ending,
    )
    return Extraction(payload, f"{len(chain)} nodes fused")


def _warnings(records: Sequence[str], steps: Sequence[str]) -> list[str]:
    """What failed, each once, and what is still untried when the steps are known."""
    known = Known(steps)
    warnings: list[str] = []
    for record in records:
        line = record
        if line.startswith(UNEXPLORED):
            untried = known.lacks(line.removeprefix(UNEXPLORED).strip().split("; "))
            line = f"{UNEXPLORED} {'; '.join(untried)}" if untried else ""
        if line and not (line.startswith((TRIED, PARTIAL)) and steps):
            warnings.append(line)
    return unlike(warnings)
