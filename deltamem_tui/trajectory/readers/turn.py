"""A turn of text that is read line by line: what the agent wrote, and what answered it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Turn:
    """What the agent wrote, and what answered it, each as the lines gathered so far."""

    said: list[str]
    answer: list[str] = field(default_factory=list)

    @property
    def written(self) -> str:
        """What the agent wrote."""
        return "\n".join(self.said).strip()

    @property
    def observation(self) -> str:
        """What the environment answered; empty if it said nothing."""
        return "\n".join(self.answer).strip()
