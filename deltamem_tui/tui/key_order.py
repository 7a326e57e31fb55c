"""Keys one after another, however fast they come.

A key travels to the widget in focus and back before its action is done, and the action may
give the focus to another. Over a slow line, or from a macro, several keys come at once: those
typed behind a `/` would reach the outline and be taken for its commands, delete and edit
among them. So a key waits until all that the one before it led to is done.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen

_ROUNDS = 2
"""First comes the key itself back to its action; then what the action sent to the widget."""
_PATIENCE_SECONDS = 0.5
"""When a widget is gone and nothing comes back, the next key goes on after this long."""


class KeyPassed(Message):
    """Follows a key on its way, and comes to the app behind all that the key led to.

    Args:
        number: Which key it follows.
        target: The widget that the key was sent to.
        rounds: How often it still goes that way.
    """

    def __init__(self, number: int, target: MessagePump, rounds: int) -> None:
        super().__init__()
        self.number = number
        self.target = target
        self.rounds = rounds


class KeyOrder(App[None]):
    """The part of the program that holds a key back until the one before it is done."""

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Key | events.Paste] = deque()
        self._number = 0
        self._under_way = False
        self._sent_to: Screen[Any] | None = None

    def on_mount(self) -> None:
        """Notice when a key closes the screen that it was sent to: nothing comes back then."""
        self.screen_change_signal.subscribe(self, self._screen_changed, immediate=True)

    def _screen_changed(self, _: Screen[Any]) -> None:
        if self._under_way and self._sent_to not in self.screen_stack:
            self.call_later(self._passed, self._number)

    async def on_event(self, event: events.Event) -> None:
        """Let one key or paste go its way, and hold those that come meanwhile."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._under_way:
            self._held.append(event)
        else:
            await self._let_go(event)

    async def _let_go(self, event: events.Key | events.Paste) -> None:
        self._number += 1
        self._under_way = True
        number, target, self._sent_to = self._number, self.focused or self.screen, self.screen
        self.set_timer(_PATIENCE_SECONDS, lambda: self._passed(number))
        await super().on_event(event)
        self._follow(KeyPassed(number, target, _ROUNDS))

    def _follow(self, passed: KeyPassed) -> None:
        if not passed.target.post_message(passed):
            self.call_later(self._passed, passed.number)

    def on_key_passed(self, passed: KeyPassed) -> None:
        """Go the same way once more, or let the next key go."""
        if passed.rounds > 1:
            self._follow(KeyPassed(passed.number, passed.target, passed.rounds - 1))
        else:  # behind the change of focus that may wait already
            self.call_later(self._passed, passed.number)

    async def _passed(self, number: int) -> None:
        if number != self._number:
            return
        self._under_way = False
        if self._held:
            await self._let_go(self._held.popleft())
