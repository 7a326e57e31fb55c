"""All episodes that were rolled out on real simulators, by rules."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.methods import method_named
from deltamem_tui.memory.reasoningbank.definition import FAILURE, FIELDS, SUCCESS
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.text import count_tokens
from tests.memory.writers.rules.test_generated import FILES, episodes

LEARNT = 25


@pytest.mark.parametrize("domain", FILES)
def test_every_episode_teaches_some_lessons_that_differ(domain: str) -> None:
    if not FILES[domain].exists():
        pytest.skip(f"no {FILES[domain].name} beside the project")
    writer = RulesExtractor(method_named("reasoningbank"))
    tokens = []
    for each in episodes(domain):
        written = writer.write(SUCCESS if each.outcome.success else FAILURE, each, ())
        texts = [" ".join(cleaned(payload, FIELDS).values()) for payload in written.payloads]
        assert 1 <= len(set(texts)) == len(texts) <= 3
        tokens.append(count_tokens(" ".join(texts)))
    assert sum(tokens) / len(tokens) < 160  # 148 a set is published
