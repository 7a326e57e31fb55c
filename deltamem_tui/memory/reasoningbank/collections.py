"""ReasoningBank's one collection: an entry an episode, its lessons below it, and their display.

An entry is the task as it was asked, and is found by that. Its steps and their outcome are those
of the episode that its origin names. A lesson is a child of its entry with a vector of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display

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
