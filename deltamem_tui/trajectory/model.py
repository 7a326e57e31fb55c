"""What an agent did: the normal form that every log is read into.

A trajectory is one episode: a task, the environment it was met in, the ordered
steps, and the outcome with its provenance. Its id is a digest of task, environment
and steps, so reading the same episode twice gives the same id, whatever file it
came from and whatever its outcome turns out to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import orjson

from deltamem_tui.errors import RecordError

OutcomeSource = Literal["stated", "user", "judge", "unknown"]
StepRow = tuple[str, str, str, float | None]
"""Thought, action, observation and reward of a step."""
OUTCOME_SOURCES: tuple[OutcomeSource, ...] = ("stated", "user", "judge", "unknown")


def _require_text(what: str, value: object) -> None:
    """See that a caller, or a reader, gives text.

    Raises:
        RecordError: It gives something else.
    """
    if not isinstance(value, str):
        raise RecordError(f"{what} must be text, not {type(value).__name__}")


def _require_number(what: str, value: object) -> None:
    """See that a caller, or a reader, gives a number or nothing.

    Raises:
        RecordError: It gives something else.
    """
    if value is not None and not isinstance(value, (int, float)):
        raise RecordError(f"{what} must be a number, not {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the agent did and what came back.

    Attributes:
        action: What was done, as the agent wrote it.
        observation: What the environment answered; empty if it said nothing.
        thought: What the agent thought before; empty if it did not say.
        reward: What the environment paid for this step, if the log has it.
    """

    action: str
    observation: str = ""
    thought: str = ""
    reward: float | None = None

    def __post_init__(self) -> None:
        # One comparison for almost every step: there are millions of them in a large import.
        if not (type(self.action) is type(self.observation) is type(self.thought) is str):
            for name in ("action", "observation", "thought"):
                _require_text(f"the {name} of a step", getattr(self, name))
        _require_number("the reward of a step", self.reward)

    def with_texts(self, change: Callable[[str], str]) -> Step:
        """The same step, each of its texts changed."""
        return replace(
            self,
            thought=change(self.thought),
            action=change(self.action),
            observation=change(self.observation),
        )


def identity(task: str, environment: str, steps: list[StepRow]) -> bytes:
    """All of an episode's own text, as JSON in UTF-8: what its id is a digest of.

    Args:
        task: The goal.
        environment: The scene.
        steps: Thought, action, observation and reward of each step; rewards are floats.
    """
    return orjson.dumps((task, environment, steps))


def digest(identity: bytes) -> str:
    """The id of the episode with this identity: 16 hexadecimal digits."""
    return hashlib.sha256(identity).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended, and who says so. It is never guessed from prose.

    Attributes:
        success: Whether the task was solved; None if nobody said.
        reward: The share of the task that was solved, in [0, 1]; None if not known.
        source: `stated` by the log itself, given by a `user`, a `judge` model, or `unknown`.
        reason: Why, where the source gave a reason.
    """

    success: bool | None = None
    reward: float | None = None
    source: OutcomeSource = "unknown"
    reason: str = ""

    def __post_init__(self) -> None:
        if self.success is not None and type(self.success) is not bool:
            raise RecordError(
                "the success of an outcome must be True, False or None, "
                f"not {type(self.success).__name__}"
            )
        _require_number("the reward of an outcome", self.reward)
        if self.source not in OUTCOME_SOURCES:
            raise RecordError(f"the source of an outcome must be one of {OUTCOME_SOURCES}")
        _require_text("the reason of an outcome", self.reason)

    @property
    def known(self) -> bool:
        """Whether the episode can be learnt from."""
        return self.success is not None


@dataclass(frozen=True, slots=True)
class LogSource:
    """Where an episode was read.

    Attributes:
        file: The log's file name, without the folders of the machine it was read on.
        position: Where the record begins, as a person would look it up (`line 3`, `record 7`).
        format: The name of the reader that read it.
    """

    file: str = ""
    position: str = ""
    format: str = "native"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode in the normal form.

    Attributes:
        task: The goal, as the agent was told it.
        environment: What describes the scene: the environment part of the instruction or
            the first observation, without the goal. May be empty.
        steps: The steps in order.
        outcome: How it ended and who says so.
        source: Where it was read.
        domain: The kind of environment (`alfworld`, `webshop`, …); empty if unknown.
        agent: The model that acted, if the log names it.
        metadata: Other facts of the log worth keeping (task type, trial, external id), as text.
    """

    task: str
    environment: str = ""
    steps: tuple[Step, ...] = ()
    outcome: Outcome = Outcome()
    source: LogSource = LogSource()
    domain: str = ""
    agent: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = (self.task, self.environment, self.domain, self.agent)
        if set(map(type, texts)) != {str}:
            for name, text in zip(("task", "environment", "domain", "agent"), texts, strict=True):
                _require_text(f"the {name} of an episode", text)
        parts = (self.outcome, self.source, self.steps, self.metadata)
        if tuple(map(type, parts)) != _PARTS:
            self._require_parts()
        for name, fact in self.metadata.items():
            if not (type(name) is type(fact) is str):
                _require_text("the metadata of an episode", name)
                _require_text("the metadata of an episode", fact)
        for step in self.steps:
            if type(step) is not Step:
                raise RecordError(f"a step must be a Step, not {type(step).__name__}")

    def _require_parts(self) -> None:
        """See that all that is no text is of its kind.

        Raises:
            RecordError: Something is not.
        """
        for name, part, kind, wanted in (
            ("outcome", self.outcome, Outcome, "an Outcome"),
            ("source", self.source, LogSource, "a LogSource"),
            ("steps", self.steps, Sequence, "Steps"),
            ("metadata", self.metadata, Mapping, "a mapping"),
        ):
            if not isinstance(part, kind):
                raise RecordError(f"the {name} must be {wanted}, not {type(part).__name__}")

    @property
    def id(self) -> str:
        """16 hexadecimal digits: a digest of task, environment and steps."""
        return digest(identity(self.task, self.environment, self.rows))

    @property
    def rows(self) -> list[StepRow]:
        """The steps as plain tuples. A reward of 1 and one of 1.0 are the same, a float."""
        return [
            (
                step.thought,
                step.action,
                step.observation,
                None if step.reward is None else float(step.reward),
            )
            for step in self.steps
        ]

    def with_outcome(self, outcome: Outcome) -> Trajectory:
        """The same episode with another outcome."""
        return replace(self, outcome=outcome)

    @property
    def text(self) -> str:
        """The whole episode as text; its length is what memory is compared against."""
        parts = [self.task, self.environment]
        for step in self.steps:
            parts += (step.thought, step.action, step.observation)
        return "\n".join(filter(None, parts))


# What nearly every episode is made of; only of another is asked what else it may be.
_PARTS = (Outcome, LogSource, tuple, dict)
