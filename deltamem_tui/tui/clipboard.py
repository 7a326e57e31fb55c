"""The local clipboard, where there is one; over SSH the terminal's own way (OSC 52) does it."""

from __future__ import annotations


def copy_locally(text: str) -> bool:
    """Put text on the clipboard of the machine the program runs on.

    Returns:
        Whether there was one.
    """
    import pyperclip  # type: ignore[import-untyped]

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return False
    return True
