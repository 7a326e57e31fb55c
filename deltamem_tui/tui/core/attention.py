"""Whether the user still waits for what was requested.

A bank, a question or a node that was looked up beside the screen takes the keys from whatever
is in front when it comes up. So it comes up by itself only if the user has stayed: the same
screen, no dialog over it, and no key, paste or click since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App
from textual.screen import ModalScreen, Screen


@dataclass(frozen=True, slots=True)
class UserPosition:
    """Where the user was when something was requested.

    Attributes:
        screen: The screen in front, without the dialogs over it.
        inputs: How many keys, pastes and clicks had come.
    """

    screen: Screen[Any] | None
    inputs: int


@dataclass(frozen=True, slots=True)
class NodeTarget:
    """A node that the cursor is to go to once it is shown.

    Attributes:
        tree: Its tree.
        node_id: Its id.
        position: Where the user was; the cursor of a user who went on is left alone.
    """

    tree: str
    node_id: str
    position: UserPosition


class Attention:
    """Counts what the user does.

    Args:
        app: The program.
    """

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._inputs = 0
        self._by_screen: WeakKeyDictionary[Screen[Any], int] = WeakKeyDictionary()

    def count(self) -> None:
        """Notes a key, a paste or a click."""
        self._inputs += 1
        front = self._app.screen
        self._by_screen[front] = self.inputs_on(front) + 1

    def inputs_on(self, screen: Screen[Any]) -> int:
        """Returns how much the user did while this screen was in front."""
        return self._by_screen.get(screen, 0)

    def position(self) -> UserPosition:
        """Returns where the user is now."""
        stack = reversed(self._app.screen_stack)
        screens = (screen for screen in stack if not isinstance(screen, ModalScreen))
        return UserPosition(next(screens, None), self._inputs)

    def is_at(self, position: UserPosition) -> bool:
        """Whether the user has done nothing since, and sees the same screen."""
        return self._app.screen is position.screen and self._inputs == position.inputs
