"""What a contestant was shown in a game, looked up by the receipt that its episode carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.lab.runs.kept_run import KeptCourse
from deltamem_tui.memory.credit.credit import unknown_nodes
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import ShownNode
from deltamem_tui.tui.models.nodes import chain_sections
from deltamem_tui.tui.models.sections import Section


@dataclass(frozen=True, slots=True)
class RecalledNode:
    """A node that was shown.

    Attributes:
        place: The number of its section.
        node: What it says now; None if it cannot be looked up.
    """

    place: int
    collection: str
    node_id: str
    node: Node | None

    @property
    def payload(self) -> Mapping[str, str]:
        """Its texts, as far as they are known."""
        return self.node.payload if self.node else {}


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was shown for one episode.

    Attributes:
        sections: What is to be read of it.
        nodes: The nodes among them.
        bank: Where they can be looked at; None if there is no such bank.
    """

    sections: tuple[Section, ...]
    nodes: tuple[RecalledNode, ...] = ()
    bank: Path | None = None


def recalled(course: KeptCourse, episode: Trajectory | None) -> Recalled:
    """What a contestant was shown for an episode, as its bank has it now.

    A run keeps which nodes were shown and how long the text was, but not the text.
    """
    if episode is None:
        return Recalled(
            (Section("", "The agent did nothing, so no episode was kept.", quiet=True),)
        )
    tokens = one_line(episode.metadata.get("memory_tokens", ""), 20)
    if course.bank is None:
        return Recalled((_of_baseline(course.entrant.method, tokens),))
    shown = tuple(entry for receipt in episode.receipts for entry in receipt.entries)
    if not shown:
        return Recalled((Section("", "The bank had nothing to show for this task.", quiet=True),))
    head = f"{counted(len(shown), 'node')}, {tokens} tokens. The run keeps which nodes were shown, "
    try:
        bank = Bank.open(course.bank)
        missing = {each for receipt in episode.receipts for each in unknown_nodes(bank, receipt)}
        groups = [[*group] for _, group in groupby(shown, key=_chain)]
        found = [each for group in groups for each in _of_chain(bank, group, missing)]
    except (DeltaMemError, ValueError) as error:  # the path is a stranger's
        return _without_bank(head, course.bank, str(error), shown)
    sections = (Section("", f"{head}not the text: this is what they say now.", quiet=True),)
    nodes = tuple(
        RecalledNode(place, each.collection, each.node, node)
        for place, (each, node, _) in enumerate(found, start=1)
    )
    return Recalled((*sections, *(section for _, _, section in found)), nodes, course.bank)


def _chain(shown: ShownNode) -> tuple[str, int]:
    return shown.collection, shown.rank


def _of_baseline(method: str, tokens: str) -> Section:
    if method == "nothing":
        return Section("", "This contestant has no memory.", quiet=True)
    if tokens == "0":
        return Section("", "There was no earlier success to be shown.", quiet=True)
    told = f"An earlier success was shown as it was, {tokens} tokens. The run does not keep which."
    return Section("", told, quiet=True)


def _without_bank(head: str, bank: Path, reason: str, shown: tuple[ShownNode, ...]) -> Recalled:
    lines = "\n".join(f"{each.collection} {each.node}  {each.score:.3f}" for each in shown)
    return Recalled(
        (
            Section("", f"{head}and their bank cannot be read.", quiet=True),
            Section("The bank cannot be read", f"{bank}\n{reason}", warning=True),
            Section("What was shown of it", lines),
        )
    )


def _of_chain(
    bank: Bank, shown: list[ShownNode], missing: set[ShownNode]
) -> Iterator[tuple[ShownNode, Node | None, Section]]:
    """The nodes of one chain from its base down, those that are left in the words of a context."""
    collection = shown[0].collection
    living = [each for each in shown if each not in missing]
    nodes = [bank.tree(collection).node(each.node) for each in living]
    said = chain_sections(display_of(bank, collection), nodes) if nodes else []
    known = {each: (node, section) for each, node, section in zip(living, nodes, said, strict=True)}
    for each in shown:
        at = f"{collection} · {each.score:.3f} · {each.node}"
        if each not in known:
            yield each, None, Section(at, "It is not in the bank any more.", warning=True)
            continue
        node, section = known[each]
        title = f"{section.title.removeprefix('### ')} · {at}"
        if node.revision != each.revision:
            title += " · CHANGED SINCE"
        yield each, node, replace(section, title=title)
