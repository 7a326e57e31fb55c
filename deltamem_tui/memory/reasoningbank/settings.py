"""ReasoningBank's numbers. Public accounts name one entry as the default, and more as worse."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from deltamem_tui.memory.settings import Settings


class ReasoningBankSettings(Settings, frozen=True):
    """What is recalled, and whether trials are compared.

    Attributes:
        k: How many entries are recalled, each with all its lessons; with `by` = lesson, how many
            lessons.
        by: What is ranked: an `entry` by its task, or each `lesson` by the greater similarity of
            its entry's task and of its own description.
        trials: How many trials of one task in one scene are compared at most; at 1 each episode is
            learnt from by itself, else they share one entry.
    """

    k: Annotated[int, Meta(ge=1, le=100, description="a whole number from 1 to 100")] = 1
    by: Annotated[Literal["entry", "lesson"], Meta(description="entry or lesson")] = "entry"
    trials: Annotated[int, Meta(ge=1, le=20, description="a number of trials from 1 to 20")] = 1
