"""What measurements left behind is opened here: the file of a replay, the folder of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.screen import Screen

from deltamem_tui.text import one_line
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.job import Retry


def ask_for_results(browser: Browser, screen: Screen[Any]) -> None:
    """Asks for a finished replay or an evaluation's run, and opens it."""
    hint = "what deltamem replay LOG --json printed, or where deltamem evaluate kept its run"
    lines = (FormLine("file", "File or folder", hint=hint, path=True),)

    def begin(answer: FormAnswer, retry: Retry) -> None:
        open_results(screen, Path(answer["file"]).expanduser())
        retry.forget()

    browser.forms.ask("Open a replay or an evaluation", lines, begin)


def open_results(screen: Screen[Any], path: Path) -> None:
    """Reads a replay's file or a run's folder beside the screen, and shows it.

    What that needs is loaded there, too: an evaluation takes a while.
    """
    browser, is_folder = browser_of(screen), path.is_dir()
    position = browser.attention.position()

    def show(shown: Callable[[], Screen[None]]) -> None:
        if browser.attention.is_at(position):
            screen.app.push_screen(shown())
        else:
            key = browser.key_of("open_replay")
            browser.notes.notify(f"{one_line(path.name)} has been read; {key} opens it")

    what = "reading the evaluation" if is_folder else "reading the replay"
    look_up(screen, what, lambda _: _run(path) if is_folder else _replay(path), show)


def _replay(path: Path) -> Callable[[], Screen[None]]:
    from deltamem_tui.memory.reports.replay import read_result
    from deltamem_tui.tui.models.replay import ReplayTable
    from deltamem_tui.tui.screens.replay import ReplayScreen

    table = ReplayTable.of(read_result(path))
    return lambda: ReplayScreen(path, table)


def _run(path: Path) -> Callable[[], Screen[None]]:
    from deltamem_tui.lab.runs.kept_run import read_run
    from deltamem_tui.tui.models.run import RunTable
    from deltamem_tui.tui.screens.run import RunScreen

    table = RunTable.of(read_run(path))
    return lambda: RunScreen(table)
