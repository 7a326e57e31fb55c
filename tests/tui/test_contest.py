"""A contest in the browser: what is read, what is told of it, and the ways in it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.contest import read_contest
from deltamem_tui.lab.contestants import contestants
from deltamem_tui.lab.plan import RESULT, ContestPlan
from deltamem_tui.lab.result import ContestResult
from deltamem_tui.paths import results_named
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.models.sections import plain
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.contest import ContestScreen, ContestView
from tests.lab.arcade import plan, run
from tests.tui.contests import copied_contest, finished_contest, stopped
from tests.tui.support import Person, browse
from tests.tui.test_hostile import TEXTS, assert_harmless


def test_a_contest_is_told_as_far_as_it_was_played(tmp_path: Path) -> None:
    view = ContestView(read_contest(finished_contest()))
    assert view.contest.finished
    kept = (finished_contest() / RESULT).read_bytes()
    assert view.contest.result == msgspec.json.decode(kept, type=ContestResult)
    assert "0.667" in view.line(0, 120)
    assert len(view.line(1, 40)) <= 40
    numbers = plain(view.numbers(1))
    assert "Measures with 95 % intervals" in numbers
    assert "+.33" in numbers
    played = plain(view.played(2, 0))
    assert "What the memory handed over" in played
    assert "twist red" in played

    folder = stopped(copied_contest(tmp_path / "run"))
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    part = ContestView(read_contest(folder))
    assert not part.contest.finished
    assert len(part.contest.compared) == 4
    assert part.title.startswith("UNFINISHED, 4 games compared · ")
    assert part.trial(1, 5) is None
    assert "has not played" in plain(part.played(2, 0))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files

    for results in folder.glob("*/results.jsonl"):
        results.unlink()
    assert read_contest(folder).result is None


def test_of_an_unfinished_contest_no_memory_is_said_to_have_learnt_nothing(tmp_path: Path) -> None:
    run(tmp_path / "run", plan("online", contestants(["raw"], {})))
    (tmp_path / "run" / RESULT).unlink()
    results = tmp_path / "run" / "01-raw" / "results.jsonl"
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:4]))
    view = ContestView(read_contest(tmp_path / "run"))
    assert "Measures" in plain(view.numbers(0))
    assert "learnt nothing" not in plain(view.numbers(0))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("plan.json", "{", "["),
        ("plan.json", '"games": [', '"games": 7, "others": ['),
        ("01-nothing/results.jsonl", '"calls":', '"calls":-'),
        ("02-raw/episodes.jsonl", '"game":', '"gamble":'),
        ("result.json", '"tokens":', '"tokens":-'),
    ],
)
def test_a_broken_contest_is_refused_in_one_line(
    tmp_path: Path, file: str, old: str, new: str
) -> None:
    folder = copied_contest(tmp_path / "run")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match="not a contest's file") as refusal:
        ContestView(read_contest(folder))
    assert len(str(refusal.value).splitlines()) == 1


def test_a_folder_without_a_plan_is_no_contest(tmp_path: Path) -> None:
    assert results_named(str(tmp_path)) is None
    assert results_named(str(finished_contest())) == finished_contest()
    with pytest.raises(UsageError, match="not a contest's folder"):
        read_contest(tmp_path)


def test_from_the_banks_to_a_game_and_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("r")
        await person.write(str(finished_contest()))
        await person.press("enter")
        assert isinstance(person.app.screen, ContestScreen)
        await person.resize((60, 16))
        assert "start the" in person.screen
        await person.resize((170, 45))
        assert "Measures with 95 % intervals" in person.screen
        assert "read again" not in person.screen
        await person.press("l", "l", "enter")
        assert "What the memory handed over" in person.screen
        await person.press("enter", "escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story)


def test_hostile_texts_of_a_contest_are_harmless(tmp_path: Path, folder: Path) -> None:
    run = copied_contest(tmp_path / "run")
    plan = msgspec.json.decode((run / "plan.json").read_bytes())
    for at, each in enumerate(plan["contestants"]):
        each["method"] = ""
        each["bank"] = each["name"] = TEXTS[1 + at]
    plan["protocol"] = "frozen"
    plan["environment"], plan["agent"] = TEXTS[2], TEXTS[3]
    for game, text in zip(plan["games"], TEXTS, strict=False):
        game["name"] = game["kind"] = text[:50_000]
    where = [run / name for name in msgspec.convert(plan, type=ContestPlan).folders]
    (run / "plan.json").write_bytes(msgspec.json.encode(plan))
    (run / RESULT).unlink()
    lines = (finished_contest() / "03-deltamem" / "results.jsonl").read_bytes().splitlines()
    heads = (finished_contest() / "03-deltamem" / "episodes.jsonl").read_bytes().splitlines()
    results, episodes = map(list[dict[str, object]], ([], []))
    for game, line, head in zip(plan["games"], lines, heads, strict=True):
        named = {"game": game["name"], "kind": game["kind"], "memory": TEXTS[2]}
        results.append(msgspec.json.decode(line) | named)
        episode = msgspec.json.decode(head)
        episode["metadata"] |= {"game": game["name"]}
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
        assert isinstance(person.app.screen, ContestScreen)
        for _ in plan["games"]:
            for key in ("enter", "l", "enter", "j"):
                await person.press(key)
                assert_harmless(person.screen)
        await person.resize((60, 20))
        assert_harmless(person.screen)

    browse(folder, story)


def test_an_unfinished_contest_is_opened_at_once_and_read_again(
    folder: Path, tmp_path: Path
) -> None:
    app = DeltaMemApp(folder, results=stopped(copied_contest(tmp_path / "run")))

    async def story() -> None:
        async with app.run_test(size=(120, 24)) as pilot:
            person = Person(app, pilot)
            await person.settle()
            assert isinstance(app.screen, ContestScreen)
            assert "UNFINISHED, 4 games compared" in person.screen
            await person.press("R")
            assert isinstance(app.screen, ContestScreen)

    asyncio.run(story())
