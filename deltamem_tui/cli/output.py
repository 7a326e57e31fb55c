"""Stdout, stderr and progress bars: the only place that writes to them.

A command returns a `Result` and prints nothing. stdout carries data, as one JSON document or as a
page for a person; notes and errors go to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from deltamem_tui.cli.page import Page, is_terminal
from deltamem_tui.cli.result import ExitCode, Result
from deltamem_tui.errors import lines_by_reason
from deltamem_tui.text import one_line

_SHOWN_ERRORS = 20  # reasons; more would drown what was printed before

Advance = Callable[..., None]
"""Moves a progress bar by so many steps, one if not given, and perhaps changes its `label`."""


class Output:
    """Streams for results, notes and progress: the process's own, unless others are given.

    With `json`, stdout is one JSON document and stderr stays silent; with `debug`, errors come
    with their traceback, on stderr.
    """

    def __init__(
        self,
        *,
        json: bool = False,
        debug: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.json = json
        self.debug = debug
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr

    def publish(self, result: Result) -> ExitCode:
        """Print a result and return the exit code.

        A closed pipe is not an error: its reader has all it wanted. A stdout that takes nothing,
        as on a full disk, is one, and is reported on stderr even with `--json`.
        """
        try:
            self._write_data(result)
        except BrokenPipeError:
            _detach(self._stdout)
        except OSError as refusal:
            _detach(self._stdout)
            text = f"error: cannot write to stdout: {refusal.strerror}"
            Page(self._stderr).text(text, style="red")
            return ExitCode.FAILURE
        for note in result.notes:
            self.note(str(note))
        lines = list(lines_by_reason(result.errors))
        shown = lines if len(lines) <= _SHOWN_ERRORS + 1 else lines[:_SHOWN_ERRORS]
        for line, _ in shown:
            self.note(f"error: {one_line(line)}", style="red")
        if more := len(result.errors) - sum(count for _, count in shown):
            self.note(f"error: and {more:,} more: see `--json`", style="red")
        return result.exit_code

    def note(self, text: str, *, style: str = "") -> None:
        """Write a note for a person to stderr; nothing with `--json`."""
        if not self.json:
            Page(self._stderr).text(text, style=style)

    def trace(self, error: BaseException) -> None:
        """With `--debug`, write the traceback of `error` to stderr."""
        if self.debug:
            from traceback import format_exception

            Page(self._stderr).text("".join(format_exception(error)).rstrip(), style="dim")

    @contextmanager
    def progress(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a person at a terminal how far a piece of work is.

        `label` is what is being done (`learning`), `total` the number of steps, if known.
        """
        if self.json or not is_terminal(self._stderr) or os.environ.get("TERM") == "dumb":
            yield lambda *_, **__: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        words, numbers = TextColumn("{task.description}", markup=False), MofNCompleteColumn()
        console = Console(file=self._stderr, force_terminal=True, highlight=False)
        columns = (words, BarColumn(), numbers, Remaining())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(one_line(label), total=total)

            def advance(steps: int = 1, label: str | None = None) -> None:
                description = None if label is None else one_line(label)
                bar.update(task, advance=steps, description=description)

            yield advance

    def _write_data(self, result: Result) -> None:
        if self.json:
            document = result.document()
            binary = getattr(self._stdout, "buffer", None)  # UTF-8, whatever the terminal's is
            binary.write(document) if binary else self._stdout.write(document.decode())
        elif result.view is not None:
            result.view(Page(self._stdout))
        self._stdout.flush()


def _detach(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
