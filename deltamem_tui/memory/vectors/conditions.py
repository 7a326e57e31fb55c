"""What a bank's vectors are of: the activation condition of every line, dead lines included."""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.bank import codec
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TreeName


def conditions(bank: Bank, name: TreeName) -> Iterator[str]:
    """Every line's activation condition in one tree, in order; empty for a bare tombstone.

    Raises:
        BankCorruptError: A line breaks the format.
        BankRewrittenError: Another commit has replaced the files meanwhile.
    """
    snapshot = bank.tree(name).snapshot
    source = snapshot.shelf.lines_name
    for row, _, line in snapshot.shelf.lines(snapshot.extent):
        node = codec.from_line(line, source, f"line {row + 1}")
        yield node.payload.activation_condition
    snapshot.require_current()
