"""What the browser asks of a terminal."""

from __future__ import annotations

import os

from deltamem_tui.errors import UsageError


def require_screen() -> None:
    """See that the terminal can show screens. A driver of textual's own needs none.

    A terminal that calls itself dumb moves no cursor and knows no colour, so nothing could be
    drawn there, not even without colours.

    Raises:
        UsageError: It cannot.
    """
    if os.environ.get("TERM") == "dumb" and "TEXTUAL_DRIVER" not in os.environ:
        raise UsageError(
            "the browser cannot be drawn on a dumb terminal",
            source="TERM=dumb",
            hint="set TERM to what your terminal is, such as xterm-256color; "
            "`deltamem browse --web` serves a page, and every other command works here",
        )
