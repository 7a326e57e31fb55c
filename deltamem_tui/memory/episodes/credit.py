"""Credit: what became of the episodes that were shown a node.

With every record of an episode goes what it was shown, and how that ended; the credit of a node is
made of these when it is asked for. So a verdict that changes moves the credit that it gave in the
commit that writes it. A receipt counts for every node that the bank has, whichever bank handed it
out, since an id is a digest of what its node was born as; other nodes stay in it without credit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from msgspec import to_builtins

from deltamem_tui.bank import ledger
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.ledger import UNIT, Source, Use, shown_to
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import Receipt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.bank.node import Utility


def use_of(episode: Trajectory) -> Use | None:
    """Return what an episode recalled and how it ended; None if it has no receipt."""
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


def put_uses(batch: Batch, bank: Bank, episodes: Iterable[Trajectory]) -> None:
    """Write the credit that some episodes give, each once; their records are written elsewhere."""
    ledger.put(batch, bank.snapshots, filter(None, map(use_of, episodes)))


def append_receipt(path: Path, receipt: Receipt, episode: str = "") -> None:
    """Add a receipt to a file of receipts, with the name of its episode if it has one."""
    record = {"episode": episode} if episode else {}
    files.append_line(path, orjson.dumps(record | to_builtins(receipt)))


@dataclass(frozen=True, slots=True)
class Judged:
    """How many episodes one class of evaluators judged, and their worth in ten-thousandths.

    `mean` is what one was worth; None if there is none.
    """

    judged: int
    utility: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class NodeCredit:
    """The episodes that were shown a node; those that log or person, and that a judge judged."""

    shown: int
    strict: Judged
    coarse: Judged

    @property
    def facts(self) -> Mapping[str, str]:
        """For a person, without what was never counted."""
        facts = {"shown": f"{self.shown:,}"} if self.shown else {}
        for by, each in (("log or you", self.strict), ("a judge", self.coarse)):
            if each.mean is not None:
                facts[f"utility by {by}"] = f"{each.mean:.2f} of {each.judged:,} judged"
        return facts


def node_credit(bank: Bank, tree: str, node_id: str, utility: Utility | None = None) -> NodeCredit:
    """Return the credit of a living node, by the bank's own utility if none is given."""
    nodes = bank.tree(tree)
    found = shown_to(bank.snapshots, tree).credit(utility or utility_of(bank))
    birth = int(nodes.birth[nodes.row(node_id)])
    sums = [
        (int(each.judged[birth]), int(each.utility[birth])) for each in (found.strict, found.coarse)
    ]
    means = (Judged(n, worth, worth / n / UNIT if n else None) for n, worth in sums)
    return NodeCredit(int(found.shown[birth]), *means)


def utilities(bank: Bank, tree: str) -> NDArray[np.float64] | None:
    """Return what a judged episode was worth to each node, by what log or person, else a judge say.

    By the row of a node's first line, NaN of one without, float64 [rows]; None if no node has one.
    """
    import numpy as np

    credit = shown_to(bank.snapshots, tree).credit(utility_of(bank))
    strict = credit.strict.judged > 0
    judged = np.where(strict, credit.strict.judged, credit.coarse.judged)
    if not judged.any():
        return None
    worth = np.where(strict, credit.strict.utility, credit.coarse.utility)
    found = np.full(len(judged), np.nan)
    np.divide(worth, judged * UNIT, out=found, where=judged > 0)
    return found


def utility_of(bank: Bank) -> Utility:
    """Return what an episode is worth in a bank, also of one whose method is not installed."""
    return "reward" if bank.manifest.settings.get("utility") == "reward" else "success"
