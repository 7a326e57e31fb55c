"""One contestant goes through a log: recall before each episode, then learn from it.

The bank is an ordinary one and so is the engine; an episode that is not admitted is kept with its
receipt, as an import would, so that it still counts as one that was shown what it was shown. The
credit is *as if*: the recorded outcome is taken to be what would have come of that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, TrajectoryError, VectorError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.recall_result import RecallResult
from deltamem_tui.memory.replay.contestants import Contestant
from deltamem_tui.memory.replay.recording import MemoryRecord, RecalledRecord, Recording
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.memory.writers.writer import Writer


@dataclass(frozen=True, slots=True)
class ReplayTools:
    """What all contestants of a replay share.

    Attributes:
        domain: That of their banks.
        writer: What puts experience into words, for any method.
    """

    domain: str
    embedder: Embedder
    writer: Writer | Extractor


def record(
    folder: Path,
    contestant: Contestant,
    episodes: Sequence[Trajectory],
    tools: ReplayTools,
    between: Callable[[], object] = lambda: None,
) -> Recording:
    """Replay episodes to a contestant, whose bank is made in `folder`.

    `between` is called before each episode; what it raises ends the work.

    Raises:
        LanguageModelError: The model cannot be asked at all.
        StorageError: The disk refused.
    """
    bank = create_bank(
        folder / "bank",
        embedder=tools.embedder,
        domain=tools.domain,
        method=contestant.method,
        parameters=contestant.settings(tools.domain),
    )
    watch = _Watch(bank, {each.id: place for place, each in enumerate(episodes)})
    recalled, context_tokens = [], []
    learnt_as: list[bool | None] = []
    refused = calls = 0
    for place, episode in enumerate(episodes):
        between()
        found = recall(bank, episode.task, scene_of(episode), embedder=tools.embedder)
        recalled.append(watch.recalled(found))
        context_tokens.append(count_tokens(found.context))
        given = () if found.receipt is None else (found.receipt,)
        shown = episode.with_facts(receipts=given)  # not what a live agent was shown
        admitted = contestant.admitted(shown)
        try:
            if admitted:
                result = learn(bank, admitted, tools.writer, embedder=tools.embedder)
                calls += len(result.calls)
        except (ExtractionError, VectorError, TrajectoryError):
            refused += 1
            admitted = None
        if not admitted:
            take_in(bank, [shown], redaction="off")
        learnt_as.append(admitted.outcome.success if admitted else None)
        watch.look(place)
    return Recording(
        tuple(watch.records),
        tuple(recalled),
        tuple(context_tokens),
        tuple(learnt_as),
        refused,
        calls,
    )


@dataclass(slots=True)
class _Watch:
    """Follows the lines of a bank's nodes, each of which begins or ends a record.

    Of nodes that are only keys, and of collections that no question is put to, there are none.
    """

    bank: Bank
    places: Mapping[str, int]
    records: list[MemoryRecord] = field(default_factory=list)
    _rows: dict[str, int] = field(default_factory=dict)
    _current: dict[str, int] = field(default_factory=dict)
    _sources: dict[str, set[int]] = field(default_factory=dict)

    def look(self, place: int) -> None:
        """Note what the episode at a place changed."""
        key_depths = method_of(self.bank).key_depths
        for name, tree in self.bank.trees.items():
            if not display_of(self.bank, name).asked:
                continue
            rows = len(tree.snapshot.index)
            for row in range(self._rows.get(name, 0), rows):
                node = tree.node_at(row)
                if node.depth < key_depths.get(name, node.depth + 1):
                    self._note(name, node, place)
            self._rows[name] = rows

    def _note(self, collection: str, node: Node, place: int) -> None:
        before = self._current.pop(node.id, None)
        if before is not None:
            self.records[before] = replace(self.records[before], end=place)
        if not node.deleted:
            self._sources[node.id] = self._sources_of(node)
            self._current[node.id] = len(self.records)
            self.records.append(
                MemoryRecord(
                    node.id,
                    collection,
                    node.label == "success",
                    tuple(sorted(self._sources[node.id])),
                    count_tokens(node.text),
                    place,
                )
            )

    def _sources_of(self, node: Node) -> set[int]:
        own = {self.places[each] for each in node.origin.episodes if each in self.places}
        return own.union(*(self._sources.get(each, ()) for each in node.origin.nodes))

    def recalled(self, found: RecallResult) -> tuple[RecalledRecord, ...]:
        """The records that a recall shows."""
        shown = [each for each in found.shown if each.node in self._current]
        first = shown[0].collection if shown else ""
        return tuple(
            RecalledRecord(
                self._current[each.node], each.rank == 1 and each.collection == first, each.score
            )
            for each in shown
        )
