"""Contestants: who competes, what each may learn, and their memories."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    ExtractionError,
    NodeNotFoundError,
    TrajectoryError,
    UsageError,
    VectorError,
)
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.forgetting import forget_if_due
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.method import display_of, method_named, method_of, names
from deltamem_tui.memory.policies import Policy, as_admitted
from deltamem_tui.memory.settings import Settings, assigned
from deltamem_tui.text import count_tokens, one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.receipt import Receipt

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.writer import Writer


BASELINES: Mapping[str, str] = {
    "nothing": "no memory",
    "raw": "the success whose task is most similar, as it was",
    "kind": "the same as raw, among the successes of the task's kind",
}
"""Per baseline, what it hands over."""

UNJUDGED = "unjudged"
"""The published way to add all: every episode is learnt as if it had succeeded."""

_NAME_WIDTH = 60
_ADMISSION = "admission="


class Contestant(Struct, frozen=True, omit_defaults=True):
    """One of those that compete.

    Attributes:
        name: Unique among them.
        method: A memory method, or a baseline; empty for a bank.
        parameters: Numbers of its bank in place of the domain's preset: `task.recall=paper`.
        bank: The path of a bank that is given.
    """

    name: str
    method: str = ""
    parameters: tuple[str, ...] = ()
    bank: str = ""

    @property
    def sort(self) -> Literal["baseline", "method", "bank"]:
        """A baseline, a method that has to learn, or a bank that has learnt."""
        if self.bank:
            return "bank"
        return "baseline" if self.method in BASELINES else "method"

    @property
    def admission(self) -> str:
        """Return which outcomes it learns: a bank's admission policy, or `unjudged`."""
        found = [each.removeprefix(_ADMISSION) for each in self.parameters if _ADMISSION in each]
        return found[-1] if found else "strict"

    def settings(self, domain: str, embedder: str = DEFAULT_EMBEDDER) -> Settings:
        """Return the parameters of a method's bank."""
        settings: Settings = method_named(self.method).settings.preset(domain, embedder)
        if any(each.startswith("forgetting=") for each in self.parameters):
            settings = assigned(settings, "forget_every=1")
        for each in self.parameters:
            if each != _ADMISSION + UNJUDGED:
                settings = assigned(settings, each)
        return settings

    def admitted(self, episode: Trajectory) -> Trajectory | None:
        """Return the episode as it is learnt; None if it is not."""
        return as_learnt(episode, self.admission)


def as_learnt(episode: Trajectory, policy: str) -> Trajectory | None:
    """Return an episode as an admission policy, or `unjudged`, has it learnt; None if it is not."""
    if policy != UNJUDGED:
        return as_admitted(cast("Policy", policy), episode)
    verdict = Outcome(True, source="judge", reason="learnt as if it had succeeded")
    verdicts = (episode.outcome, *episode.verdicts)
    others = tuple(each for each in verdicts if each.source != "judge" and each.known)
    return episode.with_facts(outcome=verdict, verdicts=others)


def contestants(methods: Iterable[str], banks: Mapping[str, Path]) -> tuple[Contestant, ...]:
    """Return the contestants named: `NAME` or `NAME:PARAMETER=VALUE,…`, then banks by path."""
    found: dict[Contestant, None] = {}
    known = (*BASELINES, *names())
    for spec in methods:
        name, _, rest = spec.partition(":")
        if name not in known:
            hint = f"one of {', '.join(known)}"
            raise UsageError(f"unknown method {one_line(name, 40)!r}", hint=hint)
        parameters = tuple(each.strip() for each in rest.split(",") if each.strip())
        made = Contestant(one_line(" ".join((name, *parameters)), _NAME_WIDTH), name, parameters)
        if made.sort == "baseline" and parameters:
            raise UsageError(f"{name} has no parameters", hint=f"write --method {name}")
        if made.sort == "method":
            made.settings("generic")
        found[made] = None
    for name, path in banks.items():
        shown = one_line(Path(name).name or name, _NAME_WIDTH)
        found[Contestant(shown, bank=str(path.resolve()))] = None
    if not found:
        raise UsageError("there are no contestants", hint="name a --method or a --bank")
    return _named_apart(found)


def _named_apart(found: Iterable[Contestant]) -> tuple[Contestant, ...]:
    known: dict[str, Contestant] = {}
    for each in found:
        name, number = each.name, 2
        while name in known:
            name, number = f"{each.name} ({number})", number + 1
        known[name] = replace(each, name=name)
    return tuple(known.values())


def true_outcome(episode: Trajectory) -> Outcome | None:
    """Return the verdict of a person, or else of the log; None if neither has one."""
    verdicts = [each for each in (episode.outcome, *episode.verdicts) if each.known]
    found = {each.source: each for each in verdicts}
    return found.get("user") or found.get("stated")


def judged_by_chance(episode: Trajectory, error: float, seed: int) -> Trajectory:
    """Add the verdict of a judge that errs with a probability, the same for all contestants."""
    truth = true_outcome(episode)
    if truth is None:
        return episode
    digest = hashlib.sha256(f"{seed} {episode.id}".encode()).digest()
    wrong = int.from_bytes(digest[:8]) < error * 2**64
    said = Outcome(bool(truth.success) ^ wrong, source="judge", reason="simulated")
    verdicts = (episode.outcome, *episode.verdicts)
    others = [each for each in verdicts if each.source != "judge" and each is not truth]
    return episode.with_facts(outcome=truth, verdicts=(*others, said))


class MemoryText(Struct, frozen=True):
    """A memory's text for a task; `sources` are the episodes behind each recalled record."""

    text: str = ""
    receipt: Receipt | None = None
    sources: tuple[frozenset[str], ...] = ()


class MemorySize(Struct, frozen=True):
    """Units of memory that can be recalled, and the tokens of all of them."""

    nodes: int = 0
    tokens: int = 0


Nearest = Callable[[str, Sequence[Trajectory]], Trajectory]
"""Chooses the episode that fits a task best, of at least one."""


class RawMemory:
    """Successes as they were; the one that fits best is handed over. None are kept without one."""

    def __init__(self, nearest: Nearest | None, episodes: Iterable[Trajectory] = ()) -> None:
        self._nearest = nearest
        self._episodes: dict[str, Trajectory] = {}
        for each in episodes:
            self.learn(each)

    @property
    def episodes(self) -> list[Trajectory]:
        """Return what it holds."""
        return [*self._episodes.values()]

    def recall(self, task: str, scene: str) -> MemoryText:  # noqa: ARG002
        """Return the success that fits best."""
        if self._nearest is None or not self._episodes:
            return MemoryText()
        found = self._nearest(task, self.episodes)
        return MemoryText(as_it_was(found), sources=(frozenset({found.id}),))

    def learn(self, episode: Trajectory) -> bool:
        """Keep a success."""
        kept = self._nearest is not None and bool(episode.outcome.success)
        if kept:
            self._episodes.setdefault(episode.id, episode)
        return kept

    def size(self) -> MemorySize:
        """Count the episodes as they would be handed over."""
        kept = self.episodes
        return MemorySize(len(kept), sum(count_tokens(as_it_was(each)) for each in kept))


def baseline(
    name: str, domain: str, embedder: Embedder, episodes: Iterable[Trajectory]
) -> RawMemory:
    """Return a baseline by its name, with the episodes that it begins with."""

    def nearest_task(task: str, some: Sequence[Trajectory]) -> Trajectory:
        vectors = embedder.embed_passages([each.task for each in some])
        return some[int(np.argmax(vectors @ embedder.embed_queries([task])[0]))]

    kind_of = cache(lambda task: task_kind(domain, task) or task)

    def nearest_of_kind(task: str, some: Sequence[Trajectory]) -> Trajectory:
        kind = kind_of(task)
        return nearest_task(task, [each for each in some if kind_of(each.task) == kind] or some)

    choices = {"nothing": None, "raw": nearest_task, "kind": nearest_of_kind}
    return RawMemory(choices[name], episodes)


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


Memory = RawMemory | BankMemory
"""A contestant's memory; threads may share it while it does not learn."""
