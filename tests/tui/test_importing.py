"""Episodes imported in the browser: what is told of them, and what is asked before."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.cli import app as cli
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.readers.native import to_record
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from tests.cli.support import heat
from tests.cli.support import write_log as write_records
from tests.tui.support import (
    Person,
    browse,
    pane,
    trajectory,
)


def write_log(file: Path, count: int) -> Path:
    episodes = [
        trajectory(f"put egg {number} in the sink", success=True) for number in range(count)
    ]
    file.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in episodes))
    return file


def test_import_from_a_log(folder: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", 4)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == "imported 4 episodes (read as native, of alfworld)"
        assert "7 episodes · 6 waiting" in person.screen
        await person.press("i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == (
            "imported 0 episodes (read as native, of alfworld), 4 known already"
        )

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("named", ["", "town", "ALFWorld"])
def test_the_browser_learns_of_a_log_what_the_program_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """An episode's domain decides how the rules read it."""
    log = tmp_path / "log.jsonl"
    write_records(log, [heat("egg") | {"domain": named}])
    for name in ("pressed", "typed"):
        create_bank(tmp_path / name, embedder="hashing", domain="alfworld")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1].startswith("imported 1 episode")

    browse(tmp_path, story, "pressed")
    monkeypatch.chdir(tmp_path)
    assert cli.run(("import", "./typed", str(log))) == 0
    kept = []
    for name in ("pressed", "typed"):
        bank = Bank.open(tmp_path / name)
        for waits in episodes(bank):
            learn(bank, waits)
        kept.append(
            [
                (tmp_path / name / file).read_bytes()
                for file in ("trajectories.jsonl", "task.nodes.jsonl", "env.nodes.jsonl")
            ]
        )
    assert kept[0] == kept[1]
    assert all(kept[0])


def test_the_secrets_that_were_taken_out_are_counted(folder: Path, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps(to_record(trajectory(f"log in with {key}", success=True))) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert ", 1 redacted (" in person.said[-1]
        await person.press("G")
        assert key not in pane(person, "steps")

    browse(folder, story, "kitchen")


def test_a_log_that_is_none_is_told(folder: Path, tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(tmp_path / "[/nothing]"))
        await person.press("enter")
        assert "[/nothing]" in person.said[-1]
        await person.press("escape")
        assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_episodes_of_another_domain_are_told_before_they_are_imported(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    told = [
        replace(trajectory(f"wash pan {domain}", success=True), domain=domain)
        for domain in ("alfworld", "", "scienceworld")
    ]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        assert "! of scienceworld: the bank is of alfworld" in person.screen
        await person.press("enter")
        assert person.said[-1].startswith("imported 3 episodes")

    browse(folder, story, "kitchen")
