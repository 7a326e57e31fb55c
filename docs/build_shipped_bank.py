"""Build the banks that come with the package, from the sample episodes.

    python docs/build_shipped_bank.py [FOLDER]
    python docs/build_shipped_bank.py --check

The same episodes give the same nodes and counts on every machine, and the same vectors but for
their last bits. `--check` builds anew and says whether that is what ships.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from deltamem_tui.bank import manifest
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.disk.files import new_folder
from deltamem_tui.bank.transfer.copying import copy_into
from deltamem_tui.embedding.fingerprint import TOLERANCE
from deltamem_tui.memory import engine
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.trajectory.readers import read_logs

DOCS = Path(__file__).parent
SHIPPED = DOCS.parent / "memory_banks"


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
        engine.apply_proposals(bank, engine.calibrate(bank))
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
        for tree in copy.trees.values():
            content.update(bytes(tree.snapshot.text))
        origin = content.hexdigest()[:16]
        manifest.write(draft, replace(copy.manifest, replica=origin))
    return Bank.open(path)


def differences(built: Bank, shipped: Bank) -> list[str]:
    """The files in which two builds differ; vectors may by as much as two machines do."""
    found = []
    for name in built.trees:
        one, other = built.snapshots[name], shipped.snapshots[name]
        if bytes(one.text) != bytes(other.text):
            found.append(one.table.lines_name)
        elif not np.allclose(one.vectors, other.vectors, atol=TOLERANCE):
            found.append(f"{name}.embeddings.npy")
        if not np.array_equal(one.counters, other.counters):
            found.append(one.table.counters_name)
    # The bank that ships is of format 1, and a frozen bank is never rewritten.
    if replace(built.manifest, digests={}) != replace(shipped.manifest.upgraded, digests={}):
        found.append(manifest.FILE_NAME)
    return found


def check() -> int:
    """Build anew, and compare.

    Returns:
        0; 1 if another bank ships.
    """
    with tempfile.TemporaryDirectory() as folder:
        built = build_scienceworld(Path(folder))
        different = differences(built, Bank.open(SHIPPED / built.name))
    print(  # noqa: T201 - the script's one line of output
        f"differs in {', '.join(different)}" if different else "it is the bank that ships"
    )
    return 1 if different else 0


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=SHIPPED)
    parser.add_argument("--check", action="store_true", help="build anew and compare")
    given = parser.parse_args()
    if given.check:
        return check()
    print(build_scienceworld(given.folder).path)  # noqa: T201 - the script's one line of output
    return 0


if __name__ == "__main__":
    sys.exit(main())
