"""Killed in the middle of an edit on a real terminal, a bank is as before or as after."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.terminal import Terminal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.editing import relabel
from tests.tui.support import NODE_SHOWN

# Stops in the middle of the edit and says so on the terminal.
_WAITING_EDITOR = "#!/bin/sh\necho THE EDITOR IS OPEN\nexec sleep 60\n"
_EDITOR = "#!/bin/sh\nsed -i 's/heat some object and/warm some object and/' \"$1\"\n"

# The program, killed by itself at the n-th time that it writes to a file of the bank.
_MORTAL = """
import os, signal, sys
from types import SimpleNamespace
from deltamem_tui.bank.disk import files

left = int(sys.argv.pop(1))

def mortal(effect):
    def act(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return effect(*arguments, **options)
    return act

class MortalOS:
    def __getattr__(self, name):
        real = getattr(os, name)
        return mortal(real) if name in {"pwrite", "fsync", "replace"} else real

files.os = MortalOS()
from deltamem_tui.__main__ import main
main()
"""


def contents(path: Path) -> list[Node]:
    bank = Bank.open(path)
    assert verify(bank) == []
    return list(bank.tree("task"))


def editor(folder: Path, script: str) -> Mapping[str, str]:
    file = folder / "editor"
    file.write_text(script)
    file.chmod(0o755)
    return {"EDITOR": str(file), "VISUAL": ""}


def test_while_the_editor_is_open(folder: Path, tmp_path: Path) -> None:
    bank = folder / "kitchen"
    before = contents(bank)
    words = [sys.executable, "-m", "deltamem_tui", "browse", str(bank)]
    with Terminal(words, environment=editor(tmp_path, _WAITING_EDITOR)) as terminal:
        terminal.until(NODE_SHOWN)
        terminal.press("e")
        terminal.until("THE EDITOR IS OPEN")
        terminal.kill()
    assert contents(bank) == before


@pytest.mark.parametrize("effect", [2, 7, 13])
def test_while_the_change_is_written(folder: Path, tmp_path: Path, effect: int) -> None:
    bank = folder / "kitchen"
    before = contents(bank)
    words = [sys.executable, "-c", _MORTAL, str(effect), "browse", str(bank)]
    with Terminal(words, environment=editor(tmp_path, _EDITOR)) as terminal:
        terminal.until(NODE_SHOWN)
        terminal.press("e")
        assert terminal.until_it_ends() == -signal.SIGKILL
    after = contents(bank)
    if after != before:
        assert [node.id for node in after] == [node.id for node in before]
        assert after[0].payload["activation_condition"].startswith("warm some object and")
        assert after[1:] == before[1:]
    # Whatever was left behind, the next change goes through.
    opened = Bank.open(bank)
    relabel(opened, "task", opened.tree("task").node(before[0].id), "failure")
    assert contents(bank)[0].label == "failure"
