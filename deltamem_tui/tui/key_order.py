"""Keys one after another, however fast they come.

A key travels to the widget in focus and back before its action is done, and the action may
give the focus to another. Over a slow line, or from a macro, several keys come at once: those
typed behind a `/` would reach the outline and be taken for its commands, delete and edit
among them. So a key waits until all that the one before it led to is done.

What a key leads to may have to be read first, beside the screen: a bank, a subtree. Keys
typed meanwhile are meant for what comes of it, and wait for that as well; but not for long,
and never to be taken for the commands of what is still there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from textual import events
from textual.app import App
from textual.dom import DOMNode

_ROUNDS = 2
"""First comes the key itself back to its action; then what the action sent to the widget."""

PATIENCE = 3.0
"""Seconds that keys wait for what is read beside the screen; then they are forgotten."""


class KeyOrder(App[None]):
    """The part of the program that holds a key back until the one before it is done.

    Nothing in textual tells when that is. But every widget takes its messages in order: a
    call that goes the way of the key, from the widget in focus up to the program, is always
    behind it. Each way costs a message per level of the screen, far less than a frame.

    Attributes:
        deeds: How often a key, a paste or a click was given its way so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.deeds = 0
        self._after: list[Callable[[], None]] = []
        self._held: deque[events.Key | events.Paste] = deque()
        self._under_way = False
        self._awaited: set[object] = set()

    def hold_keys(self) -> Callable[[], None]:
        """Let keys wait for something that is being read.

        Returns:
            What lets them go when it is there.
        """
        reading = object()
        self._awaited.add(reading)
        self.set_timer(PATIENCE, lambda: self._give_up(reading))
        return lambda: self._is_there(reading)

    def after_keys(self, then: Callable[[], None]) -> None:
        """Call back once all that was typed so far is done."""
        if self._under_way or self._held:
            self._after.append(then)
        else:
            then()

    def _call_back(self) -> None:
        after, self._after = self._after, []
        for then in after:
            then()

    def typed(self) -> None:
        """A key or a paste has come; what it does is still to be done."""

    def forgot(self, keys: int) -> None:
        """So many keys waited too long, and will do nothing."""

    def _is_there(self, reading: object) -> None:
        if reading in self._awaited:
            self._awaited.remove(reading)
            if self._held and not self._under_way and not self._awaited:
                self._under_way = True
                self._follow_to(self._target)

    def _give_up(self, reading: object) -> None:
        if reading in self._awaited:
            self._awaited.remove(reading)
            if forgotten := len(self._held):
                self._held.clear()
                self.forgot(forgotten)
            if not self._under_way:
                self._call_back()

    async def on_event(self, event: events.Event) -> None:
        """Let one key or paste go its way, and hold those that come meanwhile."""
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self.deeds += 1
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self.typed()
        self._held.append(event)
        if not self._under_way:
            await self._let_go()

    @property
    def _target(self) -> DOMNode:
        return self.focused or self.screen

    async def _let_go(self) -> None:
        self._under_way = bool(self._held) and not self._awaited
        if not self._under_way and not self._held:
            self._call_back()
        elif self._under_way:
            target = self._target
            self.deeds += 1
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
