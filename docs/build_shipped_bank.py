"""Build the banks that come with the package, from the sample episodes.

    python docs/build_shipped_bank.py [FOLDER]
    python docs/build_shipped_bank.py --check

The same episodes give the same nodes and counts on every machine, and the same vectors but for
their last bits. `--check` builds anew and says whether those are what ships.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from deltamem_tui.bank import manifest
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.disk.files import new_folder
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.transfer import copy_into, settle
from deltamem_tui.embedding.protocol import TOLERANCE
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episodes, waiting
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs

DOCS = Path(__file__).parent
SHIPPED = DOCS.parent / "memory_banks"
_SCORE = (
    "What the same rules learn from all training episodes scores {} in development games "
    "(`deltamem lab`)."
)
BANKS: Mapping[str, str] = {
    "scienceworld": "Skills and scene knowledge from 30 kinds of ScienceWorld tasks. "
    + _SCORE.format("0.62 of 1"),
    "alfworld": "Skills and scene knowledge from the six kinds of ALFWorld tasks. "
    + _SCORE.format("0.98 of 1, in 8 steps,"),
}
"""What the banks are, by the names of their domains."""

_EXAMPLES = 6
"""So many episodes go along, to be looked at."""


def build(name: str, folder: Path) -> Bank:
    """Learn a sample, and put a frozen bank with a few of its episodes into `folder`."""
    with tempfile.TemporaryDirectory() as workshop:
        bank = create_bank(
            Path(workshop) / name,
            embedder="minilm",
            domain=name,
            description=BANKS[name],
            provenance={"episodes": "the project's sample", "extractor": "rules"},
        )
        take_in(bank, read_logs([DOCS / "sample" / f"{name}.jsonl.gz"]))
        for trajectory in waiting(bank):
            learn(bank, trajectory)
        shipped = _with_few_episodes(bank, folder / name)
    shipped.freeze()
    (shipped.path / LOCK_NAME).unlink()
    return shipped


def _with_few_episodes(bank: Bank, path: Path) -> Bank:
    """Return a copy with few episodes and no journal, under an origin that follows from its
    content.

    The workshop's bank is thrown away, so nothing else counts what was counted in it: the copy
    may count it as its own.
    """
    with new_folder(path) as draft:
        copy = copy_into(draft, bank, name=path.name, episodes=False, history=False)
        content = hashlib.sha256()
        for tree in copy.trees.values():
            content.update(bytes(tree.snapshot.text))
        origin = content.hexdigest()[:16]
        manifest.write(draft, replace(copy.manifest, origin=origin))
        with copy.writing() as batch:
            for episode in _examples(bank):
                batch.put_episode(episode.record())
                batch.set_state(episode.id, EpisodeState.LEARNT)
            batch.log("examples")
        settle(copy, history=False)
    return Bank.open(path)


def _examples(bank: Bank) -> list[Trajectory]:
    """Return the shortest successes, one a kind of goal."""
    successes = [each for each in episodes(bank) if each.outcome.success]
    successes.sort(key=lambda each: (len(each.steps), each.id))
    of_kind: dict[str, Trajectory] = {}
    for each in successes:
        of_kind.setdefault(goal_of(bank.manifest.domain, each.task).trigger, each)
    return list(of_kind.values())[:_EXAMPLES]


def differences(built: Bank, shipped: Bank) -> list[str]:
    """Return the files in which two builds differ; vectors may by as much as two machines do."""
    found = []
    for name in built.trees:
        one, other = built.snapshots[name], shipped.snapshots[name]
        if bytes(one.text) != bytes(other.text):
            found.append(one.table.lines_name)
        elif not np.allclose(one.vectors, other.vectors, atol=TOLERANCE):
            found.append(f"{name}.embeddings.npy")
        if not np.array_equal(one.counters, other.counters):
            found.append(one.table.counters_name)
    if bytes(built.episodes.snapshot.text) != bytes(shipped.episodes.snapshot.text):
        found.append(built.episodes.snapshot.table.lines_name)
    if replace(built.manifest, digests={}) != replace(shipped.manifest, digests={}):
        found.append(manifest.FILE_NAME)
    return found


def check() -> int:
    """Build anew, and compare.

    Returns:
        0; 1 if other banks ship.
    """
    different = []
    with tempfile.TemporaryDirectory() as folder:
        for name in BANKS:
            files = differences(build(name, Path(folder)), Bank.open(SHIPPED / name))
            different += [f"{name}/{file}" for file in files]
    print(  # noqa: T201 - the script's one line of output
        f"differs in {', '.join(different)}" if different else "they are the banks that ship"
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
    for name in BANKS:
        print(build(name, given.folder).path)  # noqa: T201 - a line of output for each bank
    return 0


if __name__ == "__main__":
    sys.exit(main())
