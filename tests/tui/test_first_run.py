"""What leads a newcomer on: choices that are explained, previews, a warning with its cure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.method import choices
from deltamem_tui.tui.core.work import Progress
from deltamem_tui.tui.jobs.agent_sessions import find_sessions
from deltamem_tui.tui.jobs.episodes import extract_by_rules, preview_learning, preview_logs
from deltamem_tui.tui.screens.bank_actions import embedders
from deltamem_tui.tui.widgets.forms import AskDialog, completed_path
from tests.places import DOCS
from tests.trajectory.readers.samples import first_logs
from tests.tui.lab import context
from tests.tui.support import Person, browse, many_nodes, small_bank, trajectory


def test_every_choice_says_what_it_is_and_when_it_is_good() -> None:
    assert all("\ngood when " in what for what in choices().values())
    offered = embedders("my/model")
    assert list(offered) == ["my/model", "minilm", "intfloat/e5-base-v2", "hashing"]
    assert all("\n" in what for name, what in offered.items() if name != "my/model")


def test_the_beginning_of_a_log_is_previewed() -> None:
    log = str(DOCS / "sample" / "alfworld.jsonl.gz")
    found = preview_logs(log, "", lambda: False)
    assert found[0] == "rollout: 56 episodes (36 succeeded, 20 failed)"
    assert found[1:] == [
        "· put a handtowel in cabinet.",
        "· put a hot potato in fridge.",
        "· put a clean knife in diningtable.",
    ]
    assert preview_logs(log, "", lambda: True) == []
    assert preview_logs("", "", lambda: False) == []
    with pytest.raises(TrajectoryError):
        preview_logs("no/such.jsonl", "", lambda: False)


def test_learning_shows_what_it_begins_with(tmp_path: Path) -> None:
    kitchen = small_bank(tmp_path / "kitchen")
    assert preview_learning(kitchen.path) == [
        "1 episode to learn from; 1 episode has no outcome yet",
    ]


def test_learning_warns_with_the_cure_if_most_nodes_are_roots(tmp_path: Path) -> None:
    found = extract_by_rules(many_nodes(tmp_path / "many").path, Progress("learning"))
    assert found.warning
    assert "nodes are roots" in found.summary
    assert "the report says what to do" in found.summary
    small = extract_by_rules(small_bank(tmp_path / "small").path, Progress("learning"))
    assert not small.warning


def test_a_path_is_completed_up_to_the_end_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".hidden").touch()
    (tmp_path / "runs" / "first.jsonl").touch()
    assert completed_path(f"{tmp_path}/ru") == f"{tmp_path}/runs/"
    assert completed_path(f"{tmp_path}/runs/") == f"{tmp_path}/runs/first.jsonl"
    assert completed_path(f"{tmp_path}/runs/.h") == f"{tmp_path}/runs/.hidden"
    assert completed_path(f"{tmp_path}/none") is None
    assert completed_path("~nobody-of-this-name/x") is None
    assert completed_path("") is None


def test_the_sessions_in_a_database_are_counted(tmp_path: Path) -> None:
    store = tmp_path / ".local/share/opencode/opencode.db"
    store.parent.mkdir(parents=True)
    store.write_bytes(first_logs()["opencode-store"][1])
    assert [(each.agent, each.count) for each in find_sessions(tmp_path)] == [("opencode", 3)]


def test_own_sessions_are_recalled_on_an_empty_machine_by_fifteen_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every letter of the question counts as a key."""
    home, banks = tmp_path / "home", tmp_path / "none"
    shutil.copytree(DOCS / "sample" / "sessions", home / ".claude" / "projects" / "shop")
    monkeypatch.setenv("HOME", str(home))
    pressed: list[str] = []

    async def story(person: Person) -> None:
        async def press(*keys: str) -> str:
            pressed.extend(keys)
            await person.press(*keys)
            return person.screen

        assert "a      bring your agent's sessions: 3 of Claude Code" in person.screen
        assert "Claude Code  3 sessions" in await press("a")
        assert "3 episodes · 3 waiting · L learns from them" in await press("enter")
        assert "These 3 logs do not say how they ended" in await press("L")
        assert "2 asks what it knows" in await press("down", "enter")
        assert "Type a task" in await press("2")
        assert "make migrate ENV=staging" in await press(*"deploy")
        assert "2. make migrate" in context(person)

    browse(banks, story, size=(80, 24))
    assert len(pressed) <= 15
    assert len(Bank.open(banks / "sessions").episodes) == 3


def test_a_bank_that_has_learnt_nothing_says_what_comes_first(folder: Path) -> None:
    create_bank(folder / "new", embedder="hashing")

    async def story(person: Person) -> None:
        await person.press("2")
        assert "There is nothing to recall yet. Press 3: i imports" in person.screen
        await person.write("mend the parser")
        assert "There is nothing to recall yet. Press 3: i imports" in person.screen
        await person.press("escape", "plus")
        assert "tried: " not in person.screen

    browse(folder, story, "new")


def test_with_a_model_in_the_settings_one_learning_key_is_enough(folder: Path) -> None:
    take_in(create_bank(folder / "new", embedder="hashing"), [trajectory("mend the parser")])

    async def story(person: Person) -> None:
        await person.press("3", "L")
        assert "This log does not say how it ended" in person.screen
        await person.press("down", "enter")
        assert isinstance(person.app.screen, AskDialog)
        assert "Learn from the waiting episodes" in person.screen
        assert "openai/gpt-4o-mini" in person.screen

    settings = Configuration(model="openai/gpt-4o-mini")
    browse(folder, story, "new", configuration=settings)
