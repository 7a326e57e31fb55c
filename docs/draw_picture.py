"""Draw `docs/picture.svg`: what three commands really print about the shipped bank.

python docs/draw_picture.py
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 108
LINES = 16
DOCS = Path(__file__).parent
TASK = "Your task is to melt lead. First, focus on the substance."
COMMANDS = (
    ["tree", "scienceworld", "--tree", "task", "--limit", "14"],
    [
        "recall",
        "scienceworld",
        TASK,
        "--env",
        "This room is called the kitchen. In it, you see: a stove",
    ],
)


def printed(command: list[str]) -> str:
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


def main() -> None:
    """Run the commands and draw them one under the other."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        shown = " ".join(f'"{word}"' if " " in word else word for word in command)
        console.print(Text(f"$ deltamem {shown}", style="bold green"), soft_wrap=True)
        lines = Text.from_ansi(printed(command)).split("\n")
        for line in lines[: LINES + 14]:
            line.truncate(WIDTH, overflow="ellipsis")
            console.print(line)
        console.print()
    console.save_svg(str(DOCS / "picture.svg"), title="deltamem", unique_id="deltamem")


if __name__ == "__main__":
    main()
