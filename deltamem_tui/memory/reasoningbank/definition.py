"""ReasoningBank: lessons from every episode, successes and failures.

Each episode becomes an entry of up to three lessons, found by its task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.settings import Settings

LESSONS = "lessons"
ENTRY_DEPTH, LESSON_DEPTH = 1, 2

FIELDS = ("description", "title", "content")
"""Of an entry only the first, which is its task. Of a lesson: when it helps and when not, what it
is called, what it says."""

COLLECTIONS: Mapping[str, Collection] = {
    LESSONS: Collection(FIELDS, key="description", depth=LESSON_DEPTH)
}

DISPLAY: Mapping[str, Display] = {
    LESSONS: Display(
        title="lessons",
        noun="lesson",
        heading="Lessons",
        labels={"description": "When", "title": "Lesson", "content": "Do"},
        optional=("title", "content"),
        warning="learnt from a failure",
        levels=("entry", "lesson"),
        name="title",
        instruction="content",
    )
}

SUCCESS = "reasoningbank_success"
FAILURE = "reasoningbank_failure"
CONTRAST = "reasoningbank_contrast"

TRIALS = "trials"
"""Earlier trials of the task, the newest first: how each ended, and its steps."""
DIFFERENCES = "differences"
"""Steps of trials that ended one way only, names left open, one kind of trial a line."""

MOST_LESSONS = 3
MOST_OF_TRIALS = 5

_OF_TRIALS = OF_AN_EPISODE | {TRIALS, DIFFERENCES}

PROMPTS: Mapping[str, PromptUse] = {
    SUCCESS: PromptUse(LESSONS, fields=FIELDS, items=MOST_LESSONS, label="success"),
    FAILURE: PromptUse(LESSONS, fields=FIELDS, items=MOST_LESSONS, label="failure"),
    CONTRAST: PromptUse(LESSONS, _OF_TRIALS, FIELDS, items=MOST_OF_TRIALS),
}

BY_ENTRY = "entry"
"""The rule of every recall."""


class ReasoningBankSettings(Settings, frozen=True):
    """Recall's settings, and whether trials are compared.

    Attributes:
        k: How many entries are recalled, each with all its lessons.
        trials: How many trials of one task in one scene are compared at most; at 1 each episode is
            learnt from by itself, else they share one entry.
    """

    k: Annotated[int, Meta(ge=1, le=100, description="a whole number from 1 to 100")] = 1
    trials: Annotated[int, Meta(ge=1, le=20, description="a number of trials from 1 to 20")] = 1


METHOD = Method(
    name="reasoningbank",
    title="lessons from successes and failures",
    good_when="what is to be learnt can be said in a sentence, across tasks",
    collections=COLLECTIONS,
    display=DISPLAY,
    decisions={
        "entry": "the episode's lessons were written, with an entry of its own",
        "contrast": "the lessons of all trials of the task took the place of the earlier ones",
        "skip": "it teaches nothing",
    },
    ranking="the lessons of the k nearest entries are recalled",
    rules={BY_ENTRY: "an entry's lessons come with it; a score is the similarity of its task"},
    prompts=PROMPTS,
    settings=ReasoningBankSettings,
    recall=late("deltamem_tui.memory.reasoningbank.write:recall"),
    rank=late("deltamem_tui.memory.reasoningbank.write:rank"),
    plan=late("deltamem_tui.memory.reasoningbank.write:plan"),
    write_by_rules=late("deltamem_tui.memory.reasoningbank.write:write_by_rules"),
)
