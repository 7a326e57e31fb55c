"""One episode is learnt whole or not at all, once, and as the bank stands when it is written."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TEXT_LIMIT, Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    ExtractionError,
    StorageError,
)
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.settings import replaced
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.support import contents, file_bytes
from tests.effort import in_turn
from tests.memory.support import (
    EchoExtractor,
    episode,
    new_bank,
    parameters,
    teach,
)

X, NEAR_X, Y = (1, 0, 0), (1, 0.1, 0), (0, 1, 0)


def state_of(bank: Bank) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in bank.path.iterdir() if path.name != ".lock"}


def test_what_was_learnt_is_not_learnt_again(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, episode(X, Y))
    before = state_of(bank)
    extractor = EchoExtractor()
    other = episode(X, Y, success=False)  # the same episode, whatever its outcome
    assert teach(bank, other, extractor) == LearnResult(other.id, new=False, trees={})
    assert extractor.asked == []
    assert state_of(bank) == before


def test_what_a_program_hands_over_is_kept_clean_and_found_again(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    raw = Trajectory(
        task="1 0 0\x1b]52;c;x\x07",
        steps=(Step("go\ud800", "seen\x07", reward=1),),  # an int where the form has a float
        outcome=Outcome(success=True, source="stated"),
    )
    lesson = teach(bank, raw)
    kept = stored_episode(bank, lesson.trajectory)
    assert kept is not None
    assert (kept.task, kept.steps[0].action, kept.steps[0].observation) == ("1 0 0", "go", "seen")
    assert not teach(bank, kept).new


def test_a_tree_that_is_switched_off_is_neither_asked_nor_grown(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(env=False))
    extractor = EchoExtractor()
    lesson = teach(bank, episode(X, Y), extractor)
    assert lesson.trees["env"].decision == "unasked"
    assert lesson.trees["env"].reason == "the tree is switched off"
    assert [name for name, _ in extractor.asked] == ["task"]
    assert len(bank.tree("env")) == 0
    assert len(bank.tree("task")) == 1
    assert bank.episodes.learnt() == 1


@dataclass
class InterruptedExtractor(EchoExtractor):
    """Lets another writer learn while it thinks, the first few times."""

    other: Bank | None = None
    meanwhile: tuple[Trajectory, ...] = ()

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        if self.other is not None and self.meanwhile:
            first, *rest = self.meanwhile
            self.meanwhile = tuple(rest)
            teach(self.other, first)
        return super().extract(tree, trajectory, chain)


def test_what_another_writer_learns_meanwhile_is_taken_into_account(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", replaced(parameters(), "task.recall", "paper"))
    meanwhile = (episode(X, X, action="other"),)
    extractor = InterruptedExtractor(other=Bank.open(bank.path), meanwhile=meanwhile)
    lesson = teach(bank, episode(NEAR_X, Y), extractor)
    # Decided as a root at first; then the other's node was there to be a residual of.
    assert lesson.trees["task"].decision == "residual"
    assert lesson.trees["env"].decision == "root"
    task = list(bank.tree("task"))
    assert [node.depth for node in task] == [1, 2]
    assert bank.tree("task").counts(task[0].id).hits == 1
    assert verify(bank) == []
    # The env tree's chain was the same both times, so its extraction was not repeated.
    assert [name for name, _ in extractor.asked] == ["task", "env", "task"]


def test_a_fusion_that_fails_does_not_cost_the_episode(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(k_cons=1))
    teach(bank, episode(X))
    teach(bank, episode(NEAR_X))
    stubborn = EchoExtractor(fusible=False)
    lesson = teach(bank, episode(NEAR_X, action="again"), stubborn)
    assert lesson.trees["task"].consolidated is None
    assert "not consolidated: no fusion today" in lesson.trees["task"].reason
    assert lesson.trees["task"].node is not None
    assert bank.episodes.learnt() == 3
    assert not any(node.consolidated for node in bank.tree("task"))
    again = teach(bank, episode(NEAR_X, action="once more"))
    assert again.trees["task"].consolidated is not None


class SilentExtractor(EchoExtractor):
    def __init__(self, payload: Payload | None, tree: str = "env") -> None:
        super().__init__()
        self.payload = payload
        self.tree = tree

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        if tree == self.tree and self.payload is None:
            raise ExtractionError("nothing to say")
        if tree == self.tree:
            return Extraction(self.payload, "odd")
        return super().extract(tree, trajectory, chain)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        Payload("", "facts"),
        Payload("1 0 0", " \n"),
        Payload("\x1b[2J", "facts"),
        Payload("1 0 0", "x" * (TEXT_LIMIT + 1)),
    ],
)
def test_an_extraction_that_fails_leaves_the_bank_as_it_was(
    tmp_path: Path, payload: Payload | None
) -> None:
    """In the second tree: what was decided for the first is not written either."""
    bank = new_bank(tmp_path / "bank", replaced(parameters(), "task.recall", "paper"))
    before = state_of(bank)
    with pytest.raises(ExtractionError):
        teach(bank, episode(X, Y), SilentExtractor(payload))
    assert state_of(bank) == before
    assert len(bank.tree("task")) == 0


def test_killed_or_refused_at_every_effect_an_episode_is_there_or_not(tmp_path: Path) -> None:
    """Nodes of both trees, counts, the fused root and the episode's state: together or not."""
    base = tmp_path / "base"
    bank = new_bank(base, parameters(k_cons=1))
    teach(bank, episode(X, Y))
    teach(bank, episode(NEAR_X, Y))
    before = contents(bank)
    last_episode = episode(NEAR_X, Y, action="again")
    undisturbed = copied(base, tmp_path / "undisturbed")
    with FragileOS(NEVER).at_work() as counting:
        lesson = teach(undisturbed, last_episode)
    assert lesson.trees["task"].consolidated is not None
    after = contents(undisturbed)
    final_bytes = file_bytes(undisturbed.path)
    for how in ("before", "half", "disk full"):
        for last in in_turn(len(counting.names)):
            if how == "half" and counting.names[last - 1] != "pwrite":
                continue
            bank = copied(base, tmp_path / f"{how} {last}")
            acknowledged = attempt(bank, last_episode, FragileOS(last, how))
            reopened = Bank.open(bank.path)
            found = contents(reopened)
            assert found == after if acknowledged else found in (before, after), (how, last)
            if how == "disk full":
                assert found == (after if acknowledged else before), last
            assert teach(reopened, last_episode).new == (found == before)
            with reopened.writing():
                pass
            assert contents(reopened) == after
            assert file_bytes(reopened.path) == final_bytes, (how, last)


def attempt(bank: Bank, trajectory: Trajectory, fragile: FragileOS) -> bool:
    """Try to learn; returns whether it was acknowledged."""
    try:
        with fragile.at_work():
            teach(bank, trajectory)
    except (KilledError, StorageError):
        return False
    return True


def copied(base: Path, path: Path) -> Bank:
    shutil.copytree(base, path)
    return Bank.open(path)
