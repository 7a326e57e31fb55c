"""What a bank's vectors are of: the key text of every line, dead lines included."""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.bank import tree_index
from deltamem_tui.bank.bank import Bank


def conditions(bank: Bank, name: str) -> Iterator[str]:
    """Every line's key text in one tree, in order; empty for a bare tombstone.

    Raises:
        BankCorruptError: A line breaks the format.
        BankRewrittenError: Another commit has replaced the files meanwhile.
    """
    snapshot, key = bank.tree(name).snapshot, bank.collections[name].key
    for row, _, line in snapshot.shelf.lines(snapshot.extent):
        (record,) = tree_index.parse(snapshot.shelf, [line], [row])
        yield getattr(record, key)
    snapshot.require_current()
