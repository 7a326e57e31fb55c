"""Types that many threads use for the first time at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BANK = Path(__file__).parents[1] / "memory_banks" / "alfworld"

# A program of its own: only one whose types are new can fail, and what fails is the whole program.
_PROGRAM = """
import sys
from threading import Barrier, Thread
from pathlib import Path
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.method import method_of
from deltamem_tui.memory.settings import of_bank

sys.setswitchinterval(1e-6)
bank = Bank.open(Path(sys.argv[1]))
kind = method_of(bank).settings
gate, found = Barrier(24), []

def read():
    gate.wait()
    found.append(of_bank(bank, kind))

threads = [Thread(target=read) for _ in range(24)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert len(found) == 24
"""


def test_settings_are_read_by_many_threads_at_once() -> None:
    for _ in range(3):
        words = [sys.executable, "-c", _PROGRAM, str(BANK)]
        done = subprocess.run(words, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
