"""What an extractor is: an episode and the chain it met in, a payload or nothing new out.

Equations 4 and 5 of DeltaMem decide *where* a new node goes; an extractor decides *what* it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from deltamem_tui.bank.node import Node, Payload, TreeName
from deltamem_tui.trajectory.model import Trajectory


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor made of an episode for one tree.

    Attributes:
        payload: What the new node will say; None to skip, because the chain covers it all.
        reason: Why, in one line, for the journal.
        model: The language model that wrote it, if one did.
        prompt: Digest of the prompt, if there was one.
    """

    payload: Payload | None
    reason: str
    model: str = ""
    prompt: str = ""


class Extractor(Protocol):
    """Distils episodes into payloads."""

    @property
    def name(self) -> str:
        """Recorded in each node's origin: `rules` or `model`."""
        ...

    def extract(self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        """Distil what `trajectory` teaches one tree.

        Args:
            tree: `task` for a skill, `env` for knowledge.
            trajectory: An episode whose outcome is known.
            chain: Root to match as it stands, or empty: then the payload is a root's.

        Raises:
            ExtractionError: Nothing could be made of the episode.
        """
        ...

    def fuse(self, tree: TreeName, chain: Sequence[Node]) -> Extraction:
        """Fuse a chain into one self-contained payload for a new root (equation 8).

        Args:
            tree: The tree that holds the chain.
            chain: Root to the residual that was hit often enough.

        Raises:
            ExtractionError: The chain could not be fused.
        """
        ...
