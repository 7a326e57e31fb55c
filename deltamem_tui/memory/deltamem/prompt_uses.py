"""What DeltaMem asks a writer for: a root, a residual, the fusion of a chain, in either tree."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.node import Label
from deltamem_tui.memory.deltamem.collections import COLLECTIONS, OPTIONAL
from deltamem_tui.memory.prompts.use import MAY_SKIP, OF_AN_EPISODE, OF_NOTES, PromptUse

BODY = "execution_procedure"


def _extraction(tree: str, label: Label | None = None) -> PromptUse:
    inputs = OF_AN_EPISODE | {MAY_SKIP}
    fields = COLLECTIONS[tree].fields
    return PromptUse(tree, inputs, fields, OPTIONAL, label=label, body=BODY)


def _fusion(tree: str) -> PromptUse:
    return PromptUse(
        tree,
        OF_NOTES,
        COLLECTIONS[tree].fields,
        OPTIONAL,
        body=BODY,
        empty_of_failures=("termination_condition",),
        call="fuse",
    )


PROMPTS: Mapping[str, PromptUse] = {
    "task_root_success": _extraction("task", "success"),
    "task_root_failure": _extraction("task", "failure"),
    "task_residual_success": _extraction("task", "success"),
    "task_residual_failure": _extraction("task", "failure"),
    "env_root": _extraction("env"),
    "env_residual": _extraction("env"),
    "task_consolidation": _fusion("task"),
    "env_consolidation": _fusion("env"),
}
