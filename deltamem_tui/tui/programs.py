"""The programs that a person chose for text: `$VISUAL` or `$EDITOR`, and `$PAGER`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deltamem_tui.errors import StorageError, UsageError


class SpoiltEditError(UsageError):
    """An editor was left in a way that says: change nothing. What was typed is not lost.

    Attributes:
        text: The text as the editor left it.
    """

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message, hint="the next edit offers what you typed")
        self.text = text


def edited(text: str) -> str:
    """Let the person edit a text.

    Returns:
        The text as the editor left it.

    Raises:
        UsageError: There is no editor, or its command cannot be read.
        SpoiltEditError: It ended with an error, or left what is no text: nothing shall be changed.
        StorageError: The text cannot be written or read.
    """
    command = _command(("VISUAL", "EDITOR"), ("nano", "vim", "vi"), "editor")
    return _run(command, text)


def paged(text: str) -> None:
    """Let the person read a text.

    Raises:
        UsageError: There is no pager, its command cannot be read, or it ended with an error.
        StorageError: The text cannot be written.
    """
    _run(_command(("PAGER",), ("less", "more"), "pager"), text)


def _command(variables: Iterable[str], usual: Iterable[str], what: str) -> list[str]:
    for variable in variables:
        if words := _words(variable):
            return words
    for name in usual:
        if found := shutil.which(name):
            return [found]
    raise UsageError(f"there is no {what}", hint=f"set {next(iter(variables))} to one")


def _words(variable: str) -> list[str]:
    command = os.environ.get(variable, "")
    try:
        return shlex.split(command)
    except ValueError as error:
        reason = str(error).lower()
        hint = f"set {variable} as a shell would read it"
        raise UsageError(f"${variable} is no command: {command!r}: {reason}", hint=hint) from error


def _run(command: list[str], text: str) -> str:
    try:
        # Who kills the browser while the editor is open leaves this folder behind. Nothing of
        # ours takes it away later: the editor may still be open, and be all that has the text.
        with tempfile.TemporaryDirectory(prefix="deltamem-") as folder:
            file = Path(folder) / "node.txt"
            file.write_text(text, encoding="utf-8")
            with _deaf_to_ctrl_c():
                done = subprocess.run([*command, str(file)], check=False)
            left = file.read_text(encoding="utf-8", errors="backslashreplace")
            if done.returncode:
                raise SpoiltEditError(
                    f"{command[0]} ended with {done.returncode}: nothing was changed", left
                )
            return _sound(left, file.read_bytes())
    except FileNotFoundError as error:
        raise UsageError(f"there is no program {command[0]!r}") from error
    except OSError as error:
        raise StorageError(f"the text cannot be written or read: {error}") from error


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Leave Ctrl+C to the program in front: a terminal sends it to us as well."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    # A handler, and not SIG_IGN, which the program would inherit.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _sound(text: str, left: bytes) -> str:
    try:
        left.decode()
    except UnicodeDecodeError as error:
        raise SpoiltEditError(
            "what the editor left is not UTF-8: nothing was changed", text
        ) from error
    return text
