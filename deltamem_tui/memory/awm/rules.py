"""AWM by rules: workflows are the closed frequent patterns of a kind's solved tasks.

Each is completed with what all tasks that have it do before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.awm.prompt_uses import INDUCE, KIND, MOST, TASKS
from deltamem_tui.memory.awm.steps import actions_in
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.writers.extraction import Extraction, Inputs
from deltamem_tui.memory.writers.rules.patterns import chosen, closed_patterns, completed
from deltamem_tui.memory.writers.rules.shortcut import UNVERIFIED
from deltamem_tui.text import counted

_LEAST_STEPS = 2


def write(purpose: str, inputs: Inputs) -> Extraction:
    """The workflows of a kind.

    They are the patterns of two actions or more that two of its tasks or more have in common, the
    weightiest first. Where there are none, as with a single task, it is the shortest way.

    Raises:
        ExtractionError: Something else is wanted.
    """
    if purpose != INDUCE:
        raise ExtractionError(f"AWM does not write {purpose} by rules")
    texts = inputs[TASKS]
    title = str(inputs[KIND])
    ways = [actions_in(text) for text in ([texts] if isinstance(texts, str) else texts)]
    whole = dict.fromkeys(completed(each, ways) for each in closed_patterns(ways))
    if patterns := chosen(whole, MOST):
        reason = f"what {counted(len(ways), 'solved task')} have in common"
        first, *others = (each.actions for each in patterns)
        further = [_workflow(f"{title}: {way[0]} … {way[-1]}", way) for way in others]
        return Extraction(_workflow(title, first), reason, further=tuple(further))
    ways = [way for way in ways if len(way) >= _LEAST_STEPS]
    if not ways:
        return Extraction(None, "no task took two steps")
    shortest = min(ways, key=len)
    is_verified = any(
        actions_in(text) == shortest and UNVERIFIED not in text.splitlines() for text in texts
    )
    title = title if is_verified else f"{title} ({UNVERIFIED})"
    return Extraction(_workflow(title, shortest), "the shortest way that is known")


def _workflow(title: str, actions: Sequence[str]) -> dict[str, str]:
    return {"title": title, "steps": "\n".join(numbered(actions))}
