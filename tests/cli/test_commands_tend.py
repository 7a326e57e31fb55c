"""The commands that rewrite a bank in place: `compact` and `reembed`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.embedding import load as load_module
from deltamem_tui.embedding.protocol import EmbedderCard, fingerprint
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.editing import delete
from deltamem_tui.memory.method import settings_of
from deltamem_tui.memory.vectors.search import card_of
from tests.cli.support import Program, state_of

WIDTH = 16


def vectors_of(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts that share words lie near each other."""
    rows = np.full((len(texts), WIDTH), 0.1, dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[sum(word.encode()) % WIDTH] += 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@dataclass
class SmallEmbedder:
    """A dense model, as far as anyone can see."""

    card: EmbedderCard
    calls_left: int = -1

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.calls_left:
            raise KeyboardInterrupt
        self.calls_left -= 1
        return vectors_of(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return vectors_of(texts)

    def under(self, _: object) -> SmallEmbedder:
        return self


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> SmallEmbedder:
    """A model that `--embedder small` loads, in the place of one that would take seconds."""
    card = EmbedderCard("small", WIDTH, fingerprint=fingerprint(vectors_of(["probe"])[0]))
    embedder = SmallEmbedder(card)
    monkeypatch.setitem(load_module._loaded, load_module.place_of("small"), embedder)
    return embedder


def test_compact_says_what_it_saves_and_saves_it(program: Program) -> None:
    bank = Bank.open(program.bank)
    deleted = delete(bank, "task", next(iter(bank.tree("task")))).nodes
    done = program.json("compact", "kitchen").data
    assert done["compacted"] is True
    assert done["rows_saved"] == len(deleted) > 0
    assert done["bytes_saved"] > 1000
    assert done["commits"] >= 3
    assert verify(Bank.open(program.bank)) == []
    after = state_of(program.bank)
    again = program("compact", "kitchen")
    assert (again.code, again.out) == (0, "")
    assert again.err == "there is nothing to save in kitchen\n"
    assert program.json("compact", "kitchen").data["bytes_saved"] == 0
    assert state_of(program.bank) == after


def test_reembed_gives_new_vectors_and_says_what_that_means(
    program: Program, small: SmallEmbedder
) -> None:
    before = state_of(program.bank)
    foreseen = program.json("reembed", "kitchen", "--embedder", "small", "--dry-run").data
    assert foreseen["reembedded"] is False
    assert foreseen["texts"] > 0
    assert state_of(program.bank) == before
    done = program.json("reembed", "kitchen", "--embedder", "small").data
    assert done["reembedded"] is True
    assert (done["before"]["model"], done["after"]["model"]) == ("hashing", "small")
    assert (done["before"]["weighting"], done["after"]["weighting"]) == (
        "document-frequency", "none"
    )  # fmt: skip
    bank = Bank.open(program.bank)
    assert done["kept"] == {"task.tau_base": 0.5, "env.tau_base": 0.5}  # as it was made
    assert card_of(bank) == small.card
    assert verify(bank) == []
    task = next(iter(bank.tree("task"))).payload["activation_condition"]
    assert program.json("recall", "kitchen", task).code == 0


def test_a_threshold_that_is_usual_becomes_that_of_the_new_embedder(
    program: Program,
    small: SmallEmbedder,
) -> None:
    program("init", "shed", "--embedder", "hashing")
    program("parameters", "shed", "env.tau_base=0.4")
    done = program.json("reembed", "shed", "--embedder", "small").data
    assert done["kept"] == {"env.tau_base": 0.4}
    numbers = settings_of(Bank.open(program.bank.parent / "shed"))
    assert numbers["task"].tau_base == Parameters.preset("generic", "small").task.tau_base
    assert numbers["env"].tau_base == 0.4
    usual = Parameters.preset("generic", "hashing").env.tau_base
    program("parameters", "shed", f"env.tau_base={usual}")
    assert program.json("reembed", "shed", "--embedder", "hashing").data["kept"] == {}


def test_an_interrupted_reembed_changes_nothing(program: Program, small: SmallEmbedder) -> None:
    program("reembed", "kitchen", "--embedder", "hashing")
    small.calls_left = 0
    answer = program("reembed", "kitchen", "--embedder", "small")
    assert answer.code == 130
    assert "the bank is as it was" in answer.error
    assert card_of(Bank.open(program.bank)).model == "hashing"
    small.calls_left = -1
    assert program("reembed", "kitchen", "--embedder", "small").code == 0


def test_a_torn_journal_is_an_error_that_names_the_repair(program: Program) -> None:
    program("import", "kitchen", program.log())
    journal = program.bank / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"sequence": 9' + b"\0" * 9 + b"\n")
    assert "`deltamem bank verify --repair" in program("info", "kitchen").error
    found = program.json("verify", "kitchen", "--repair")
    assert (found.code, found.data["sound"]) == (0, True)
    assert found.data["cut"] == {"bytes": 24, "text": '{"sequence": 9'}
    assert journal.read_bytes() == whole
    assert "cut" not in program("verify", "kitchen", "--repair").err
