"""How each game's episodes are read, and what a bank that learnt them hands over: golden texts.

After a change that is meant, `python -m tests.lab.games.test_golden` writes the texts anew; the
difference is the review.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.cdmem.write import expert_notes
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.findings import effective_steps, failure_of, way_of
from deltamem_tui.memory.flat.memp import task_facts
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.memory.writers.rules.episodes import HEAT, HEAT_LOST, SPOILT, melting
from tests.places import DOCS

GOLDEN = Path(__file__).parent / "golden"
WIDTH = 200
PICKED = {"alfworld": (1, 2, 6, 8, 11, 13, 15, 27, 28), "scienceworld": (1, *range(0, 180, 13))}
WRITTEN = {
    "alfworld": (HEAT, HEAT_LOST),
    "scienceworld": (melting("ice"), SPOILT),
}
ASKED = {
    "alfworld": (
        "put a clean ladle in drawer.",
        "find two candles and put them in the cabinet",
        "look at the pillow under the desk lamp",
        "cool some apple and put it in diningtable.",
    ),
    "scienceworld": (
        (
            "Your task is to find a(n) plant. First, focus on the thing. Then, move it to the "
            "yellow box in the kitchen."
        ),
        (
            "Your task is to freeze lead. First, focus on the substance. Then, take actions that "
            "will cause it to change its state of matter."
        ),
        (
            "Your task is to use chemistry to create orange paint. When you are done, focus on the "
            "orange paint."
        ),
    ),
}


def episodes(game: str) -> list[Trajectory]:
    """Some that were rolled out on the simulator, and some that were written by hand."""
    picked: list[Trajectory] = []
    if game in PICKED:
        logged = list(read_logs([DOCS / "sample" / f"{game}.jsonl.gz"]))
        known = [each for each in logged if isinstance(each, Trajectory)]
        picked = [known[at] for at in PICKED[game]]
    return [*picked, *WRITTEN[game]]


def reading(episode: Trajectory) -> Iterator[str]:
    """What the rules find in an episode, a line each."""
    domain = domain_for(episode.domain)
    goal = domain.goal(episode)
    moves = domain.moves(episode, goal)
    yield f"# {' '.join(episode.task.split())} ({'solved' if episode.outcome.success else 'lost'})"
    yield f"goal: {goal.trigger} | {goal.variant} | {dict(goal.slots)}"
    yield f"effects: {''.join(move.effect[0] for move in moves)}"
    yield f"procedure: {'; '.join(domain.procedure(moves))}"
    yield f"shortcut: {'; '.join(way_of(episode))}"
    yield f"effective: {effective_steps(episode)}"
    yield f"scene: {domain.scene(episode)}"
    yield f"environment: {domain.exact_env(episode.environment)}"
    yield from (f"fact: {fact.line}" for fact in domain.facts(episode)[:6])
    yield f"task: {task_facts(episode.domain, episode.task)}"
    yield from (f"noted: {name}: {text}" for name, text in expert_notes(episode).items())
    yield from (
        f"fruitless: {each.action} ({times})" for each, times in domain.fruitless(moves)[:3]
    )
    if not episode.outcome.success:
        why = failure_of(episode)
        yield f"failed: {why.kind} | {why.reflection} | {why.plan}"
        yield f"unexplored: {domain.unexplored(episode, goal)}"


def handed_over(game: str) -> Iterator[str]:
    """What a bank that learnt the episodes recalls."""
    with TemporaryDirectory() as folder:
        bank = create_bank(Path(folder) / "bank", embedder="hashing", domain=game)
        for episode in episodes(game):
            learn(bank, episode)
        scene = episodes(game)[-1].environment
        for task in ASKED[game]:
            yield f"## {task}"
            yield recall(bank, task, scene).context.partition("\n\n### ")[2]


def text(game: str) -> str:
    """The golden text of a game."""
    lines = [line for each in episodes(game) for line in (*reading(each), "")]
    short = [" ".join(line.split())[:WIDTH].rstrip() for line in lines]
    return "\n".join([*short, *handed_over(game)]) + "\n"


@pytest.mark.parametrize("game", WRITTEN)
def test_episodes_are_read_and_handed_over_as_before(game: str) -> None:
    assert text(game) == (GOLDEN / f"{game}.txt").read_text("utf-8")


if __name__ == "__main__":
    for each in WRITTEN:
        (GOLDEN / f"{each}.txt").write_text(text(each), "utf-8")
