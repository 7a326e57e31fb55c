"""Receipts as a bank sees them: it hands them out, and looks up what they name.

An id is a digest of what its node was born as, so a receipt counts for every node that the bank
has, whichever bank handed it out. Nodes that it lacks stay in the receipt and get no credit.
"""

from __future__ import annotations

from pathlib import Path

import orjson
from msgspec import to_builtins

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.trajectory.receipt import Receipt, ShownNode


def unknown_nodes(bank: Bank, receipt: Receipt) -> list[ShownNode]:
    """The nodes of a receipt that a bank does not have: deleted ones, or another bank's."""
    return [each for each in receipt.entries if not _lives(bank, each)]


def _lives(bank: Bank, shown: ShownNode) -> bool:
    if shown.collection not in bank.trees:
        return False
    snapshot = bank.trees[shown.collection].snapshot
    birth = snapshot.first_row(shown.node)
    return birth is not None and not snapshot.index["deleted"][snapshot.current[birth]]


def keep(path: Path, receipt: Receipt, episode: str = "") -> None:
    """Add a receipt to a file of receipts, with the name of its episode if it has one.

    Raises:
        StorageError: The disk refused.
    """
    record = {"episode": episode} if episode else {}
    files.append_line(path, orjson.dumps(record | to_builtins(receipt)))
