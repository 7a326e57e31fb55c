"""What memory did for the episodes of a bank that have receipts and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import shown_to
from deltamem_tui.memory.credit.crediting import use_of
from deltamem_tui.memory.credit.intervals import LEVEL, Difference, Share, difference, pooled
from deltamem_tui.memory.credit.lift import (
    CHANCE,
    LOOKS,
    EpisodeColumns,
    Look,
    NodeLift,
    by_kind,
    by_node,
)
from deltamem_tui.memory.episodes.kinds import OTHER, stated_kind
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.kinds import task_kind

if TYPE_CHECKING:
    from deltamem_tui.trajectory.model import Trajectory


@dataclass(frozen=True, slots=True)
class ShownNodeLift:
    """A living node and what became of the episodes that were shown it."""

    tree: str
    id: str
    lift: NodeLift

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        lift = self.lift
        return {
            "tree": self.tree,
            "node": self.id,
            "shown": lift.shown,
            **lift.share.record(),
            "expected": lift.expected,
            "looks": lift.look,
        }


@dataclass(frozen=True, slots=True)
class BankLift:
    """What receipts and verdicts say of a bank.

    Attributes:
        kinds: Per kind of task, the judged episodes with memory and without.
        nodes: The nodes that judged episodes were shown, the clearly harmful first.
        episodes: All episodes of the bank.
        without_receipt: How many of them do not say what they were shown.
        without_verdict: How many of the others have no verdict that was asked for.
        coarse: Whether the judge's word was asked, in place of log's and person's.
    """

    kinds: Mapping[str, tuple[Share, Share]]
    nodes: list[ShownNodeLift]
    episodes: int
    without_receipt: int
    without_verdict: int
    coarse: bool = False

    @property
    def overall(self) -> Difference | None:
        """With memory less without, within kinds; None if no kind has both."""
        return pooled(list(self.kinds.values()))

    def looking(self, look: Look) -> int:
        """How many nodes look so."""
        return sum(each.lift.look == look for each in self.nodes)

    @property
    def by_chance(self) -> float:
        """How many nodes would look harmful if none had any effect, about."""
        return CHANCE * len(self.nodes)

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        overall = self.overall
        return {
            "evaluator": "coarse" if self.coarse else "strict",
            "level": LEVEL,
            "episodes": self.episodes,
            "without_receipt": self.without_receipt,
            "without_verdict": self.without_verdict,
            "difference": asdict(overall) if overall else None,
            "kinds": [_kind_record(name, *pair) for name, pair in self.kinds.items()],
            "nodes": [each.record() for each in self.nodes],
            "harmful_by_chance": self.by_chance,
        }


def _kind_record(name: str, with_memory: Share, without: Share) -> dict[str, Any]:
    found = difference(with_memory, without)
    return {
        "kind": name,
        "with_memory": with_memory.record(),
        "without_memory": without.record(),
        "difference": asdict(found) if found else None,
    }


def kind_of(bank: Bank, episode: Trajectory) -> str:
    """The kind of an episode's task, as its record or the rules of its domain have it."""
    stated = stated_kind(episode, "task")
    if stated is not None:
        return stated.name
    return task_kind(episode.domain or bank.manifest.domain, episode.task) or OTHER


def bank_lift(bank: Bank, *, coarse: bool = False) -> BankLift:
    """Work it out. Reads every episode once.

    An episode ended as a person says, else the log; or as the judge does if `coarse`.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    columns = _columns(bank, coarse=coarse)
    nodes = [each for name in bank.trees for each in _of_tree(bank, name, columns)]
    nodes.sort(key=lambda each: LOOKS.index(each.lift.look))  # within a look they stay in order
    return BankLift(
        by_kind(columns),
        nodes,
        len(columns.end),
        int((~columns.receipt).sum()),
        int((columns.receipt & (columns.end < 0)).sum()),
        coarse,
    )


def _columns(bank: Bank, *, coarse: bool) -> EpisodeColumns:
    import numpy as np

    numbers: dict[str, int] = {}
    rows: list[tuple[int, int, bool, bool]] = []
    for episode in episodes(bank):
        kind = numbers.setdefault(kind_of(bank, episode), len(numbers))
        use = use_of(episode)
        words = use.words if use else {}
        word = words.get("judge") if coarse else words.get("user", words.get("stated"))
        rows.append((kind, int(word[0]) if word else -1, bool(use and use.nodes), use is not None))
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    return EpisodeColumns(table[:, 0], table[:, 1], table[:, 2] > 0, table[:, 3] > 0, list(numbers))


def _of_tree(bank: Bank, name: str, columns: EpisodeColumns) -> list[ShownNodeLift]:
    tree, shown = bank.tree(name), shown_to(bank.snapshots, name)
    kept = shown.kept(shown.place > 0)  # of an episode that is not here nothing is known
    found = by_node(columns, kept.birth, kept.place - 1)
    alive = set(tree.birth[tree.rows].tolist())
    ids = tree.snapshot.index["id"]
    return [
        ShownNodeLift(name, bytes(ids[each.node]).decode(), each)
        for each in found
        if each.node in alive
    ]
