"""Two labelled sets of secrets and look-alikes in agents' logs, as their README describes them.

The rules were mended with all of the first; the second came after them and measures them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from deltamem_tui.trajectory.secrets.redaction import without_secrets
from tests.places import ROOT


def cases_of(name: str) -> list[dict[str, Any]]:
    text = (ROOT / "tests/trajectory/secrets_set" / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


CASES = cases_of("cases.jsonl")
BLIND = cases_of("blind.jsonl")


def by_kind(cases: list[dict[str, Any]]) -> str:
    return str(Counter(case["kind"] for case in cases).most_common())


@pytest.mark.parametrize(("cases", "least"), [(CASES, 300), (BLIND, 120)])
def test_the_sets_are_labelled(cases: list[dict[str, Any]], least: int) -> None:
    assert sum(bool(case["secrets"]) for case in cases) >= least
    assert sum(not case["secrets"] for case in cases) >= least
    assert all(secret in case["text"] for case in cases for secret in case["secrets"])


@pytest.mark.parametrize(("cases", "share"), [(CASES, 0.99), (BLIND, 0.90)])
def test_secrets_are_found(cases: list[dict[str, Any]], share: float) -> None:
    having = [case for case in cases if case["secrets"]]
    missed = [
        case
        for case in having
        if any(secret in without_secrets(case["text"]) for secret in case["secrets"])
    ]
    assert 1 - len(missed) / len(having) >= share, by_kind(missed)


@pytest.mark.parametrize(("cases", "most"), [(CASES, 0), (BLIND, 1)])
def test_look_alikes_stay(cases: list[dict[str, Any]], most: int) -> None:
    without = [case for case in cases if not case["secrets"]]
    taken = [case for case in without if without_secrets(case["text"]) != case["text"]]
    assert len(taken) <= most, by_kind(taken)
