"""Draw the pictures of the README and of the browser's page: what commands print, and screens.

    python docs/draw_picture.py

`docs/picture.svg` shows two commands, `docs/pictures/` the browser's screens, about the bank that
is shipped and about one that is learnt here. The same banks give the same pictures, byte for byte.
"""

from __future__ import annotations

import asyncio
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest.mock import patch

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text
from textual.pilot import Pilot
from textual.widgets import Input

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from deltamem_tui.tui.app import DeltaMemApp

WIDTH = 108
LINES = 16
SIZE = (120, 36)
SMALL = (100, 30)
DOCS = Path(__file__).parent
BANK = "scienceworld"
SAMPLE = DOCS / "sample" / "alfworld.jsonl.gz"
LEARNT_EPISODES = 24
QUESTION = "get a clean mug and set it in coffeemachine"
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
        steps: What leads there from the view before: a key, or a line with what is typed into it.
        size: Of the terminal, in columns and lines.
    """

    name: str
    steps: tuple[str | tuple[str, str], ...]
    size: tuple[int, int] = SIZE


SHIPPED = (
    View("trees", ("right", "j", "j")),
    View("chain", ("c",)),
    View("keys", ("question_mark",)),
    View("evidence", ("escape", "c", "slash", *"1bc7", "enter", "E")),
    View("recall", ("escape", "escape", "1", "2", ("task", TASK), ("scene", SCENE))),
)
"""Of the bank that is shipped, in the order in which they are visited.

The last one alone asks for the bank's embedder.
"""

START = (View("start", (), SMALL),)
"""Of a machine without any bank of one's own."""

_FIRST = ("a", "enter", "L", "down", "enter", "2", ("task", "Deploy 2.5 to staging"))
SESSIONS = (View("first", _FIRST, (120, 42)),)
"""Of a machine with three sessions of a coding agent, from the first start to a context."""

LEARNT = (
    View("report", ("4",), SMALL),
    View("ended", ("3", "A"), SMALL),
    View("review", ("escape", "s"), SMALL),
    View("import", ("i", ("path", "docs/sample/alfworld.jsonl.gz")), SMALL),
    View("judging", ("escape", "A", "end", "enter"), SMALL),
    View("relearn", ("escape", "n", "tab", "tab", "tab"), SMALL),
    View("near", ("escape", "2", ("task", QUESTION), "enter")),
    View("lab", ("minus",) * 6),
    View("search", ("escape", "1", "slash", *"desklamp", "enter"), SMALL),
)
"""Of a bank with its journal and with episodes that wait: learnt from the sample."""


def main() -> None:
    """Draw all of them."""
    _draw_commands(DOCS / "picture.svg")
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    with _no_home():
        asyncio.run(draw_screens(folder, None, START))
        asyncio.run(draw_screens(folder, DOCS.parent / "memory_banks" / BANK, SHIPPED))
        with tempfile.TemporaryDirectory() as room:
            place_sessions(Path(os.environ["HOME"]))
            asyncio.run(draw_screens(folder, None, SESSIONS, Path(room) / "none"))
            learn_sample(Path(room) / "household")
            asyncio.run(draw_screens(folder, Path(room) / "household", LEARNT))


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
    """Return what a command prints on a terminal of the picture's width."""
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
        homes |= {"TZ": "UTC", "HOME": room, "COLORTERM": "truecolor"}
        with patch.dict(os.environ, homes):
            yield


async def draw_screens(
    folder: Path, bank: Path | None, views: Iterable[View], banks: Path | None = None
) -> None:
    """Draw screens of the browser, with a bank open if one is named: a file a view."""
    app = DeltaMemApp(banks or (bank.parent if bank else DOCS.parent / "my_banks"), bank)
    with chdir(DOCS.parent):  # the paths that are typed are from here, and so the same everywhere
        await _visit(app, folder, views)


async def _visit(app: DeltaMemApp, folder: Path, views: Iterable[View]) -> None:
    async with app.run_test(size=SIZE) as person:
        await _settle(app, person)
        for view in views:
            await person.resize_terminal(*view.size)
            await _settle(app, person)
            for step in view.steps:
                if isinstance(step, str):
                    await person.press(step)
                else:
                    line, text = step
                    app.screen.query_one(f"#{line}", Input).value = text
                await _settle(app, person)
            app.notes.clear()  # it would be the clock that says whether a note is still there
            await _settle(app, person)
            picture = app.export_screenshot(title="deltamem browse")
            (folder / f"{view.name}.svg").write_text(picture + "\n", encoding="utf-8")


def place_sessions(home: Path) -> None:
    """Put the sample's sessions where Claude Code keeps them."""
    shutil.copytree(DOCS / "sample" / "sessions", home / ".claude" / "projects" / "shop")


def learn_sample(bank: Path) -> None:
    """Make a bank of the sample's first episodes; some wait, and a judge doubts one of them.

    The judge's word and the journal's times are made up: the word is there to be seen, and the
    times would be of today.
    """
    made = create_bank(bank, embedder="hashing", domain="alfworld")
    found = [each for each in read_logs([SAMPLE]) if isinstance(each, Trajectory)]
    for each in found[:LEARNT_EPISODES]:
        learn(made, each)
    waiting = found[LEARNT_EPISODES : LEARNT_EPISODES + 8]
    doubted = next(each for each in waiting if each.outcome.success)
    word = Outcome(False, None, "judge", "the cup was not cooled")
    unsaid = [replace(each, outcome=Outcome()) for each in waiting if each is not doubted]
    take_in(made, [with_verdict(doubted, word), *unsaid])
    journal, minutes = bank / "journal.jsonl", count()
    dated = re.sub(
        r'(?<="time":")[^"]+',
        lambda _: f"2026-01-01T12:{next(minutes):02}:00Z",
        journal.read_text(encoding="utf-8"),
    )
    journal.write_text(dated, encoding="utf-8")


async def _settle(app: DeltaMemApp, person: Pilot[None]) -> None:
    """Wait until no worker runs and all is drawn."""
    await person.pause()
    while any(not worker.is_finished for worker in app.workers):
        await app.workers.wait_for_complete()
        await person.pause()


if __name__ == "__main__":
    main()
