"""Banks of other methods and of format 1: what is in `bank.json`, and when it is written anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from deltamem_tui.bank import manifest
from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.diff import diff
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD
from tests.bank.support import (
    NOTES,
    change_domain,
    contents,
    learn_one,
    notes,
)
from tests.bank.support import manifest as described


def test_format_1_is_deltamem() -> None:
    assert (METHOD.name, COLLECTIONS) == (manifest.METHOD_1, manifest.COLLECTIONS_1)


@pytest.fixture
def old(tmp_path: Path) -> Bank:
    """A bank of format 1, as an earlier version left it."""
    new = replace(described("old"), format=1, settings={"task": {"d_max": 3}, "env": {}})
    bank = Bank.create(tmp_path / "old", new)
    for number in range(4):
        learn_one(bank, number)
    path = bank.path / "bank.json"
    manifest.write(bank.path, replace(bank.manifest, format=1))
    assert list(orjson.loads(path.read_bytes())) == [
        "format",
        *("name", "description", "domain", "embedder", "parameters", "provenance"),
        *("frozen", "digests", "origin"),
    ]
    return Bank.open(path.parent)


def record(bank: Bank) -> dict[str, object]:
    found: dict[str, object] = orjson.loads((bank.path / "bank.json").read_bytes())
    return found


WRITES: list[Callable[[Bank], object]] = [
    lambda bank: learn_one(bank, 9),
    lambda bank: change_domain(bank, "kitchen"),
    lambda bank: bank.freeze(),
]


@pytest.mark.parametrize("write", WRITES)
def test_the_first_write_makes_it_a_bank_of_format_2(
    old: Bank, write: Callable[[Bank], object]
) -> None:
    write(old)
    found = record(old)
    assert found["format"] == old.manifest.format == 2
    assert found["method"] == "deltamem"
    assert list(found["collections"]) == ["task", "env"]  # type: ignore[call-overload]
    assert found["settings"] == {"task": {"d_max": 3}, "env": {}}
    assert verify(old) == verify(Bank.open(old.path)) == []


def test_a_bank_of_another_method_travels_and_merges(tmp_path: Path) -> None:
    one, two = notes(tmp_path / "one", "a", "b"), notes(tmp_path / "two", "b", "c")
    assert {path.name for path in one.path.glob("*.jsonl")} == {
        "workflows.nodes.jsonl",
        "key_facts.nodes.jsonl",
        "credit.jsonl",
        "origins.jsonl",
        "trajectories.jsonl",
        "journal.jsonl",
    }
    archive = tmp_path / "one.deltamem"
    package.pack(one, with_episodes=True, with_journal=True).write(archive)
    installed, _ = install(receive(archive), tmp_path / "installed", frozen=False)
    assert contents(installed) == contents(one) == contents(Bank.open(archive))
    merge_into(installed, lambda: MergePlan([installed, two]))
    assert [len(tree) for tree in installed.trees.values()] == [3, 6]
    assert compact(installed).bytes_saved
    for bank in (one, two, installed, Bank.open(archive)):
        assert verify(bank) == []
    assert [each.name for each in diff(one, replaced(two)).manifest] == ["window"]
    below = next(one.tree("key_facts").children(next(one.tree("key_facts").roots()).id))
    chain = installed.tree("key_facts").chain(below.id)
    assert [node.payload["text"] for node in chain] == ["a", "not a"]


def replaced(bank: Bank) -> Bank:
    bank.change_manifest("settings", lambda now: (replace(now, settings={"window": 4}), {}))
    return bank


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"method": "other"}, "method"),
        ({"collections": dict(reversed(NOTES.items()))}, "collections"),
        ({"collections": {**NOTES, "more": NOTES["key_facts"]}}, "collections"),
    ],
)
def test_only_banks_of_one_kind_are_merged(
    tmp_path: Path, changes: dict[str, object], what: str
) -> None:
    one = notes(tmp_path / "one", "a")
    kind = replace(described("two"), method="notes", collections=NOTES)
    two = Bank.create(tmp_path / "two", replace(kind, **changes))  # type: ignore[arg-type]
    with pytest.raises(BankError, match=what):
        MergePlan([one, two])
