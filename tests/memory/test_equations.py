"""Equations 4–8 against a slow reference that knows nothing of the code: plain lists and floats."""

from __future__ import annotations

import itertools
import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.settings import replaced
from tests.effort import examples
from tests.memory.support import (
    ChosenEmbedder,
    EchoExtractor,
    episode,
    new_bank,
    parameters,
    teach,
    unit,
)

# Few directions, so that the same and nearly the same ones come again and ties are common.
COORDINATES = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
DIRECTIONS = st.tuples(COORDINATES, COORDINATES, COORDINATES).filter(any)
EPISODES = st.lists(
    st.tuples(DIRECTIONS, DIRECTIONS, st.booleans(), st.sampled_from(["act", "do", "skip"])),
    max_size=14,
)


@dataclass
class ReferenceNode:
    direction: tuple[float, ...]
    parent: int | None
    failure: bool
    said: str
    hits: int = 0
    recalls: int = 0
    successes: int = 0
    consolidated: bool = False


@dataclass
class ReferenceTree:
    """One tree by the letter of the equations."""

    tau: float
    penalty: float
    d_max: int
    k_cons: int | None
    nodes: list[ReferenceNode] = field(default_factory=list)

    def score(self, query: tuple[float, ...], node: ReferenceNode) -> float:
        a, b = unit(query).tolist(), unit(node.direction).tolist()
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        cosine = dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
        return float(round(round(cosine, 6) - (self.penalty if node.failure else 0.0), 6))

    def depth(self, number: int) -> int:
        parent = self.nodes[number].parent
        return 1 if parent is None else self.depth(parent) + 1

    def chain(self, number: int) -> list[int]:
        parent = self.nodes[number].parent
        return [*([] if parent is None else self.chain(parent)), number]

    def rank(self, query: tuple[float, ...], number: int) -> tuple[float, int, int]:
        """The better node has the lesser rank: by score, then by depth, then by birth."""
        return (-self.score(query, self.nodes[number]), self.depth(number), number)

    def match(self, query: tuple[float, ...]) -> int | None:
        best = None
        for number in range(len(self.nodes)):
            if best is None or self.rank(query, number) < self.rank(query, best):
                best = number
        return None if best is None or self.score(query, self.nodes[best]) < self.tau else best

    def add(self, new: ReferenceNode) -> None:
        """What a sibling says already is not said again."""

        def says(node: ReferenceNode) -> tuple[object, ...]:
            return (node.parent, node.failure, node.direction, node.said)

        if says(new) not in [says(node) for node in self.nodes]:
            self.nodes.append(new)

    def learn(self, query: tuple[float, ...], success: bool, action: str) -> None:
        match = self.match(query)
        if match is None:
            self.add(ReferenceNode(query, None, not success, action))
            return
        if action != "skip":
            below = self.depth(match) < self.d_max
            parent = match if below else self.nodes[match].parent
            self.add(ReferenceNode(query, parent, not success, action))
        for number in self.chain(match):
            self.nodes[number].recalls += 1
            self.nodes[number].successes += success
        node = self.nodes[match]
        node.hits += success
        due = self.k_cons is not None and node.hits >= self.k_cons
        if due and node.parent is not None and not node.consolidated:
            node.consolidated = True
            chain = self.chain(match)
            failed = all(self.nodes[number].failure for number in chain)
            said = f"fused {len(chain)}"
            self.add(ReferenceNode(node.direction, None, failed, said))


def shape(bank: Bank, name: str) -> list[tuple[object, ...]]:
    """A tree as the reference writes it down."""
    tree = bank.tree("task" if name == "task" else "env")
    numbers = {node.id: number for number, node in enumerate(tree)}
    return [
        (
            tuple(float(word) for word in node.payload["activation_condition"].split()),
            None if node.parent is None else numbers[node.parent],
            node.label == "failure",
            *(getattr(tree.counts(node.id), count) for count in ("hits", "recalls", "successes")),
            node.consolidated,
            node.depth,
        )
        for node in tree
    ]


def reference_shape(tree: ReferenceTree) -> list[tuple[object, ...]]:
    return [
        (
            *(node.direction, node.parent, node.failure, node.hits, node.recalls, node.successes),
            node.consolidated,
            tree.depth(number),
        )
        for number, node in enumerate(tree.nodes)
    ]


@examples(60)
@given(
    episodes=EPISODES,
    question=DIRECTIONS,
    tau=st.sampled_from([-1.0, 0.0, 0.5, 0.75, 0.8, 0.95, 1.0]),
    penalty=st.sampled_from([0.0, 0.05, 0.3]),
    d_max=st.integers(2, 4),
    k_cons=st.sampled_from([None, 1, 2, 3]),
)
def test_trees_grow_as_the_equations_say(
    episodes: list[tuple[tuple[float, ...], tuple[float, ...], bool, str]],
    question: tuple[float, ...],
    tau: float,
    penalty: float,
    d_max: int,
    k_cons: int | None,
) -> None:
    embedder = ChosenEmbedder()
    references = {name: ReferenceTree(tau, penalty, d_max, k_cons) for name in ("task", "env")}
    with tempfile.TemporaryDirectory() as folder:
        numbers = parameters(tau, penalty, d_max, k_cons)
        bank = new_bank(Path(folder) / "bank", replaced(numbers, "task.recall", "paper"))
        for number, (task, scene, success, action) in enumerate(episodes):
            # A number of its own keeps episodes apart that are otherwise the same.
            trajectory = episode(task, scene, success=success, action=action)
            steps = (*trajectory.steps, trajectory.steps[0].__class__(f"step {number}"))
            learn(
                bank,
                trajectory.__class__(
                    trajectory.task, trajectory.environment, steps, trajectory.outcome
                ),
                EchoExtractor(),
                embedder=embedder,
            )
            references["task"].learn(task, success, action)
            references["env"].learn(scene, success, action)
        for name, reference in references.items():
            assert shape(bank, name) == reference_shape(reference)
        asked = " ".join(map(str, question))
        found = recall(bank, asked, embedder=embedder, candidates=100)["task"]
        assert found is not None
        reference = references["task"]
        births = {node.id: number for number, node in enumerate(bank.tree("task"))}
        ranked = sorted(births.values(), key=lambda number: reference.rank(question, number))
        assert [births[candidate.node.id] for candidate in found.candidates] == ranked
        match = reference.match(question)
        ids = [node.id for node in bank.tree("task")]
        expected = [] if match is None else [ids[number] for number in reference.chain(match)]
        assert [node.id for node in found.chain] == expected
        assert verify(bank) == []


def test_the_same_episodes_give_the_same_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        bank = new_bank(folder, parameters(tau_base=0.7, k_cons=2))
        for x, y in itertools.product((0.2, 0.5, 1.0), repeat=2):
            teach(bank, episode((x, y, 1), (y, x, 1), success=x > 0.2))
    names = [
        f"{tree}.{kind}" for tree in ("task", "env") for kind in ("nodes.jsonl", "embeddings.npy")
    ]
    for name in [*names, "trajectories.jsonl", "task.counts.npy", "env.counts.npy"]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
        assert (folders[0] / name).stat().st_size > 0
