"""Build the banks that come with the package, from the sample episodes.

    python docs/build_shipped_bank.py [FOLDER]

The same episodes give the same nodes, vectors and counts on every run.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import manifest
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.disk.files import new_folder
from deltamem_tui.bank.node import TREES
from deltamem_tui.bank.travel.copying import copy_into
from deltamem_tui.memory import calibrate
from deltamem_tui.memory.episodes.intake import take_in, waiting
from deltamem_tui.memory.learn import learn
from deltamem_tui.memory.opening import create_bank
from deltamem_tui.trajectory.readers import read_logs

DOCS = Path(__file__).parent


def build_scienceworld(folder: Path) -> Bank:
    """Learn the sample, and put a frozen bank without its episodes into `folder`."""
    with tempfile.TemporaryDirectory() as workshop:
        bank = create_bank(
            Path(workshop) / "scienceworld",
            embedder="minilm",
            domain="scienceworld",
            description="Skills and scene knowledge from 30 kinds of ScienceWorld tasks.",
            provenance={"episodes": "the project's sample", "extractor": "rules"},
        )
        take_in(bank, read_logs([DOCS / "sample" / "scienceworld.jsonl.gz"]))
        calibrate.apply(bank, calibrate.calibrate(bank))
        for trajectory in waiting(bank):
            learn(bank, trajectory)
        shipped = _without_episodes(bank, folder / "scienceworld")
    shipped.freeze()
    (shipped.path / LOCK_NAME).unlink()
    return shipped


def _without_episodes(bank: Bank, path: Path) -> Bank:
    """A copy without episodes and journal, under an origin that follows from its content.

    The workshop's bank is thrown away, so nothing else counts what was counted in it: the copy
    may count it as its own.
    """
    with new_folder(path) as draft:
        copy = copy_into(draft, bank, name=path.name, history=False)
        content = hashlib.sha256()
        for name in TREES:
            content.update(bytes(copy.snapshots[name].text))
        origin = content.hexdigest()[:16]
        manifest.write(draft, replace(copy.manifest, origin=origin))
    return Bank.open(path)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS.parent / "memory_banks"
    print(build_scienceworld(target).path)  # noqa: T201 - the script's one line of output
