"""When a program has done all that there is to do: asked of its loop, not guessed from its rest.

The pilot of textual waits until the process uses hardly any time, so that a key which takes 5 ms
takes 30, and on a busy machine goes on too early. Here it goes on as soon as nothing is ready,
nothing is due at once, and nothing is left to be drawn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from textual import app, pilot
from textual._context import active_app

AT_ONCE = 0.002
"""Seconds: what is due earlier is waited for; what is due later, by who waits for it."""

PATIENCE = 60
"""Seconds: a program that is busy for longer never rests."""


async def all_is_done(min_sleep: float = 0.0, max_sleep: float = 0.0) -> None:
    """Stands in for `textual._wait.wait_for_idle`.

    A thread beside the loop may have news any time. Nothing here waits for it: a test knows
    whether it needs the news (`Person.press` and `settle` wait), or holds the thread back.
    """
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        ahead = next_due(loop) - loop.time()
        if ahead < AT_ONCE:
            await asyncio.sleep(max(0.0, ahead))
        elif not looked():
            return
    raise TimeoutError("the program never has nothing left to do")


def next_due(loop: Any) -> float:
    """When the loop has to do something next of its own accord."""
    due: list[float] = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
    return min(due, default=float("inf"))


def looked() -> bool:
    """Do now what waits for the next frame, if anything does: another size, pictures.

    A screen behind a dialog is drawn as well, in its own time.
    """
    program: Any = active_app.get()
    resized = program._resize_timer is not None
    if resized:
        program._check_resize()
    changed = [each for each in program.screen_stack if each._update_timer._active.is_set()]
    for each in changed:
        each._on_timer_update()
    return resized or bool(changed)


@contextmanager
def asked_of_the_loop() -> Iterator[None]:
    """Let the pilot wait like this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "wait_for_idle", all_is_done)
        patch.setattr(pilot, "wait_for_idle", all_is_done)
        yield
