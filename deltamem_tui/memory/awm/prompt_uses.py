"""What AWM asks a writer for: the workflows of one kind, from all its solved tasks."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.awm.collections import WORKFLOWS
from deltamem_tui.memory.prompts.use import PromptUse

INDUCE = "awm_workflows"
KIND, TASKS = "kind", "solved"
"""Its inputs: the kind, and a text for each solved task, as `steps.solved_text` writes it."""
MOST = 8

PROMPTS: Mapping[str, PromptUse] = {
    INDUCE: PromptUse(
        WORKFLOWS,
        frozenset({KIND, TASKS, "memory", "words"}),
        ("title", "steps"),
        items=MOST,
        call="induce",
    )
}
