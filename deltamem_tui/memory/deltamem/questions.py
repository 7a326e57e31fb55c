"""What each tree is asked: the task tree the goal, the env tree the scene (DeltaMem, §1)."""

from __future__ import annotations

from deltamem_tui.text import clean


def questions_of(task: str, environment: str) -> dict[str, str]:
    """The question to each tree; empty where there is nothing to ask."""
    return {"task": clean(task).strip(), "env": clean(environment).strip()}
