"""DeltaMem: residual experience for LLM agents, in plain files and a terminal.

The public API. Every name is loaded when it is first asked for (PEP 562), so importing the
package costs nothing and `deltamem --help` loads no numerical library.

    from deltamem_tui import open_bank, recall

    print(recall(open_bank("my-project"), "Fix the failing test of the mailer").context)

Nodes are put right with `editing`, each change one commit that `editing.undo` takes back:

    from deltamem_tui import editing, open_bank

    bank = open_bank("my-project")
    node = next(bank.tree("task").roots())
    editing.edit(bank, "task", node, {**node.payload, "termination_condition": "Tests pass."})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank as Bank
    from deltamem_tui.bank.node import Node as Node
    from deltamem_tui.bank.node import Origin as Origin
    from deltamem_tui.bank.tree import Counts as Counts
    from deltamem_tui.bank.tree import Tree as Tree
    from deltamem_tui.errors import DeltaMemError as DeltaMemError
    from deltamem_tui.memory import editing as editing
    from deltamem_tui.memory.banks import create_bank as create_bank
    from deltamem_tui.memory.banks import open_bank as open_bank
    from deltamem_tui.memory.deltamem.definition import TreeParameters as TreeParameters
    from deltamem_tui.memory.deltamem.rules import Payload as Payload
    from deltamem_tui.memory.engine import learn as learn
    from deltamem_tui.memory.engine import recall as recall
    from deltamem_tui.memory.method import RulesExtractor as RulesExtractor
    from deltamem_tui.memory.plan import Lesson as Lesson
    from deltamem_tui.memory.recall_result import RecallResult as RecallResult
    from deltamem_tui.memory.writers.extraction import Extraction as Extraction
    from deltamem_tui.memory.writers.writer import Writer as Writer
    from deltamem_tui.trajectory.model import Outcome as Outcome
    from deltamem_tui.trajectory.model import Step as Step
    from deltamem_tui.trajectory.model import Trajectory as Trajectory
    from deltamem_tui.trajectory.readers.reading import read_logs as read_logs

_HOMES = {
    "Bank": "bank.bank",
    "Counts": "bank.tree",
    "DeltaMemError": "errors",
    "Extraction": "memory.writers.extraction",
    "Lesson": "memory.plan",
    "Node": "bank.node",
    "Origin": "bank.node",
    "Outcome": "trajectory.model",
    "Payload": "memory.deltamem.rules",
    "RecallResult": "memory.recall_result",
    "RulesExtractor": "memory.method",
    "Step": "trajectory.model",
    "Trajectory": "trajectory.model",
    "Tree": "bank.tree",
    "TreeParameters": "memory.deltamem.definition",
    "Writer": "memory.writers.writer",
    "create_bank": "memory.banks",
    "editing": "memory",
    "learn": "memory.engine",
    "open_bank": "memory.banks",
    "read_logs": "trajectory.readers.reading",
    "recall": "memory.engine",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the names of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES[name]}")
    return getattr(home, name, None) or import_module(f"{home.__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
