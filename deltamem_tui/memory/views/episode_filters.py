"""Which episodes a person wants to see, as it is typed, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.views.language import Bound, Language, State, Wanted
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, OutcomeSource

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

Ending = Literal["unknown", "failure", "success"]
ENDINGS: tuple[Ending, ...] = ("unknown", "failure", "success")
"""How an episode can have ended; what has to be looked at comes first."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter(Wanted):
    """Which episodes are shown. Every condition must hold.

    Attributes:
        outcome: How it ended.
        source: Who says so.
        state: `learnt` or `waiting`.
        refused: Whether it waits because it could not be learnt.
        steps: A condition on the number of its steps.
        nodes: A condition on the number of living nodes that it gave.

    Raises:
        UsageError: What was refused waits, and cannot be learnt as well.
    """

    outcome: Ending | None = None
    source: OutcomeSource | None = None
    state: Literal["learnt", "waiting"] | None = None
    refused: bool | None = None
    steps: Bound | None = None
    nodes: Bound | None = None

    def __post_init__(self) -> None:
        if self.refused and self.state == "learnt":
            raise UsageError("no episode is both learnt and refused", source="is")


_ENDINGS: Mapping[str, State] = {ending: ("outcome", ending) for ending in ENDINGS}

EPISODES = Language(
    thing="episode",
    all=EpisodeFilter(),
    states={
        "outcome": _ENDINGS,
        "source": {source: ("source", source) for source in OUTCOME_SOURCES},
        "is": {
            "learnt": ("state", "learnt"),
            "waiting": ("state", "waiting"),
            "refused": ("refused", True),
            **_ENDINGS,
        },
    },
    numbers=("steps", "nodes"),
    help=(
        "words, or the beginning of an episode's id; outcome:unknown, outcome:failure, "
        "source:judge, is:waiting, is:learnt, is:refused, steps:>30, nodes:0, id:29"
    ),
)
"""The conditions on episodes."""
