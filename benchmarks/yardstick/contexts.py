"""What an agent may be given before it begins: nothing, old episodes as they were, or a bank."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.remembering import RememberingEmbedder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.evaluation.environment import Start
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem import recall as deltamem
from deltamem_tui.memory.deltamem.settings import Parameters
from deltamem_tui.memory.engine import apply_proposals, calibrate, learn, recall
from deltamem_tui.memory.methods import settings_of
from deltamem_tui.memory.recall_result import Query
from deltamem_tui.memory.settings import replaced
from deltamem_tui.memory.writers.rules.dialects import goal_of
from deltamem_tui.trajectory.model import Trajectory

Context = Callable[[Start], str]


def nothing(_: Start) -> str:
    """An agent without a memory."""
    return ""


def raw(episodes: Sequence[Trajectory], embedder: Embedder) -> Context:
    """The success whose task is most similar, as it was."""
    wins = _wins(episodes)
    vectors = embedder.embed_passages([each.task for each in wins])

    def context(start: Start) -> str:
        question = embedder.embed_queries([start.task])[0]
        return _as_it_was(wins[int(np.argmax(vectors @ question))])

    return context


def kind(episodes: Sequence[Trajectory], domain: str, embedder: Embedder) -> Context:
    """The same among the successes of the task's own kind, as the rules see it; else of any."""
    of_kind: dict[str, list[Trajectory]] = {}
    for each in episodes:
        of_kind.setdefault(goal_of(domain, each.task).trigger, []).append(each)
    nearest = {trigger: raw(some, embedder) for trigger, some in of_kind.items() if _wins(some)}
    nearest_of_any = raw(episodes, embedder)

    def context(start: Start) -> str:
        return nearest.get(goal_of(domain, start.task).trigger, nearest_of_any)(start)

    return context


def weighted(episodes: Sequence[Trajectory]) -> Context:
    """The same by shared words and pairs of words, each times √df: common ones count more."""
    wins = _wins(episodes)
    grams = [_grams(each.task) for each in wins]
    seen = Counter(gram for each in grams for gram in each)

    def weight(some: set[str]) -> float:
        return float(sum(seen[gram] for gram in some))

    def context(start: Start) -> str:
        asked = _grams(start.task)

        def likeness(number: int) -> float:
            both = weight(asked) * weight(grams[number])
            return weight(asked & grams[number]) / (both**0.5 or 1.0)

        return _as_it_was(wins[max(range(len(wins)), key=likeness)])

    return context


def of_bank(bank: Bank, embedder: Embedder) -> Context:
    """What a bank recalls."""

    def context(start: Start) -> str:
        return recall(bank, start.task, start.scene, embedder=embedder).context

    return context


def by_the_paper(bank: Bank, embedder: Embedder) -> Context:
    """What the same bank recalls by the paper's rule: the best node that reaches τ."""
    settings = replaced(settings_of(bank), "task.recall", "paper")
    assert isinstance(settings, Parameters)

    def context(start: Start) -> str:
        return deltamem.recall(bank, Query(start.task, start.scene), settings, embedder).context

    return context


def learnt(
    episodes: Sequence[Trajectory], domain: str, embedder: Embedder, *, calibrated: bool = False
) -> Bank:
    """A bank that the rules made of the episodes, in their order."""
    folder = Path(tempfile.mkdtemp(prefix="yardstick-")) / "bank"
    bank = create_bank(folder, embedder=embedder, domain=domain)
    for each in episodes:
        learn(bank, each, embedder=embedder)
    if calibrated:
        apply_proposals(bank, calibrate(bank, embedder=embedder))
    return bank


def embedder_named(name: str) -> Embedder:
    """An embedder that embeds no text twice."""
    return RememberingEmbedder(load(name))


def _wins(episodes: Sequence[Trajectory]) -> list[Trajectory]:
    return [each for each in episodes if each.outcome.success]


def _as_it_was(episode: Trajectory) -> str:
    steps = "\n".join(f"> {step.action}\n{step.observation}" for step in episode.steps)
    return f"Task: {episode.task}\n{steps}"


def _grams(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}
