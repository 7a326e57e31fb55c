"""What CDMem asks a writer for: an expert's notes, what an episode leaves, insights from many."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.cdmem.collections import ENV_INSIGHTS, ENVIRONMENTS, TASK_INSIGHTS, TASKS
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse

EXPERT = "cdmem_expert"
SHORTCUT = "cdmem_shortcut"
FAILURE = "cdmem_failure"
PLANS = "cdmem_plans"
MISTAKES = "cdmem_mistakes"
FUNCTIONS = "cdmem_functions"
MOST_INSIGHTS = 10

_OF_ONE = OF_AN_EPISODE | {"expert_actions"}
_OF_A_BATCH = frozenset({"kind", "batch", "insights", "words"})


def _insights(collection: str) -> PromptUse:
    fields = ("insight",)
    return PromptUse(collection, _OF_A_BATCH, fields, items=MOST_INSIGHTS, call="induce")


PROMPTS: Mapping[str, PromptUse] = {
    EXPERT: PromptUse(
        ENVIRONMENTS,
        OF_AN_EPISODE - {"memory"},
        ("locations", "functions", "actions"),
        optional=("locations", "functions"),
    ),
    SHORTCUT: PromptUse(TASKS, _OF_ONE, ("actions", "plan"), label="success"),
    FAILURE: PromptUse(
        TASKS,
        _OF_ONE | {"locations", "env_memory"},
        ("env_memory", "failure", "reflection", "next_plan"),
        optional=("env_memory",),
        label="failure",
    ),
    PLANS: _insights(TASK_INSIGHTS),
    MISTAKES: _insights(TASK_INSIGHTS),
    FUNCTIONS: _insights(ENV_INSIGHTS),
}
