"""What leads a newcomer on: choices that are explained, previews, a warning with its cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.method import choices
from deltamem_tui.trajectory.readers import to_line
from deltamem_tui.tui.core.work import Progress
from deltamem_tui.tui.jobs.agent_sessions import find_sessions
from deltamem_tui.tui.jobs.episodes import extract_by_rules, preview_learning, preview_logs
from deltamem_tui.tui.screens.bank_actions import embedders
from deltamem_tui.tui.widgets.forms import completed_path
from tests.places import DOCS
from tests.tui.support import Person, browse, many_nodes, small_bank, tasks, trajectory


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


def test_an_agent_s_sessions_become_a_bank_by_a_few_keys(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "home" / ".claude" / "projects" / "mine"
    place.mkdir(parents=True)
    for number in range(2):
        (place / f"{number}.jsonl").write_bytes(to_line(trajectory(f"mend the test {number}")))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert [str(each) for each in find_sessions(tmp_path / "home")] == ["2 of Claude Code"]

    async def story(person: Person) -> None:
        await person.press("a", "enter")
        assert "imported 2 episodes" in person.said[-1]
        assert tasks(person) == ["mend the test 0", "mend the test 1"]
        await person.press("L")
        assert "These 2 logs do not say how they ended" in person.screen

    settings = Configuration(embedder="hashing")
    browse(folder, story, size=(120, 40), configuration=settings)
    assert len(Bank.open(folder / "sessions").episodes) == 2
