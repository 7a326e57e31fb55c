"""Memories that keep old episodes as they were: what a method has to be better than."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.lab.contestants.memory import MemorySize, MemoryText
from deltamem_tui.lab.environment import Start
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

GameOf = Callable[[Trajectory], str]
"""The game that an episode was made in; empty if that is not known."""

Nearest = Callable[[str, Sequence[Trajectory]], Trajectory]
"""The one of some episodes, at least one, that fits a task best."""


def of_no_game(_: Trajectory) -> str:
    """Of no episode is the game known."""
    return ""


class NoMemory:
    """An agent without a memory."""

    nodes = 0

    def recall(self, start: Start, game: str) -> MemoryText:  # noqa: ARG002
        """Nothing."""
        return MemoryText()

    def learn(self, episode: Trajectory) -> bool:  # noqa: ARG002
        """Nothing is kept."""
        return False

    def size(self) -> MemorySize:
        """Nothing."""
        return MemorySize()


class RawMemory:
    """Successes as they were, of which the one that fits best is handed over.

    Args:
        nearest: Which one fits a task best, of some, at least one.
        episodes: What it begins with, in their order.
        game_of: The game that an episode was made in.
        hides: Whether episodes of the game that is played are hidden.
    """

    def __init__(
        self,
        nearest: Nearest,
        episodes: Iterable[Trajectory] = (),
        game_of: GameOf = of_no_game,
        *,
        hides: bool = False,
    ) -> None:
        self._kept: dict[str, tuple[Trajectory, str]] = {}
        self._nearest, self._game_of, self._hides = nearest, game_of, hides
        self._lock = threading.Lock()
        for each in episodes:
            self.learn(each)

    @property
    def nodes(self) -> int:
        """How many successes it holds."""
        return len(self._kept)

    @property
    def games(self) -> list[str]:
        """The game of each success; empty where it is not known."""
        return [game for _, game in self._kept.values()]

    def learn(self, episode: Trajectory) -> bool:
        """Keep a success."""
        if episode.outcome.success:
            with self._lock:
                self._kept.setdefault(episode.id, (episode, self._game_of(episode)))
        return bool(episode.outcome.success)

    def recall(self, start: Start, game: str) -> MemoryText:
        """The success that fits best, as it was."""
        hidden = game if self._hides else None
        with self._lock:
            found = [each for each, played in self._kept.values() if played != hidden]
            return MemoryText(_as_it_was(self._nearest(start.task, found)) if found else "")

    def size(self) -> MemorySize:
        """All that it holds, as it would be handed over."""
        kept = [each for each, _ in self._kept.values()]
        return MemorySize(len(kept), sum(count_tokens(_as_it_was(each)) for each in kept))


def nearest_task(embedder: Embedder) -> Nearest:
    """By the cosine of the tasks' vectors; of equal ones the first."""

    def nearest(task: str, episodes: Sequence[Trajectory]) -> Trajectory:
        vectors = embedder.embed_passages([each.task for each in episodes])
        question = embedder.embed_queries([task])[0]
        return episodes[int(np.argmax(vectors @ question))]

    return nearest


def nearest_of_kind(domain: str, embedder: Embedder) -> Nearest:
    """The same among those of the task's own kind, as the rules see it; else of any."""
    of_any = nearest_task(embedder)

    def nearest(task: str, episodes: Sequence[Trajectory]) -> Trajectory:
        kind = _kind(domain, task)
        return of_any(task, [e for e in episodes if _kind(domain, e.task) == kind] or episodes)

    return nearest


def nearest_words(task: str, episodes: Sequence[Trajectory]) -> Trajectory:
    """By shared words and pairs of words, each times √df: common ones count more."""
    grams = [_grams(each.task) for each in episodes]
    seen = Counter(gram for each in grams for gram in each)
    asked = _grams(task)

    def weight(some: set[str]) -> float:
        return float(sum(seen[gram] for gram in some))

    def likeness(number: int) -> float:
        both = weight(asked) * weight(grams[number])
        return weight(asked & grams[number]) / (both**0.5 or 1.0)

    return episodes[max(range(len(episodes)), key=likeness)]


BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "nothing": "no memory",
        "raw": "the success whose task is most similar, as it was",
        "weighted": "the same by shared words, common ones counting more",
        "kind": "the same as raw, among the successes of the task's kind",
    }
)
"""Per baseline, what an agent is handed."""


def baseline(
    name: str,
    domain: str,
    embedder: Embedder,
    episodes: Iterable[Trajectory] = (),
    game_of: GameOf = of_no_game,
    *,
    hides: bool = False,
) -> NoMemory | RawMemory:
    """A baseline by its name, one of `BASELINES`, with the episodes that it begins with."""
    if name == "nothing":
        return NoMemory()
    nearest = {
        "raw": nearest_task(embedder),
        "weighted": nearest_words,
        "kind": nearest_of_kind(domain, embedder),
    }[name]
    return RawMemory(nearest, episodes, game_of, hides=hides)


@lru_cache(maxsize=8192)
def _kind(domain: str, task: str) -> str:
    return goal_of(domain, task).trigger


def _as_it_was(episode: Trajectory) -> str:
    steps = "\n".join(f"> {step.action}\n{step.observation}" for step in episode.steps)
    return f"Task: {episode.task}\n{steps}"


def _grams(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}
