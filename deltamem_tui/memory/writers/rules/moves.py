"""An episode's steps as moves: what was done, whether it had an effect, and repeats as loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.memory.writers.rules.wording import key

Effect = Literal["done", "looked", "refused"]
_LONGEST_LOOP = 5


@dataclass(frozen=True, slots=True)
class Move:
    """One step as a dialect understands it.

    Attributes:
        action: What was done, instances replaced by their kinds.
        answer: What came back, shortened, instances replaced by their kinds.
        effect: `done` if it changed something, `looked` if it only showed something,
            `refused` if the environment would not do it.
        reward: What the environment paid for it; 0 if nothing or not known.
        place: Where the agent went with it; empty if it did not move.
        wording: The action as the agent wrote it, to tell a repeat from a further instance.
    """

    action: str
    answer: str
    effect: Effect = "done"
    reward: float = 0.0
    place: str = ""
    wording: str = ""

    @property
    def pair(self) -> str:
        """Action and answer, compared without the values of their numbers."""
        return f"{key(self.action)} → {key(self.answer)}"


@dataclass(frozen=True, slots=True)
class Loop:
    """Moves in a row that were made once or more.

    Attributes:
        moves: The moves of the last round.
        times: The number of rounds.
        before: How the first round was answered at its end.
    """

    moves: tuple[Move, ...]
    times: int = 1
    before: str = ""


def loops(moves: Sequence[Move]) -> list[Loop]:
    """Moves as loops: a block of up to five actions repeated in a row becomes one loop."""
    keys = [key(move.action) for move in moves]
    found: list[Loop] = []
    at = 0
    while at < len(moves):
        width, times = _repeat(keys, at)
        end = at + width * times
        before = moves[at + width - 1].answer
        found.append(Loop(tuple(moves[end - width : end]), times, before))
        at = end
    return found


def _repeat(keys: Sequence[str], at: int) -> tuple[int, int]:
    """The block beginning here that repeats over the most moves: its width and rounds."""
    best = (1, 1)
    for width in range(1, _LONGEST_LOOP + 1):
        block = keys[at : at + width]
        times = 1
        while keys[at + times * width : at + (times + 1) * width] == block:
            times += 1
        if times > 1 and times * width > best[0] * best[1]:
            best = (width, times)
    return best


def written(loop: Loop) -> str:
    """A loop as one line: its actions, and for a repeat how often and how it ended."""
    actions = "; ".join(move.action for move in loop.moves)
    if loop.times == 1:
        return actions
    if loop.moves[-1].answer == loop.before:
        return f"{actions} (repeat, here {loop.times} times)"
    # A semicolon stands between actions, so an aside must not hold one.
    ending = loop.moves[-1].answer.replace(";", ",")
    return f"{actions} (repeat, here {loop.times} times, until: {ending})"


def tallied(moves: Sequence[Move]) -> list[tuple[Move, int]]:
    """Moves of one wording and answer as one, with how often it was made, in first order."""
    firsts: dict[tuple[str, str], Move] = {}
    counts = Counter((move.wording, move.pair) for move in moves)
    for move in moves:
        firsts.setdefault((move.wording, move.pair), move)
    return [(move, counts[same]) for same, move in firsts.items()]
