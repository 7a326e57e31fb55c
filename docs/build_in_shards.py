"""Build one bank from a corpus in shards: a bank a log on any number of workers, then one merge.

    pip install 'deltamem-tui[distributed]'
    python docs/build_in_shards.py BANK LOG… [--embedder NAME] [--domain NAME] [--tau X]
                                             [--workers N | --scheduler ADDRESS]

Merging is associative, so the shards may be built anywhere and in any order. The workers and
this script share a file system. What differs from one import of everything stands in
`docs/travelling.md`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, LocalCluster

from deltamem_tui import create_bank, learn, open_bank, read_logs
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.merge import MergePlan, merge_to
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.settings import assigned
from deltamem_tui.memory.transfer.merging import merge


@dataclass(frozen=True)
class Shard:
    """What became of a shard.

    Attributes:
        folder: Its bank.
        learnt: How many episodes it learnt.
        waiting: How many wait, because how they ended is not known.
        rejected: The records of its log that are not episodes, a line each.
        error: Why there is no bank, if there is none.
    """

    folder: str
    learnt: int = 0
    waiting: int = 0
    rejected: tuple[str, ...] = ()
    error: str = ""


def build_shard(log: str, folder: str, embedder: str, domain: str, tau: float | None) -> Shard:
    """Learn one log into a bank of its own. Runs on a worker.

    Args:
        log: The shard's log.
        folder: Where the new bank goes.
        embedder: The name of the embedder, the same for all shards.
        domain: What the corpus is about.
        tau: The threshold of both trees; the domain's preset if None.
    """
    try:
        numbers = Parameters.preset(domain, embedder)
        for tree in ("task", "env") if tau is not None else ():
            numbers = assigned(numbers, f"{tree}.tau_base={tau}")
        bank = create_bank(
            folder,
            embedder=embedder,
            domain=domain,
            parameters=numbers,
            provenance={"log": Path(log).name},
        )
        intake = take_in(bank, read_logs([Path(log)]), listed=False)
        known = [each for each in waiting(bank) if each.outcome.known]
        for trajectory in known:
            learn(bank, trajectory)
        left = len(bank.episodes.waiting())
        return Shard(folder, len(known), left, tuple(str(each) for each in intake.rejected))
    except DeltaMemError as error:
        return Shard(folder, error=str(error))


def build(
    client: Client,
    logs: Sequence[Path],
    path: Path,
    *,
    embedder: str = "hashing",
    domain: str = "generic",
    tau: float | None = None,
) -> list[Shard]:
    """Build a bank from many logs, a shard each, and merge them into `path`.

    Args:
        client: The workers.
        logs: The shards.
        path: The new bank's folder, which appears whole, or not at all if a shard has an error.
        embedder: The name of the embedder.
        domain: What the corpus is about.
        tau: The threshold of both trees; the domain's preset if None.

    Returns:
        What became of each shard.

    Raises:
        DeltaMemError: `path` is taken, or the shards cannot be merged.
    """
    files.require_free(path)
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".shards-") as workshop:
        folders = [str(Path(workshop) / f"{number:05}") for number in range(len(logs))]
        texts = [str(log.resolve()) for log in logs]
        numbers = {"embedder": embedder, "domain": domain, "tau": tau}
        shards = client.gather(client.map(build_shard, texts, folders, pure=False, **numbers))
        if not any(shard.error for shard in shards):
            banks = [open_bank(Path(shard.folder)) for shard in shards]
            if len(banks) == 1:  # nothing to merge, but it is made a bank of its own all the same
                merge_to(path, MergePlan(banks))
            else:
                merge(banks, path)
    return list(shards)


def main() -> int:
    """Read the command line and build.

    Returns:
        0; 1 if there is no bank; 3 if records were left out.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bank", type=Path)
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--domain", default="generic")
    parser.add_argument("--tau", type=float)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster that runs already")
    given = parser.parse_args()
    try:
        files.require_free(given.bank)  # before workers are started for nothing
        passed = ("embedder", "domain", "tau")
        numbers = {name: getattr(given, name) for name in passed}
        with _workers(given.workers, given.scheduler) as client:
            shards = build(client, given.logs, given.bank, **numbers)
    except DeltaMemError as error:
        parser.exit(1, f"{error}\n")
    return _told(given.bank, shards)


@contextmanager
def _workers(number: int, scheduler: str | None) -> Iterator[Client]:
    """Provide those of a cluster that runs already, or as many here, for as long as the block
    lasts.
    """
    with ExitStack() as stack:
        here = {"n_workers": number, "threads_per_worker": 1, "dashboard_address": None}
        cluster = scheduler or stack.enter_context(
            LocalCluster(**here, silence_logs=logging.CRITICAL)
        )
        yield stack.enter_context(Client(cluster))


def _told(bank: Path, shards: Sequence[Shard]) -> int:
    """Say what became of the shards; the exit code."""
    errors = [shard.error for shard in shards if shard.error]
    rejected = [record for shard in shards for record in shard.rejected]
    for line in (*rejected, *errors):
        print(line, file=sys.stderr)  # noqa: T201
    if errors:
        print(f"{len(errors)} of {len(shards)} shards failed; no bank was made", file=sys.stderr)  # noqa: T201
        return 1
    learnt, left = sum(each.learnt for each in shards), sum(each.waiting for each in shards)
    print(f"{bank}: {learnt} episodes learnt in {len(shards)} shards, {left} wait for an outcome")  # noqa: T201
    return 3 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
