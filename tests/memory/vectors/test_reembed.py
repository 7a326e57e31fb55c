"""New vectors for a whole bank: all of them or none, and no text embedded twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.embedding.protocol import EmbedderCard, fingerprint
from deltamem_tui.errors import (
    BankFrozenError,
    EmbedderMismatchError,
)
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.vectors.reembed import planned, reembed
from deltamem_tui.memory.vectors.search import card_of
from tests.memory.support import ChosenEmbedder, EchoExtractor, episode, new_bank, parameters, teach

WIDTH = 5


def vector_of(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    row = np.random.default_rng(seed).normal(size=WIDTH)
    return (row / np.linalg.norm(row)).astype(np.float32)


OTHER = EmbedderCard(
    model="other",
    dimensions=WIDTH,
    passage_prefix="passage: ",
    weighting="document-frequency",
    fingerprint=fingerprint(vector_of("probe")),
)


@dataclass
class OtherEmbedder:
    """Another model, that says what it was asked and may be interrupted."""

    card: EmbedderCard = OTHER
    asked: list[str] = field(default_factory=list)
    calls_left: int = -1

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.calls_left:
            raise KeyboardInterrupt
        self.calls_left -= 1
        self.asked += texts
        return np.stack([vector_of(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltamem_tui.memory.vectors.reembed._BATCH", 2)


def grown(path: Path, episodes: int = 6) -> Bank:
    bank = new_bank(path, parameters(tau_base=0.99))
    for number in range(episodes):
        add(bank, number)
    return bank


def add(bank: Bank, number: int) -> None:
    task, scene = (1, number, 0), (number, 1, 0)
    teach(bank, episode(task, scene))


def every_byte(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def texts_of(bank: Bank) -> set[str]:
    return {node.payload["activation_condition"] for tree in bank.trees.values() for node in tree}


def assert_reembedded(bank: Bank) -> None:
    assert card_of(bank) == OTHER
    assert verify(bank) == []
    for tree in bank.trees.values():
        assert tree.embeddings.shape[1] == WIDTH
        for row in tree.rows:
            text = tree.node_at(int(row)).payload["activation_condition"]
            assert tree.embeddings[row].tobytes() == vector_of(text).tobytes()


def test_every_text_is_embedded_once_and_nothing_else_changes(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    before = every_byte(bank.path)
    embedder = OtherEmbedder()
    foreseen = planned(bank, embedder)
    assert every_byte(bank.path) == before
    assert foreseen.needed
    assert foreseen.texts == len(texts_of(bank))
    steps: list[int] = []
    assert reembed(bank, embedder, advance=steps.append) == foreseen
    assert sum(steps) == foreseen.texts
    assert sorted(embedder.asked) == sorted(texts_of(bank))
    assert_reembedded(bank)
    after = every_byte(bank.path)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {
        "bank.json", "journal.jsonl", "task.embeddings.npy", "env.embeddings.npy"
    }  # fmt: skip
    last = bank.commit
    assert last.event == "reembed"
    assert last.detail["after"] == asdict(OTHER)
    assert bank.manifest.settings == Bank.open(bank.path).manifest.settings
    match = recall(bank, "1 2 0", embedder=embedder)["task"]
    assert match is not None
    assert match.candidates[0].node.payload["activation_condition"] == "1 2 0"
    assert match.candidates[0].similarity == 1
    with pytest.raises(EmbedderMismatchError, match="deltamem bank reembed"):
        recall(bank, "1 2 0", embedder=ChosenEmbedder())


def test_a_frozen_bank_is_refused(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank", 2)
    other = Bank.open(bank.path)
    bank.freeze()
    before = every_byte(bank.path)
    embedder = OtherEmbedder()
    with pytest.raises(BankFrozenError):
        reembed(other, embedder)
    assert embedder.asked == []
    assert every_byte(bank.path) == before


def test_an_interrupted_run_changes_nothing(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    before = every_byte(bank.path)
    with pytest.raises(KeyboardInterrupt):
        reembed(bank, OtherEmbedder(calls_left=3))
    assert every_byte(bank.path) == before
    reembed(bank, OtherEmbedder())
    assert_reembedded(bank)


def test_what_is_learnt_meanwhile_is_embedded_too(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    writer = Bank.open(bank.path)
    embedder = OtherEmbedder()
    others = iter(range(60, 62))

    def learn_meanwhile(_: int) -> None:
        for number in others:
            add(writer, number)  # no lock is held, or this would wait for ever
            break

    reembed(bank, embedder, advance=learn_meanwhile)
    assert next(others, None) is None
    assert sorted(embedder.asked) == sorted(texts_of(bank))
    assert_reembedded(bank)


def test_learning_with_the_old_model_stops_when_the_bank_gets_another(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank", 3)
    learner = Bank.open(bank.path)

    @dataclass
    class Slow(EchoExtractor):
        def extract(self, tree: Any, trajectory: Any, chain: Any) -> Any:
            if card_of(Bank.open(bank.path)) != OTHER:
                reembed(bank, OtherEmbedder())
            return super().extract(tree, trajectory, chain)

    with pytest.raises(EmbedderMismatchError):
        learn(learner, episode((0, 0, 1)), Slow(), embedder=ChosenEmbedder())
    assert_reembedded(Bank.open(bank.path))
