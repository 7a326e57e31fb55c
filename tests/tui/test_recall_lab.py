"""The recall lab: matches as one types, and what a write would do."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.trajectory.model import Step
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.lab import TASK, context, matches, why
from tests.tui.support import Person, browse, trajectory


def test_what_is_typed_is_answered_as_recall_answers(folder: Path) -> None:
    expected = recall(Bank.open(folder / "kitchen"), TASK, "a kitchen with a locked fridge")

    async def story(person: Person) -> None:
        await person.press("2")
        assert isinstance(person.app.screen, RecallScreen)
        await person.write(TASK)
        await person.press("tab")
        await person.write("a kitchen with a locked fridge")
        assert context(person) == expected.context
        best = matches(person).lines[0]
        answer = expected["task"]
        assert answer is not None
        assert best.candidate == answer.match
        assert "▶1.000" in person.screen
        assert best.candidate is not None
        assert why(person).startswith("Its score 1.000 reaches the threshold 0.6. The next, ")

    browse(folder, story, "kitchen", size=(120, 40))


async def try_threshold(person: Person, text: str) -> None:
    """Try another threshold of the task tree."""
    if isinstance(person.app.focused, Input):
        await person.press("escape")
    await person.press("p")
    person.app.screen.query_one("#task-tau_base", Input).value = text
    await person.press("enter")


def test_a_threshold_above_the_best_score_means_a_new_root(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object")
        assert matches(person).lines[0].kind == "match"
        await try_threshold(person, "0.999")
        assert matches(person).lines[0].kind == "threshold"
        assert why(person).startswith("No match: the best score, 0.")
        assert "is below the threshold 0.999." in why(person)
        assert context(person) == "Nothing is recalled: the agent is told nothing."
        for wrong in ("much", "9"):
            await try_threshold(person, wrong)
            assert "a number from -1 to 1" in str(person.app.screen.query_one("#reason").render())
            await person.press("escape")
            assert matches(person).lines[0].kind == "threshold"
        await try_threshold(person, "0,2")
        assert matches(person).lines[0].kind == "match"

    browse(folder, story, "kitchen")


def test_the_context_has_the_header_of_the_folder_in_the_settings(
    folder: Path, tmp_path: Path
) -> None:
    header = tmp_path / "mine" / "alfworld" / "memory_header.md"
    header.parent.mkdir(parents=True)
    header.write_text('+++\npurpose = "Mine"\n+++\nRead this as our house does.\n')

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "Read this as our house does." in context(person)
        assert "some object" in context(person)

    settings = Configuration(prompts=tmp_path / "mine")
    browse(folder, story, "kitchen", configuration=settings)
    missing = Configuration(prompts=tmp_path / "nowhere")

    async def nowhere(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "there is no folder of prompts here" in context(person)

    browse(folder, nowhere, "kitchen", configuration=missing)


def test_what_is_typed_goes_into_the_task_of_who_came_to_ask(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "h", "q", "escape", "1", "2", "j")
        line = person.app.screen.query_one("#task", Input)
        assert (line.value, line.has_focus) == ("hq", False), "what is asked is there to be read"
        await person.press("slash", "ctrl+u", "escape", "1", "2", "1", "escape", "question_mark")
        await person.press("escape", "j")
        assert (line.value, line.has_focus) == ("1", False)

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("before", "key", "line"),
    [("", "/", "filter"), ("", "2", "task"), ("3", "/", "filter"), ("3", "i", "path")],
)
def test_what_is_typed_in_one_burst_with_the_key_of_a_line_is_in_the_line(
    folder: Path, before: str, key: str, line: str
) -> None:
    async def story(person: Person) -> None:
        await person.press(*before)
        for letter in (key, *"kqxjz"):
            name = {"/": "slash"}.get(letter, letter)
            person.app.post_message(events.Key(name, letter))
        await person.settle()
        assert person.app.screen.query_one(f"#{line}", Input).value == "kqxjz"

    browse(folder, story, "kitchen")


def test_the_chain_of_any_row_is_shown_beside_the_context(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object with a broken microwave")
        await person.press("enter", "c")
        chain = person.app.screen.query_one("#chain", TextPane)
        for _ in range(2):
            node = matches(person).node
            assert node is not None
            assert len(chain.sections) == len(person.bank.tree("task").chain(node.id))
            assert node.id in str(chain.border_title)
            await person.press("j")
        await person.press("escape")
        assert not chain.display
        assert isinstance(person.app.screen, RecallScreen)

    browse(folder, story, "kitchen", size=(120, 40))


def test_where_the_kind_decides_no_threshold_is_claimed(folder: Path) -> None:
    bank = create_bank(folder / "kinds", embedder="hashing", domain="alfworld")
    for thing in ("egg", "mug"):
        steps = (
            Step(f"take {thing} 1 from shelf 1", f"You pick up the {thing} 1."),
            Step(f"heat {thing} 1 with microwave 1", f"You heat the {thing} 1."),
            Step("go to fridge 1", "You see nothing."),
        )
        done = trajectory(f"heat some {thing} and put it in fridge.", success=True)
        learn(bank, replace(done, steps=steps))

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some pan and put it in fridge.")
        assert why(person).startswith(
            "Matched by kind of task (heat some … and put it in …, or put a hot … in …). "
            "The threshold is not used."
        )
        assert why(person).endswith("is of this kind, but its names are less similar.")
        await person.press("escape", "plus")
        assert "no threshold applies" in person.said[-1]
        assert "reaches the threshold" not in why(person)

    browse(folder, story, "kinds", size=(120, 40))


def test_real_work_is_asked_without_a_threshold(folder: Path) -> None:
    bank = create_bank(folder / "work", embedder="hashing")
    learn(bank, replace(trajectory("mend the parser", success=True), domain=""))

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("bake bread")
        assert why(person).endswith("is not near enough.")
        await person.press("escape", "plus")
        assert person.said[-1] == "no threshold applies to this answer; nothing is tried"
        assert "tried: " not in person.screen

    browse(folder, story, "work", size=(120, 40))
