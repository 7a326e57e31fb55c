"""Synapse's numbers: how many exemplars are recalled, and how long they may be together."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from deltamem_tui.memory.settings import Settings


class SynapseNumbers(Settings, frozen=True):
    """The numbers of the one collection.

    Attributes:
        k: How many exemplars are recalled at most. 1 is the baseline that papers compare with; 3
            in the paper's own runs.
        budget: The most tokens of all that are recalled. What goes beyond it is dropped whole, the
            least similar first.
    """

    k: Annotated[int, Meta(ge=1, le=100, description="a number of exemplars from 1 to 100")] = 1
    budget: (
        Annotated[
            int, Meta(ge=1, le=10_000_000, description="a whole number of tokens from 1, or none")
        ]
        | None
    ) = 8000
