"""The grounds of a contest: games that an agent plays, or a log that memories are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from deltamem_tui.errors import GameError
from deltamem_tui.lab.contestants import Contestant, Memory, true_outcome
from deltamem_tui.lab.environment import Game, GameInfo, Observation, Start
from deltamem_tui.lab.plan import ModelCost, TrialResult
from deltamem_tui.lab.workers import Workers
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.text import clean, count_tokens, one_line
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory, scene_of


@dataclass(slots=True)
class Playthrough:
    """A game under way, up to a limit of actions, its texts cleaned.

    Attributes:
        limit: The most actions.
        best: The best score so far; `last.score` is the score now.
    """

    game: Game
    limit: int
    start: Start = field(init=False)
    last: Observation = field(init=False)
    best: float = field(default=0.0, init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        seen = self.game.start()
        commands = tuple(map(clean, seen.commands))
        self.start = Start(clean(seen.task), clean(seen.scene), commands)
        self.last = Observation(self.start.scene, 0.0, done=False, commands=commands)

    @property
    def over(self) -> bool:
        """True if nothing more can be done."""
        return self.last.done or len(self.steps) >= self.limit

    def act(self, action: str, thought: str = "") -> Observation:
        """Take an action. Nothing happens when the game is over."""
        if not self.over:
            action = clean(action)
            seen = self.game.step(action)
            commands = tuple(map(clean, seen.commands))
            self.last = Observation(clean(seen.text), seen.score, seen.done, commands)
            self.best = max(self.best, self.last.score)
            self.steps.append(Step(action, self.last.text, thought))
        return self.last


class Agent(Protocol):
    """Plays games; one that asks a model may have a method `cancel`, to ask nothing more.

    Attributes:
        name: Tells it from agents that may play otherwise: part of what names a run.
    """

    name: str

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        """Play a game from its start, with a memory's text (empty without one)."""


Trial = tuple[TrialResult, Trajectory]


@dataclass(frozen=True, slots=True)
class GameGround:
    """Games that an agent plays."""

    workers: Workers
    agent: Agent
    limit: int
    domain: str

    def trial(self, info: GameInfo, contestant: Contestant, memory: Memory) -> Trial:  # noqa: ARG002
        """Play a game; once more if its simulator fails. Answers of models are kept anyway."""
        try:
            return self._played(info, memory)
        except GameError:
            return self._played(info, memory)

    def game_of(self, episode: Trajectory) -> str:
        """Return the game that an episode was played in; empty if unknown."""
        return self.workers.environment.game_of(episode)

    def give_up(self) -> None:
        """Have the agent ask nothing more."""
        getattr(self.agent, "cancel", lambda: None)()

    def _played(self, info: GameInfo, memory: Memory) -> Trial:
        with self.workers.playing(info) as game:
            play = Playthrough(game, self.limit)
            start = play.start
            shown = memory.recall(start.task, start.scene)
            cost = self.agent.play(play, shown.text)
        success = play.best >= 1
        facts = {"game": info.name, "split": info.split, "task_type": info.kind}
        episode = Trajectory(
            start.task,
            start.scene,
            tuple(each.with_texts(clean) for each in play.steps),
            Outcome(success, play.best, "stated"),
            domain=self.domain,
            agent=self.agent.name,
            metadata={key: fact for key, fact in facts.items() if fact},
            receipts=() if shown.receipt is None else (shown.receipt,),
        )
        measures = {
            "score": play.best,
            "final": play.last.score,
            "success": float(success),
            "steps": float(len(play.steps) if success else self.limit),
            "memory_tokens": float(count_tokens(shown.text)),
        }
        result = TrialResult(
            info.name, info.kind, measures, shown.text, success, cost.calls, cost.tokens, cost.cost
        )
        return result, episode


class LogGround:
    """A log: what a memory recalls for each episode, held against what is known of it."""

    def __init__(
        self,
        learnt: Sequence[Trajectory],
        asked: Sequence[Trajectory],
        kinds: Mapping[str, str],
        *,
        learns: bool,
    ) -> None:
        self._episodes = {each.id: each for each in (*learnt, *asked)}
        self._kinds = kinds
        self._solved_before: dict[str, bool] = {}
        solved = {kinds[each.id] for each in learnt if _succeeded(each)} - {""}
        for each in asked:
            kind = kinds[each.id]
            self._solved_before[each.id] = kind in solved
            if learns and kind and _succeeded(each):
                solved.add(kind)

    def trial(self, info: GameInfo, contestant: Contestant, memory: Memory) -> Trial:
        """Ask a memory about an episode's task and scene."""
        episode = self._episodes[info.name]
        found = memory.recall(episode.task, scene_of(episode))
        measures = {"recalled": float(bool(found.text.strip()))}
        records = [known for each in found.sources if (known := each & self._episodes.keys())]
        if self._solved_before[info.name]:
            kinds = {self._kinds[each] for record in records for each in record}
            measures["same_kind"] = float(info.kind in kinds)
        if records:
            wrong = sum(any(self._misjudged(contestant, e) for e in record) for record in records)
            measures["precision"] = 1 - wrong / len(records)
        measures["memory_tokens"] = float(count_tokens(found.text))
        receipts = () if found.receipt is None else (found.receipt,)
        facts = {**episode.metadata, "game": info.name}
        result = TrialResult(info.name, info.kind, measures, found.text, _succeeded(episode))
        return result, episode.with_facts(receipts=receipts, metadata=facts)

    def game_of(self, episode: Trajectory) -> str:  # noqa: ARG002
        """Return nothing: an episode of a log is not a game."""
        return ""

    def _misjudged(self, contestant: Contestant, episode_id: str) -> bool:
        episode = self._episodes[episode_id]
        learnt = contestant.admitted(episode)
        return learnt is not None and learnt.outcome.success != _succeeded(episode)


Ground = GameGround | LogGround
"""The ground of a contest: an environment's games, or a log."""


def _succeeded(episode: Trajectory) -> bool:
    outcome = true_outcome(episode)
    return bool(outcome and outcome.success)


def kinds_of(episodes: Sequence[Trajectory], domain: str) -> dict[str, str]:
    """Return the kind of task of each episode by its id, as `task_type` of its record states it.

    Where no record has that, it is the kind of goal as the domain understands it.
    """
    stated = {each.id: one_line(each.metadata.get("task_type", "")).strip() for each in episodes}
    if any(stated.values()):
        return stated
    return {each.id: task_kind(each.domain or domain, each.task) for each in episodes}
