"""Facts of a task: one closed set of names a domain, values of one to four words."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.flat.memp import task_facts
from tests.memory.writers.rules.test_generated import FILES, episodes
from tests.places import GENERATED

NAMES = {
    "alfworld": {"do", "state", "object", "receptacle", "tool", "count"},
    "scienceworld": {"verb", "target", "instrument", "place"},
}
MELTING = (
    "Your task is to measure the melting point of lead, which is located around the kitchen. "
    "First, focus on the thermometer. Next, focus on the lead."
)


@pytest.mark.parametrize(
    ("domain", "task", "facts"),
    [
        (
            "alfworld",
            "heat some egg and put it in diningtable.",
            {"do": "heat", "state": "hot", "object": "egg", "receptacle": "diningtable"},
        ),
        (
            "ALFWorld",
            "find two box and put them in coffeetable.",
            {"do": "put", "object": "box", "receptacle": "coffeetable", "count": "two"},
        ),
        (
            "alfworld",
            "examine the pen with the desklamp.",
            {"do": "look at", "object": "pen", "tool": "desklamp"},
        ),
        ("alfworld", "Warm an egg for me.", {"verb": "warm", "nouns": "egg"}),
        (
            "scienceworld",
            MELTING,
            {
                "verb": "measure the melting point",
                "target": "lead",
                "instrument": "thermometer",
                "place": "kitchen",
            },
        ),
        (
            "",
            "Please fix the failing test of dates.",
            {"verb": "fix", "nouns": "fail test date"},
        ),
        ("", "", {}),
    ],
)
def test_a_task_falls_into_facts(domain: str, task: str, facts: dict[str, str]) -> None:
    assert task_facts(domain, task) == facts


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the generated episodes are not here")
@pytest.mark.parametrize("domain", FILES)
def test_each_sample_task_is_read_in_its_domains_names(domain: str) -> None:
    for task in {episode.task for episode in episodes(domain)}:
        facts = task_facts(domain, task)
        assert len(facts) >= 2
        assert facts.keys() <= NAMES[domain]
        assert all(1 <= len(value.split()) <= 4 for value in facts.values())
