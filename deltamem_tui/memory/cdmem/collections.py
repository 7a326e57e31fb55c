"""CDMem's collections: two halves of the context index, and what was concluded from each."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display

METHOD = "cdmem"

TASKS = "short"
ENVIRONMENTS = "environments"
TASK_INSIGHTS = "task_insights"
ENV_INSIGHTS = "env_insights"

COLLECTIONS: Mapping[str, Collection] = {
    TASKS: Collection(
        fields=("text", "env", "actions", "failure", "cause", "remedy", "steps", "read"),
        key="text",
        depth=3,
    ),
    ENVIRONMENTS: Collection(fields=("text", "memory", "read"), key="text", depth=3),
    TASK_INSIGHTS: Collection(fields=("text",), key="text", depth=2),
    ENV_INSIGHTS: Collection(fields=("text",), key="text", depth=2),
}
"""Both halves of the index are trees of three levels: a kind; a task in its environment, or an
environment; what one episode left there. A kind of task has two lists, so it is there twice: of
the label success with what succeeded below it, of the label failure with what failed. Insights lie
below the kind, and the label, that they are about."""

INSIGHTS: Mapping[str, str] = {TASKS: TASK_INSIGHTS, ENVIRONMENTS: ENV_INSIGHTS}
"""Where the insights into what a half of the index holds are kept."""

_REMEMBERED = {
    "env": "In",
    "actions": "As it was done",
    "failure": "Failure of",
    "cause": "Because of",
    "remedy": "Next time",
    "steps": "Steps taken",
    "read": "Insights made up to",
}

DISPLAY: Mapping[str, Display] = {
    TASKS: Display(
        title="short-term memories",
        noun="short-term memory",
        heading="Short-term memories by kind of task",
        labels=_REMEMBERED,
        optional=tuple(_REMEMBERED),
        warning="WARNING: this failed, never carry it out",
        levels=("list of a kind of task", "task", "memory"),
        comparable=False,
        instruction="actions",
    ),
    ENVIRONMENTS: Display(
        title="environments",
        noun="environment",
        heading="Environments by kind",
        labels={"memory": "Seen there", "read": _REMEMBERED["read"]},
        optional=("memory", "read"),
        levels=("kind of environment", "environment", "memory"),
        comparable=False,
    ),
    TASK_INSIGHTS: Display(
        title="task insights",
        noun="task insight",
        heading="Insights by kind of task",
        labels={"text": "Insight"},
        warning="WARNING: a mistake and its remedy",
        levels=("list of a kind of task", "insight"),
        comparable=False,
    ),
    ENV_INSIGHTS: Display(
        title="environment insights",
        noun="environment insight",
        heading="Insights by kind of environment",
        labels={"text": "Insight"},
        levels=("kind of environment", "insight"),
        comparable=False,
    ),
}
