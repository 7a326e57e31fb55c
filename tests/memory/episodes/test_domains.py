"""Every way into a bank gives an episode the same domain."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.readers.reading import read_logs

TOLD = Trajectory(
    "heat the egg", "a kitchen", (Step("look", "A stove."),), Outcome(True, 1.0, "stated")
)


def logged(folder: Path, *named: str) -> Path:
    log = folder / "log.jsonl"
    lines = [to_line(structs.replace(TOLD, task=f"{TOLD.task} {n}", domain=n)) for n in named]
    log.write_bytes(b"".join(lines))
    return log


@pytest.mark.parametrize(
    ("of_bank", "given", "kept"),
    [
        ("alfworld", "", ["alfworld", "town"]),
        ("alfworld", "sea", ["sea", "sea"]),
        ("generic", "sea", ["sea", "sea"]),
    ],
)
def test_what_is_taken_in_has_the_domain_that_is_given_or_its_own_or_the_bank_s(
    tmp_path: Path, of_bank: str, given: str, kept: list[str]
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain=of_bank)
    take_in(bank, read_logs(logged(tmp_path, "", "town")), domain=given)
    assert [each.domain for each in episodes(Bank.open(bank.path))] == kept


def test_blanks_are_no_part_of_a_name_and_spellings_are_one_domain(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld")
    names = ("Alf World", "Alf  World ", "alf world", "Alf\x1fWorld", " ", "webshop\n")
    take_in(bank, read_logs(logged(tmp_path, *names)))
    kept = [each.domain for each in episodes(Bank.open(bank.path))]
    assert kept == ["Alf World", "Alf World", "alf world", "AlfWorld", "alfworld", "webshop"]
