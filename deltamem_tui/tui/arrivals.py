"""What comes up in front by itself once it is there: a bank, a question, a node.

It takes the keys from whatever is in front, and they mean something else to it. So it comes up
only in front of who sits and waits for it: on the screen it was asked for on, no dialog over
it, and not a key, paste or click later. What else becomes of it, whether it is kept or dropped,
is up to what it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.tui.key_order import KeyOrder
from deltamem_tui.tui.screens.base import BrowserScreen


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a person stood when something was asked for.

    Attributes:
        screen: The screen in front, but for the dialogs over it.
        deeds: What the person had done by then, as `KeyOrder.deeds` counts it.
    """

    screen: BrowserScreen | None
    deeds: int


@dataclass(frozen=True, slots=True)
class Sought:
    """A node that the cursor shall go to once it is shown.

    Attributes:
        tree: Its tree.
        node_id: Its id.
        asked: Where the person stood: who went on has the cursor where it was left.
    """

    tree: str
    node_id: str
    asked: Asked


class Arrivals(KeyOrder):
    """The part of the program that knows whether a person still waits for what was asked for."""

    def asked_here(self) -> Asked:
        """Something is being asked for."""
        screens = (each for each in reversed(self.screen_stack) if isinstance(each, BrowserScreen))
        return Asked(next(screens, None), self.deeds)

    def is_awaited(self, asked: Asked) -> bool:
        """Whether what was asked for may come up in front; keys held for it are no deeds."""
        return self.screen is asked.screen and self.deeds == asked.deeds
