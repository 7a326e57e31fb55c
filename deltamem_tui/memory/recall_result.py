"""A question to a bank, what the bank recalls, and that as the text for an agent's prompt.

Memory is handed over as past experience behind a fence, labelled entry by entry, with a
header that explains how to read it. What a bank holds is data: it cannot close the fence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import HEADER
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.text import clean, count_tokens
from deltamem_tui.trajectory.receipt import Receipt, ShownNode
from deltamem_tui.trajectory.validation import FENCE

# Characters without width may stand in legible text, but do not hide a fence from us.
_UNSEEN = r"\u00ad\u200b-\u200d\u2060"
_GAP = rf"[\s{_UNSEEN}]*"
_LESS = "(?:<|&lt;)"  # Gemini CLI escapes the whole context, and then both read the same
_FENCE_IN_TEXT = re.compile(
    rf"{_LESS}(?={_GAP}(?:/{_GAP})?{f'[{_UNSEEN}]*'.join(FENCE)})", re.IGNORECASE
)

_TERM = re.compile(r"`([^`]+)`")
# A list of one entry is set like a longer one: bullet, number, or the mark of a record.
_LIST = re.compile(r"\s*(?:[-*•]\s|\d+[.)]\s|\[[A-Z]+\])")


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a bank.

    Attributes:
        environment: The scene, without the goal.
        count: The most candidates per collection, those that do not match included.
        settings: Numbers to try in place of the bank's.
        folders: Where the context's header is looked up; the usual places if None.
    """

    task: str
    environment: str = ""
    count: int = 1
    settings: Settings | None = None
    folders: tuple[Path, ...] | None = None


@dataclass(frozen=True, slots=True)
class CollectionRecall:
    """The answer of one collection.

    Attributes:
        threshold: The least score of a match; -1 if all match.
        candidates: The best nodes, best first.
        chains: What is recalled, best first: each the nodes root → match.
        rule: Which rule chose the best chain, in the method's words.
        new_kind: Whether the question's kind of goal is understood, and no node is of it.
    """

    collection: str
    query: str
    threshold: float
    candidates: tuple[Candidate, ...]
    chains: tuple[tuple[Node, ...], ...] = ()
    rule: str = "threshold"
    new_kind: bool = False

    @property
    def chain(self) -> tuple[Node, ...]:
        """The best chain; empty if nothing matched."""
        return self.chains[0] if self.chains else ()

    @property
    def match(self) -> Candidate | None:
        """The candidate at the end of the best chain; None if nothing matched."""
        return next((each for each in self.candidates if self.matches(each)), None)

    def matches(self, candidate: Candidate) -> bool:
        """Return whether a candidate is recalled."""
        return any(candidate.node.id == chain[-1].id for chain in self.chains)

    @property
    def shown(self) -> Iterator[ShownNode]:
        """Every node of every chain, once: at the rank and with the score of the best of them."""
        scores = {each.node.id: each.score for each in self.candidates}
        nodes: dict[str, ShownNode] = {}
        for rank, chain in enumerate(self.chains, 1):
            score = float(scores.get(chain[-1].id, 0.0))
            for each in chain:
                shown = ShownNode(self.collection, each.id, rank, score, each.revision)
                nodes.setdefault(each.id, shown)
        yield from nodes.values()


def answer_of(
    tree: Tree,
    query: str,
    recalled: Sequence[Candidate],
    others: Iterable[Candidate] = (),
    *,
    count: int = 1,
    threshold: float = -1.0,
    rule: str = "threshold",
    new_kind: bool = False,
) -> CollectionRecall:
    """Return a tree's answer: what is recalled, then the best of the others up to `count`."""
    known = {each.node.id for each in recalled}
    candidates = (*recalled, *(each for each in others if each.node.id not in known))
    return CollectionRecall(
        tree.name,
        query,
        threshold,
        candidates[: max(count, len(recalled))],
        tuple(tree.chain(each.node.id) for each in recalled),
        rule,
        new_kind,
    )


@dataclass(frozen=True)
class RecallResult:
    """The recall of a bank.

    Attributes:
        collections: Per collection its answer; None if it was not asked.
        context: The text for the agent's prompt; empty if nothing matched.
        receipt: What was shown, to be given back with the episode's log. `engine.recall` makes it.
    """

    collections: Mapping[str, CollectionRecall | None]
    context: str
    receipt: Receipt | None = None

    def __getitem__(self, collection: str) -> CollectionRecall | None:
        """Return a collection's answer by its name: `found["task"]`."""
        return self.collections[collection]

    @property
    def shown(self) -> tuple[ShownNode, ...]:
        """The nodes that the context was made of; none if it is empty."""
        answers = self.collections.values() if self.context else ()
        return tuple(node for each in answers if each is not None for node in each.shown)


def compose(domain: str, entries: Iterable[str], folders: Sequence[Path] | None = None) -> str:
    """Return the text for an agent's prompt; empty if there is nothing to show.

    Of the header's list only what the entries need is shown: an item that begins with words in
    backquotes explains these words. Errors are those of `header`.
    """
    shown = list(entries)
    if not shown:
        return ""
    how_to_read = _needed(header(domain, folders), "\n".join(shown))
    return "\n\n".join([f"<{FENCE}>", how_to_read, *shown, f"</{FENCE}>"])


def _needed(header: str, entries: str) -> str:
    lines = []
    for line in header.splitlines():
        terms = _TERM.findall(line.partition(":")[0]) if line.startswith("- `") else []
        words = (rf"(?<!\w){re.escape(term)}(?!\w)" for term in terms)  # none within a longer one
        if not terms or any(re.search(word, entries) for word in words):
            lines.append(line)
    return "\n".join(lines).strip()


def chain_entries(display: Display, chain: Sequence[Node]) -> list[str]:
    """Return one chain, an entry a node: the base, then each delta in order."""
    return [_entry(display, number, node) for number, node in enumerate(chain)]


def _entry(display: Display, number: int, node: Node) -> str:
    """Return a node under its title: `Base skill`, `Knowledge delta 2`, and a warning if due."""
    title = display.noun.capitalize()
    if display.layered:
        title = f"{title} delta {number}" if number else f"Base {display.noun}"
    warned = node.label == "failure" and display.warning
    lines = [f"### {title} ({display.warning})" if warned else f"### {title}"]
    for name, text in node.payload.items():
        if text:
            separator = "\n" if "\n" in text or _LIST.match(text) else " "
            lines.append(f"{display.label(name)}:{separator}{fenced(text)}")
    return "\n".join(lines)


def within(budget: int, entries: Sequence[str], aside: Sequence[str]) -> list[str]:
    """Return the entries, and of what stands aside the lines for which there are tokens left."""
    left, kept = budget - sum(map(count_tokens, entries)), list(entries)
    for entry in aside:
        lines = entry.splitlines()
        tokens = list(accumulate(map(count_tokens, lines)))
        fitting = bisect_right(tokens, left)
        if fitting > 1:  # a heading alone says nothing
            kept.append("\n".join(lines[:fitting]))
            left -= tokens[fitting - 1]
    return kept


def fenced(text: str) -> str:
    """Clean `text`, so that it can neither act on a terminal nor close the fence."""
    return _FENCE_IN_TEXT.sub("‹", clean(text)).strip()


def header(domain: str, folders: Sequence[Path] | None = None) -> str:
    """Return how to read the memory, in the domain's terms, else in general ones."""
    return fenced(prompts.find(domain, HEADER, folders).template)
