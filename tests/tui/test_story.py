"""The main story on a real terminal: open the shipped bank, find, read, edit, undo, ask, quit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.text import counted
from tests.places import BANKS, ROOT

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


@contextmanager
def running(banks: Path, room: Path, *, size: tuple[str, str] = ("120", "40")) -> Iterator[Tmux]:
    """The browser over a folder of banks, on a terminal of this size."""
    editor = room / "editor"
    editor.write_text('#!/bin/sh\necho "REST A WHILE" >> "$1"\n')
    editor.chmod(0o755)
    tmux = Tmux(room / "socket")
    variables = {"EDITOR": str(editor), "VISUAL": "", "HF_HUB_OFFLINE": "1"}
    variables |= {name: os.environ[name] for name in os.environ if name.startswith("XDG_")}
    # A size in the environment would count more than the terminal's own.
    program = ["sh", "-c", '"$@"; echo "ended with $?"; exec cat', "sh"]
    program += ["env", "-u", "COLUMNS", "-u", "LINES", sys.executable, "-m", "deltamem_tui"]
    program += ["--banks", str(banks)]
    settings = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    wide, high = size
    tmux("new-session", "-d", "-x", wide, "-y", high, *settings, "-c", str(room), *program)
    try:
        yield tmux
    finally:
        tmux("kill-server")


@pytest.fixture
def terminal(bank: Path, tmp_path: Path) -> Iterator[Tmux]:
    with running(bank.parent, tmp_path) as tmux:
        yield tmux


def longest_chain(bank: Path) -> tuple[Node, ...]:
    """The chain of the last of the deepest skills: going down the list ends there."""
    tree = Bank.open(bank).tree("task")
    return tree.chain(max(reversed([*tree]), key=lambda node: node.depth).id)


def test_the_main_story(bank: Path, terminal: Tmux) -> None:
    chain = longest_chain(bank)
    node = chain[-1]
    # Open the bank.
    terminal.until("banks", "alfworld", "scienceworld", "minilm")
    terminal.press("j", "Enter")  # the first is the other bank that ships
    terminal.until("task tree · ", "env tree · ", "1 Memory")
    # Find a node by its id.
    terminal.press("/")
    terminal.until("f1 help")  # letters are typed now
    terminal.write(f"{node.id[:8]} kind:{node.kind}")
    terminal.press("Enter")
    terminal.until("fit the filter", f"kind:{node.kind}", "c chain")
    terminal.press("g", *["l"] * (node.depth - 1))
    for _ in range(40):
        if node.id in terminal.until("task r"):
            break
        terminal.press("j")
    terminal.until(node.id)
    # Read its chain, whole.
    terminal.press("c")
    terminal.until(f"chain from the root · {counted(len(chain), 'node')}")
    terminal.press("c")
    # Edit it in the editor, and take that back.
    terminal.press("e")
    terminal.until("opens $EDITOR")
    terminal.press("Tab", "C-e")
    terminal.until("REST A WHILE")
    terminal.press("F2")
    terminal.until("u undoes it", "REST A WHILE")
    assert "REST A WHILE" in Bank.open(bank).tree("task").node(node.id).text
    terminal.press("u")
    terminal.until("Undo this edit")
    terminal.press("y")
    terminal.until("undone: edit of 1 node")
    assert Bank.open(bank).tree("task").node(node.id).payload == node.payload
    # Ask the bank what an agent would be told.
    terminal.press("2")
    terminal.until("2 Recall", "Type a", "f1 help")
    terminal.write(chain[0].payload["activation_condition"])
    terminal.until("▶", "The next, ")
    # Quit, the bank sound.
    terminal.press("Escape")
    terminal.until("q quit")  # escape and q in one breath would be alt+q
    terminal.press("q")
    terminal.until("ended with 0")
    assert verify(Bank.open(bank)) == []
    assert [commit.event for commit in Bank.open(bank).journal.commits()][-2:] == ["edit", "undo"]


def test_a_newcomer_comes_from_an_empty_folder_to_a_context(tmp_path: Path) -> None:
    """By keys alone, and by what the screens say."""
    shutil.copy(ROOT / "docs" / "sample" / "alfworld.jsonl.gz", tmp_path / "runs.jsonl.gz")
    with running(tmp_path / "new", tmp_path, size=("80", "24")) as terminal:
        terminal.until("make an empty bank")
        terminal.press("?")
        terminal.until("Your banks, and those that ship with the program")
        terminal.press("G")
        terminal.until("frozen     protected")
        terminal.press("Escape")
        terminal.until("make an empty bank", "q quit")  # no longer covered
        terminal.press("n")
        terminal.until("A new bank")
        terminal.write("mine")
        terminal.press("Tab")
        terminal.until("webshop")  # the list of domains opens with the focus
        terminal.press("Up", "Up", "Up", "Tab")
        terminal.until("some 440 MB")
        terminal.press("Down", "Down")
        terminal.until("no model, only the words themselves")
        terminal.press("Enter")
        terminal.until("Import episodes")
        terminal.write("ru")
        terminal.until("runs.jsonl.gz")
        terminal.press("Right")
        terminal.until("56 episodes (36 succeeded, 20 failed)", "put a handtowel")
        terminal.press("Enter")
        terminal.until("imported 56 episodes")
        terminal.press("L")
        terminal.until("56 episodes to learn from")
        terminal.press("Enter")
        terminal.until("0 waiting", "2 nodes")
        terminal.press("2")
        terminal.until("2 Recall", "Type a", "f1 help")
        terminal.write("put a clean mug in shelf.")
        terminal.until("▶", "### Skill")
        terminal.press("Escape")
        terminal.until("q quit")
        terminal.press("q", "q")  # work that still goes on is left the second time
        terminal.until("ended with 0")
    trees = Bank.open(tmp_path / "new" / "mine").trees.values()
    nodes = [node for tree in trees for node in tree]
    assert sum(node.depth == 1 for node in nodes) < 0.5 * len(nodes)
