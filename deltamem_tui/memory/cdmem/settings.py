"""CDMem's numbers. The published ones where there are any."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from deltamem_tui.memory.cdmem.collections import ENV_INSIGHTS, TASK_INSIGHTS, TASKS
from deltamem_tui.memory.settings import Settings

_Some = Annotated[int, Meta(ge=0, le=100, description="a whole number from 0 to 100")]


class ContextNumbers(Settings, frozen=True):
    """How often insights are made, and how much is recalled.

    Attributes:
        batch: New short-term memories of a list after which its insights are made anew (B). The
            authors found no trend from 1 to 11.
        exemplars: The episodes that are shown (M).
        most_task_insights: The most insights into the kind of task (L).
        most_from_successes: How many of those may come from successes, which go first.
        most_env_insights: The most insights into the kind of environment (L).
        reflections: The last failures at this very task in this environment that are shown.
        budget: The most tokens of all examples together, equally shared; of a longer one the middle
            is left out. None shows them whole.
    """

    recalling = {  # noqa: RUF012 - a constant of the class
        "exemplars": TASKS,
        "reflections": TASKS,
        "most_task_insights": TASK_INSIGHTS,
        "most_from_successes": TASK_INSIGHTS,
        "most_env_insights": ENV_INSIGHTS,
    }

    batch: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 5
    exemplars: _Some = 2
    most_task_insights: _Some = 6
    most_from_successes: _Some = 3
    most_env_insights: _Some = 10
    reflections: _Some = 3
    budget: (
        Annotated[
            int, Meta(ge=1, le=10_000_000, description="a whole number of tokens from 1, or none")
        ]
        | None
    ) = 1000
