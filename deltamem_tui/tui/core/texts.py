"""Texts on their way out: the user's editor and pager, and the clipboard."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
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
Keep = Callable[[str], None]


class SpoiltEditError(UsageError):
    """An editor ended in a way that means: change nothing. What was typed is not lost."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message, hint="the next edit offers what you typed")
        self.text = text


class Texts:
    """Hands texts to the user's programs and to the clipboard."""

    def __init__(self, app: App[None], notes: Notes) -> None:
        self._app = app
        self._notes = notes
        self.editor: Callable[[str], str] = lambda text: self._suspended(lambda: edited(text))
        self.pager: Callable[[str], None] = lambda text: self._suspended(lambda: paged(text))

    def edit(self, text: str, then: Keep, keep: Keep) -> None:
        """Let the user edit a text in `$EDITOR`."""
        try:
            after = self.editor(text)
        except SuspendNotSupported:
            self._notes.notify("there is no terminal to hand to an editor here", warning=True)
        except DeltaMemError as error:
            if isinstance(error, SpoiltEditError) and error.text != text:
                keep(error.text)
            self._notes.report(error)
        else:
            then(after)

    def read(self, text: str) -> None:
        """Let the user read a text: in `$PAGER`, in a web browser as a page of its own."""
        try:
            self.pager(text)
        except SuspendNotSupported:
            file = io.StringIO(text)
            self._app.deliver_text(file, save_filename="node.txt", open_method="browser")
        except DeltaMemError as error:
            self._notes.report(error)

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
    command = _command(("VISUAL", "EDITOR"), ("nano", "vim", "vi"), "editor")
    return _run(command, text)


def paged(text: str) -> None:
    """Let the user read a text."""
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
        raise UsageError(
            f"${variable} is not a command: {command!r}: {reason}", hint=hint
        ) from error


def _run(command: list[str], text: str) -> str:
    try:
        # If the browser is killed while the editor is open, this folder stays. Nothing of
        # ours removes it later: the editor may still be open, and be all that has the text.
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
        yield  # only the main thread may set handlers
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
