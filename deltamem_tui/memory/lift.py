"""Lift: how episodes ended with memory and without, and after which nodes they ended badly.

It compares episodes that happened, and none was drawn by lot: what is said of a node is where to
look first, not what it caused.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.ledger import Source
from deltamem_tui.memory.credit.credit import lives, use_of
from deltamem_tui.memory.credit.shares import LEVEL, Share, difference
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.kinds import OTHER, stated_kind, task_kind
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.trajectory.model import Trajectory

Look = Literal["harmful", "helpful", "unclear"]
LOOKS: tuple[Look, ...] = get_args(Look)

CHANCE = 0.025
"""The share of nodes without any effect that an interval puts on each side by chance."""


@dataclass(frozen=True, slots=True)
class NodeLift:
    """A living node, how the judged episodes that were shown it ended, and what was expected.

    Expected is how often episodes of the same kinds succeed, whatever they were shown.
    """

    tree: str
    id: str
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

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        names = {"tree": self.tree, "node": self.id, "shown": self.shown}
        return {**names, **self.share.record(), "expected": self.expected, "looks": self.look}


@dataclass(frozen=True, slots=True)
class BankLift:
    """The evidence of receipts and verdicts on a bank.

    Attributes:
        kinds: Per kind of task, the judged episodes with memory and without.
        nodes: The nodes that judged episodes were shown: the clearly harmful first, then the
            helpful.
        episodes: All episodes of the bank.
        without_receipt: How many of them do not say what they were shown; they are left out.
        without_verdict: How many of the others neither log nor person judged.
    """

    kinds: Mapping[str, tuple[Share, Share]]
    nodes: list[NodeLift]
    episodes: int
    without_receipt: int
    without_verdict: int

    @property
    def by_chance(self) -> float:
        """How many nodes would look harmful if none had any effect, about."""
        return CHANCE * len(self.nodes)

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        overall = difference(list(self.kinds.values()))
        return {
            "level": LEVEL,
            "episodes": self.episodes,
            "without_receipt": self.without_receipt,
            "without_verdict": self.without_verdict,
            "difference": asdict(overall) if overall else None,
            "kinds": [
                {
                    "kind": name,
                    "with_memory": some.record(),
                    "without_memory": none.record(),
                    "difference": asdict(found) if (found := difference([(some, none)])) else None,
                }
                for name, (some, none) in self.kinds.items()
            ],
            "nodes": [each.record() for each in self.nodes],
            "harmful_by_chance": self.by_chance,
        }


def kind_of(bank: Bank, episode: Trajectory) -> str:
    """Return the kind of an episode's task, as its record or the rules of its domain have it."""
    domain = episode.domain or bank.manifest.domain
    return stated_kind(episode, "task") or task_kind(domain, episode.task) or OTHER


def bank_lift(bank: Bank) -> BankLift:
    """Work it out. Reads every episode once.

    An episode ended as a person says, else the log.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    sources: tuple[Source, ...] = ("user", "stated")
    judged: list[tuple[str, bool, set[tuple[str, str]]]] = []
    shown: Counter[tuple[str, str]] = Counter()
    total = without_receipt = 0
    for episode in episodes(bank):
        total += 1
        use = use_of(episode)
        if use is None:
            without_receipt += 1
            continue
        nodes = {(tree, node) for tree, node, _ in use.nodes}
        shown.update(nodes)
        said = [use.words[each][0] for each in sources if each in use.words]
        if said:
            judged.append((kind_of(bank, episode), said[0], nodes))
    tallies: defaultdict[str, tuple[Counter[bool], Counter[bool]]] = defaultdict(
        lambda: (Counter(), Counter())
    )
    for kind, success, nodes in judged:
        tallies[kind][not nodes][success] += 1
    kinds = {kind: (_share(some), _share(none)) for kind, (some, none) in tallies.items()}
    usual = {kind: _share(some + none).mean or 0.0 for kind, (some, none) in tallies.items()}
    ended: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    likely: defaultdict[tuple[str, str], float] = defaultdict(float)
    for kind, success, nodes in judged:
        for place in nodes:
            ended[place][success] += 1
            likely[place] += usual[kind]
    found = [
        NodeLift(*place, shown[place], _share(counts), likely[place] / counts.total())
        for place, counts in ended.items()
        if lives(bank, *place)
    ]
    found.sort(key=lambda each: (LOOKS.index(each.look), -abs(_excess(each))))
    missing = total - without_receipt - len(judged)
    return BankLift(kinds, found, total, without_receipt, missing)


def _share(ended: Counter[bool]) -> Share:
    return Share(ended.total(), ended[True])


def _excess(each: NodeLift) -> float:
    """Return how many more successes there are than expected."""
    return each.share.successes - each.expected * each.share.judged


# For a person


def share_text(share: Share) -> str:
    """`3 of 5: 0.60 (0.23 to 0.88)`; empty of nothing."""
    if share.mean is None:
        return ""
    low, high = share.interval
    counts = f"{share.successes:,} of {share.judged:,}"
    return f"{counts}: {share.mean:.2f} ({low:.2f} to {high:.2f})"


def difference_text(pairs: Sequence[tuple[Share, Share]]) -> str:
    """Return what memory adds, within kinds of task; empty if no kind has both."""
    found = difference(pairs)
    return f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})" if found else ""


def notes_of(found: BankLift) -> list[object]:
    """Return what a person has to know to read the numbers."""
    if found.without_receipt == found.episodes:
        return ["no episode says what it was shown; see `recall --receipt` and `import --receipts`"]
    pairs = list(found.kinds.values())
    overall, said = difference(pairs), "too few to tell them apart"
    if overall and overall.is_clear:
        said = f"those with memory succeeded {'more' if overall.value > 0 else 'less'} often"
    notes: list[object] = [
        f"within kinds, success with memory less that without: {difference_text(pairs)}; {said}"
        if overall
        else "no kind of task has judged episodes both with memory and without"
    ]
    if found.nodes:
        looks = Counter(each.look for each in found.nodes)
        notes.append(
            f"{counted(looks['harmful'], 'node looks', 'nodes look')} harmful and "
            f"{looks['helpful']:,} helpful, of {len(found.nodes):,}; by chance alone up to about "
            f"{found.by_chance:.1f} would on each side"
        )
    if found.without_receipt or found.without_verdict:
        notes.append(
            f"of {counted(found.episodes, 'episode')} left out: {found.without_receipt:,} without "
            f"a receipt, {found.without_verdict:,} without a verdict"
        )
    notes.append(
        "episodes were not assigned at random: one that was shown nothing is often the first of "
        "its kind, and a node is shown where tasks are like its own"
    )
    return notes
