"""The facts of tasks: their closed names, and where a bank has which.

A task's facts are few and come again and again, so a question is compared with each pair of name
and value once, however many records have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from deltamem_tui.bank.table import TableSnapshot
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.memp.collections import FACT_DEPTH
from deltamem_tui.typed import decoder_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_TABLES = 8
_PIECE = 10_000


def names_of(domain: str) -> tuple[str, ...]:
    """The names that the facts of a domain's tasks may have."""
    return domain_for(domain).fact_names


def facts_of(pairs: Sequence[Mapping[str, str]], names: Sequence[str] | None) -> dict[str, str]:
    """Name to value, of a writer's answer; of a name that comes twice the first, unknown ones none.

    `names` are those that are known, in their order; None for any.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, value = pair["name"].strip().casefold(), pair["value"].strip()
        if value:
            found.setdefault(name, value)
    return found if names is None else {name: found[name] for name in names if name in found}


@dataclass(frozen=True, slots=True)
class FactTable:
    """Which fact each row of a collection holds, deleted rows included.

    Attributes:
        index: The index of the rows that were read.
        codes: Per row the number of its pair, -1 for a record. int64 [rows].
        pairs: Name and value of each pair, to its number.
        rows: Per pair, the first row that has it, and so its vector. int64 [pairs].
        of_name: Per name, the numbers of its pairs, in order. int64 [pairs].
    """

    index: NDArray[np.void]
    codes: NDArray[np.int64]
    pairs: Mapping[tuple[str, str], int]
    rows: NDArray[np.int64]
    of_name: Mapping[str, NDArray[np.int64]]


class _Fact(Struct):
    key: str
    fact: str


_tables: dict[tuple[Path, int], FactTable] = {}


def fact_table(tree: Tree) -> FactTable:
    """The table of a collection; of a bank that only grew, just the new lines are read."""
    import numpy as np

    snapshot = tree.snapshot
    place = (snapshot.table.folder, snapshot.table.commit.generation)
    known = _tables.get(place)
    index = snapshot.index
    begin = 0 if known is None else len(known.index)
    if known is None or not np.array_equal(known.index, index[:begin]):
        known, begin = FactTable(index[:0], _numbers(()), {}, _numbers(()), {}), 0
    elif begin == len(index):
        return known
    codes = np.full(len(index) - begin, -1, dtype=np.int64)
    pairs, new = dict(known.pairs), dict[str, list[int]]()
    places = begin + np.flatnonzero(index["depth"][begin:] == FACT_DEPTH)
    rows: list[int] = []
    for row, fact in zip(places.tolist(), _read(snapshot, places), strict=True):
        code = pairs.setdefault((fact.fact, fact.key), len(pairs))
        codes[row - begin] = code
        if code == len(known.rows) + len(rows):
            rows.append(row)
            new.setdefault(fact.fact, []).append(code)
    of_name = dict(known.of_name)
    for name, numbers in new.items():
        of_name[name] = np.concatenate([of_name.get(name, _numbers(())), _numbers(numbers)])
    # A copy: the index on disk is mapped, and a bank may be deleted while this is kept.
    found = FactTable(
        np.array(index),
        np.concatenate([known.codes, codes]),
        pairs,
        np.concatenate([known.rows, _numbers(rows)]),
        of_name,
    )
    _tables.pop(place, None)  # the latest one comes last
    _tables[place] = found
    while len(_tables) > _MOST_TABLES:
        _tables.pop(next(iter(_tables)), None)
    return found


def _numbers(numbers: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(numbers, dtype=np.int64)


def _read(snapshot: TableSnapshot, rows: NDArray[np.int64]) -> Iterator[_Fact]:
    """The facts at some rows, many read at once."""
    decoder = decoder_of(list[_Fact])
    for at in range(0, len(rows), _PIECE):
        piece = rows[at : at + _PIECE]
        try:
            yield from decoder.decode(b"[%b]" % b",".join(snapshot.lines(piece)))
        except msgspec.MsgspecError as error:
            where = f"lines {int(piece[0]) + 1} to {int(piece[-1]) + 1}"
            raise snapshot.table.corrupt(f"not a fact: {error}", where) from error
