"""All episodes that were rolled out on real simulators, by rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.methods import method_named
from deltamem_tui.memory.reasoningbank.collections import FIELDS, LESSONS
from deltamem_tui.memory.reasoningbank.prompt_uses import FAILURE, SUCCESS
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.text import count_tokens
from tests.memory.writers.rules.test_generated import FILES, episodes

LEARNT = 25


@pytest.mark.parametrize("domain", FILES)
def test_every_episode_teaches_and_the_same_ones_give_the_same_bytes(
    tmp_path: Path, domain: str
) -> None:
    if not FILES[domain].exists():
        pytest.skip(f"no {FILES[domain].name} beside the project")
    writer = RulesExtractor(method_named("reasoningbank"))
    tokens = []
    found = list(episodes(domain))
    for each in found:
        written = writer.write(SUCCESS if each.outcome.success else FAILURE, each, ())
        texts = [" ".join(cleaned(payload, FIELDS).values()) for payload in written.payloads]
        assert 1 <= len(set(texts)) == len(texts) <= 3
        tokens.append(count_tokens(" ".join(texts)))
    assert sum(tokens) / len(tokens) < 160  # 148 a set is published
    banks = [
        create_bank(
            tmp_path / name / "bank", domain=domain, embedder="hashing", method="reasoningbank"
        )
        for name in ("one", "other")
    ]
    sample = found[:: max(1, len(found) // LEARNT)]
    for bank in banks:
        embedder = embedder_of(bank)
        for each in sample:
            learn(bank, each, embedder=embedder)
    one, other = (_bytes(bank) for bank in banks)
    assert one == other
    assert verify(banks[0]) == []
    assert len(list(banks[0].tree(LESSONS).roots())) == len(sample)
    assert "### Lesson" in recall(banks[0], sample[-1].task).context


def _bytes(bank: Bank) -> dict[str, bytes]:
    names = ("lessons.nodes.jsonl", "lessons.embeddings.npy", "lessons.counts.npy")
    return {name: (bank.path / name).read_bytes() for name in names}
