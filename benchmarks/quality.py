"""Recall quality: does the memory that is found come from the same kind of task?

Two simulators name the kind of every task. Their episodes are split into three folds by
what varies within a kind (ScienceWorld's variation, ALFWorld's game); a bank learns from
two folds by the rules and is asked the tasks of the third. An answer is right if the
episode behind the match is of the asked task's kind. The yardstick is the plain nearest
neighbour: the training task whose own text is most similar, by the same embedder. How many
of the chains hold episodes of one kind only tells whether the threshold keeps kinds apart.

The rules that write triggers were chosen while these questions were looked at. So a bank of
all ALFWorld episodes is also asked the goals of other games, those that no episode has.

`hashing_unweighted` is the hashing embedder without the weighting of its dimensions, to see
what that is worth; no bank is made with it.
"""

from __future__ import annotations

import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.remembering import RememberingEmbedder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.embedding.scan import Rows, Scan
from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.settings import replaced
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs

FOLDS = 3
WANTED = 0.95
EMBEDDERS = ("hashing", "minilm")
UNWEIGHTED = "hashing_unweighted"

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LOGS = {
    "scienceworld": _DATA / "generated" / "scienceworld_train_variations.jsonl",
    "alfworld": _DATA / "generated" / "alfworld_valid_train_experts.jsonl",
}
_GAMES = _DATA / "games" / "alfworld_games.tar.xz"
_UNSEEN_SPLITS = ("valid_seen", "valid_unseen")  # seen and unseen rooms; both unseen games
_GAME_GOAL = re.compile(r"Your task is to: ([^\"\\]+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for one held-out task.

    Attributes:
        asked: The kind of the task.
        found: The kind of the best node's episode.
        nearest: The kind of the nearest training episode.
        matched: Whether the best node reached the threshold.
    """

    asked: str
    found: str
    nearest: str
    matched: bool


@dataclass(frozen=True, slots=True)
class Fold:
    """One bank and what it answered.

    Attributes:
        answers: One per held-out task.
        threshold: τ_base.
        episodes: How many it learnt from.
        nodes: How many the task tree holds.
        roots: How many of those are roots.
        max_depth: The tree's deepest level in use.
        one_kind: How many chains of two nodes and more hold episodes of one kind only.
        chains: How many such chains there are.
    """

    answers: tuple[Answer, ...]
    threshold: float
    episodes: int
    nodes: int
    roots: int
    max_depth: int
    one_kind: int
    chains: int


def run() -> str:
    """Measure every simulator with every offline embedder."""
    missing = [path.name for path in LOGS.values() if not path.exists()]
    if missing:
        return goals.skipped("quality", f"no {', '.join(missing)} in ../shared/data/generated")
    measured: dict[str, dict[str, Any]] = {}
    for name in (*EMBEDDERS, UNWEIGHTED):
        try:
            embedder = RememberingEmbedder(_loaded(name))
        except EmbedderUnavailableError as error:
            measured[name] = {"skipped": str(error)}
            continue
        measured[name] = {
            simulator: _summary(_folds(simulator, episodes_of(path), embedder))
            for simulator, path in LOGS.items()
        }
        if _GAMES.exists():
            measured[name]["alfworld_unseen_games"] = _unseen(embedder)
    best = max(EMBEDDERS, key=lambda name: _worst(measured[name]))
    stated = [Goal("same_kind_on_both_by_one_embedder", _worst(measured[best]), "at least", WANTED)]
    if unseen := measured[best].get("alfworld_unseen_games"):
        stated.append(Goal("same_kind_on_unseen_games", unseen["same_kind"], "at least", WANTED))
    return goals.line("quality", stated, {"best": best, **measured})


def _loaded(name: str) -> Embedder:
    if name != UNWEIGHTED:
        return load(name)
    from deltamem_tui.embedding.hashing import hashing_embedder

    embedder = hashing_embedder()
    return replace(embedder, card=replace(embedder.card, weighting="none"))


def episodes_of(path: Path) -> list[Trajectory]:
    """Return all episodes of a log of rollouts."""
    return [each for each in read_logs([path], format="rollout") if isinstance(each, Trajectory)]


def fold_numbers(episodes: Sequence[Trajectory]) -> dict[tuple[str, str], int]:
    """Return the fold of every (kind, variation): dealt out in turn within a kind."""
    folds: dict[tuple[str, str], int] = {}
    dealt: Counter[str] = Counter()
    for kind, variation in sorted({variation_of(episode) for episode in episodes}):
        folds[kind, variation] = dealt[kind] % FOLDS
        dealt[kind] += 1
    return folds


def grown_bank(
    folder: Path, simulator: str, episodes: Sequence[Trajectory], embedder: Embedder
) -> Bank:
    """Return a bank learnt with the usual threshold of an embedder.

    Only the task tree is grown: the trees know nothing of each other, and it is the one that
    is asked for a kind of task.
    """
    preset = Parameters.preset(simulator, embedder.card.model)
    parameters = replaced(preset, "env.enabled", False)
    return _learnt(folder, simulator, parameters, episodes, embedder)


def _learnt(
    folder: Path,
    simulator: str,
    parameters: Parameters,
    episodes: Sequence[Trajectory],
    embedder: Embedder,
) -> Bank:
    bank = create_bank(folder, embedder=embedder, domain=simulator, parameters=parameters)
    rules = RulesExtractor()
    for episode in episodes:
        learn(bank, episode, rules, embedder=embedder)
    return bank


def _folds(simulator: str, episodes: Sequence[Trajectory], embedder: Embedder) -> list[Fold]:
    embedder.embed_queries([episode.task for episode in episodes])  # Faster at once than singly.
    numbers = fold_numbers(episodes)
    folds = []
    for number in range(FOLDS):
        held_out = {
            variation_of(each): each for each in episodes if numbers[variation_of(each)] == number
        }
        training = [each for each in episodes if variation_of(each) not in held_out]
        with tempfile.TemporaryDirectory(prefix="deltamem-quality-") as folder:
            bank = grown_bank(Path(folder), simulator, training, embedder)
            folds.append(_asked(bank, training, list(held_out.values()), embedder))
    return folds


def _unseen(embedder: Embedder) -> dict[str, Any]:
    """Return what a bank of all ALFWorld episodes answers to the goals of other games."""
    training = episodes_of(LOGS["alfworld"])
    known = {episode.task for episode in training}
    questions = [game for game in _games() if game.task not in known]
    with tempfile.TemporaryDirectory(prefix="deltamem-quality-") as folder:
        bank = grown_bank(Path(folder), "alfworld", training, embedder)
        return _summary([_asked(bank, training, questions, embedder)])


def _games() -> list[Trajectory]:
    """Return each goal of the games that no episode was rolled out on, once, with its kind."""
    found: dict[str, Trajectory] = {}
    with tarfile.open(_GAMES) as archive:
        for member in archive:
            _, split, *rest = *member.name.split("/"), ""
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is None or split not in _UNSEEN_SPLITS or rest[-2] != "game.tw-pddl":
                continue
            goal = _GAME_GOAL.search(stream.read().decode())
            if goal:
                kind = rest[0].partition("-")[0]
                found[goal[1]] = Trajectory(goal[1], metadata={"task_type": kind})
    return list(found.values())


def _asked(
    bank: Bank, training: Sequence[Trajectory], questions: Sequence[Trajectory], embedder: Embedder
) -> Fold:
    kinds = {episode.id: kind_of(episode) for episode in training}
    vectors = embedder.embed_passages([episode.task for episode in training])
    none = np.zeros(len(vectors), dtype=np.bool_)
    rows = Rows(vectors, none, none, np.arange(len(vectors), dtype=np.int64), "vectors")
    neighbours = Scan(rows, embedder.card.weighting)
    answers = []
    for question in questions:
        found = recall(bank, question.task, embedder=embedder)["task"]
        vector = embedder.embed_queries([question.task])[0]
        row, _, _ = neighbours.best(vector, penalty=0.0)[0]
        best = found.candidates[0].node if found else None
        answers.append(
            Answer(
                asked=kind_of(question),
                found=kinds[_episode(bank, best)] if best else "",
                nearest=kind_of(training[row]),
                matched=bool(found and found.match),
            )
        )
    tree = bank.tree("task")
    mixtures = [
        {kinds[_episode(bank, node)] for node in tree.chain(each.id)}
        for each in tree
        if each.depth > 1
    ]
    index = tree.snapshot.index[tree.rows]
    return Fold(
        answers=tuple(answers),
        threshold=bank.manifest.settings["task"]["tau_base"],
        episodes=len(kinds),
        nodes=len(tree),
        roots=int((~index["residual"]).sum()),
        max_depth=int(index["depth"].max()),
        one_kind=sum(len(mixture) == 1 for mixture in mixtures),
        chains=len(mixtures),
    )


def _episode(bank: Bank, node: Node) -> str:
    """Return the episode behind a node; for a fused root, the one behind the end of its chain."""
    while node.origin.nodes:
        node = bank.tree("task").node(node.origin.nodes[-1])
    return node.origin.trajectory


def variation_of(episode: Trajectory) -> tuple[str, str]:
    """Return the kind of an episode's task, and what varies within the kind."""
    facts = episode.metadata
    return facts["task_type"], facts.get("game") or facts["variation"]


def kind_of(episode: Trajectory) -> str:
    """Return the kind of an episode's task, as the simulator names it."""
    return episode.metadata["task_type"]


def _summary(folds: Sequence[Fold]) -> dict[str, Any]:
    answers = [answer for fold in folds for answer in fold.answers]
    wrong = Counter(f"{each.asked} -> {each.found}" for each in answers if each.asked != each.found)
    return {
        "questions": len(answers),
        "same_kind": _share(each.found == each.asked for each in answers),
        "same_kind_nearest_trajectory": _share(each.nearest == each.asked for each in answers),
        "matched": _share(each.matched for each in answers),
        "same_kind_of_matched": _share(
            each.found == each.asked for each in answers if each.matched
        ),
        "chains_of_one_kind": _part(
            sum(fold.one_kind for fold in folds), sum(fold.chains for fold in folds)
        ),
        **{
            name: [getattr(fold, name) for fold in folds]
            for name in ("threshold", "episodes", "nodes", "roots", "max_depth")
        },
        "confused": dict(wrong.most_common()),
    }


def _share(hits: Any) -> float:
    found = list(hits)
    return _part(sum(found), len(found))


def _part(some: int, all_: int) -> float:
    return some / all_ if all_ else 0.0


def _worst(by_simulator: Mapping[str, Any]) -> float:
    """Return the lower share of the two simulators; 0 if the embedder cannot be had here."""
    return min(
        (by_simulator[name]["same_kind"] for name in LOGS if name in by_simulator), default=0.0
    )
