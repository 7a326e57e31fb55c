"""Crediting: with every record of an episode goes what it was shown, and how that ended.

The credit of a node is made of these when it is asked for. So a verdict that changes moves the
credit that it gave in the commit that writes it, and taking it back moves it back.
"""

from __future__ import annotations

from collections.abc import Iterable

from deltamem_tui.bank import credit
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.credit import Source, Use
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_record


def use_of(episode: Trajectory) -> Use | None:
    """What an episode was shown and what is said of how it ended; None if it has no receipt."""
    if not episode.receipts:
        return None
    words: dict[Source, tuple[bool, float | None]] = {}
    for word in (episode.outcome, *episode.verdicts):
        if word.success is not None and word.source != "unknown":
            words[word.source] = word.success, word.reward
    shown = [
        (entry.collection, entry.node, entry.revision)
        for receipt in episode.receipts
        for entry in receipt.entries
    ]
    return Use(episode.id, shown, words)


def put_episode(batch: Batch, bank: Bank, episode: Trajectory) -> None:
    """Write an episode's record, new or known, and the credit that it gives.

    Within one batch, each episode once.
    """
    batch.put_episode(to_record(episode))
    put_uses(batch, bank, [episode])


def put_uses(batch: Batch, bank: Bank, episodes: Iterable[Trajectory]) -> None:
    """Write the credit that some episodes give, each once; their records are written elsewhere."""
    credit.put(batch, bank.snapshots, filter(None, map(use_of, episodes)))
