"""Contestants' memories: none, old episodes as they were, and banks."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError, TrajectoryError, VectorError
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.forgetting import forget_if_due
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.vectors.embedder import EmbeddingCache
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import Receipt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deltamem_tui.memory.writers.writer import Writer


class MemoryText(Struct, frozen=True):
    """A memory's text for a task; `sources` are the episodes behind each recalled record."""

    text: str = ""
    receipt: Receipt | None = None
    sources: tuple[frozenset[str], ...] = ()


class MemorySize(Struct, frozen=True):
    """Units of memory that can be recalled, and the tokens of all of them."""

    nodes: int = 0
    tokens: int = 0


class Memory(Protocol):
    """A contestant's memory; threads may share it."""

    def recall(self, task: str, scene: str) -> MemoryText:
        """Return what it hands over."""

    def learn(self, episode: Trajectory) -> bool:
        """Learn an episode, once however often it is given; True if it is admitted."""

    def size(self) -> MemorySize:
        """Return how much it holds."""


class NoMemory:
    """An agent without a memory."""

    def recall(self, task: str, scene: str) -> MemoryText:  # noqa: ARG002
        """Return nothing."""
        return MemoryText()

    def learn(self, episode: Trajectory) -> bool:  # noqa: ARG002
        """Keep nothing."""
        return False

    def size(self) -> MemorySize:
        """Return zero."""
        return MemorySize()


Nearest = Callable[[str, Sequence[Trajectory]], Trajectory]
"""Chooses the episode that fits a task best, of at least one."""


class RawMemory:
    """Successes as they were; the one that fits best is handed over."""

    def __init__(self, nearest: Nearest, episodes: Iterable[Trajectory] = ()) -> None:
        self._nearest = nearest
        self._episodes: dict[str, Trajectory] = {}
        self._lock = threading.Lock()
        for each in episodes:
            self.learn(each)

    @property
    def episodes(self) -> list[Trajectory]:
        """Return what it holds."""
        return [*self._episodes.values()]

    def recall(self, task: str, scene: str) -> MemoryText:  # noqa: ARG002
        """Return the success that fits best."""
        with self._lock:
            if not self._episodes:
                return MemoryText()
            found = self._nearest(task, self.episodes)
            return MemoryText(as_it_was(found), sources=(frozenset({found.id}),))

    def learn(self, episode: Trajectory) -> bool:
        """Keep a success."""
        if episode.outcome.success:
            with self._lock:
                self._episodes.setdefault(episode.id, episode)
        return bool(episode.outcome.success)

    def size(self) -> MemorySize:
        """Count the episodes as they would be handed over."""
        kept = self.episodes
        return MemorySize(len(kept), sum(count_tokens(as_it_was(each)) for each in kept))


def baseline(
    name: str, domain: str, embedder: Embedder, episodes: Iterable[Trajectory]
) -> NoMemory | RawMemory:
    """Return a baseline by its name, with the episodes that it begins with."""
    if name == "nothing":
        return NoMemory()

    def nearest_task(task: str, some: Sequence[Trajectory]) -> Trajectory:
        vectors = embedder.embed_passages([each.task for each in some])
        return some[int(np.argmax(vectors @ embedder.embed_queries([task])[0]))]

    kind_of = cache(lambda task: task_kind(domain, task) or task)

    def nearest_of_kind(task: str, some: Sequence[Trajectory]) -> Trajectory:
        kind = kind_of(task)
        return nearest_task(task, [each for each in some if kind_of(each.task) == kind] or some)

    choices = {"raw": nearest_task, "weighted": _nearest_words, "kind": nearest_of_kind}
    return RawMemory(choices[name], episodes)


def _nearest_words(task: str, episodes: Sequence[Trajectory]) -> Trajectory:
    """Choose by shared words and pairs of words, each times √df: common ones count more."""
    grams = [_grams(each.task) for each in episodes]
    seen = Counter(gram for each in grams for gram in each)
    asked = _grams(task)

    def weight(some: set[str]) -> float:
        return float(sum(seen[gram] for gram in some))

    def similarity(number: int) -> float:
        both = weight(asked) * weight(grams[number])
        return weight(asked & grams[number]) / (both**0.5 or 1.0)

    return episodes[max(range(len(episodes)), key=similarity)]


def _grams(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def as_it_was(episode: Trajectory) -> str:
    """Return the task and the steps of an episode as text."""
    steps = "\n".join(f"> {step.action}\n{step.observation}" for step in episode.steps)
    return f"Task: {episode.task}\n{steps}"


class BankMemory:
    """A bank that a method fills, or that is given; `admitted` returns what may be learnt."""

    def __init__(
        self,
        bank: Bank,
        embedder: Embedder,
        writer: Writer,
        admitted: Callable[[Trajectory], Trajectory | None],
    ) -> None:
        self.bank = bank
        self._embedder, self._writer, self._admitted = embedder, writer, admitted
        self._lock = threading.Lock()

    def recall(self, task: str, scene: str) -> MemoryText:
        """Return what the bank recalls for a task and a scene."""
        with self._lock:
            found = recall(self.bank, task, scene, embedder=self._embedder)
            entries = found.receipt.entries if found.receipt else ()
            sources = tuple(self._sources(each.collection, each.node) for each in entries)
        return MemoryText(found.context, found.receipt, sources)

    def learn(self, episode: Trajectory) -> bool:
        """Learn an admitted episode; another one, or one nothing comes of, is only kept."""
        with self._lock:
            admitted = self._admitted(episode)
            try:
                if admitted is not None:
                    if not learn(self.bank, admitted, self._writer, embedder=self._embedder).new:
                        forget_if_due(self.bank)  # an earlier run may have been killed before
                    return True
            except (ExtractionError, VectorError, TrajectoryError):
                pass
            take_in(self.bank, [episode], redaction="off")
            return False

    def size(self) -> MemorySize:
        """Count the nodes that can be recalled, without those that are only keys of others."""
        depths = method_of(self.bank).key_depths
        found: list[Node] = [
            node
            for name, tree in self.bank.trees.items()
            if display_of(self.bank, name).asked
            for node in tree
            if node.depth < depths.get(name, node.depth + 1)
        ]
        return MemorySize(len(found), sum(count_tokens(each.text) for each in found))

    def _sources(self, collection: str, node: str) -> frozenset[str]:
        """Return the episodes that a node comes from; of a merged one, also its chain's."""
        found: set[str] = set()
        with suppress(NodeNotFoundError):
            origin = self.bank.tree(collection).node(node).origin
            found.update(origin.episodes)
            for each in origin.nodes:
                found |= self._sources(collection, each)
        return frozenset(found)


class SharedEmbedder:
    """An embedder that threads ask in turn, and that embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.card = embedder.card
        self._cached = EmbeddingCache(embedder)
        self._lock = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed what nodes say."""
        with self._lock:
            return self._cached.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions."""
        with self._lock:
            return self._cached.embed_queries(texts)
