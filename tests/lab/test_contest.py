"""Contests from end to end, in an arcade of machines and over a log."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.errors import StorageError, UsageError
from deltamem_tui.lab.contest import Tools, games_left, hold
from deltamem_tui.lab.contestants import contestants, judged_by_chance
from deltamem_tui.lab.environment import GameInfo, Observation
from deltamem_tui.lab.grounds import LogGround, kinds_of
from deltamem_tui.lab.plan import LOG as OF_LOG
from deltamem_tui.lab.plan import RESULT, ContestantFolder, ContestPlan
from deltamem_tui.lab.result import ContestResult, warnings
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.method import RulesExtractor, names
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.bank.killing import run_until_killed
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.lab.arcade import LIMIT, LOG, Arcade, Machine, plan, run, solved

__all__ = ["no_waiting_for_the_disk"]


def means(found: ContestResult, measure: str = "success") -> Mapping[str, float | None]:
    return {
        each.contestant.name: each.measures[measure].estimate.value for each in found.contestants
    }


def test_online_memories_begin_empty_and_learn_each_kind_once(tmp_path: Path) -> None:
    found = run(tmp_path / "run", plan("online"))
    nothing, raw, synapse = found.contestants
    # Without a memory three of five verbs are tried: the blue machines want the fifth.
    assert means(found) == {"nothing": 8 / 12, "raw": 8 / 12, "synapse": 8 / 12}
    assert [each.measures["steps"] for each in nothing.results if each.kind == "red"] == [3] * 4
    assert [each.measures["steps"] for each in synapse.results if each.kind == "red"] == [
        3,
        1,
        1,
        1,
    ]
    assert (raw.size.nodes, synapse.size.nodes, synapse.start.learnt) == (8, 8, 0)
    # Three red machines take two steps less; the first grey one is tried like the red one first.
    assert synapse.measures["steps"].difference.value == pytest.approx(-4 / 12)
    assert synapse.measures["cost"].estimate.value == 0.5


def test_a_frozen_memory_of_a_log_is_not_written_and_an_unfrozen_one_is(tmp_path: Path) -> None:
    who = contestants(["nothing", "kind", *names()], {})
    some = contestants(["nothing", "raw", "synapse"], {})
    for protocol, contest in (("frozen", who), ("unfrozen", some)):
        found = run(tmp_path / protocol, plan(protocol, contest, log=LOG), log=LOG)
        for each in found.contestants[1:]:
            assert each.start.learnt == 6
            assert (each.size == each.start.size) == (protocol == "frozen")
            good = each.contestant.name != "awm"  # a workflow has two actions and more
            assert (each.measures["success"].estimate.value == 1.0) == good, each.contestant.name
            assert each.start.seen == 0


class Fickle(Machine):
    """A machine that a further act may lose."""

    def step(self, action: str) -> Observation:
        lost = action.startswith("pull")
        return Observation("Lost." if lost else "Hm.", 0.0 if lost else 0.5, done=lost)


def test_the_final_score_stands_beside_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "step", Fickle.step)
    found = run(tmp_path / "run", plan("online", contestants(["nothing"], {})))
    assert (means(found, "score"), means(found, "final")) == ({"nothing": 0.5}, {"nothing": 0.0})


def test_a_contest_killed_time_and_again_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    who = contestants(["raw", "deltamem:forgetting=periodical,forget_period=2", "awm"], {})
    wanted = plan("online", who, games=tuple(Arcade().games("test")[:5]))
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
    assert run(torn, wanted) == whole
    first, second = ((tmp_path / name / RESULT).read_bytes() for name in ("whole", "torn"))
    assert first == second
    for mine in sorted((tmp_path / "whole").glob("*/episodes.jsonl")):
        other = torn / mine.parent.name / mine.name
        assert list(dict.fromkeys(ids(other))) == ids(mine)  # a game's line may stand twice


def kill_in_a_game(folder: Path, wanted: ContestPlan) -> None:
    """Go on with a contest in a process that is killed when the fourth action is taken."""
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


def ids(path: Path) -> list[str]:
    return [each.id for each in episodes(path)]


DAMAGES = (
    lambda data: data[: len(data) // 2],
    lambda data: b"\xff nothing\n" + data,
    lambda _: b'{"game": 5, "seen": 7, "games": 2}\n' * 2,
    lambda _: b"",
)


def test_a_damaged_file_is_mended_or_named_and_changes_no_result(tmp_path: Path) -> None:
    games = tuple(Arcade().games("test")[:3])
    wanted = plan("frozen", contestants(["raw"], {}), log=LOG, games=games)
    whole, folder = tmp_path / "whole", tmp_path / "run"
    found = run(whole, wanted, log=LOG)
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
                same = run(folder, wanted, log=LOG) == found
            except (UsageError, StorageError) as error:
                same = str(damaged) in str(error)
                named.add(file.name)
            assert same
            shutil.rmtree(folder)
    assert {"plan.json", "start.json", "results.jsonl"} <= named
    left = ContestantFolder(next(whole.glob("*-raw")))
    for line in (b'{"task": 5}', b'{"task": "x", "steps": [{"action": "a", "observation": ""}]}'):
        (left.path / "episodes.jsonl").write_bytes(line + b"\n")
        with pytest.raises(UsageError, match=r"episodes\.jsonl, line 1"):
            left.episodes()


def test_a_contest_is_kept_in_a_folder_and_nothing_is_played_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="something else is here"):
        run(tmp_path / "file", plan("online"))
    wanted = plan("frozen", log=LOG)
    first = run(tmp_path / "run", wanted, log=LOG)

    def fail() -> None:
        raise AssertionError("something is played")

    assert run(tmp_path / "run", wanted, log=LOG, between=fail) == first
    with pytest.raises(UsageError, match="another contest"):
        run(tmp_path / "run", plan("online", contestants(["nothing"], {})))


def test_what_is_interrupted_is_kept_and_counted(tmp_path: Path) -> None:
    wanted, calls = plan("frozen", log=LOG), iter(range(len(LOG) + 8))

    def between() -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    def left() -> int:
        return games_left(wanted, tmp_path / "run")

    assert left() == 36
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", wanted, log=LOG, between=between)
    assert left() == 28
    calls = iter(range(5))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", wanted, 2, log=LOG, between=between)
    assert run(tmp_path / "run", wanted, log=LOG) == run(tmp_path / "whole", wanted, log=LOG)
    assert left() == 0


def test_games_side_by_side_come_to_the_same(tmp_path: Path) -> None:
    for protocol, log in (("frozen", LOG), ("online", [])):
        wanted = plan(protocol, log=log)
        alone = run(tmp_path / f"{protocol}-1", wanted, log=log)
        assert run(tmp_path / f"{protocol}-3", wanted, 3, log=log) == alone


def test_episodes_are_kept_with_receipts_as_a_log_that_imports_read(tmp_path: Path) -> None:
    run(tmp_path / "run", plan("online", contestants(["synapse"], {})))
    found = episodes(tmp_path / "run" / "01-synapse" / "episodes.jsonl")
    assert len(found) == 12
    last = found[-1]
    assert (last.outcome.success, last.outcome.source, last.agent) == (True, "stated", "tinkerer")
    assert (last.metadata["game"], last.metadata["task_type"]) == ("grey/53", "grey")
    assert len(last.receipts[0].entries) == 1


def test_a_given_bank_is_read_or_copied_and_its_games_are_named(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "shop", embedder="hashing", method="synapse")
    for each in (*LOG, solved("blue", 50)):  # the last is of a game that it is tested on
        learn(bank, each)
    before = bank.commit.sequence
    who = contestants([], {"shop": tmp_path / "shop"})
    found = run(tmp_path / "frozen", plan("frozen", who, banks=("1",)))
    start = found.contestants[0].start
    assert (start.learnt, start.seen, start.unknown) == (7, 1, 0)
    assert warnings(found) == ["shop: had learnt from 1 of the 12 games before"]
    unfrozen = run(tmp_path / "unfrozen", plan("unfrozen", who, banks=("1",)))
    assert unfrozen.contestants[0].size.nodes == 7 + 11  # one game goes as it went before
    assert Bank.open(tmp_path / "shop").commit.sequence == before


@pytest.mark.parametrize(
    ("protocol", "methods", "facts", "told"),
    [
        ("online", ["raw"], {"learnt_from": "1"}, "empty"),
        ("frozen", ["raw"], {}, "have learnt"),
        ("online", ["synapse:admission=coarse"], {}, "judge"),
        ("online", ["raw"], {"games": ()}, "nothing to play"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(
    tmp_path: Path, protocol: str, methods: list[str], facts: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        run(tmp_path / "run", plan(protocol, contestants(methods, {}), **facts))


# Over a log


def over_log(folder: Path, some: list[Trajectory], *methods: str, learnt: int = 0) -> ContestResult:
    before, asked = some[:learnt], some[learnt:]
    kinds = kinds_of(some, "generic")
    games = tuple(GameInfo(each.id, "", kinds[each.id]) for each in asked)
    protocol = "frozen" if learnt else "online"
    who = contestants(methods, {})
    wanted = plan(
        protocol, who, environment=OF_LOG, games=games, log=before, limit=0, agent="", split=""
    )
    ground = LogGround(before, asked, kinds, learns=not learnt)
    return hold(wanted, Tools(ground, load("hashing"), RulesExtractor()), folder, log=before)


def machine(colour: str, number: int, *, success: bool = True) -> Trajectory:
    start = Machine(colour, number).start()
    steps = (Step("twist " + colour, "Hm."), Step(f"press {colour}", "It runs."))
    outcome = Outcome(success, source="stated")
    return Trajectory(start.task, start.scene, steps, outcome, metadata={"task_type": colour})


def test_a_log_is_asked_before_it_is_learnt(tmp_path: Path) -> None:
    some = [machine("red", 1), machine("blue", 1), machine("red", 2), machine("blue", 2)]
    found = over_log(tmp_path / "run", some, "raw", "synapse", "nothing")
    raw, synapse, nothing = found.contestants
    assert [each.measures["recalled"] for each in raw.results] == [0, 1, 1, 1]
    assert [each.measures.get("same_kind") for each in synapse.results] == [None, None, 1, 1]
    assert nothing.measures["same_kind"].estimate.value == 0
    assert (raw.size.nodes, synapse.size.nodes) == (4, 4)
    assert "success rate" in " ".join(warnings(found))
    assert LIMIT > found.limit == 0


def test_what_was_misjudged_is_not_precise(tmp_path: Path) -> None:
    some = [machine("red", at, success=bool(at % 2)) for at in range(8)]
    judged = [judged_by_chance(each, 1.0, 0) for each in some]  # always wrong
    who = ("synapse", "synapse:admission=coarse", "synapse:admission=unjudged")
    strict, coarse, unjudged = over_log(tmp_path / "run", judged, *who).contestants
    assert strict.measures["precision"].estimate.value == 1
    assert coarse.measures["precision"].estimate.value == 0
    assert unjudged.measures["precision"].estimate.value == 0  # the first of all is the nearest


def test_a_part_of_a_log_is_learnt_before_the_rest_is_asked(tmp_path: Path) -> None:
    some = [machine(colour, at) for at in range(3) for colour in ("red", "blue")]
    found = over_log(tmp_path / "run", some, "raw", "deltamem", learnt=4)
    for each in found.contestants:
        assert (each.start.learnt, each.measures["same_kind"].estimate.value) == (4, 1)
        assert each.size == each.start.size
