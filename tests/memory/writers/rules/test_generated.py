"""What the rules cost and skip over all episodes that were rolled out on real simulators.

The trees are grown here by equal triggers, with no embedder and no threshold: what is asked
is how much text the rules write, and that they neither break nor repeat themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import orjson
import pytest

from deltamem_tui.bank.bank import Bank as StoredBank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.wording import key
from deltamem_tui.text import clean, count_tokens
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.support import extract
from tests.places import BANKS, GENERATED

FILES = {
    "scienceworld": GENERATED / "scienceworld_train_variations.jsonl",
    "alfworld": GENERATED / "alfworld_valid_train_experts.jsonl",
}
RULES = RulesExtractor()
MOST_DEPTH = 5
SHIPPED = BANKS / "scienceworld"


def episodes(domain: str) -> Iterator[Trajectory]:
    for line in FILES[domain].read_bytes().splitlines():
        record = orjson.loads(line)
        reward = record["final_score"] / 100 if "final_score" in record else record["reward"]
        yield Trajectory(
            task=record["task_description"],
            environment=record["initial_observation"].split("\n\nYour task is to")[0],
            steps=tuple(
                Step(step["action"], step["observation"], reward=step["reward"])
                for step in record["steps"]
            ),
            outcome=Outcome(record["success"], max(0.0, reward), "stated"),
            domain=domain,
        )


def label(episode: Trajectory) -> Label:
    return "success" if episode.outcome.success else "failure"


def grown(tree: str, episodes: list[Trajectory]) -> list[Node]:
    """A tree grown by trigger: an episode meets the latest node of its own general trigger."""
    nodes: dict[str, Node] = {}
    latest: dict[str, Node] = {}
    for episode in episodes:
        general = extract(RULES, tree, episode, ()).payload
        if general is None:
            continue
        group = key(general["activation_condition"])
        chain: list[Node] = []
        node = latest.get(group)
        while node is not None:
            chain.insert(0, node)
            node = nodes.get(node.parent or "")
        payload = extract(RULES, tree, episode, chain).payload
        if payload is None:
            continue
        parent = chain[-1] if chain else None
        if parent is not None and parent.depth == MOST_DEPTH:
            parent = chain[-2]
        new = born(tree, parent, label(episode), payload, Origin(trajectory=episode.id))
        nodes[new.id] = latest[group] = new
    return list(nodes.values())


Bank = tuple[str, list[Trajectory], dict[str, list[Node]]]


@pytest.fixture(scope="module", params=sorted(FILES))
def bank(request: pytest.FixtureRequest) -> Bank:
    if not GENERATED.is_dir():
        pytest.skip("the generated episodes are not here")
    learnt = list(episodes(request.param))
    return request.param, learnt, {tree: grown(tree, learnt) for tree in COLLECTIONS}


def mean(counts: list[int]) -> float:
    return sum(counts) / len(counts)


def test_the_bank_is_under_a_third_of_the_trajectories(bank: Bank) -> None:
    _, learnt, trees = bank
    written = sum(len(node.text) for nodes in trees.values() for node in nodes)
    assert written < sum(len(episode.text) for episode in learnt) / 3


def test_a_residual_is_short_beside_a_root(bank: Bank) -> None:
    domain, _, trees = bank
    if domain != "scienceworld":
        pytest.skip("the goal is set for ScienceWorld, whose tasks are long")
    assert _residual_share(trees.values()) <= 0.6


def test_a_residual_of_the_shipped_bank_is_short_beside_a_root() -> None:
    assert _residual_share(StoredBank.open(SHIPPED).trees.values()) <= 0.6


def _residual_share(trees: Iterable[Iterable[Node]]) -> float:
    """How long a residual is, on average, as a share of a root."""
    tokens: dict[str, list[int]] = {"root": [], "residual": []}
    for node in chain.from_iterable(trees):
        tokens[node.kind].append(count_tokens(node.text))
    return mean(tokens["residual"]) / mean(tokens["root"])


def test_every_node_is_whole_and_clean(bank: Bank) -> None:
    _, _, trees = bank
    for nodes in trees.values():
        assert nodes
        for node in nodes:
            assert node.payload["activation_condition"].strip()
            assert node.payload["execution_procedure"].strip()
            assert clean(node.text) == node.text
            assert count_tokens(node.text) < 900


def test_no_chain_is_told_the_same_twice(bank: Bank) -> None:
    """An episode met by a chain that holds its own root is skipped, in both trees."""
    _, learnt, _ = bank
    for tree in COLLECTIONS:
        for episode in learnt[::7]:
            payload = extract(RULES, tree, episode, ()).payload
            if payload is not None:
                root = born(tree, None, label(episode), payload, Origin())
                assert extract(RULES, tree, episode, (root,)).payload is None
