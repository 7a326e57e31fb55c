"""Exporting a bank of 100,000 nodes, and installing it, against copying the same bytes.

Export looks every text through for secrets, digests every file and then the archive. Install
digests both again, and checks every line, vector and count. Both wait until everything is on
the disk; so does the copy that they are held against. `cp` alone, which does not, is measured
too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.timing import in_turns
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.memory.transfer.export import prepare

ROWS = 100_000
ROUNDS = 5


def run() -> str:
    """Measure all in turns."""
    source = big_bank.shared(ROWS).path
    with tempfile.TemporaryDirectory(prefix="deltamem-travelling-") as name:
        folder = Path(name)
        archive, copied, installed = folder / "x.deltamem", folder / "copy", folder / "installed"
        prepare(Bank.open(source)).package.write(archive)

        def copy(_: int) -> None:
            copied.unlink(missing_ok=True)
            subprocess.run(["cp", str(archive), str(copied)], check=True)

        def copy_and_sync(number: int) -> None:
            copy(number)
            with copied.open("rb") as stream:
                os.fsync(stream.fileno())

        def export(_: int) -> None:
            prepare(Bank.open(source)).package.write(archive, replace=True)

        def install_and_verify(_: int) -> None:
            shutil.rmtree(installed, ignore_errors=True)
            install(receive(archive), installed)

        timings = in_turns(
            {
                "cp": copy,
                "cp_synced": copy_and_sync,
                "export": export,
                "install": install_and_verify,
            },
            ROUNDS,
        )
        size = archive.stat().st_size
    ways = ("export", "install")
    return goals.line(
        "travelling",
        [
            Goal(f"{way}_to_cp_synced", timings.ratio(way, "cp_synced"), "at most", 6)
            for way in ways
        ],
        {
            "rows": ROWS,
            "megabytes": size / 1e6,
            **{f"{way}_to_cp": timings.ratio(way, "cp") for way in ways},
            **timings.milliseconds(),
        },
    )
