"""Domains: what a method must know of the world that an episode comes from.

`Domain` is the general one and reads any log. A plug-in overrides what it knows better. A bank's
domain names it: it is found by the entry point `deltamem.domains` and loaded only then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.places import Chance, Fact, TaskAtHand
from deltamem_tui.memory.procedure import Procedure, filled
from deltamem_tui.text import clean, condense, distinct, key, listed, one_line
from deltamem_tui.trajectory.model import GENERIC, Step, Trajectory, domain_key

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_GROUP = "deltamem.domains"
Effect = Literal["done", "looked", "refused"]
_GOAL_WORDS = 60
_SCENE_WORDS = 60
_COMMAND_WORDS = 100
_ANSWER_WORDS = 20
_FRUITLESS = 4  # times that the same answer came to the same action
_REFUSAL = re.compile(
    r"^\W*(?:error\b|invalid\b|unknown\b|no such\b|cannot\b|can't\b|could not\b|failed\b|fatal\b"
    r"|not found\b|nothing happens|permission denied|usage:)"
    r"|traceback \(most recent|command not found|no such file|exit (?:code|status):? [1-9]"
    r"|\b[a-z]*(?:error|exception): ",
    re.IGNORECASE,
)
INSTANCES = (
    (re.compile(r"\bhttps?://\S+"), "{url}"),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"), "{address}"),
    (re.compile(r"\b(?=[0-9a-f-]*\d)(?=[0-9a-f-]*[a-f])[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b"), "{id}"),
    (re.compile(r"(?<![\w.])-?\d+(?:[.,:/]\d+)*\b"), "N"),
)
_THOUGHT = re.compile(r"think(?::|\[| :)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of an episode.

    Attributes:
        trigger: The goal with instances left open: the activation condition.
        variant: The instances that were left open, for telling one variant from another.
        names: Instance → what stands for it in actions and answers, longest instance first.
        slots: What the task names, and by which name: (`object`, `egg`).
        understood: Whether goals of one kind have one trigger, and no others have it.
    """

    trigger: str
    variant: str = ""
    names: tuple[tuple[re.Pattern[str], str], ...] = ()
    slots: tuple[tuple[str, str], ...] = ()
    understood: bool = False

    def generalise(self, text: str) -> str:
        """Return a text with every instance replaced by what stands for it."""
        for name, kind in self.names:
            text = name.sub(kind, text)
        return text


@dataclass(frozen=True, slots=True)
class Move:
    """One step as a dialect understands it.

    Attributes:
        action: What was done, on one line and uncut, the goal's names left open.
        answer: What came back, shortened, the goal's names left open.
        effect: `done` if it changed something, `looked` if it only showed something,
            `refused` if the environment would not do it.
        reward: What the environment paid for it; 0 if nothing or not known.
        place: Where the agent went with it; empty if it did not move.
        room: Where it was made; empty if that is not known.
        wording: The action as the agent wrote it, to tell a repeat from a further instance.
        is_needed: Whether it is known to have brought the goal about.
    """

    action: str
    answer: str
    effect: Effect = "done"
    reward: float = 0.0
    place: str = ""
    room: str = ""
    wording: str = ""
    is_needed: bool = False

    @property
    def failed(self) -> bool:
        """True if it was refused or cost reward."""
        return self.effect == "refused" or self.reward < 0


def with_blanks(text: str) -> str:
    """Return a text with blanks for addresses, ids and numbers."""
    for instance, kind in INSTANCES:
        text = instance.sub(kind, text)
    return text


def is_thought(action: str) -> bool:
    """Return whether an action only says what the agent thinks (`think: …`, `think[…]`)."""
    return bool(_THOUGHT.match(action.strip()))


class Domain:
    """The general domain: any agent, any tools. A plug-in overrides what it knows better.

    Attributes:
        about: What the domain is, in a few words.
        presets: The usual numbers of methods in this domain, by the method's name.
        answer_words: How many words of an answer a move keeps.
        fact_names: The names that the facts of a task may have, in order.
    """

    about = "anything else"
    presets: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    answer_words = _ANSWER_WORDS
    fact_names: tuple[str, ...] = ("verb", "nouns")

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return the goal of an episode; the trigger is empty if the task is."""
        task = condense(trajectory.task, _GOAL_WORDS)
        replaced = distinct(match for match, _ in INSTANCES for match in match.findall(task))
        return Goal(with_blanks(task), variant=listed(replaced, 4))

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """Return the steps, understood, in order."""
        return [self.move(step, goal) for step in trajectory.steps]

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step, understood."""
        return Move(
            action=one_line(goal.generalise(step.action)) or "no action",
            answer=condense(goal.generalise(step.observation), self.answer_words) or "no answer",
            effect=self.effect(step),
            reward=step.reward or 0.0,
            wording=step.action,
        )

    def effect(self, step: Step) -> Effect:
        """Return whether a step changed something, only showed something, or was refused."""
        return "refused" if _REFUSAL.search(step.observation[:2000]) else "done"

    def is_lesson(self, move: Move) -> bool:  # noqa: ARG002
        """Return whether a failure should warn of a move, if it failed or led nowhere."""
        return True

    def fruitless(self, moves: Sequence[Move]) -> list[tuple[Move, int]]:
        """Return what did not help, with how often: what failed first, then what led nowhere."""
        firsts: dict[tuple[str, ...], Move] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        for move in moves:
            alike = move.wording, key(move.action), key(move.answer)
            firsts.setdefault(alike, move)
            counts[alike] += 1
        found = [
            (move, counts[alike])
            for alike, move in firsts.items()
            if self.is_lesson(move) and (move.failed or counts[alike] >= _FRUITLESS)
        ]
        return sorted(found, key=lambda pair: (not pair[0].failed, -pair[1]))

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Return the moves that had an effect, as the lines of a procedure: one command a line.

        A command is written out as it was, or left out if it is as long as a file.
        """
        done = [
            move.action
            for move in moves
            if move.effect == "done" and move.wording.strip() and not is_thought(move.wording)
        ]
        return [action for action in done if len(action.split()) <= _COMMAND_WORDS]

    def likely_places(
        self,
        task: TaskAtHand,  # noqa: ARG002
        known: Sequence[Procedure],  # noqa: ARG002
    ) -> dict[str, list[Chance]]:
        """Return per open place of the known procedures where to look for what stands there.

        The likeliest kind of place comes first.
        """
        return {}

    def at_hand(self, procedure: Procedure, task: TaskAtHand) -> list[str]:
        """Return the commands of a procedure as they go for a task, from where the agent is."""
        return [filled(step, task.names) for step in procedure.steps]

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:  # noqa: ARG002
        """Return what the observations offered and was not tried."""
        return []

    def scene(self, trajectory: Trajectory) -> str:
        """Return what an environment is recognised by."""
        shown = trajectory.environment or next(
            (step.observation for step in trajectory.steps if step.observation.strip()), ""
        )
        scene = with_blanks(condense(shown, _SCENE_WORDS))
        return scene or f"{trajectory.domain or 'an'} environment that says nothing"

    def facts(self, trajectory: Trajectory) -> list[Fact]:  # noqa: ARG002
        """Return what was seen where, and how things answered; of work that is told elsewhere."""
        return []

    def source_left_open(
        self,
        actions: Iterable[str],
        names: Mapping[str, str],  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return a way without where the goal's object was taken from.

        With the names of the task that it solved, it has the goal's last act.
        """
        return tuple(actions)

    def places_of_things(
        self,
        trajectory: Trajectory,  # noqa: ARG002
    ) -> Iterator[tuple[str, str]]:
        """Yield each thing and its place whenever a step shows or changes it; in hand it is ""."""
        return iter(())

    def functions(self, trajectory: Trajectory) -> Sequence[Fact]:  # noqa: ARG002
        """Return what devices, commands and tools did."""
        return ()

    def task_facts(self, task: str) -> dict[str, str]:  # noqa: ARG002
        """Return the facts of a task, name to value; empty if it is not in the domain's words."""
        return {}

    def exact_env(self, scene: str) -> str:  # noqa: ARG002
        """Return what tells one environment from all others of its kind; empty if not known."""
        return ""

    def env_kind(self, scene: str) -> str:
        """Return the kind of an environment; empty if not known."""
        return self.exact_env(scene)


GENERAL = Domain()


def domain_for(name: str) -> Domain:
    """Return a domain's plug-in, or the general domain; a UsageError if it cannot be loaded."""
    name = domain_key(name)
    if not name or name == GENERIC or name not in _plugins():
        return GENERAL
    return _loaded(name)


def known_domains() -> dict[str, str]:
    """Return what each domain with a plug-in is, by its name, and the general one last."""
    return {each: domain_for(each).about for each in (*sorted(_plugins()), GENERIC)}


def domain_named(domain: str) -> str:
    """Return a domain as a person types it, a known one by its usual name.

    Any other name is taken, as it has prompts of its own, but for one that is almost a known one:
    that is a UsageError.
    """
    usual, known = domain_key(domain), (*sorted(_plugins()), GENERIC)
    if usual in known:
        return usual
    if near := get_close_matches(usual, known, n=1, cutoff=0.8):
        raise UsageError(
            f"there is no domain {one_line(domain, 40)!r}",
            hint=f"did you mean {near[0]}? Those that are known are {', '.join(known)}",
        )
    return domain


def goal_of(domain: str | Domain, task: str) -> Goal:
    """Return a task as a domain understands it, before anything was done."""
    known = domain_for(domain) if isinstance(domain, str) else domain
    return known.goal(Trajectory(clean(task), "", ()))


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=_GROUP)}


@cache
def _loaded(name: str) -> Domain:
    entry = _plugins()[name]
    try:
        domain: Domain = entry.load()()
    except Exception as error:
        raise UsageError(
            f"the domain {name} cannot be loaded from {entry.value}: {one_line(str(error), 200)}",
            hint="install its package again, or remove it",
        ) from error
    return domain
