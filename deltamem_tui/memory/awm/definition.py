"""AWM: routines that recur in the solved tasks of a kind, recalled together.

Agent Workflow Memory, online: after each success its kind's workflows are induced anew. Workflows
and the solved tasks that they come from are found by their kind of task, which is their key: all
nodes of a kind have one vector.
"""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import PromptUse
from deltamem_tui.memory.settings import Settings

WORKFLOWS, SOLVED = "workflows", "solved"

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

INDUCE = "awm_workflows"
KIND, TASKS = "kind", "solved"
"""Its inputs: the kind, and a text for each solved task."""
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

NEAREST = "nearest"
"""The rule of a recall that took the kind whose name is nearest; else it is `KIND`."""

METHOD = Method(
    name="awm",
    title="workflows for each kind of task",
    good_when="many tasks share the same few routines",
    collections=COLLECTIONS,
    display=DISPLAY,
    decisions={
        "induce": "the workflows of its kind were induced anew",
        "keep": "the workflows of its kind came again",
        "wait": "the workflows of its kind are induced later",
        "solved": "the success is kept to induce workflows from",
        "skip": "it teaches nothing",
    },
    ranking="all workflows of the kind of task are recalled",
    rules={
        KIND: "all workflows of the task's kind, without any ranking",
        NEAREST: "the kind whose name is nearest; a score is that similarity",
    },
    prompts=PROMPTS,
    settings=Settings,
    recall=late("deltamem_tui.memory.awm.recall:recall"),
    plan=late("deltamem_tui.memory.awm.write:plan"),
    write_by_rules=late("deltamem_tui.memory.awm.write:write_by_rules"),
    ask=late("deltamem_tui.memory.awm.recall:questions"),
    due=late("deltamem_tui.memory.awm.write:due"),
    maintain=late("deltamem_tui.memory.awm.write:maintain"),
)
