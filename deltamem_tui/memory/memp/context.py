"""What MemP hands to an agent: the records in the order of their rank, each with its task."""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import Goal, goal_of
from deltamem_tui.memory.memp.collections import KEY
from deltamem_tui.memory.procedure import filled

_RENAMED = ", with the names of the present task"
_LABELS = {"script": "How", "trajectory": "What was done"}


def context_entries(domain: str, task: str, records: Sequence[Node]) -> list[str]:
    """One entry a record.

    What the script of a task of the same kind leaves open has the names of the present task, and
    says so; any other has those of its own.
    """
    goal = goal_of(domain, task)
    return [_entry(domain, goal, number, node) for number, node in enumerate(records, 1)]


def _entry(domain: str, goal: Goal, number: int, node: Node) -> str:
    own = goal_of(domain, node.payload[KEY])
    is_renamed = goal.understood and own.trigger == goal.trigger and own.slots != goal.slots
    names = dict(goal.slots if is_renamed else own.slots)
    lines = [f"### Procedure {number}\nTask: {fenced(node.payload[KEY])}"]
    for field, label in _LABELS.items():
        text = node.payload[field]
        if text:
            is_script = field == "script"
            text = filled(text, names) if is_script else text
            aside = _RENAMED if is_script and is_renamed else ""
            lines.append(f"{label}{aside}:\n{fenced(text)}")
    return "\n".join(lines)
