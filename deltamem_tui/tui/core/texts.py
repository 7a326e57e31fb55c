"""Texts on their way out: the user's editor and pager, and the clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from textual.app import App, SuspendNotSupported

from deltamem_tui.errors import DeltaMemError, StorageError, UsageError
from deltamem_tui.text import counted
from deltamem_tui.tui.core.background import Stopped, look_up
from deltamem_tui.tui.core.notes import Notes


class Texts:
    """Hands texts to the user's programs and to the clipboard."""

    def __init__(self, app: App[None], notes: Notes) -> None:
        self._app = app
        self._notes = notes
        self.edit: Callable[[str], str | None] = partial(
            self._hand, ("VISUAL", "EDITOR"), ("nano", "vim", "vi")
        )
        self.read: Callable[[str], object] = partial(self._hand, ("PAGER",), ("less", "more"))

    def _hand(self, variables: Sequence[str], usual: Sequence[str], text: str) -> str | None:
        """Leave the terminal to a program; None, and the reason reported, if that failed."""
        try:
            with self._app.suspend():
                try:
                    return _run(variables, usual, text)
                except DeltaMemError as error:  # textual takes the terminal back if none is raised
                    failed = error
        except SuspendNotSupported:
            failed = UsageError("no terminal can be handed to a program here")
        self._notes.report(failed)
        return None

    def copy(self, text: str) -> None:
        """Copy text, by the terminal (OSC 52) and to the local clipboard."""
        self._app.copy_to_clipboard(text)

        def copy_locally(_: Stopped) -> bool:
            import pyperclip  # type: ignore[import-untyped]

            try:
                pyperclip.copy(text)
            except (pyperclip.PyperclipException, OSError):
                return False
            return True

        def copied(locally: bool) -> None:
            way = "" if locally else " by the terminal (OSC 52)"
            self._notes.notify(f"copied {counted(len(text), 'character')}{way}")

        look_up(self._app, "copying", copy_locally, copied)


def _run(variables: Sequence[str], usual: Sequence[str], text: str) -> str:
    """Run the program that the first variable names, or a usual one, on a file of the text."""
    wanted = (os.environ.get(name, "").strip() for name in variables)
    given = next(filter(None, wanted), None) or next(filter(shutil.which, usual), usual[-1])
    try:
        command = shlex.split(given)
    except ValueError as error:
        raise UsageError(f"this is not a command: {given!r}: {error}") from error
    try:
        with tempfile.TemporaryDirectory(prefix="deltamem-") as folder:
            file = Path(folder) / "node.txt"
            file.write_text(text, encoding="utf-8")
            # Ctrl+C is for the program in front. SIG_IGN in place of a handler it would inherit.
            before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
            try:
                done = subprocess.run([*command, str(file)], check=False)
            finally:
                signal.signal(signal.SIGINT, before)
            if done.returncode:
                raise UsageError(f"{command[0]} ended with {done.returncode}: nothing was changed")
            return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        hint = f"set {variables[0]} to one"
        raise UsageError(f"there is no program {command[0]!r}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise UsageError("what the editor left is not UTF-8: nothing was changed") from error
    except OSError as error:
        raise StorageError(f"the text cannot be written or read: {error}") from error
