"""Facts of a task: one closed set of names a domain, values of one to four words."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.flat.memp import task_facts

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
