"""What becomes of work that a person left behind, told on the bare terminal."""

from __future__ import annotations

from collections.abc import Callable

from deltamem_tui.tui.background import Progress


def see_off(work: Progress, tell: Callable[[str], None]) -> None:
    """Tell what becomes of work that went on when the person left the browser.

    Work that was asked to stop is waited for: calls of a model that are on their way are paid
    for, and what it took is told. Ctrl+C does not wait. Anything else is not waited for; a
    commit is written whole or not at all.

    Args:
        work: The work.
        tell: Says something on the terminal.
    """
    if not work.can_stop and not work.over.is_set():
        tell(f"{work.name} was left unfinished; banks are as before it, or as after it")
        return
    try:
        if not work.over.is_set():
            tell(f"{work.name} is stopping; Ctrl+C does not wait for it")
        work.over.wait()
    except KeyboardInterrupt:
        tell(f"{work.name} was left unfinished; all that was committed is in the bank")
    else:
        tell(work.last_words)
