"""What an agent did: the normal form that every log is read into.

A trajectory is one episode: a task, the environment it was met in, the ordered
steps, and the outcome with its provenance. Its id is a digest of task, environment
and steps, so reading the same episode twice gives the same id, whatever file it
came from and whatever its outcome turns out to be.

The types are the codec too: fields stand in the order in which a line of the project's
own log has them, and what has a `default_factory` is written even if it is empty.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import orjson
from msgspec import Struct, StructMeta, field
from msgspec.structs import astuple, replace

from deltamem_tui.errors import RecordError

OutcomeSource = Literal["stated", "user", "judge", "unknown"]
OUTCOME_SOURCES: tuple[OutcomeSource, ...] = ("stated", "user", "judge", "unknown")

_Columns = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[float | None, ...]]
_Type = TypeVar("_Type", bound=type[Struct])
_Value = TypeVar("_Value")


class _worked_out_once(Generic[_Value]):  # noqa: N801 - used as a decorator
    """A `functools.cached_property` without a lock, which takes half the time in Python 3.11."""

    def __init__(self, work_out: Callable[[Any], _Value]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, trajectory: Any, _: type | None = None) -> _Value:
        value: _Value
        value = trajectory.__dict__[self._name] = self._work_out(trajectory)
        return value


def _like_a_dataclass(kind: _Type) -> _Type:
    """Let `dataclasses.replace`, `fields` and `asdict` take a struct, as users' code does."""
    like = dataclasses.make_dataclass(kind.__name__, kind.__match_args__)
    kind.__dataclass_fields__ = like.__dataclass_fields__  # type: ignore[attr-defined]
    return kind


def _require_text(what: str, value: object) -> None:
    """Check that a caller, or a reader, gives text."""
    if not isinstance(value, str):
        raise RecordError(f"{what} must be text, not {type(value).__name__}")


def _require_number(what: str, value: object) -> None:
    """Check that a caller, or a reader, gives a number or nothing."""
    if value is not None and not isinstance(value, (int, float)):
        raise RecordError(f"{what} must be a number, not {type(value).__name__}")


class _CheckedType(StructMeta):
    """Checks the types of what a constructor is given, as decoding does by itself."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        made = super().__call__(*args, **named)
        made.check_types()
        return made


class _StepType(StructMeta):
    """Takes a step's action first, and checks its types."""

    @property
    def __match_args__(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("action", "observation", "thought", "reward")

    def __call__(
        self, action: str, observation: str = "", thought: str = "", reward: float | None = None
    ) -> Any:
        if not (type(action) is type(observation) is type(thought) is str):
            _require_text("the action of a step", action)
            _require_text("the observation of a step", observation)
            _require_text("the thought of a step", thought)
        if reward is not None:
            _require_number("the reward of a step", reward)
            reward = float(reward)  # a reward of 1 and one of 1.0 have one id
        return super().__call__(thought, action, observation, reward)


@_like_a_dataclass
class Step(
    Struct,
    metaclass=_StepType,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """One thing the agent did and what came back: `Step(action, observation, thought, reward)`.

    Attributes:
        thought: What the agent thought before; empty if it did not say.
        action: What was done, as the agent wrote it.
        observation: What the environment answered; empty if it said nothing.
        reward: What the environment paid for this step, if the log has it.
    """

    thought: str = ""
    action: str = field(default_factory=str)
    observation: str = field(default_factory=str)
    reward: float | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            action: str,
            observation: str = "",
            thought: str = "",
            reward: float | None = None,
        ) -> None: ...

    def __reduce__(self) -> tuple[object, ...]:
        """Let copies and pickles call the constructor in its own order."""
        return Step, (self.action, self.observation, self.thought, self.reward)

    def with_texts(self, change: Callable[[str], str]) -> Step:
        """The same step, each of its texts changed."""
        return Step(
            change(self.action), change(self.observation), change(self.thought), self.reward
        )


@_like_a_dataclass
class Outcome(
    Struct,
    metaclass=_CheckedType,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """How an episode ended, and who says so. It is never guessed from prose.

    Attributes:
        success: Whether the task was solved; None if it is not known.
        reward: The share of the task that was solved, in [0, 1]; None if not known.
        source: `stated` by the log itself, given by a `user`, a `judge` model, or `unknown`.
        reason: Why, where the source gave a reason.
    """

    success: bool | None = None
    reward: float | None = None
    source: OutcomeSource = field(default_factory=lambda: "unknown")
    reason: str = ""

    def check_types(self) -> None:
        """Raise `RecordError` for a part of the wrong type, as its constructor does."""
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


@_like_a_dataclass
class LogSource(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where an episode was read.

    Attributes:
        file: The log's file name, without the folders of the machine it was read on.
        position: Where the record begins, as a person would look it up (`line 3`, `record 7`).
        format: The name of the reader that read it.
    """

    file: str = ""
    position: str = ""
    format: str = field(default_factory=lambda: "native")


@_like_a_dataclass
class Trajectory(Struct, metaclass=_CheckedType, frozen=True, omit_defaults=True, dict=True):
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
    environment: str = field(default_factory=str)
    steps: tuple[Step, ...] = field(default_factory=tuple)
    outcome: Outcome = field(default_factory=Outcome)
    source: LogSource = field(default_factory=LogSource)
    domain: str = ""
    agent: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    def check_types(self) -> None:
        """Raise `RecordError` for a part of the wrong type, as its constructor does."""
        for name in ("task", "environment", "domain", "agent"):
            _require_text(f"the {name} of an episode", getattr(self, name))
        for name, part, kind, wanted in (
            ("outcome", self.outcome, Outcome, "an Outcome"),
            ("source", self.source, LogSource, "a LogSource"),
            ("steps", self.steps, Sequence, "Steps"),
            ("metadata", self.metadata, Mapping, "a mapping"),
        ):
            if not isinstance(part, kind):
                raise RecordError(f"the {name} must be {wanted}, not {type(part).__name__}")
        for text in chain(self.metadata, self.metadata.values()):
            _require_text("the metadata of an episode", text)
        for other in {*map(type, self.steps)} - {Step}:
            raise RecordError(f"a step must be a Step, not {other.__name__}")

    @_worked_out_once
    def id(self) -> str:
        """16 hexadecimal digits: a digest of task, environment and steps."""
        identity = orjson.dumps((self.task, self.environment, self._rows))
        return hashlib.sha256(identity).hexdigest()[:16]

    @_worked_out_once
    def text(self) -> str:
        """The whole episode as text; its length is what memory is compared against."""
        thoughts, actions, observations, _ = self.columns
        head = filter(None, (self.task, self.environment, *thoughts))
        return "\n".join((*head, *actions, *filter(None, observations)))

    @_worked_out_once
    def columns(self) -> _Columns:
        """All thoughts, all actions, all observations and all rewards of the steps."""
        # An import goes through millions of steps: this way none of them takes a turn in Python.
        return tuple(zip(*self._rows, strict=False)) or ((), (), (), ())  # type: ignore[return-value]

    @_worked_out_once
    def _rows(self) -> list[tuple[object, ...]]:
        return [*map(astuple, self.steps)]

    def with_outcome(self, outcome: Outcome) -> Trajectory:
        """The same episode with another outcome."""
        return self.with_facts(outcome=outcome)

    def with_facts(self, **facts: object) -> Trajectory:
        """The same episode with something else about it: outcome, source, domain, metadata.

        What was worked out from its texts stays.
        """
        changed = replace(self, **facts)
        changed.__dict__.update(self.__dict__)
        return changed
