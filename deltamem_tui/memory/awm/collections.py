"""AWM's workflows, the solved tasks that they are induced from, and how both are shown.

Both are found by their kind of task, which is their key: all nodes of a kind have one vector.
"""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display

WORKFLOWS = "workflows"
SOLVED = "solved"

COLLECTIONS: Mapping[str, Collection] = {
    WORKFLOWS: Collection(fields=("title", "group", "steps"), key="group"),
    SOLVED: Collection(fields=("task", "group", "actions"), key="group"),
}
"""Workflows are handed to agents. A solved task whose node is `consolidated` was induced from."""

DISPLAY: Mapping[str, Display] = {
    WORKFLOWS: Display(
        title="workflows",
        noun="workflow",
        heading="Workflows",
        labels={"title": "Workflow", "group": "For", "steps": "Steps"},
        levels=("workflow",),
        instruction="steps",
        comparable=False,
    ),
    SOLVED: Display(
        title="solved tasks",
        noun="solved task",
        heading="Solved tasks",
        labels={"task": "Task", "group": "Of the kind", "actions": "Done"},
        levels=("solved task",),
        asked=False,
        comparable=False,
    ),
}
