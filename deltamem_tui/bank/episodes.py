"""The episodes that a bank was given, learnt or waiting, as JSON records it does not look into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank.node import are_ids
from deltamem_tui.bank.table import Table, TableSnapshot
from deltamem_tui.errors import BankCorruptError

NAME = "trajectories"

INDEX_TYPE = np.dtype([("id", "S16"), ("offset", "<u8"), ("first", "<i8")])


class EpisodeState(IntEnum):
    """True if an episode was learnt; the one counter of its row.

    One that was replaced no longer counts: its session went on, and a longer record of it is
    another episode. Its last line says which.
    """

    WAITING = 0
    LEARNT = 1
    REPLACED = 2


def table(folder: Path) -> Table:
    """Return the files of the episodes."""
    return Table(
        folder=folder,
        name=NAME,
        lines_name="trajectories.jsonl",
        counters_name="trajectories.states.npy",
        counters=1,
        index_type=INDEX_TYPE,
        build_index=build_index,
    )


def standing(snapshot: TableSnapshot) -> NDArray[np.int64]:
    """Return the rows of the first lines of all episodes, in order of import. int64 [episodes]."""
    births = snapshot.births
    rows: NDArray[np.int64] = births[snapshot.counters[births, 0] != EpisodeState.REPLACED]
    return rows


def replaced(snapshot: TableSnapshot) -> NDArray[np.bytes_]:
    """Return the ids of the episodes of which a longer record took the place. S16 [replaced]."""
    births = snapshot.births
    rows = births[snapshot.counters[births, 0] == EpisodeState.REPLACED]
    ids: NDArray[np.bytes_] = snapshot.index["id"][rows]
    return ids


def build_index(table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int) -> NDArray[Any]:
    """Make the index from the lines."""
    index = np.zeros(rows, dtype=INDEX_TYPE)
    births: dict[str, int] = {}
    for row, offset, line in table.exactly(lines, rows):
        record_id = _parse(table, row, line)["id"]
        index[row] = (record_id.encode(), offset, births.setdefault(record_id, row))
    return index


def _parse(table: Table, row: int, line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
        if are_ids([record["id"]]):
            return dict(record)
    except (ValueError, KeyError, TypeError):
        pass
    raise BankCorruptError(
        "not an episode",
        source=str(table.lines_path),
        position=f"line {row + 1}",
        hint="restore the line from a copy of the bank",
    )


class Episodes:
    """The episodes of a bank at one commit, in order of import."""

    def __init__(self, snapshot: TableSnapshot) -> None:
        self.snapshot = snapshot

    def __len__(self) -> int:
        return len(standing(self.snapshot))

    def ids(self) -> list[str]:
        """Return all ids, in order of import."""
        rows = standing(self.snapshot)
        return [bytes(value).decode() for value in self.snapshot.index["id"][rows]]

    def waiting(self) -> list[str]:
        """Return the ids of the episodes that were not learnt yet, in order of import."""
        births = self.snapshot.births
        waiting = births[self.snapshot.counters[births, 0] == EpisodeState.WAITING]
        return [bytes(value).decode() for value in self.snapshot.index["id"][waiting]]

    def learnt(self) -> int:
        """Return how many episodes were learnt."""
        return int(
            np.count_nonzero(self.snapshot.counters[self.snapshot.births, 0] == EpisodeState.LEARNT)
        )

    def state(self, episode_id: str) -> EpisodeState | None:
        """Return whether an episode was learnt; None if the bank does not have it."""
        birth = self.snapshot.first_row(episode_id)
        if birth is None:
            return None
        state = int(self.snapshot.counters[birth, 0])
        if state > max(EpisodeState):
            raise BankCorruptError(
                f"no state {state}",
                source=str(self.snapshot.table.counters_file.path),
                position=f"row {birth}",
                hint="restore the file from a copy of the bank",
            )
        return EpisodeState(state)

    def record(self, episode_id: str) -> Mapping[str, Any] | None:
        """Return an episode's record as last given; None if the bank does not have it.

        Of one that was replaced it says by which.
        """
        if (row := self._row(episode_id)) is None:
            return None
        return _parse(self.snapshot.table, row, self.snapshot.line(row))

    def line(self, episode_id: str) -> bytes | None:
        """Return an episode's record as last given, not parsed; None if the bank does not have
        it.
        """
        row = self._row(episode_id)
        return None if row is None else self.snapshot.line(row)

    def _row(self, episode_id: str) -> int | None:
        birth = self.snapshot.first_row(episode_id)
        return None if birth is None else int(self.snapshot.current[birth])
