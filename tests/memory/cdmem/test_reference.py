"""Index, batches and recall against a slow reference that keeps plain lists and loops over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.cdmem import definition as uses
from deltamem_tui.memory.cdmem.definition import (
    ENV_INSIGHTS,
    ENVIRONMENTS,
    TASK_INSIGHTS,
)
from deltamem_tui.memory.cdmem.definition import TASKS as SHORT
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.trajectory.model import Trajectory
from tests.effort import examples
from tests.memory.cdmem.support import (
    ROOMS,
    TASKS,
    EchoWriter,
    concluded,
    episode,
    new_bank,
    said,
)

KINDS = dict(zip(TASKS, ("put", "put", "heat"), strict=True))


def env_of(trajectory: Trajectory) -> frozenset[str]:
    """The set of receptacles: the order in which a room names them does not matter."""
    room = trajectory.environment.partition("You see ")[2].rstrip(".")
    return frozenset(part.removeprefix("a ") for part in room.split(", "))


def env_kind(trajectory: Trajectory) -> frozenset[str]:
    return frozenset(each.split(" ")[0] for each in env_of(trajectory))


def label(trajectory: Trajectory) -> str:
    return "success" if trajectory.outcome.success else "failure"


def memory_of(trajectory: Trajectory) -> str:
    if trajectory.outcome.success:
        return said(uses.SHORTCUT, trajectory)["plan"]
    return said(uses.FAILURE, trajectory)["reflection"]


def rank(score: float, scores: Iterable[float]) -> int:
    """Return how many gaps that are more than noise lie between a score and the best."""
    above = sorted(each for each in scores if each >= score)
    return sum(upper - lower > 1e-6 for lower, upper in pairwise(above))


@dataclass
class Reference:
    """Everything that was learnt, in order, and nothing that is looked up."""

    size: int
    embedder: Embedder
    learnt: list[Trajectory] = field(default_factory=list)
    insights: dict[object, list[str]] = field(default_factory=dict)
    births: dict[tuple[object, str], int] = field(default_factory=dict)
    counts: dict[tuple[object, str], int] = field(default_factory=dict)

    def learn(self, trajectory: Trajectory) -> None:
        shown = self.insights_for(trajectory)
        for key, text in shown if trajectory.outcome.success else []:
            self.counts[key, text] = self.counts.get((key, text), 0) + 1
        self.learnt.append(trajectory)
        key = KINDS[trajectory.task], label(trajectory)
        texts = [
            memory_of(each)
            if each.outcome.success
            else f"search: {memory_of(each)}\nNext time: look"
            for each in self.of_task(trajectory)
            if label(each) == label(trajectory)
        ]
        self._batch(key, texts)
        if len(trajectory.steps) % 2:
            texts = [text for text, _ in self.functions(trajectory)]
            self._batch(env_kind(trajectory), texts)

    def _batch(self, key: object, texts: Sequence[str]) -> None:
        if len(texts) % self.size:
            return
        old = self.insights.get(key, [])
        wanted = concluded(texts[-self.size :], old)
        kept = [text for text in old if text in wanted]
        self.insights[key] = [*kept, *(text for text in wanted if text not in kept)]
        for text in wanted:
            if text not in kept:
                self.births[key, text] = len(self.births)
                self.counts.pop((key, text), None)

    def of_task(self, trajectory: Trajectory) -> list[Trajectory]:
        kind = KINDS[trajectory.task]
        return [each for each in self.learnt if KINDS[each.task] == kind]

    def functions(self, trajectory: Trajectory) -> list[tuple[str, Trajectory]]:
        return [
            (said(uses.EXPERT, each)["functions"], each)
            for each in self.learnt
            if env_kind(each) == env_kind(trajectory) and len(each.steps) % 2
        ]

    def vector(self, text: str) -> NDArray[np.float64]:
        return np.asarray(self.embedder.embed_passages([text])[0], dtype=np.float64)

    def ranked(self, key: object, memories: Sequence[str]) -> list[tuple[object, str]]:
        """Insights by the sum of their similarities, then successes, then the newer."""
        scores = {}
        for text in self.insights.get(key, []):
            score = sum(float(self.vector(text) @ self.vector(each)) for each in memories)
            scores[text] = score / max(len(memories), 1)

        def place(text: str) -> tuple[int, int, int]:
            return (
                rank(scores[text], scores.values()),
                -self.counts.get((key, text), 0),
                -self.births[key, text],
            )

        return [(key, text) for text in sorted(scores, key=place)]

    def insights_for(self, asked: Trajectory) -> list[tuple[object, str]]:
        kind, memories = KINDS[asked.task], [memory_of(each) for each in self.of_task(asked)]
        won = self.ranked((kind, "success"), memories)[:3]
        lost = self.ranked((kind, "failure"), memories)[: 6 - len(won)]
        env = self.ranked(env_kind(asked), [text for text, _ in self.functions(asked)])[:10]
        return [*won, *lost, *env]

    def exemplars(self, asked: Trajectory) -> list[str]:
        query = self.embedder.embed_queries([asked.task])[0].astype(np.float64)
        found = []
        for age, each in enumerate(self.learnt):
            if each.outcome.success and KINDS[each.task] == KINDS[asked.task]:
                here = (each.task, env_of(each)) == (asked.task, env_of(asked))
                similarity = float(self.vector(each.task) @ query)
                found.append((not here, similarity, len(each.steps), -age, each.id))
        similar = [similarity for _, similarity, *_ in found]
        ordered = sorted(found, key=lambda each: (each[0], rank(each[1], similar), *each[2:]))
        return [rest[-1] for rest in ordered][:2]

    def reflections(self, asked: Trajectory) -> list[str]:
        return [
            each.id
            for each in self.learnt
            if not each.outcome.success and (each.task, env_of(each)) == (asked.task, env_of(asked))
        ][-3:]

    def places(self, asked: Trajectory) -> set[str]:
        known: dict[str, str] = {}
        for each in self.learnt:
            if env_of(each) != env_of(asked):
                continue
            if each.outcome.success:
                thing, _, place = said(uses.EXPERT, each)["locations"].partition(": ")
                known[thing] = f"{thing}: {place}"
            else:
                text = said(uses.FAILURE, each)["env_memory"]
                known = {text: text}
        return set(known.values())


TRIES = st.tuples(st.sampled_from(TASKS), st.sampled_from(ROOMS), st.integers(1, 3), st.booleans())


def shown(found: CollectionRecall | None) -> list[str]:
    return [chain[-1].payload["text"] for chain in found.chains] if found else []


def check(bank: Bank, reference: Reference, asked: Trajectory) -> None:
    found = recall(bank, asked.task, asked.environment, embedder=reference.embedder)
    short = found[SHORT]
    assert short
    sources = [chain[-1].origin.trajectory for chain in short.chains]
    assert sources == [*reference.exemplars(asked), *reference.reflections(asked)]
    places = found[ENVIRONMENTS]
    assert places
    known = {line for chain in places.chains for line in chain[-1].payload["memory"].splitlines()}
    assert known == reference.places(asked)
    texts = [text for _, text in reference.insights_for(asked)]
    assert [*shown(found[TASK_INSIGHTS]), *shown(found[ENV_INSIGHTS])] == texts


@examples(25, one_folder=True)
@given(st.lists(TRIES, max_size=12), st.integers(1, 4), TRIES)
def test_any_stream_of_episodes(
    tmp_path: Path,
    stream: list[tuple[str, str, int, bool]],
    size: int,
    last: tuple[str, str, int, bool],
) -> None:
    bank = new_bank(tmp_path / uuid4().hex, batch=size)
    reference = Reference(size, embedder_of(bank))
    for at, (task, room, steps, success) in enumerate(stream):
        trajectory = episode(task, room, steps, success=success, at=at)
        learn(bank, trajectory, EchoWriter(), embedder=reference.embedder)
        reference.learn(trajectory)
    check(bank, reference, episode(last[0], last[1]))
