"""How the nodes of a method are shown: all that a browser's first screen needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Display:
    """How a collection is shown to people and to agents.

    Attributes:
        title: What it is called: `task tree`.
        noun: What one node is: `skill`.
        labels: Per field, what stands before its text, such as `How`; its name if not given.
        optional: Fields that may be empty.
        warning: What an agent is warned with before a node that a failure wrote.
        layered: Whether a chain is a base with deltas.
        heading: What stands above all of them in a document: `Skills`.
    """

    title: str
    noun: str
    labels: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    warning: str = ""
    layered: bool = False
    heading: str = ""

    def label(self, name: str) -> str:
        """What stands before the text of a field."""
        return self.labels.get(name) or name.replace("_", " ").capitalize()
