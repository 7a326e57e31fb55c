"""Episodes imported in the browser: what is told of them, and what is asked before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.cli import app as cli
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes import importer
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.readers import reading
from deltamem_tui.trajectory.readers.native import to_record
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from tests.cli.support import heat
from tests.cli.support import write_log as write_records
from tests.trajectory.readers.samples import claude, lines
from tests.tui.support import (
    READY,
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


@pytest.mark.parametrize(
    ("bank_domain", "log_domain", "kept", "said"),
    [
        ("alfworld", "", "alfworld", "(read as native, of alfworld)"),
        (
            "alfworld",
            "scienceworld",
            "scienceworld",
            "(read as native, of scienceworld, while the bank is of alfworld)",
        ),
        ("generic", "webshop", "webshop", "(read as native, of webshop)"),
        ("generic", "", "", "(read as native)"),
    ],
)
def test_an_imported_episode_has_the_domain_of_its_bank_unless_its_log_names_another(
    tmp_path: Path, bank_domain: str, log_domain: str, kept: str, said: str
) -> None:
    create_bank(tmp_path / "bank", embedder="hashing", domain=bank_domain)
    log = tmp_path / "log.jsonl"
    told = replace(trajectory("wash the pan", success=True), domain=log_domain)
    log.write_bytes(orjson.dumps(to_record(told)) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        if "while the bank is of" in said:
            assert (
                f"Import episodes of {log_domain} too? bank is of {bank_domain}." in person.screen
            )
            await person.press("n")
            assert person.said[-1] == f"nothing was imported: an episode is of {log_domain}"
            assert len(Bank.open(tmp_path / "bank").episodes) == 0
            await person.press("i")
            await person.write(str(log))
            await person.press("enter", "y")
        assert person.said[-1] == f"imported 1 episode {said}"

    browse(tmp_path, story, "bank")
    (found,) = episodes(Bank.open(tmp_path / "bank"))
    assert found.domain == kept


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
        await person.press("enter", *("y" if named == "town" else ""))
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


def test_a_domain_in_other_letters_is_the_bank_s(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    told = replace(trajectory("wash the pan", success=True), domain="ALFWorld")
    log.write_bytes(orjson.dumps(to_record(told)) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == "imported 1 episode (read as native, of ALFWorld)"

    browse(folder, story, "kitchen")


def test_what_is_left_out_by_design_is_told_in_the_program_s_words(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "sessions.jsonl"
    log.write_bytes(
        lines(
            *(
                claude(f"{who}{number}", before and f"{before}{number}", words) | aside
                for number in range(5)
                for aside in ({"sessionId": f"s{number}"},)
                for who, before, words in (
                    ("u", None, f"Fix {number}."),
                    ("a", "u", "Fixed the wrong one."),
                    ("a2", "u", "Fixed it."),
                )
            )
        )
    )

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        said = person.said[-1]
        assert said.startswith("imported 5 episodes")
        first = "sessions.jsonl, line 2: 1 message is left out: the conversation went back and on"
        assert f"; {first} from before (the branch that leads to the last message" in said
        assert said.count("left out:") == 3
        assert said.endswith("; more was left out in 2 other places")

    browse(folder, story, "kitchen")


def test_of_many_domains_the_first_are_named(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    told = [replace(trajectory(f"wash pan {n}", success=True), domain=f"d{n}") for n in range(150)]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter", "y")
        assert "of d0, d1, d2, …, while the bank is of alfworld" in person.said[-1]

    browse(folder, story, "kitchen")


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


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_first_episode_of_another_domain_is_asked_about_and_nothing_is_read_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    log = tmp_path / "log.jsonl"
    domains = ["alfworld", "", "scienceworld", "alfworld", "webshop"]
    told = [
        replace(trajectory(f"wash pan {number}", success=True), domain=domain)
        for number, domain in enumerate(domains)
    ]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))
    before = len(Bank.open(folder / "kitchen").episodes)
    opened: list[object] = []
    found = reading.read_logs

    def counting(*given: Any, **rest: Any) -> Any:
        opened.append(given)
        return found(*given, **rest)

    monkeypatch.setattr(reading, "read_logs", counting)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert "Import episodes of scienceworld too? kitchen is of alfworld." in person.screen
        assert "Nothing is written so far" in person.screen
        assert len(Bank.open(folder / "kitchen").episodes) == before
        await person.press(answer)
        assert person.said[-1] == (
            "imported 5 episodes (read as native, of alfworld, scienceworld, webshop, "
            "while the bank is of alfworld)"
            if answer == "y"
            else "nothing was imported: an episode is of scienceworld"
        )

    browse(folder, story, "kitchen")
    imported = 5 if answer == "y" else 0
    assert len(Bank.open(folder / "kitchen").episodes) == before + imported
    assert len(opened) == 2, "once to show what it begins with, once to import it"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_an_episode_of_another_domain_that_comes_late_leaves_and_tells_what_is_in(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(importer, "_BATCH_EPISODES", 2)
    log = tmp_path / "log.jsonl"
    told = [
        READY,
        trajectory("wash pan 1"),
        trajectory("wash pan 2", success=True),
        replace(trajectory("wash pan 3"), domain="town"),
        READY,
        trajectory("wash pan 4", success=True),
    ]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))
    before = len(Bank.open(folder / "kitchen").episodes)
    first = (
        "imported 2 episodes (read as native, of alfworld), 1 known already; "
        "1 episode waits without an outcome"
    )

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert len(Bank.open(folder / "kitchen").episodes) == before + 2
        await person.press(answer)
        assert person.said[-1] == (
            "imported 4 episodes (read as native, of alfworld, town, while the bank is of "
            "alfworld), 2 known already; 2 episodes wait without an outcome"
            if answer == "y"
            else "stopped at the first episode of town: neither it nor what follows was imported; "
            f"what came before stays: {first}"
        )

    browse(folder, story, "kitchen")
    assert len(Bank.open(folder / "kitchen").episodes) == before + (4 if answer == "y" else 2)
