"""Evaluations from end to end, in an arcade of machines."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer.copying import copy_bank
from deltamem_tui.errors import StorageError, UsageError
from deltamem_tui.lab.contestants.entrant import entrants
from deltamem_tui.lab.environment import Observation
from deltamem_tui.lab.runs.estimate import estimate
from deltamem_tui.lab.runs.plan import EvaluationPlan
from deltamem_tui.lab.runs.report import title_of, warnings
from deltamem_tui.lab.runs.result import RESULT, EntrantResult, EvaluationResult
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.methods import names
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.bank.killing import run_until_killed
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.lab.arcade import LIMIT, LOG, Arcade, Machine, plan, run, solved

__all__ = ["no_waiting_for_the_disk"]


def means(found: EvaluationResult, measure: str = "success") -> Mapping[str, float | None]:
    return {each.entrant.name: each.measures[measure].estimate.value for each in found.contestants}


def test_online_memories_begin_empty_and_learn_each_kind_once(tmp_path: Path) -> None:
    found = run(tmp_path / "run", plan("online"))
    nothing, raw, synapse = found.contestants
    # Without a memory three of five verbs are tried: the blue machines want the fifth.
    assert means(found) == {"nothing": 8 / 12, "raw": 8 / 12, "synapse": 8 / 12}
    assert [each.steps for each in nothing.results if each.kind == "red"] == [3, 3, 3, 3]
    assert [each.steps for each in synapse.results if each.kind == "red"] == [3, 1, 1, 1]
    assert [each.nodes for each in raw.results] == [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8]
    assert (synapse.size.nodes, synapse.learnt, synapse.learnt_before) == (8, 12, 0)
    assert synapse.measures["steps"].difference.value == pytest.approx(-6 / 12)
    assert synapse.measures["cost"].estimate.value == 0.5
    assert synapse.by_kind["red"].measures["steps"].estimate.value == 1.5
    assert synapse.curves.nodes[-1] == 8


def test_a_frozen_memory_of_a_log_is_not_written_and_an_unfrozen_one_is(tmp_path: Path) -> None:
    who = entrants(["nothing", "weighted", "kind", *names()])
    for protocol, some in (("frozen", who), ("unfrozen", entrants(["nothing", "raw", "synapse"]))):
        found = run(tmp_path / protocol, plan(protocol, some, log=LOG), log=LOG)
        for each in found.contestants[1:]:
            assert each.learnt_before == 6
            assert each.learnt == (0 if protocol == "frozen" else 12)
            good = each.entrant.name != "awm"  # a workflow has two actions and more
            assert (each.measures["success"].estimate.value == 1.0) == good, each.entrant.name
            assert each.guard.seen == 0


def test_games_played_before_teach_those_that_follow(tmp_path: Path) -> None:
    games = tuple(Arcade().games("train"))
    found = run(tmp_path / "run", plan("frozen", train=games, games=games[:2]))
    synapse = found.contestants[2]
    assert (synapse.learnt_before, synapse.size.nodes, found.trained) == (12, 8, 12)
    assert synapse.guard.seen == 2  # what it is tested on are games that it was trained on


def test_a_game_is_played_again_until_it_is_solved(tmp_path: Path) -> None:
    who = entrants(["nothing", "reasoningbank"])
    found = run(tmp_path / "run", plan("online", who, tries=3))
    nothing = found.contestants[0]
    assert [each.attempt for each in nothing.results if each.game == "blue/50"] == [1, 2, 3]
    assert [each.attempt for each in nothing.results if each.game == "red/50"] == [1]
    assert nothing.solved_by == (8 / 12, 8 / 12, 8 / 12)
    assert nothing.measures["steps"].estimate.value == (4 * 1 + 4 * 3 + 4 * 3 * LIMIT) / 12


def test_a_run_killed_time_and_again_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    who = entrants(["raw", "deltamem", "awm"], ["strict"], ["capacity=2"])
    wanted = plan("online", who, tries=2, games=tuple(Arcade().games("test")[:5]))
    whole = run(tmp_path / "whole", wanted)
    torn, kills = tmp_path / "torn", 0
    for _ in range(4):
        kill_in_a_game(torn, wanted)
    while (
        run_until_killed(lambda: run(torn, wanted), SystemRandom().randint(20, 60 + 20 * kills))
        is None
    ):
        kills += 1
    assert kills >= 3
    assert run(tmp_path / "torn", wanted) == whole
    first, second = ((tmp_path / name / RESULT).read_bytes() for name in ("whole", "torn"))
    assert first == second
    for mine in sorted((tmp_path / "whole").glob("*/episodes.jsonl")):
        other = tmp_path / "torn" / mine.parent.name / mine.name
        assert [each.id for each in episodes(mine)] == [each.id for each in episodes(other)]


DAMAGES = (
    lambda data: data[: len(data) // 2],
    lambda data: b"\xff nothing\n" + data,
    lambda _: b'{"game": 5, "seen": 7, "games": 2}\n',
    lambda _: b'{"task": "a", "environment": "b", "steps": []}\n',
    lambda _: b"",
)


def test_a_damaged_file_is_mended_or_named_and_changes_no_result(tmp_path: Path) -> None:
    games = tuple(Arcade().games("test")[:3])
    wanted = plan("frozen", entrants(["raw"]), train=games[:2], games=games)
    whole, folder = tmp_path / "whole", tmp_path / "run"
    found = run(whole, wanted)
    named = set()
    for file in [*whole.glob("*.json"), *whole.glob("*/*.json*")]:
        for damage in (*DAMAGES, None):
            shutil.copytree(whole, folder)
            damaged = folder / file.relative_to(whole)
            damaged.unlink()
            if damage is None:
                damaged.mkdir()
            else:
                damaged.write_bytes(damage(file.read_bytes()))
            try:
                same = run(folder, wanted) == found
            except (UsageError, StorageError) as error:
                same = str(damaged) in str(error)
                named.add(file.name)
            assert same
            shutil.rmtree(folder)
    assert {"plan.json", "opening.json", "training.episodes.jsonl", "results.jsonl"} <= named


def test_a_run_is_kept_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(UsageError, match="this is a file"):
        run(tmp_path / "run", plan("online"))


def kill_in_a_game(folder: Path, wanted: EvaluationPlan) -> None:
    """Go on with a run in a process that is killed when the fourth action is taken."""
    child = os.fork()
    if child == 0:
        taken, step = iter(range(3)), Machine.step

        def last_step(machine: Machine, action: str) -> Observation:
            if next(taken, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(machine, action)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Machine, "step", last_step)
            run(folder, wanted)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def episodes(path: Path) -> list[Trajectory]:
    return [each for each in read_logs([path]) if isinstance(each, Trajectory)]


def test_nothing_that_is_finished_is_played_again(tmp_path: Path) -> None:
    wanted = plan("frozen", log=LOG)
    first = run(tmp_path / "run", wanted, log=LOG)

    def fail() -> None:
        raise AssertionError("something is played")

    assert run(tmp_path / "run", wanted, log=LOG, between=fail) == first
    with pytest.raises(UsageError, match="another evaluation"):
        run(tmp_path / "run", plan("none", entrants(["nothing"])))


def test_an_estimate_leaves_out_what_was_learnt_and_played(tmp_path: Path) -> None:
    wanted = plan("frozen", log=LOG, train=tuple(Arcade().games("train")))
    calls = iter(range(12 + len(LOG) + 5))  # all of raw's training, and five games of synapse's

    def between() -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    def left() -> tuple[int, int, int]:
        found = estimate(wanted, tmp_path / "run", len(LOG))
        return found.tries, found.learnt, found.played

    assert left() == (3 * 12 + 2 * 12, 2 * 12 + len(LOG), 0)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", wanted, log=LOG, between=between)
    assert left() == (3 * 12 + 7, 7 + len(LOG), 17)
    run(tmp_path / "run", wanted, log=LOG)
    assert left() == (0, 0, 3 * 12 + 2 * 12)


def test_games_side_by_side_come_to_the_same(tmp_path: Path) -> None:
    for protocol, log in (("frozen", LOG), ("online", [])):
        wanted = plan(protocol, log=log)
        alone = run(tmp_path / f"{protocol}-1", wanted, log=log)
        assert run(tmp_path / f"{protocol}-3", wanted, 3, log=log) == alone


def test_what_fails_in_one_thread_ends_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    wanted, calls = plan("frozen", log=LOG), iter(range(8))

    def between() -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", wanted, 2, log=LOG, between=between)
    assert run(tmp_path / "run", wanted, log=LOG) == run(tmp_path / "whole", wanted, log=LOG)


def test_episodes_are_kept_with_receipts_as_a_log_that_imports_read(tmp_path: Path) -> None:
    run(tmp_path / "run", plan("online", entrants(["synapse"])))
    found = episodes(tmp_path / "run" / "01-synapse" / "episodes.jsonl")
    assert len(found) == 12
    last = found[-1]
    assert (last.outcome.success, last.outcome.source, last.agent) == (True, "stated", "tinkerer")
    assert (last.metadata["game"], last.metadata["task_type"]) == ("grey/53", "grey")
    assert len(last.receipts[0].entries) == 1


def test_a_given_bank_is_read_or_copied_and_its_games_are_told(tmp_path: Path) -> None:
    same = solved("blue", 50)  # of a game that it is tested on
    bank = create_bank(tmp_path / "shop", embedder="hashing", method="synapse")
    for each in (*LOG, same):
        learn(bank, each)
    before = bank.commit.sequence
    who = entrants([], banks={"shop": tmp_path / "shop"})

    def shown(out: str, **facts: Any) -> tuple[EntrantResult, bool]:
        """What came of it, and whether the game's own episode was shown in that game."""
        found = run(tmp_path / out, plan("frozen", who, banks=("1",), **facts))
        assert ("leave-one-out" in title_of(found)) == bool(facts)
        kept = episodes(tmp_path / out / "01-shop" / "episodes.jsonl")
        (entry,) = next(e for e in kept if e.metadata["game"] == "blue/50").receipts[0].entries
        origin = bank.tree(entry.collection).node(entry.node).origin
        return found.contestants[0], origin.trajectory == same.id

    frozen, own = shown("frozen")
    assert (frozen.guard.seen, frozen.guard.hidden, frozen.guard.unknown, own) == (
        1,
        False,
        0,
        True,
    )
    without, own = shown("without", leave_one_out=True)
    assert (without.guard.seen, without.guard.hidden, own) == (1, True, False)
    unfrozen = run(tmp_path / "unfrozen", plan("unfrozen", who, banks=("1",)))
    assert unfrozen.contestants[0].size.nodes == 7 + 11  # one game goes as it went before
    assert Bank.open(tmp_path / "shop").commit.sequence == before


def test_a_bank_without_its_episodes_says_of_how_many_it_cannot_tell(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "shop", embedder="hashing", method="synapse")
    for each in (*LOG, solved("blue", 50)):
        learn(bank, each)
    copy_bank(bank, tmp_path / "shipped")
    who = entrants([], banks={"shipped": tmp_path / "shipped"})
    found = run(tmp_path / "run", plan("frozen", who, banks=("1",)))
    (shipped,) = found.contestants
    assert (shipped.guard.seen, shipped.guard.unknown, shipped.learnt_before) == (0, 7, 7)
    assert "none of the 7 episodes" in warnings(found)[0]
