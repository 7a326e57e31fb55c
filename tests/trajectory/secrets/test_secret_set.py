"""The labelled set of secrets and look-alikes in agents' logs, as its README describes it.

The rules were mended with one half of it, chosen by a hash of each text; the other half was
only ever scored, so it says how many secrets of logs that nobody has seen are found.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest

from deltamem_tui.trajectory.secrets.redaction import without_secrets
from tests.places import ROOT

CASES = [
    json.loads(line)
    for line in (ROOT / "tests/trajectory/secrets_set/cases.jsonl").read_text("utf-8").splitlines()
]


def half(number: int) -> list[dict[str, Any]]:
    """The first half is the one that the rules were mended with."""
    return [
        case for case in CASES if hashlib.sha256(case["text"].encode()).digest()[0] % 2 == number
    ]


def by_kind(cases: list[dict[str, Any]]) -> str:
    return str(Counter(case["kind"] for case in cases).most_common())


def test_the_set_is_labelled() -> None:
    assert sum(bool(case["secrets"]) for case in CASES) >= 340
    assert sum(not case["secrets"] for case in CASES) >= 300
    assert all(secret in case["text"] for case in CASES for secret in case["secrets"])
    assert min(len(half(0)), len(half(1))) > 0.4 * len(CASES)


@pytest.mark.parametrize(("number", "share"), [(0, 0.98), (1, 0.90)], ids=["seen", "scored"])
def test_secrets_are_found(number: int, share: float) -> None:
    cases = [case for case in half(number) if case["secrets"]]
    missed = [
        case
        for case in cases
        if any(secret in without_secrets(case["text"]) for secret in case["secrets"])
    ]
    assert 1 - len(missed) / len(cases) >= share, by_kind(missed)


@pytest.mark.parametrize(("number", "count"), [(0, 0), (1, 2)], ids=["seen", "scored"])
def test_look_alikes_stay(number: int, count: int) -> None:
    cases = [case for case in half(number) if not case["secrets"]]
    taken = [case for case in cases if without_secrets(case["text"]) != case["text"]]
    assert len(taken) <= count, by_kind(taken)
