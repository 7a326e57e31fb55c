"""A bank of procedures whose embedder counts words, and a writer whose answers a test decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import EmbedderCard, fingerprint
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.flat.definitions import ADJUST, FACTS, KEY, PROCEDURES, SCRIPT, MempNumbers
from deltamem_tui.memory.flat.memp import task_facts
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

STATES = ("", "hot ", "clean ")
THINGS = ("apple", "cup")
PLACES = ("fridge", "shelf")
WORDS = "put a some hot clean cool in on apple cup fridge shelf two lamp other"
VOCABULARY = tuple(WORDS.split())


def rows(texts: Sequence[str]) -> NDArray[np.float32]:
    found = np.zeros((len(texts), len(VOCABULARY)))
    for row, text in zip(found, texts, strict=True):
        for word in text.strip(".").split() or ["other"]:
            row[VOCABULARY.index(word) if word in VOCABULARY else -1] += 1
    unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit.astype(np.float32)


CARD = EmbedderCard(
    model="words", dimensions=len(VOCABULARY), fingerprint=fingerprint(rows(["put apple"])[0])
)


@dataclass(frozen=True)
class WordEmbedder:
    card: EmbedderCard = CARD

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return rows(texts)

    embed_queries = embed_passages


@dataclass
class SaidWriter:
    """A script is the first action; a repair adds it, unless the action is `shrug` or `refuse`.

    Of a task it says so many facts.
    """

    name: str = "rules"
    facts: int = 99
    asked: list[str] = field(default_factory=list)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        assert episode is not None
        self.asked.append(purpose)
        action = episode.steps[0].action
        if purpose == FACTS:
            said = list(task_facts("alfworld", episode.task).items())[: self.facts]
            pairs = [{"name": name, "value": value} for name, value in said]
            return Extraction(pairs[0], "facts", further=tuple(pairs[1:]))
        if action == "refuse":
            raise ExtractionError("not this one")
        if purpose == SCRIPT:
            return Extraction({"script": action}, "said")
        assert purpose == ADJUST
        if action == "shrug":
            return Extraction(None, "nothing to repair")
        script = f"{notes[-1].payload['script']} {action}"
        return Extraction({"diagnosis": "why", "script": script}, "said")


def new_bank(path: Path, **numbers: Any) -> Bank:
    settings = replace(MempNumbers.preset("alfworld"), **numbers)
    embedder = WordEmbedder()
    made = create_bank(
        path, embedder=embedder, domain="alfworld", method="memp", parameters=settings
    )
    assert made.manifest.embedder == asdict(CARD)
    return made


def attempt(
    task: str = "put a hot apple in fridge.", *, success: bool = True, action: str = "act"
) -> Trajectory:
    """An episode; the answer tells any two apart that differ in outcome."""
    outcome = Outcome(success=success, source="stated")
    return Trajectory(
        task, steps=(Step(action, "done" if success else "no"),), outcome=outcome, domain="alfworld"
    )


def numbered(episode: Trajectory, number: int) -> Trajectory:
    """The same episode as another one of a log."""
    more = Step("look", f"nothing {number}")
    return Trajectory(
        episode.task,
        steps=(*episode.steps, more),
        outcome=episode.outcome,
        domain=episode.domain,
    )


def teach(bank: Bank, episode: Trajectory, writer: SaidWriter | None = None) -> CollectionResult:
    """Learn from an episode, by default from one that was shown what the bank recalls."""
    if not episode.receipts:
        receipt = recall(bank, episode.task, embedder=WordEmbedder()).receipt
        episode = episode.with_facts(receipts=(receipt,) if receipt else ())
    (result,) = learn(bank, episode, writer or SaidWriter(), embedder=WordEmbedder()).trees.values()
    return result


def records(bank: Bank) -> list[Node]:
    return list(bank.tree(PROCEDURES).roots())


def shown(bank: Bank, task: str) -> list[Node]:
    found = recall(bank, task, embedder=WordEmbedder())[PROCEDURES]
    return [chain[0] for chain in found.chains] if found else []


def facts(bank: Bank, record: Node) -> dict[str, str]:
    below = bank.tree(PROCEDURES).children(record.id)
    return {node.payload["fact"]: node.payload[KEY] for node in below}
