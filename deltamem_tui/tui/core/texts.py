"""Texts on their way out: the user's editor and pager, and the clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from textual.app import App, SuspendNotSupported

from deltamem_tui.errors import DeltaMemError, StorageError, UsageError
from deltamem_tui.text import counted
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.notes import Notes

T = TypeVar("T")


class Texts:
    """Hands texts to the user's programs and to the clipboard."""

    def __init__(self, app: App[None], notes: Notes) -> None:
        self._app = app
        self._notes = notes
        self.editor: Callable[[str], str] = lambda text: self._suspended(lambda: edited(text))
        self.pager: Callable[[str], None] = lambda text: self._suspended(lambda: paged(text))

    def edit(self, text: str) -> str | None:
        """Let the user edit a text in `$EDITOR`; None, and the reason reported, if that failed."""
        return self._handed(lambda: self.editor(text))

    def read(self, text: str) -> None:
        """Let the user read a text in `$PAGER`."""
        self._handed(lambda: self.pager(text))

    def _handed(self, program: Callable[[], T]) -> T | None:
        """Hand a text to a program, and report what went wrong."""
        try:
            return program()
        except SuspendNotSupported:
            self._notes.notify("no terminal can be handed to a program here", warning=True)
        except DeltaMemError as error:
            self._notes.report(error)
        return None

    def copy(self, text: str) -> None:
        """Copy text, by the terminal (OSC 52) and to the local clipboard."""
        self._app.copy_to_clipboard(text)

        def copied(locally: bool) -> None:
            way = "" if locally else " by the terminal (OSC 52)"
            self._notes.notify(f"copied {counted(len(text), 'character')}{way}")

        look_up(self._app, "copying", lambda _: copy_locally(text), copied)

    def _suspended(self, program: Callable[[], T]) -> T:
        """Leave the terminal to a program; textual takes it back if the block does not raise."""
        failed: DeltaMemError | None = None
        with self._app.suspend():
            try:
                return program()
            except DeltaMemError as error:
                failed = error
        raise failed


def copy_locally(text: str) -> bool:
    """Put text on the clipboard of this machine. Returns whether there is one."""
    import pyperclip  # type: ignore[import-untyped]

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return False
    return True


def edited(text: str) -> str:
    """Let the user edit a text."""
    return _run(_command(("VISUAL", "EDITOR"), ("nano", "vim", "vi"), "editor"), text)


def paged(text: str) -> None:
    """Let the user read a text."""
    _run(_command(("PAGER",), ("less", "more"), "pager"), text)


def _command(variables: Iterable[str], usual: Iterable[str], what: str) -> list[str]:
    for variable in variables:
        command = os.environ.get(variable, "")
        try:
            if words := shlex.split(command):
                return words
        except ValueError as error:
            raise UsageError(f"${variable} is not a command: {command!r}: {error}") from error
    if found := next(filter(None, map(shutil.which, usual)), None):
        return [found]
    raise UsageError(f"there is no {what}", hint=f"set {next(iter(variables))} to one")


def _run(command: list[str], text: str) -> str:
    try:
        with tempfile.TemporaryDirectory(prefix="deltamem-") as folder:
            file = Path(folder) / "node.txt"
            file.write_text(text, encoding="utf-8")
            with _deaf_to_ctrl_c():
                done = subprocess.run([*command, str(file)], check=False)
            if done.returncode:
                raise UsageError(f"{command[0]} ended with {done.returncode}: nothing was changed")
            return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no program {command[0]!r}") from error
    except UnicodeDecodeError as error:
        raise UsageError("what the editor left is not UTF-8: nothing was changed") from error
    except OSError as error:
        raise StorageError(f"the text cannot be written or read: {error}") from error


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Leave Ctrl+C to the program in front: a terminal sends it to us as well."""
    # A handler, and not SIG_IGN, which the program would inherit.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
