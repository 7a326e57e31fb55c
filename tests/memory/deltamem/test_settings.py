"""The method's numbers: what was published, what they may be, and how a person changes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.errors import BankCorruptError, ConfigurationError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.method import method_named, settings_of
from deltamem_tui.memory.settings import (
    assigned,
    from_record,
    to_record,
)
from tests.memory.support import new_bank, parameters

# DeltaMem, settings: (τ task, τ env, K_cons); one ε for all.
PUBLISHED = {
    "alfworld": (0.75, 0.85, 5),
    "scienceworld": (0.82, 0.82, 3),
    "webshop": (0.85, 0.85, 3),
}


@pytest.mark.parametrize("domain", PUBLISHED)
def test_the_presets_are_those_that_were_published(domain: str) -> None:
    numbers = Parameters.preset(domain)
    task, env, k_cons = PUBLISHED[domain]
    assert (numbers["task"].tau_base, numbers["env"].tau_base) == (task, env)
    assert {tree.k_cons for tree in (numbers.task, numbers.env)} == {k_cons}
    assert {tree.failure_penalty for tree in (numbers.task, numbers.env)} == {0.05}
    assert all(tree.enabled for tree in (numbers.task, numbers.env))


def test_a_domain_without_preset_has_the_generic_one() -> None:
    assert Parameters.preset("kitchens") == Parameters.preset("generic")
    assert Parameters.preset("") == Parameters.preset("generic")


def test_a_manifest_that_has_a_rule_of_recall_for_the_env_tree_still_opens() -> None:
    record = to_record(parameters())
    record["env"]["recall"] = "paper"
    assert from_record(Parameters, record).task == parameters().task


def wrong(assignment: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        assigned(parameters(), assignment)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("assignment", "tree", "name", "value"),
    [
        ("task.tau_base=0.5", "task", "tau_base", 0.5),
        ("task.k_cons=none", "task", "k_cons", None),
        ("env.enabled=FALSE", "env", "enabled", False),
        ("task.recall=Paper", "task", "recall", "paper"),
    ],
)
def test_what_a_person_types_is_assigned(
    assignment: str, tree: str, name: str, value: object
) -> None:
    before: Parameters = parameters(env=tree == "task")
    after = assigned(before, assignment)
    record = to_record(before)
    record[tree][name] = value
    assert to_record(after) == record


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ("", "expected NAME=VALUE"),
        ("task.tau_base", "expected NAME=VALUE"),
        ("tau_base=0.5", "there is no parameter 'tau_base' (one of task.tau_base, "),
        ("task.tau_base=high", "from -1 to 1, not 'high'"),
        ("task.tau_base=nan", "tau_base must be a number from -1 to 1"),
        ("task.tau_base=" + "9" * 9000, "tau_base must be a number from -1 to 1"),
        ("task.d_max=3.0", "d_max must be a whole number from 2 to 1000, not 3.0"),
        ("task.k_cons=0", "k_cons must be a whole number from 1, or none, not 0"),
        ("task.enabled=1", "enabled must be true or false, not 1"),
        ("task.recall=best", "recall must be kind or paper, not 'best'"),
        ("env.recall=kind", "there is no parameter 'env.recall'"),
        ("budget=-1", "budget must be a whole number from 0, not -1"),
    ],
)
def test_what_cannot_be_assigned_is_told(assignment: str, reason: str) -> None:
    assert reason in wrong(assignment)


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"task": {"tau_base": 0.8}, "env": {"tau_base": 0.8, "tua": 1}},
        {"task": {"tau_base": "0.8"}, "env": {"tau_base": 0.8}},
    ],
)
def test_a_manifest_with_wrong_numbers_is_a_corrupt_bank_and_no_wrong_call(
    tmp_path: Path, record: dict[str, dict[str, Any]]
) -> None:
    bank = new_bank(tmp_path / "bank")
    bank.change_manifest("parameters", lambda now: (replace(now, settings=record), {}))
    with pytest.raises(BankCorruptError, match=r"bank\.json(, (task|env))?: .*correct it"):
        settings_of(Bank.open(bank.path))


@pytest.mark.parametrize(
    ("method", "retired"),
    [
        ("deltamem", {"capacity": 5, "task": {"tau_fixed": True}, "env": {"tau_fixed": False}}),
        ("memp", {"every": 1, "least_recalls": 3, "least_success": 0.5}),
        ("awm", {"every": 1}),
        ("reasoningbank", {"by": "query"}),
        ("cdmem", {"budget": 512, "reflections": 3}),
    ],
)
def test_a_frozen_bank_with_settings_of_an_earlier_version_still_recalls(
    tmp_path: Path, method: str, retired: dict[str, Any]
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)

    def as_before(manifest: Manifest) -> tuple[Manifest, dict[str, Any]]:
        settings = dict(manifest.settings)
        for name, value in retired.items():
            settings[name] = {**settings[name], **value} if isinstance(value, dict) else value
        return replace(manifest, settings=settings), {}

    bank.change_manifest("parameters", as_before)
    bank.freeze()
    before = (bank.path / "bank.json").read_bytes()
    frozen = Bank.open(bank.path)
    assert recall(frozen, "put a cup in fridge.").context == ""
    assert settings_of(frozen) == method_named(method).settings.preset("alfworld", "hashing")
    assert (bank.path / "bank.json").read_bytes() == before
