"""A game that was played: the episode that is kept, and the numbers that are in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from deltamem_tui.lab.agent import Agent, AgentCost, Count, Dollars, Playthrough
from deltamem_tui.lab.contestants.memory import Memory
from deltamem_tui.lab.environment import Game, GameInfo, Share
from deltamem_tui.text import clean, count_tokens
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

UNKNOWN_COST = "unknown"
_KEYS = ("memory_tokens", "agent_calls", "agent_tokens", "agent_cost")


class GameResult(Struct, frozen=True):
    """One try at a game.

    Attributes:
        attempt: Which try it was, from 1.
        score: From 0 to 1.
        success: Whether the goal was reached.
        steps: Actions taken; the limit where the goal was not reached.
        memory_tokens: Of the text that the agent was handed.
        calls: How often the agent's model was asked; `tokens` and `cost` are what that took, None
            if the price is not known.
        learnt: Whether the memory learnt from it.
        nodes: Units of memory after that.
    """

    game: str
    kind: str
    attempt: Annotated[int, Meta(ge=1)]
    score: Share
    success: bool
    steps: Count
    memory_tokens: Count
    calls: Count
    tokens: Count
    cost: Dollars | None
    learnt: bool = False
    nodes: Count = 0


def played(
    agent: Agent,
    game: Game,
    info: GameInfo,
    limit: int,
    memory: Memory,
    attempt: int,
    domain: str,
) -> Trajectory:
    """Play a game with what a memory hands over for it, and write down what was done.

    Raises:
        LanguageModelError: The agent's model cannot be asked at all.
        UsageError: The agent's program cannot be run, or breaks the protocol.
    """
    under_way = Playthrough(game, limit)
    start = under_way.start
    shown = memory.recall(start, info.name)
    cost = agent.play(under_way, shown.text)
    facts = {
        "game": info.name,
        "split": info.split,
        "task_type": info.kind,
        "trial": str(attempt),
        **_stated(cost, count_tokens(shown.text)),
    }
    score = under_way.score
    return Trajectory(
        clean(start.task),
        clean(start.scene),
        tuple(_clean(each) for each in under_way.steps),
        Outcome(score >= 1, score, "stated"),
        domain=domain,
        agent=agent.name,
        metadata={key: fact for key, fact in facts.items() if fact},
        receipts=() if shown.receipt is None else (shown.receipt,),
    )


def result_of(episode: Trajectory, limit: int) -> GameResult:
    """The numbers of an episode that `played` wrote down."""
    facts = episode.metadata
    tokens, calls, agent_tokens, cost = (facts[key] for key in _KEYS)
    success = bool(episode.outcome.success)
    return GameResult(
        game=facts["game"],
        kind=facts.get("task_type", ""),
        attempt=int(facts["trial"]),
        score=episode.outcome.reward or 0.0,
        success=success,
        steps=len(episode.steps) if success else limit,
        memory_tokens=int(tokens),
        calls=int(calls),
        tokens=int(agent_tokens),
        cost=None if cost == UNKNOWN_COST else float(cost),
    )


def _stated(cost: AgentCost, memory_tokens: int) -> Mapping[str, str]:
    spent = UNKNOWN_COST if cost.cost is None else repr(cost.cost)
    values = (str(memory_tokens), str(cost.calls), str(cost.tokens), spent)
    return dict(zip(_KEYS, values, strict=True))


def _clean(step: Step) -> Step:
    return step.with_texts(clean)
