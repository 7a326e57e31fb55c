"""Synapse's one collection, what an exemplar consists of, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display

EXEMPLARS = "exemplars"

COLLECTIONS: Mapping[str, Collection] = {
    EXEMPLARS: Collection(fields=("task", "dialogue"), key="task")
}
"""An exemplar is found by its task, and is the dialogue that solved it."""

DISPLAY: Mapping[str, Display] = {
    EXEMPLARS: Display(
        title="exemplars",
        noun="exemplar",
        heading="Exemplars",
        labels={"task": "Task", "dialogue": "Dialogue"},
        levels=("exemplar",),
        instruction="dialogue",
    )
}
