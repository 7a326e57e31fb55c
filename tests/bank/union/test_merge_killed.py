"""Killed at any effect, a merge was done or not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.union.merge import Plan, merge_into, merge_to
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.histories import account
from tests.bank.killing import run_until_killed
from tests.bank.support import contents, learn_one
from tests.bank.union.parted import change, nodes
from tests.effort import in_turn


def everything(bank: Bank) -> Any:
    """All that a merge may change, the manifest too."""
    bank = Bank.open(bank.path)
    return contents(bank), account(bank), bank.manifest


@pytest.mark.parametrize("how", ["before", "half", "disk full"])
@pytest.mark.parametrize("into", ["first", "new"])
def test_killed_at_every_effect_a_merge_was_done_or_not(
    tmp_path: Path, pair: tuple[Bank, Bank], how: str, into: str
) -> None:
    one, two = pair
    for bank in pair:
        learn_one(bank, 1 if bank is one else 2)
        change(
            bank, structs.replace(nodes(bank)["a"], label="failure" if bank is one else "success")
        )
    before = everything(one)

    def merge(name: str) -> None:
        first = Bank.open(tmp_path / name / "first")
        if into == "first":
            merge_into(first, lambda: Plan([first, two]))
        else:
            merge_to(tmp_path / name / "new", Plan([first, two]))

    def fresh(name: str) -> Path:
        shutil.copytree(one.path, tmp_path / name / "first")
        return tmp_path / name / into

    after_path = fresh("undisturbed")
    with FragileOS(NEVER).at_work() as counting:
        merge("undisturbed")
    after = everything(Bank.open(after_path))
    assert after != before
    assert len(counting.names) > 20
    for last in in_turn(len(counting.names)):
        if how == "half" and counting.names[last - 1] != "pwrite":
            continue
        path = fresh(str(last))
        try:
            with FragileOS(last, how).at_work():
                merge(str(last))
        except (KilledError, StorageError):
            pass
        if into == "new" and not path.exists():
            continue
        found = everything(Bank.open(path))
        states = [after] if into == "new" else [before, after]
        assert any(_same(found, state) for state in states), f"effect {last}"
        if into == "first":
            merge(str(last))
            assert _same(everything(Bank.open(path)), after)
            with Bank.open(path).writing():
                pass
            assert verify(Bank.open(path)) == []


def test_what_a_killed_merge_left_is_in_nobodys_way(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    path = tmp_path / "banks" / "both"
    path.parent.mkdir()

    def merge() -> None:
        merge_to(path, Plan(pair))

    effects = run_until_killed(merge)
    assert effects is not None
    for last in in_turn(effects, apart=10):
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        assert run_until_killed(merge, last) is None
        if not path.exists():
            merge()
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        assert verify(Bank.open(path)) == []


def _same(found: Any, wanted: Any) -> bool:
    """Equal but for what every new bank draws or is called."""
    unnamed = [
        (each[0], each[1], replace(each[2], name="", replica="")) for each in (found, wanted)
    ]
    return bool(unnamed[0] == unnamed[1])
