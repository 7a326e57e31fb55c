"""What calibration proposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Proposal:
    """What calibration found for one tree.

    Attributes:
        questions: How many episodes were asked.
        scores: How many of them resemble another at all: their best score is not zero.
        compared_with: `nodes`, or `triggers` while the tree is too small: the activation
            conditions that the rules would write for the episodes.
        proposed: τ_base as proposed; None if there is too little to tell.
        reason: Why nothing is proposed; empty if something is.
        matching_now: Share of the questions whose best score reaches the current threshold.
        matching_then: The same for the proposed one.
        bin_edges: Edges of the histogram of best scores, one more than bins.
        bin_counts: Questions per bin.
    """

    tree: str
    questions: int
    scores: int
    compared_with: str
    current: float
    proposed: float | None
    reason: str
    matching_now: float
    matching_then: float | None
    bin_edges: tuple[float, ...]
    bin_counts: tuple[int, ...]
    number: ClassVar[str] = "tau_base"
