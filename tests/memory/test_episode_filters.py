"""Filters and orders of episodes: what is let through, what comes first, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.filters import EPISODES, EpisodeOrder, EpisodeTable
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.tui.support import bare_bank, trajectory

STEP = Step("look", "nothing")
EPISODES_OF_A_BANK: tuple[Trajectory, ...] = (
    replace(trajectory("wash the pan", "a kitchen", success=True), steps=(STEP,) * 3),
    replace(
        trajectory("heat an EGG"), outcome=Outcome(False, source="judge", reason="it broke apart")
    ),
    replace(trajectory("cool a mug"), steps=(Step("open fridge 7", "It is locked."),)),
    replace(trajectory("find a lamp"), outcome=Outcome(True, source="user"), steps=(STEP,) * 5),
)
NODES = {EPISODES_OF_A_BANK[0].id: ("a", "b"), EPISODES_OF_A_BANK[3].id: ("c",)}
REFUSED = {EPISODES_OF_A_BANK[1].id}


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = bare_bank(tmp_path / "bank")
    take_in(bank, EPISODES_OF_A_BANK)
    with bank.writing() as batch:
        for episode_id in NODES:
            batch.set_state(episode_id, EpisodeState.LEARNT)
        batch.log("learn")
    return Bank.open(bank.path)


def chosen(bank: Bank, typed: str, order: EpisodeOrder = "import") -> list[int]:
    return EpisodeTable(bank, NODES, REFUSED).chosen(EPISODES.parse(typed), order)


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("", [0, 1, 2, 3]),
        ("outcome:success", [0, 3]),
        ("outcome:failure", [1]),
        ("outcome:unknown", [2]),
        ("source:judge", [1]),
        ("source:unknown", [2]),
        ("outcome:success source:user", [3]),
        ("is:learnt", [0, 3]),
        ("is:waiting", [1, 2]),
        ("is:refused", [1]),
        ("is:waiting outcome:unknown", [2]),
        ("-is:learnt", [1, 2]),
        ("-egg -pan", [2, 3]),
        ("is:learnt is:refused", []),
        ("egg", [1]),
        ("KITCHEN", [0]),
        ("fridge locked", [2]),
        ("a outcome:success", [0, 3]),
        ("no-such-word", []),
    ],
)
def test_a_filter_lets_through_what_it_says(bank: Bank, typed: str, numbers: list[int]) -> None:
    assert chosen(bank, typed) == numbers


def test_an_episode_is_found_by_the_beginning_of_its_id(bank: Bank) -> None:
    for number, episode in enumerate(EPISODES_OF_A_BANK):
        assert chosen(bank, episode.id[:8].upper()) == [number]


@pytest.mark.parametrize("typed", ["outcome:unknown", "source:unknown", "outcome:failure"])
def test_what_cannot_be_read_has_no_outcome_and_no_steps(bank: Bank, typed: str) -> None:
    unreadable(bank, EPISODES_OF_A_BANK[2])
    assert 2 not in chosen(bank, typed)
    assert 2 in chosen(bank, "is:waiting")
    assert 2 not in chosen(bank, "fridge")


def test_what_cannot_be_read_is_looked_at_first(bank: Bank) -> None:
    unreadable(bank, EPISODES_OF_A_BANK[3])
    assert chosen(bank, "", "outcome")[0] == 3
    assert chosen(bank, "", "steps")[-1] == 3


def unreadable(bank: Bank, episode: Trajectory) -> None:
    with bank.writing() as batch:
        batch.put_episode_lines({episode.id: b'{"id": "%b", "task": 5}\n' % episode.id.encode()})
        batch.log("import")


@pytest.mark.parametrize(
    ("order", "numbers"),
    [
        ("import", [0, 1, 2, 3]),
        ("newest", [3, 2, 1, 0]),
        ("outcome", [2, 1, 0, 3]),
        ("steps", [3, 0, 1, 2]),
        ("nodes", [0, 3, 1, 2]),
    ],
)
def test_an_order_puts_first_what_it_says(
    bank: Bank, order: EpisodeOrder, numbers: list[int]
) -> None:
    assert chosen(bank, "", order) == numbers
    assert chosen(bank, "outcome:success", order) == [each for each in numbers if each in (0, 3)]
