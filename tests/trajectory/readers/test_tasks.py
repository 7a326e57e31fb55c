"""The task in the message that gives it: parted where it is marked, else all of the message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.trajectory.readers.tasks import domain_of, task_and_scene

ROOM = "You are in the middle of a room. Looking quickly around you, you see a desk 1, and a mug 1."
KITCHEN = "This room is called the kitchen. In it, you see: a stove."
LONG = "You are an agent that answers questions. " * 12
RULER = "---------------------"
HARNESS = (
    f"Tools.\n{RULER} NEW TASK DESCRIPTION {RULER}\nIn /w:\n<issue_description>\nNo.\n"
    f"</issue_description>\nGo.\n{RULER} END OF NEW TASK DESCRIPTION {RULER}\n\nFormat!"
)
EXAMPLE = "Question: Who?\nThought 1: Hm.\nAction 1: Finish[me]"
ELSEWHERE = ROOM.replace("mug", "pen")


@pytest.mark.parametrize(
    ("text", "task", "scene"),
    [
        (f"{ROOM}\n\nYour task is to: put a mug in desk.", "put a mug in desk.", ROOM),
        (f"{ROOM} Your task is to: put a mug in desk.", "put a mug in desk.", ROOM),
        (f"Here is your task. {ROOM}\nYour task is to: look.", "look.", ROOM),
        (
            f"{ROOM}\nYour task is to: look.\nAVAILABLE ACTIONS: go, look",
            "look.",
            f"{ROOM}\n\nAVAILABLE ACTIONS: go, look",
        ),
        (
            f"-= Welcome to TextWorld, ALFRED! =-\n\n{ROOM}\n\nYour task is to: look.\n\nWhat now?",
            "look.",
            f"{ROOM}\n\n\n\nWhat now?",
        ),
        (
            f"{ELSEWHERE}\nYour task is to: wait.\n> wait\n{ROOM}\nYour task is to: look.",
            "look.",
            ROOM,
        ),
        (f"Your task is to find a plant.\n{KITCHEN}", "find a plant.", KITCHEN),
        ("WebShop [SEP] Instruction: [SEP] a red mug [SEP] Search", "a red mug", ""),
        ("Rules.\n\nTask Description:\nMake it.\n\nCurrent terminal state:\n$", "Make it.", ""),
        (
            HARNESS,
            "No.",
            "",
        ),
        (f"Solve it.\n{EXAMPLE}\nQuestion: Where?", "Where?", "Solve it."),
        (f"{LONG}\nQuestion: Where?", "Where?", LONG.strip()),
        ("Task:\nFind $x$.", "Find $x$.", ""),
        ("## Context\n\n- diff: +x\n\n## Your task\n\nReview it.", "Review it.", ""),
    ],
)
def test_a_task_that_is_marked(text: str, task: str, scene: str) -> None:
    assert task_and_scene(text) == (task, scene)


@pytest.mark.parametrize(
    "text",
    [
        "Your task is to refactor the parser.\nKeep its tests.",
        "See app.py. It fails.\nYour task is to mend it.",
        "I have a table.\nQuestion: which row is the largest?",
        "Task: mend a.py\nTask: mend b.py",
        "Question: who?\nQuestion: where?",
        "I am stuck. My problem is: it does not build.",
        "Now, I will start a new problem in a new folder.",
        "The issue is in <pr_description>.",
        "Task Description: none yet.",
        "## Context\nIt fails.\n## Your task",
        "Mend it.\n## Your task\nis above.",
    ],
)
def test_what_a_person_writes_is_the_task_as_a_whole(text: str) -> None:
    assert task_and_scene(text) == (text, "")


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" \n:>"), max_size=80))
def test_a_message_without_a_mark_is_the_task(text: str) -> None:
    assert task_and_scene(text) == (text.strip(), "")


def test_the_words_of_a_simulator_name_its_domain() -> None:
    texts = [ROOM, KITCHEN, "Instruction: [SEP] a mug [SEP] Search", "Clean the room."]
    assert [domain_of(text) for text in texts] == ["alfworld", "scienceworld", "webshop", ""]
