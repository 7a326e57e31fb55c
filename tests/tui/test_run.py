"""The run of an evaluation in the browser: what is read, what is told of it, and the ways in it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import UsageError
from deltamem_tui.lab.runs.kept_run import KeptCourse, read_run
from deltamem_tui.lab.runs.result import RESULT, EvaluationResult
from deltamem_tui.memory.editing import delete, edit
from deltamem_tui.paths import results_named
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.models.recalled import Recalled, recalled
from deltamem_tui.tui.models.run import GameCell, RunTable, contestant_sections, curves
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.run import RunScreen
from deltamem_tui.tui.screens.run_episode import RunEpisodeScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from tests.tui.runs import copied_run, finished_run, stopped
from tests.tui.support import Person, browse
from tests.tui.test_hostile import TEXTS, assert_harmless


def test_a_run_is_told_as_far_as_it_was_played(tmp_path: Path) -> None:
    table = RunTable.of(read_run(finished_run()))
    assert table.run.finished
    kept = (finished_run() / RESULT).read_bytes()
    assert table.run.result == msgspec.json.decode(kept, type=EvaluationResult)
    assert [row.cells[0] for row in table.rows] == [".67 (.33 1.00)", *["1.00 (1.00 1.00)"] * 2]
    assert table.columns[-1] == "less a"
    games, drawn = curves(table)
    assert [*games] == [1, 2, 3, 4, 5, 6]
    assert [*drawn] == ["score, over the games so far", "nodes"]
    blue = next(game for game in table.games if game.info.kind == "blue")
    assert blue.cells == (GameCell("0", "3"), *[GameCell("1", "1", solved=True)] * 2)
    assert len(contestant_sections(table, table.rows[1])) == 3

    folder = stopped(copied_run(tmp_path / "run"))
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    part = RunTable.of(read_run(folder))
    assert not part.run.finished
    assert [row.cells[0] for row in part.rows] == ["6/6", "4/6", "0/6"]
    assert len(part.run.compared) == 4
    assert part.title.startswith("UNFINISHED, 4 games compared · ")
    assert part.rows[2].result is None
    assert part.games[5].cells[1:] == (GameCell(), GameCell())
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files

    for results in folder.glob("*/results.jsonl"):
        results.unlink()
    none = RunTable.of(read_run(folder))
    assert none.columns == ("played",)
    assert curves(none) == ((), {})


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("plan.json", "{", "["),
        ("plan.json", '"tries": 1', '"tries": 1000000000'),
        ("plan.json", '"games": [', '"games": 7, "others": ['),
        ("01-nothing/results.jsonl", '"steps":', '"steps":1e300,"s":'),
        ("01-nothing/results.jsonl", '"steps":', '"steps":-'),
        ("01-nothing/opening.json", '"seen":[', '"seen":[7'),
        ("result.json", '"tokens": ', '"tokens": -'),
        ("result.json", '"name": "raw"', '"name": "other"'),
    ],
)
def test_a_broken_run_is_refused_in_one_line(tmp_path: Path, file: str, old: str, new: str) -> None:
    folder = copied_run(tmp_path / "run")
    text = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match="not the run of an evaluation") as refusal:
        read_run(folder)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_folder_without_a_plan_is_no_run(tmp_path: Path) -> None:
    assert results_named(str(tmp_path)) is None
    assert results_named(str(finished_run())) == finished_run()
    with pytest.raises(UsageError, match="not the folder of an evaluation"):
        read_run(tmp_path)


def first_game(folder: Path) -> tuple[KeptCourse, Trajectory]:
    run = read_run(folder)
    course = run.courses[2]
    episode = course.episode((run.plan.games[0].name, 1))
    assert episode is not None
    return course, episode


def titles(found: Recalled) -> list[str]:
    return [each.title.split(" · ")[-1] for each in found.sections]


def test_what_was_recalled_is_looked_up_and_what_became_of_it_is_told(tmp_path: Path) -> None:
    folder = copied_run(tmp_path / "run")
    course, episode = first_game(folder)
    found = recalled(course, episode)
    assert [each.node is not None for each in found.nodes] == [True, True]
    above, below = found.nodes
    assert "twist red" in "".join(above.payload.values())

    bank = Bank.open(folder / "03-deltamem" / "bank")
    assert above.node is not None
    assert below.node is not None
    edit(bank, below.collection, below.node, dict.fromkeys(below.payload, "another"))
    found = recalled(course, episode)
    assert titles(found)[2] == "CHANGED SINCE"
    assert found.nodes[1].payload != below.payload

    changed = found.nodes[1].node
    assert changed is not None
    delete(bank, below.collection, changed)
    found = recalled(course, episode)
    assert [each.node is not None for each in found.nodes] == [True, False]
    assert found.sections[2].warning

    bank.path.rename(tmp_path / "gone")
    found = recalled(course, episode)
    assert not found.nodes
    assert found.sections[1].warning
    assert below.node_id in found.sections[2].body

    other = read_run(folder).courses[1]
    assert len(recalled(other, episode).sections) == len(recalled(course, None).sections) == 1


def test_from_a_game_to_its_steps_to_a_node_and_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("r")
        await person.write(str(finished_run()))
        await person.press("enter")
        assert isinstance(person.app.screen, RunScreen)
        await person.resize((60, 16))
        assert "start the" in person.screen
        await person.resize((170, 45))
        assert "Measures with 95 % intervals" in person.screen
        await person.press("l", "l", "enter")
        assert isinstance(person.app.screen, RunEpisodeScreen)
        assert "twist red" in person.screen
        await person.press("n", "enter")
        screen = person.app.screen
        assert isinstance(screen, TreesScreen)
        assert "twist answers" in person.screen
        await person.press("escape")
        assert isinstance(person.app.screen, RunEpisodeScreen)
        await person.press("escape", "escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story)


def test_hostile_texts_of_a_run_are_harmless(tmp_path: Path, folder: Path) -> None:
    run = copied_run(tmp_path / "run")
    plan = msgspec.json.decode((run / "plan.json").read_bytes())
    for at, each in enumerate(plan["entrants"]):
        each["method"] = ""
        each["bank"] = each["name"] = TEXTS[1 + at]
    plan["protocol"] = "frozen"
    plan["environment"], plan["agent"] = TEXTS[2], TEXTS[3]
    for game, text in zip(plan["games"], TEXTS, strict=False):
        game["name"] = game["kind"] = text[:50_000]
    (run / "plan.json").write_bytes(msgspec.json.encode(plan))
    (run / RESULT).unlink()
    where = [*{course.folder for course in read_run(run).courses}]
    lines = (finished_run() / "03-deltamem" / "results.jsonl").read_bytes().splitlines()
    heads = (finished_run() / "03-deltamem" / "episodes.jsonl").read_bytes().splitlines()
    results, episodes = map(list[dict[str, object]], ([], []))
    for game, line, head in zip(plan["games"], lines, heads, strict=True):
        results.append(msgspec.json.decode(line) | {"game": game["name"], "kind": game["kind"]})
        episode = msgspec.json.decode(head)
        episode["metadata"] |= {"game": game["name"], "memory_tokens": TEXTS[2]}
        episodes.append(episode | {"task": game["name"]})
    for place in where:
        place.mkdir(exist_ok=True)
        for name, records in (("results.jsonl", results), ("episodes.jsonl", episodes)):
            said = b"\n".join(map(msgspec.json.encode, records)) + b"\n"
            (place / name).write_bytes(said)

    async def story(person: Person) -> None:
        await person.press("r")
        await person.write(str(run))
        await person.press("enter")
        assert isinstance(person.app.screen, RunScreen)
        for _ in plan["games"]:
            for key in ("c", "enter", "l", "escape", "c", "j"):
                await person.press(key)
                assert_harmless(person.screen)
        await person.resize((60, 20))
        assert_harmless(person.screen)

    browse(folder, story)


def test_only_what_a_run_has_is_offered(folder: Path, tmp_path: Path) -> None:
    run = stopped(copied_run(tmp_path / "run"))
    results = run / "02-raw" / "results.jsonl"
    results.write_bytes(results.read_bytes().splitlines(keepends=True)[0])
    seen: list[list[bool]] = []

    async def story(person: Person) -> None:
        await person.press("r")
        await person.write(str(run))
        await person.press("enter")
        assert "UNFINISHED, 1 game compared" in person.screen
        for keys in ("", "G", "g l l", "h h enter"):
            await person.press(*keys.split())
            line = person.screen.splitlines()[-1]
            seen.append([key in line for key in ("R read again", "⏎ steps", "n next", "⏎ node")])
        assert isinstance(person.app.screen, RunEpisodeScreen)

    browse(folder, story, size=(120, 24))
    assert seen == [
        [True, True, False, False],
        [True, True, False, False],
        [True, False, False, False],
        [False, False, False, False],
    ]


def test_a_run_is_opened_at_once(folder: Path) -> None:
    app = DeltaMemApp(folder, results=finished_run())

    async def story() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.settle()
            assert isinstance(app.screen, RunScreen)

    import asyncio

    asyncio.run(story())
