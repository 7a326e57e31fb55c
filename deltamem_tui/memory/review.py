"""What is to be reviewed in a bank: its queue, its random sample, the judge's errors so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.credit.crediting import use_of
from deltamem_tui.memory.credit.judge_errors import JudgeErrors, errors_among
from deltamem_tui.memory.credit.review_queue import (
    EpisodeFacts,
    NodePlace,
    ReviewItem,
    Suspect,
    queue,
    sample,
)
from deltamem_tui.memory.credit.views import usefulness
from deltamem_tui.memory.episodes.overturning import label_of
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.episodes.verdicts import words_on
from deltamem_tui.memory.episodes.withdrawal import written_by
from deltamem_tui.memory.lift import kind_of
from deltamem_tui.memory.methods import settings_of
from deltamem_tui.memory.second_looks import SecondLooks, second_looks
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node


@dataclass(frozen=True, slots=True)
class Review:
    """What is to be reviewed in a bank at one commit.

    Attributes:
        items: The queue, the most urgent episode first.
        facts: What is known of each episode, by its id.
        drawn: The episodes of the random sample, reviewed or not.
        second: Which reviewed ones come back, and how often the answer was the same.
    """

    items: list[ReviewItem]
    facts: Mapping[str, EpisodeFacts]
    drawn: frozenset[str]
    second: SecondLooks

    def errors(self) -> JudgeErrors:
        """How often the judge was wrong by all verdicts of persons."""
        return _errors(self.facts.values())

    def sampled_errors(self) -> JudgeErrors:
        """The same over the random sample alone, which is without bias once all was reviewed."""
        return _errors(self.facts[each] for each in self.drawn)

    def record(self, *, blind: bool = False) -> dict[str, Any]:
        """As commands print it. If `blind`, without what log and judge say."""
        return {
            "queue": [_item_record(each, self.facts[each.episode], blind) for each in self.items],
            "judge": {
                "all": _errors_record(self.errors()),
                "sample": _errors_record(self.sampled_errors()),
            },
            "second_looks": self.second.record(),
            "sampled": len(self.drawn),
            "sampled_reviewed": sum(self.facts[each].reviewed for each in self.drawn),
        }


def _item_record(item: ReviewItem, facts: EpisodeFacts, blind: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"episode": item.episode, "kind": item.kind, "learnt": facts.learnt}
    if not blind:
        found |= {"reasons": item.reasons, "log": facts.stated, "judge": facts.judge}
        found["nodes"] = [{"tree": tree, "node": node} for tree, node in item.nodes]
    return found


def _errors(facts: Iterable[EpisodeFacts]) -> JudgeErrors:
    return errors_among((each.user, each.judge) for each in facts)


def _errors_record(errors: JudgeErrors) -> dict[str, Any]:
    return {
        "false_accepts": errors.false_accepts.record(),
        "false_rejects": errors.false_rejects.record(),
    }


def review_of(bank: Bank, seed: int = 0) -> Review:
    """Work out the queue. Reads every episode once.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    facts = [facts_of(bank, each) for each in episodes(bank)]
    suspects = [*_of_little_use(bank), *_around_errors(bank, facts)]
    return Review(
        queue(facts, suspects, seed),
        {each.id: each for each in facts},
        frozenset(sample(facts, seed)),
        second_looks(bank, seed),
    )


def facts_of(bank: Bank, episode: Trajectory) -> EpisodeFacts:
    """What the queue looks at of an episode of a bank."""
    words = {each.source: each.success for each in words_on(episode)}
    use = use_of(episode)
    return EpisodeFacts(
        episode.id,
        kind_of(bank, episode),
        words.get("stated"),
        words.get("judge"),
        words.get("user"),
        reviewed="user" in words,
        learnt=bank.episodes.state(episode.id) == EpisodeState.LEARNT,
        shown=frozenset((tree, node) for tree, node, _ in use.nodes) if use else frozenset(),
    )


def _of_little_use(bank: Bank) -> Iterator[Suspect]:
    """The nodes whose mean utility the bank's parameters call too little, the worst first.

    Utility is what log and person say, and the judge's where those say nothing. Nodes that a
    failure wrote are left out: they are shown where tasks are hard.
    """
    settings = settings_of(bank)
    found: list[tuple[float, str, Node]] = []
    for name in bank.trees:
        tree, useful = bank.tree(name), usefulness(bank, name)
        births = tree.birth[tree.rows]
        enough = useful.judged[births] >= settings.forget_judged
        little = useful.utility[births] <= settings.forget_utility
        found += [
            (float(useful.utility[tree.birth[row]]), name, tree.node_at(row))
            for row in tree.rows[enough & little & ~tree.failure[tree.rows]].tolist()
        ]
    for _, name, node in sorted(found, key=lambda each: each[0]):
        yield Suspect("low utility", (name, node.id), _sources(bank, name, node))


def _around_errors(bank: Bank, facts: Sequence[EpisodeFacts]) -> Iterator[Suspect]:
    """What lies upstream of what a person overturned, and then what lies downstream of it."""
    wrong: set[NodePlace] = set()
    for each in facts:
        if not each.is_contradicted:
            continue
        written = _once_wrong(bank, each)
        wrong |= written
        if not each.learnt and not written:
            continue  # it never taught anything
        for tree, node_id in sorted(each.shown & living(bank, each.shown)):
            node = bank.tree(tree).node(node_id)
            yield Suspect("upstream", (tree, node_id), _sources(bank, tree, node))
    for each in facts:
        for place in sorted(each.shown & wrong if each.learnt else ()):
            yield Suspect("downstream", place, [each.id])


def _once_wrong(bank: Bank, episode: EpisodeFacts) -> set[NodePlace]:
    """The nodes that an episode wrote as having ended otherwise than a person says.

    Also those that are deleted or relabelled by now: they were shown as they were.
    """
    label = label_of(success=bool(episode.user))
    return {
        (tree.name, node.id)
        for tree in bank.trees.values()
        for row in written_by(tree, episode.id)
        if (node := tree.node_at(int(tree.birth[row]))).label != label
    }


def living(bank: Bank, places: frozenset[NodePlace]) -> set[NodePlace]:
    """Those of some nodes that are in a bank and not deleted."""
    found = set()
    for tree, node in places:
        with suppress(NodeNotFoundError):
            if tree in bank.trees:
                bank.tree(tree).row(node)
                found.add((tree, node))
    return found


def _sources(bank: Bank, tree: str, node: Node) -> tuple[str, ...]:
    """The episodes that a node comes from; of one that was fused, those of its chain."""
    found = dict.fromkeys(node.origin.episodes)
    for each in node.origin.nodes:
        with suppress(NodeNotFoundError):
            found |= dict.fromkeys(bank.tree(tree).node(each).origin.episodes)
    return tuple(found)
