"""Lift: how episodes ended with memory and without, and after which nodes they ended badly.

It compares episodes that happened, and none was drawn by lot: what is said of a node is where to
look first, not what it caused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import shown_to
from deltamem_tui.memory.credit.credit import use_of
from deltamem_tui.memory.credit.shares import LEVEL, Difference, Share, difference
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.kinds import OTHER, stated_kind, task_kind
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.trajectory.model import Trajectory

Numbers64 = NDArray[np.int64]
Flags = NDArray[np.bool_]

Look = Literal["harmful", "helpful", "unclear"]
LOOKS: tuple[Look, ...] = get_args(Look)

CHANCE = 0.025
"""The share of nodes without any effect that an interval puts on the harmful side by chance."""


@dataclass(frozen=True, slots=True)
class EpisodeColumns:
    """The episodes of a bank.

    Attributes:
        kind: The number of the kind of its task. int64 [episodes].
        end: 1 for a success, 0 for a failure, -1 if that is not known. int64 [episodes].
        memory: Whether it was shown any node. bool [episodes].
        receipt: Whether it has a receipt, be it an empty one. bool [episodes].
        kinds: The names of the kinds.
    """

    kind: Numbers64
    end: Numbers64
    memory: Flags
    receipt: Flags
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class NodeLift:
    """What became of the episodes that were shown one node.

    Attributes:
        node: Its number.
        shown: The episodes that were shown it.
        share: How the judged ones of them ended.
        expected: How often episodes of the same kinds succeed, whatever they were shown.
    """

    node: int
    shown: int
    share: Share
    expected: float

    @property
    def look(self) -> Look:
        """`unclear` unless the interval leaves out what was expected."""
        low, high = self.share.interval
        if high < self.expected:
            return "harmful"
        return "helpful" if low > self.expected else "unclear"


def by_kind(episodes: EpisodeColumns) -> Mapping[str, tuple[Share, Share]]:
    """Per kind of task, the judged episodes with memory and those that were shown nothing.

    Episodes without a receipt are left out: what they were shown is not known.
    """
    count = len(episodes.kinds)
    known = episodes.receipt & (episodes.end >= 0)
    sides = [_shares(episodes, known & side, count) for side in (episodes.memory, ~episodes.memory)]
    return {
        name: (with_memory, without)
        for name, with_memory, without in zip(episodes.kinds, *sides, strict=True)
        if with_memory.judged or without.judged
    }


def by_node(episodes: EpisodeColumns, node: Numbers64, episode: Numbers64) -> list[NodeLift]:
    """Per node that judged episodes were shown: the clearly harmful first, then the helpful.

    A pair of `node` and `episode`, int64 [uses], is a node and an episode that was shown it, each
    pair once.
    """
    receipts = episodes.receipt & (episodes.end >= 0)
    expected = np.array(
        [each.mean or 0.0 for each in _shares(episodes, receipts, len(episodes.kinds))]
    )
    count = int(node.max()) + 1 if len(node) else 0
    shown = np.bincount(node, minlength=count)
    judged = episodes.end[episode] >= 0
    at, ended = node[judged], episode[judged]
    judgements = np.bincount(at, minlength=count)
    successes = np.bincount(at, episodes.end[ended], minlength=count)
    likely = np.bincount(at, expected[episodes.kind[ended]], minlength=count)
    found = [
        NodeLift(
            number,
            int(shown[number]),
            Share(int(judgements[number]), int(successes[number])),
            float(likely[number] / judgements[number]),
        )
        for number in np.flatnonzero(judgements).tolist()
    ]
    return sorted(found, key=_worst_first)


def _shares(episodes: EpisodeColumns, mask: Flags, count: int) -> list[Share]:
    """Per kind, how the episodes of a mask ended."""
    judged = np.bincount(episodes.kind[mask], minlength=count)
    successes = np.bincount(episodes.kind[mask], episodes.end[mask], minlength=count)
    return [Share(int(n), int(k)) for n, k in zip(judged, successes, strict=True)]


def _worst_first(each: NodeLift) -> tuple[int, float, int]:
    """By look, then by how many successes are missing, or are more than expected if it helped."""
    more = each.share.successes - each.expected * each.share.judged
    return LOOKS.index(each.look), -more if each.look == "helpful" else more, each.node


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
        return difference(list(self.kinds.values()))

    def looking(self, look: Look) -> int:
        """Return how many nodes look so."""
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
    found = difference([(with_memory, without)])
    return {
        "kind": name,
        "with_memory": with_memory.record(),
        "without_memory": without.record(),
        "difference": asdict(found) if found else None,
    }


def kind_of(bank: Bank, episode: Trajectory) -> str:
    """Return the kind of an episode's task, as its record or the rules of its domain have it."""
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


# For a person


def share_text(share: Share) -> str:
    """`3 of 5: 0.60 (0.23 to 0.88)`; empty of nothing."""
    if share.mean is None:
        return ""
    low, high = share.interval
    counts = f"{share.successes:,} of {share.judged:,}"
    return f"{counts}: {share.mean:.2f} ({low:.2f} to {high:.2f})"


def difference_text(pair: tuple[Share, Share]) -> str:
    """Return what memory adds in one kind of task; empty if one side has no episode."""
    found = difference([pair])
    return _signed(found) if found else ""


def _signed(found: Difference) -> str:
    return f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


def overall_text(found: BankLift) -> str:
    """Return what memory adds over all kinds that have both, and whether that is clear."""
    overall = found.overall
    if overall is None:
        return "no kind of task has judged episodes both with memory and without"
    more = "more" if overall.value > 0 else "less"
    clear = f"those with memory succeeded {more} often"
    said = clear if overall.is_clear else "too few to tell them apart"
    return f"within kinds, success with memory less that without: {_signed(overall)}; {said}"


def notes_of(found: BankLift) -> list[object]:
    """Return what a person has to know to read the numbers."""
    notes: list[object] = []
    if found.without_receipt == found.episodes:
        return ["no episode says what it was shown; see `recall --receipt` and `import --receipts`"]
    notes.append(overall_text(found))
    if found.nodes:
        harmful, helpful = found.looking("harmful"), found.looking("helpful")
        notes.append(
            f"{counted(harmful, 'node looks', 'nodes look')} harmful and {helpful:,} helpful, of "
            f"{len(found.nodes):,}; by chance alone up to about {found.by_chance:.1f} would on "
            "each side"
        )
    left_out = {
        "without a receipt": found.without_receipt,
        "without a verdict": found.without_verdict,
    }
    if any(left_out.values()):
        named = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
        notes.append(f"of {counted(found.episodes, 'episode')} left out: {named}")
    notes.append(
        "none were drawn by lot: an episode that was shown nothing is often the first of its kind, "
        "and a node is shown where tasks are like its own"
    )
    return notes
