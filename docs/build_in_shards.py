"""Build one bank from a corpus in shards: a bank a log on any number of workers, then one merge.

    pip install 'deltamem-tui[distributed]'
    python docs/build_in_shards.py BANK LOG… [--embedder NAME] [--domain NAME] [--tau X]
                                             [--workers N | --scheduler ADDRESS]

Merging is associative, so the shards may be built anywhere and in any order. The workers and
this script share a file system. What differs from one import of everything: a shard recalls
only what it learnt itself, so several shards may each grow a root for the same kind of task.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from distributed import Client, LocalCluster, progress

from deltamem_tui import create_bank, learn, open_bank, read_logs
from deltamem_tui.bank.merge import Plan, merge_to
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.intake import take_in, waiting
from deltamem_tui.memory.parameters import assigned, preset


def build_shard(log: str, folder: str, embedder: str, domain: str, tau: float | None) -> str:
    """Learn one log into a bank of its own. Runs on a worker.

    Args:
        log: The shard's log.
        folder: Where the new bank goes.
        embedder: The name of the embedder, the same for all shards.
        domain: What the corpus is about.
        tau: The threshold of both trees; the domain's preset if None.

    Returns:
        The bank's folder.
    """
    numbers = preset(domain)
    for tree in ("task", "env") if tau is not None else ():
        numbers = assigned(numbers, f"{tree}.tau_base={tau}")
    bank = create_bank(folder, embedder=embedder, domain=domain, parameters=numbers)
    take_in(bank, read_logs([Path(log)]), listed=False)
    for trajectory in waiting(bank):
        if trajectory.outcome.known:
            learn(bank, trajectory)
    return folder


def build(
    client: Client,
    logs: Sequence[Path],
    path: Path,
    *,
    embedder: str = "hashing",
    domain: str = "generic",
    tau: float | None = None,
) -> None:
    """Build a bank from many logs, a shard each, and merge them into `path`.

    Args:
        client: The workers.
        logs: The shards.
        path: The new bank's folder, which appears whole or not at all.
        embedder: The name of the embedder.
        domain: What the corpus is about.
        tau: The threshold of both trees; the domain's preset if None.

    Raises:
        DeltaMemError: A shard cannot be built, or `path` is taken.
    """
    with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".shards-") as workshop:
        folders = [str(Path(workshop) / f"{number:05}") for number in range(len(logs))]
        texts = [str(log.resolve()) for log in logs]
        numbers = {"embedder": embedder, "domain": domain, "tau": tau}
        shards = client.map(build_shard, texts, folders, pure=False, **numbers)
        progress(shards)
        banks = [open_bank(Path(folder)) for folder in client.gather(shards)]
        merge_to(path, Plan(banks))


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bank", type=Path)
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--domain", default="generic")
    parser.add_argument("--tau", type=float)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster that runs already")
    given = parser.parse_args()
    cluster = given.scheduler or LocalCluster(
        n_workers=given.workers, threads_per_worker=1, dashboard_address=None
    )
    with Client(cluster) as client:
        try:
            build(
                client,
                given.logs,
                given.bank,
                embedder=given.embedder,
                domain=given.domain,
                tau=given.tau,
            )
        except DeltaMemError as error:
            parser.exit(1, f"{error}\n")
    print(f"\n{given.bank}: {len(given.logs)} shards")  # noqa: T201 - the script's last word


if __name__ == "__main__":
    main()
