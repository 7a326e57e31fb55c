"""A browser whose terminal is gone ends, although no signal tells it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.terminal import Terminal
from deltamem_tui.tui.core.hangup import end_without_terminal


def test_the_browser_ends_with_its_terminal_also_where_hangups_are_ignored(tmp_path: Path) -> None:
    words = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]
    words += [sys.executable, "-m", "deltamem_tui", "--banks", str(tmp_path), "browse"]
    with Terminal(words) as terminal:
        terminal.until("quit")
        assert terminal.hang_up() == -signal.SIGHUP


def test_a_file_that_cannot_be_watched_is_not_a_hangup(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[object] = []
    monkeypatch.setattr(os, "kill", lambda *each: ended.append(each))
    monkeypatch.setattr(sys, "__stdin__", SimpleNamespace(fileno=lambda: 999_999))
    end_without_terminal()
    assert not ended
