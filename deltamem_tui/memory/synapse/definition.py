"""Synapse: each success is an exemplar, and the nearest are the demonstrations.

Successes are kept as they went, with short observations. It asks no writer for anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.settings import Settings

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

NEAREST = "nearest"
"""The rule of every recall."""

_Tokens = Annotated[
    int, Meta(ge=1, le=10_000_000, description="a number of tokens from 1, or none")
]


class SynapseNumbers(Settings, frozen=True):
    """The numbers of the one collection.

    Attributes:
        k: How many exemplars are recalled at most. 1 is the baseline that papers compare with; 3
            in the paper's own runs.
        budget: The most tokens of all that are recalled. What goes beyond it is dropped whole, the
            least similar first.
    """

    k: Annotated[int, Meta(ge=1, le=100, description="a number of exemplars from 1 to 100")] = 1
    budget: _Tokens | None = 8000


METHOD = Method(
    name="synapse",
    title="the nearest successes as demonstrations",
    good_when="rooms and pages stay as they are, and no model is wanted for learning",
    collections=COLLECTIONS,
    display=DISPLAY,
    decisions={
        "exemplar": "the success became an exemplar",
        "skip": "it demonstrates nothing",
    },
    ranking="the k nearest exemplars are recalled, as many as the budget holds",
    rules={NEAREST: "a score is the similarity of the tasks"},
    settings=SynapseNumbers,
    recall=late("deltamem_tui.memory.synapse.write:recall"),
    rank=late("deltamem_tui.memory.synapse.write:rank"),
    plan=late("deltamem_tui.memory.synapse.write:plan"),
)
