"""CDMem: short-term memories by context, and insights made of them in batches.

Each episode is filed by task and environment; insights are made of every B of a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from deltamem_tui.bank.node import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.settings import Settings

TASKS = "short"
ENVIRONMENTS = "environments"
TASK_INSIGHTS = "task_insights"
ENV_INSIGHTS = "env_insights"
INSIGHTS: Mapping[str, str] = {TASKS: TASK_INSIGHTS, ENVIRONMENTS: ENV_INSIGHTS}
"""The collection of insights into each half of the index."""

_REMEMBERED = {
    "env": "In",
    "actions": "As it was done",
    "failure": "Failure of",
    "remedy": "Next time",
    "steps": "Steps taken",
}
COLLECTIONS: Mapping[str, Collection] = {
    TASKS: Collection(("text", *_REMEMBERED), key="text", depth=3),
    ENVIRONMENTS: Collection(("text", "memory"), key="text", depth=3),
    TASK_INSIGHTS: Collection(("text",), key="text", depth=2),
    ENV_INSIGHTS: Collection(("text",), key="text", depth=2),
}
"""Both halves of the index are trees of three levels: a kind; a task in its environment, or an
environment; what one episode left there. A kind of task has two lists, so it is there twice: of
the label success with what succeeded below it, of the label failure with what failed. Insights lie
below the kind, and the label, that they are about. A memory that is `consolidated` was concluded
from."""

DISPLAY: Mapping[str, Display] = {
    TASKS: Display(
        title="short-term memories",
        noun="short-term memory",
        labels=_REMEMBERED,
        optional=tuple(_REMEMBERED),
        warning="WARNING: this failed, never carry it out",
        levels=("list of a kind of task", "task", "memory"),
        instruction="actions",
    ),
    ENVIRONMENTS: Display(
        title="environments",
        noun="environment",
        labels={"memory": "Seen there"},
        optional=("memory",),
        levels=("kind of environment", "environment", "memory"),
    ),
    TASK_INSIGHTS: Display(
        title="task insights",
        noun="task insight",
        labels={"text": "Insight"},
        warning="WARNING: a mistake and its remedy",
        levels=("list of a kind of task", "insight"),
    ),
    ENV_INSIGHTS: Display(
        title="environment insights",
        noun="environment insight",
        labels={"text": "Insight"},
        levels=("kind of environment", "insight"),
    ),
}

EXPERT = "cdmem_expert"
SHORTCUT = "cdmem_shortcut"
FAILURE = "cdmem_failure"
PLANS = "cdmem_plans"
MISTAKES = "cdmem_mistakes"
FUNCTIONS = "cdmem_functions"
MOST_INSIGHTS = 10

_OF_ONE = OF_AN_EPISODE | {"expert_actions"}
_OF_A_BATCH = frozenset({"kind", "batch", "insights", "words"})
_CONCLUDED = {
    purpose: PromptUse(collection, _OF_A_BATCH, ("insight",), items=MOST_INSIGHTS, call="induce")
    for purpose, collection in (
        (PLANS, TASK_INSIGHTS),
        (MISTAKES, TASK_INSIGHTS),
        (FUNCTIONS, ENV_INSIGHTS),
    )
}
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
    **_CONCLUDED,
}

HERE, KIND, INSIGHT = "here", "kind", "insight"


class ContextNumbers(Settings, frozen=True):
    """How often insights are made, and how many examples are shown.

    Attributes:
        batch: New short-term memories of a list after which its insights are made anew (B). The
            authors found no trend from 1 to 11.
        exemplars: The episodes that are shown (M).
    """

    recalling = {"exemplars": TASKS}  # noqa: RUF012 - a constant of the class

    batch: Annotated[int, Meta(ge=1, le=1000)] = 5
    exemplars: Annotated[int, Meta(ge=0, le=100)] = 2


METHOD = Method(
    name="cdmem",
    title="short-term memories by context, and insights from batches of them",
    good_when="the same places are visited again, and several tries are allowed",
    collections=COLLECTIONS,
    display=DISPLAY,
    ranking="what was learnt of the kind of task, and of this environment, is recalled",
    rules={
        HERE: "this very task or environment was met before",
        KIND: "the kind of task is known; a score is the similarity of the tasks",
        INSIGHT: "a score is the sum of the similarities to all memories of the kind",
    },
    prompts=PROMPTS,
    settings=ContextNumbers,
    recall=late("deltamem_tui.memory.cdmem.recall:recall"),
    plan=late("deltamem_tui.memory.cdmem.write:plan"),
    write_by_rules=late("deltamem_tui.memory.cdmem.write:write_by_rules"),
)
