"""A bank of lessons whose similarities a test decides, and a writer that says what it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.flat.definitions import LESSONS, REASONINGBANK, ReasoningBankSettings
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.settings import stored_record
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.support import CARD, ChosenEmbedder

EMBEDDER = ChosenEmbedder()


def lesson(description: str, content: str = "do it") -> dict[str, str]:
    return {"description": description, "title": f"on {content}", "content": content}


@dataclass
class TellingWriter:
    """Says the lessons that a test has for the first action of an episode."""

    lessons: Mapping[str, Sequence[Mapping[str, str]]]
    name: str = "rules"
    asked: list[tuple[str, tuple[Node, ...], Inputs]] = field(default_factory=list)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        assert episode is not None
        self.asked.append((purpose, tuple(notes), inputs))
        first, *more = self.lessons.get(episode.steps[0].action, ()) or (None,)
        return Extraction(first, "told", further=tuple(each for each in more if each))


def lessons_bank(path: Path, **numbers: Any) -> Bank:
    settings = stored_record(ReasoningBankSettings(**numbers))
    manifest = Manifest(
        name=path.name,
        method="reasoningbank",
        collections=REASONINGBANK.collections,
        domain="generic",
        embedder=asdict(CARD),
        settings=settings,
    )
    return Bank.create(path, manifest)


def trial(task: str, action: str, *, success: bool = True, scene: str = "here") -> Trajectory:
    outcome = Outcome(success, float(success), "stated")
    return Trajectory(task, scene, (Step(action, "done"),), outcome)


def teach(bank: Bank, episode: Trajectory, *lessons: Mapping[str, str]) -> LearnResult:
    writer = TellingWriter({episode.steps[0].action: lessons})
    return learn(bank, episode, writer, embedder=EMBEDDER)


def recalled(bank: Bank, task: str) -> list[Mapping[str, str]]:
    """The lessons that a task is answered with, best first."""
    found = recall(bank, task, embedder=EMBEDDER)[LESSONS]
    assert found is not None
    return [chain[-1].payload for chain in found.chains]
