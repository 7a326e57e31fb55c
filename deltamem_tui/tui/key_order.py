"""Keys one after another, however fast they come.

A key travels to the widget in focus and back before its action is done, and the action may
give the focus to another. Over a slow line, or from a macro, several keys come at once: those
typed behind a `/` would reach the outline and be taken for its commands, delete and edit
among them. So a key waits until all that the one before it led to is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from textual import events
from textual.app import App
from textual.dom import DOMNode

_ROUNDS = 2
"""First comes the key itself back to its action; then what the action sent to the widget."""


class KeyOrder(App[None]):
    """The part of the program that holds a key back until the one before it is done.

    Nothing in textual tells when that is. But every widget takes its messages in order: a
    call that goes the way of the key, from the widget in focus up to the program, is always
    behind it. Each way costs a message per level of the screen, far less than a frame.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Key | events.Paste] = deque()
        self._under_way = False

    async def on_event(self, event: events.Event) -> None:
        """Let one key or paste go its way, and hold those that come meanwhile."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self._held.append(event)
        if not self._under_way:
            await self._let_go()

    @property
    def _target(self) -> DOMNode:
        return self.focused or self.screen

    async def _let_go(self) -> None:
        self._under_way = bool(self._held)
        if self._held:
            target = self._target
            await super().on_event(self._held.popleft())
            self._follow_to(target)

    def _follow_to(self, target: DOMNode) -> None:
        self._follow(target, iter(target.ancestors_with_self * _ROUNDS))

    def _follow(self, target: DOMNode, way: Iterator[DOMNode]) -> None:
        """Go one level on; a widget that is gone takes no call and is passed over."""
        if not any(level.call_later(self._follow, target, way) for level in way):
            # Behind the change of focus that may wait already.
            self.call_later(self._arrived, target)

    async def _arrived(self, target: DOMNode) -> None:
        """Let the next key go, once the widget or screen that will get it is ready for it."""
        if self._target is target:
            await self._let_go()
        else:
            self._follow_to(self._target)
