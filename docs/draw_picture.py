"""Draw the pictures of the README and of the browser's page: what commands print, and screens.

    python docs/draw_picture.py

`docs/picture.svg` shows two commands, `docs/pictures/` the browser's main screens, all about
the bank that is shipped. The same bank gives the same pictures, byte for byte.
"""

from __future__ import annotations

import asyncio
import io
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from rich.console import Console
from rich.text import Text
from textual.pilot import Pilot
from textual.widgets import Input

from deltamem_tui.tui.app import DeltaMemApp

WIDTH = 108
LINES = 16
SIZE = (120, 36)
DOCS = Path(__file__).parent
BANK = "scienceworld"
TASK = (
    "Your task is to melt lead. First, focus on the substance. Then, take actions that will "
    "cause it to change its state of matter."
)
SCENE = "This room is called the kitchen. In it, you see: a stove"
COMMANDS = (
    ["tree", BANK, "--tree", "task", "--limit", "14"],
    ["recall", BANK, TASK, "--env", SCENE],
)


@dataclass(frozen=True)
class View:
    """A screen of the browser.

    Attributes:
        keys: Those that lead to it.
        typed: What is typed there, by line.
        then: Keys after that.
        size: Of the terminal, in columns and lines.
    """

    name: str
    keys: tuple[str, ...]
    typed: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()
    size: tuple[int, int] = SIZE


VIEWS = (
    View("trees", ("right", "j", "j")),
    View("wide", (), size=(180, 45)),
    View("chain", ("c",)),
    View("statistics", ("4",)),
    View("map", ("6", "right")),
    View("keys", ("1", "question_mark")),
    View("words", ("w",)),
    View("evidence", ("escape", "escape", "slash", *"id:1bc7", "enter", "E")),
    View("comparison", ("b", "c", "enter")),
    View(
        "replay",
        ("escape", "r"),
        (("file", str(DOCS / "sample" / "replay.json")),),
        ("enter",),
    ),
    View(
        "evaluation",
        ("escape", "r"),
        (("file", str(DOCS / "sample" / "run")),),
        ("enter", "l", "l"),
    ),
    View("recall", ("escape", "enter", "2"), (("task", TASK), ("scene", SCENE))),
)
"""In the order in which they are visited; the last one alone asks for the bank's embedder."""


def main() -> None:
    """Draw all of them."""
    _draw_commands(DOCS / "picture.svg")
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with _no_home():
        asyncio.run(draw_screens(folder, VIEWS))


def _draw_commands(file: Path) -> None:
    """Run the commands and draw them one under the other."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        shown = " ".join(f'"{word}"' if " " in word else word for word in command)
        console.print(Text(f"$ deltamem {shown}", style="bold green"), soft_wrap=True)
        lines = Text.from_ansi(_printed(command)).split("\n")
        for line in lines[: LINES + 14]:
            line.truncate(WIDTH, overflow="ellipsis")
            console.print(line)
        console.print()
    console.save_svg(str(file), title="deltamem", unique_id="deltamem")


def _printed(command: list[str]) -> str:
    """What a command prints on a terminal of the picture's width."""
    program = [str(Path(sys.executable).parent / "deltamem"), *command]
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(WIDTH), "LINES": "100", "TERM": "xterm-256color"}
    with subprocess.Popen(
        program, stdout=theirs, stderr=subprocess.DEVNULL, env=os.environ | size, cwd=DOCS.parent
    ) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # how a terminal says that the other side is gone
            pass
        if process.wait():
            raise SystemExit(f"deltamem {' '.join(command)} failed")
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


@contextmanager
def _no_home() -> Iterator[None]:
    """Keep what the person at this machine left and chose out of the pictures."""
    with tempfile.TemporaryDirectory(prefix="deltamem-pictures-") as room:
        homes = {f"XDG_{name}_HOME": room for name in ("STATE", "CONFIG", "DATA")}
        with patch.dict(os.environ, homes):
            yield


async def draw_screens(folder: Path, views: Iterable[View]) -> None:
    """Draw screens of the browser into a folder, one file a view."""
    banks = DOCS.parent / "memory_banks"
    app = DeltaMemApp(banks, banks / BANK)
    app.debounce = 0
    async with app.run_test(size=SIZE) as person:
        await _settle(app, person)
        for view in views:
            await person.resize_terminal(*view.size)
            await _settle(app, person)
            for key in view.keys:
                await person.press(key)
                await _settle(app, person)
            for line, text in view.typed:
                app.screen.query_one(f"#{line}", Input).value = text
                await _settle(app, person)
            for key in view.then:
                await person.press(key)
                await _settle(app, person)
            picture = app.export_screenshot(title="deltamem browse")
            (folder / f"{view.name}.svg").write_text(picture + "\n", encoding="utf-8")


async def _settle(app: DeltaMemApp, person: Pilot[None]) -> None:
    """Wait until no worker runs and all is drawn."""
    await person.pause()
    while any(not worker.is_finished for worker in app.workers):
        await app.workers.wait_for_complete()
        await person.pause()


if __name__ == "__main__":
    main()
