"""Editor and pager: what of the terminal is theirs while they are in front."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from deltamem_tui.tui.core import texts as programs

# A terminal sends Ctrl+C to every program in front of it, and so to the one that waits as well.
_STOPPED = "import os, signal; os.kill(os.getppid(), signal.SIGINT)"
_DEAF = "import signal, sys; sys.exit(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


@pytest.mark.parametrize("does", [_STOPPED, _DEAF])
def test_ctrl_c_is_the_pagers_as_long_as_it_is_in_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    pager = tmp_path / "pager.py"
    pager.write_text(does)
    monkeypatch.setenv("PAGER", f"{sys.executable} {pager}")
    before = signal.getsignal(signal.SIGINT)
    programs.paged("a long text")
    assert signal.getsignal(signal.SIGINT) is before
