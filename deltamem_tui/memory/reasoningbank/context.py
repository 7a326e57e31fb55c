"""What an agent gets: the recalled lessons, the names of its own task filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.reasoningbank.collections import DISPLAY, LESSONS
from deltamem_tui.text import one_line

_SHOWN = DISPLAY[LESSONS]


def context_entries(domain: str, task: str, lessons: Sequence[Node]) -> list[str]:
    """The lessons as they stand in a prompt, in their order; what two of them say stands once."""
    names = dict(goal_of(domain, task).slots)
    return list(dict.fromkeys(_entry(lesson, names) for lesson in lessons))


def _entry(lesson: Node, names: Mapping[str, str]) -> str:
    texts = {name: fenced(filled(text, names)) for name, text in lesson.payload.items()}
    warning = f" ({_SHOWN.warning})" if lesson.label == "failure" else ""
    lines = [
        f"### Lesson{warning}: {one_line(texts['title'])}".removesuffix(": "),
        f"{_SHOWN.label('description')}: {one_line(texts['description'])}",
    ]
    if content := texts["content"]:
        gap = "\n" if "\n" in content else " "
        lines.append(f"{_SHOWN.label('content')}:{gap}{content}")
    return "\n".join(lines)
