"""A browser whose terminal is gone ends, although no signal tells it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from benchmarks.terminal import Terminal


def test_the_browser_ends_with_its_terminal(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "deltamem_tui", "--banks", str(tmp_path), "browse"]
    with Terminal(words) as terminal:
        terminal.until("quit")
        assert terminal.hang_up() == -signal.SIGHUP
