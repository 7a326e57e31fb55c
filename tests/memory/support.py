"""Banks grown from plain descriptions, and an embedder whose vectors a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import EmbedderCard, fingerprint
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD, Parameters, TreeParameters
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.deltamem.write import purpose_of
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.settings import to_record
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

DIMENSIONS = 3


def unit(values: Sequence[float]) -> NDArray[np.float32]:
    row = np.asarray(values, dtype=np.float64)
    return (row / np.linalg.norm(row)).astype(np.float32)


CARD = EmbedderCard(model="chosen", dimensions=DIMENSIONS, fingerprint=fingerprint(unit([1, 2, 3])))


@dataclass(frozen=True)
class ChosenEmbedder:
    """Text `"x y z"` has the direction (x, y, z); so a test decides every similarity."""

    card: EmbedderCard = CARD

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack(
            [unit([float(word) for word in text.split()[:DIMENSIONS]]) for text in texts]
        )

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_passages(texts)


@dataclass
class EchoExtractor:
    """Says back the episode's question; skips where the first action is `skip`."""

    name: str = "rules"
    fusible: bool = True
    fused: Mapping[str, str] | None = None
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        tree = METHOD.use_of(purpose).collection
        return self.extract(tree, episode, notes) if episode else self.fuse(tree, notes)

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        self.asked.append((tree, tuple(node.id for node in chain)))
        if trajectory.steps[0].action == "skip" and chain:
            return Extraction(None, "covered")
        question = trajectory.task if tree == "task" else trajectory.environment
        return Extraction(Payload(question, trajectory.steps[0].action), "new")

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        if not self.fusible:
            raise ExtractionError("no fusion today")
        if self.fused:
            return Extraction(self.fused, "fused to what was asked for")
        last = chain[-1].payload
        return Extraction(Payload(last["activation_condition"], f"fused {len(chain)}"), "fused")


def teach(
    bank: Bank, trajectory: Trajectory, extractor: EchoExtractor | None = None
) -> LearnResult:
    """Learn with the embedder of `new_bank`."""
    return learn(bank, trajectory, extractor or EchoExtractor(), embedder=ChosenEmbedder())


def extract(writer: Writer, tree: str, episode: Trajectory, chain: Sequence[Node]) -> Extraction:
    """What a writer makes of an episode that met a chain."""
    return writer.write(purpose_of(tree, episode, chain), episode, chain)


def fuse(writer: Writer, tree: str, chain: Sequence[Node]) -> Extraction:
    """What a writer makes of a chain that was hit often enough."""
    return writer.write(f"{tree}_consolidation", None, chain)


def episode(
    task: Sequence[float],
    environment: Sequence[float] = (),
    *,
    success: bool | None = True,
    action: str = "act",
) -> Trajectory:
    return Trajectory(
        task=" ".join(map(str, task)),
        environment=" ".join(map(str, environment)),
        steps=(Step(action, "done"),),
        outcome=Outcome(success=success, source="unknown" if success is None else "stated"),
    )


def parameters(
    tau_base: float = 0.8,
    failure_penalty: float = 0.05,
    d_max: int = 5,
    k_cons: int | None = None,
    *,
    env: bool = True,
) -> Parameters:
    task = TreeParameters(tau_base, failure_penalty, d_max, k_cons)
    return Parameters(task, TreeParameters(tau_base, failure_penalty, d_max, k_cons, env))


def new_bank(path: Path, numbers: Parameters | None = None, *, domain: str = "generic") -> Bank:
    return Bank.create(
        path,
        Manifest(
            name=path.name,
            method=METHOD.name,
            collections=COLLECTIONS,
            domain=domain,
            embedder=asdict(CARD),
            settings=to_record(numbers or parameters()),
        ),
    )
