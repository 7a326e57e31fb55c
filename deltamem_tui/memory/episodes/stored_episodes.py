"""The episodes that a bank keeps, learnt or waiting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.memory.episodes.credit import put_uses
from deltamem_tui.trajectory.model import GENERIC, Trajectory, domain_key

LEARNT_AS = "learnt_as"
"""In the metadata of an episode that waits again: `success` or `failure`."""


def episode(bank: Bank, episode_id: str) -> Trajectory | None:
    """Return one episode of a bank; None if the bank does not have it, or a longer record of it.

    A BankCorruptError says that what the bank has under this id is not that episode.
    """
    record = bank.episodes.record(episode_id)
    if record is None or bank.episodes.state(episode_id) == EpisodeState.REPLACED:
        return None
    from deltamem_tui.trajectory.readers.native import from_record  # all readers come with it

    try:
        found = from_record(record)
        if found.id == episode_id:
            return found
        problem = "is not the episode that its id names"
    except RecordError as error:
        problem = f"cannot be read: {error.message}"
    raise BankCorruptError(
        f"episode {episode_id} {problem}",
        source=str(bank.episodes.snapshot.table.lines_path),
        hint="restore the file from a copy of the bank",
    )


def put_episode(batch: Batch, bank: Bank, episode: Trajectory) -> None:
    """Write an episode's record, new or known, and the credit that it gives.

    Within one batch, each episode once.
    """
    batch.put_episode(episode.record())
    if episode.receipts:
        put_uses(batch, bank, [episode])


def episodes(bank: Bank) -> Iterator[Trajectory]:
    """Yield all episodes of a bank, learnt or waiting, in order of import."""
    return _read(bank, bank.episodes.ids())


def waiting(bank: Bank) -> Iterator[Trajectory]:
    """Return the episodes that wait to be learnt, with or without an outcome, in import order."""
    return _read(bank, bank.episodes.waiting())


def _read(bank: Bank, ids: Iterable[str]) -> Iterator[Trajectory]:
    return (found for each in ids if (found := episode(bank, each)))


def unmarked(episode: Trajectory) -> Trajectory:
    """Return the episode without the mark that it waits to be learnt again."""
    if LEARNT_AS not in episode.metadata:
        return episode
    facts = {name: fact for name, fact in episode.metadata.items() if name != LEARNT_AS}
    return episode.with_facts(metadata=facts)


def domain_of(bank: Bank) -> str:
    """Return the domain of episodes whose logs name none; empty for a generic bank."""
    domain = bank.manifest.domain
    return "" if domain_key(domain) == GENERIC else domain


def nodes_by_episode(bank: Bank) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Per episode's id, the living nodes learnt from it, as (tree, id). Reads all nodes."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in bank.trees:
        for node in bank.tree(name):
            if node.origin.trajectory:
                found.setdefault(node.origin.trajectory, []).append((name, node.id))
    return {episode_id: tuple(nodes) for episode_id, nodes in found.items()}
