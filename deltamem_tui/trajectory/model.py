"""The normal form of an episode, into which every log is read.

A trajectory is one episode: a task, the environment it was met in, the ordered
steps, and the outcome with its provenance. Its id is a digest of task, environment
and steps, so reading the same episode twice gives the same id, whatever file it
came from and whatever its outcome turns out to be.

The types are the codec too: a line of the project's own log has these fields in this order,
and what has a `default_factory` is written even if it is empty. Decoding checks the types;
of what other code builds, `validation` checks them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, get_args

import orjson
from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from deltamem_tui.trajectory.receipt import Receipts

OutcomeSource = Literal["stated", "user", "judge", "unknown"]
StepKind = Literal["call", "message", "code"]
StepStatus = Literal["ok", "error"]
StepSpeaker = Literal["tool", "user"]
OUTCOME_SOURCES: tuple[OutcomeSource, ...] = ("stated", "user", "judge", "unknown")

STEP_WORDS = {
    name: get_args(kind)
    for name, kind in (("kind", StepKind), ("status", StepStatus), ("speaker", StepSpeaker))
}


class Step(Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing the agent did and what came back.

    The fields behind `reward` hold the structure that a log states, never one that its prose
    suggests; they are not part of an episode's identity.

    Attributes:
        action: The act, as the agent wrote it.
        observation: The answer of the environment; empty if there was none.
        thought: The thought before the act; empty if the log has none.
        reward: The reward of this step, if the log has it.
        tool: The name of the tool that was called.
        arguments: The arguments of the call; long texts are cut, as `action` has them in full.
        kind: A call of a tool, a message to the user, or code that is run.
        status: Success or failure of the call, by a flag or an exit code of the log.
        speaker: Who spoke the observation.
        said: The user's words within an observation that a tool spoke too, mostly its end.
    """

    action: str
    observation: str = field(default_factory=str)
    thought: str = ""
    reward: float | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    kind: StepKind | None = None
    status: StepStatus | None = None
    speaker: StepSpeaker | None = None
    said: str = ""

    def with_texts(self, change: Callable[[str], str]) -> Step:
        """Return the step with each of its texts changed."""
        arguments = changed(self.arguments, change)
        return replace(
            self,
            action=change(self.action),
            observation=change(self.observation),
            thought=change(self.thought),
            tool=self.tool and change(self.tool),
            arguments=arguments if isinstance(arguments, dict) else None,
            said=change(self.said),
        )


def _texts_in(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, Mapping):
            waiting += (*each, *each.values())


def changed(value: object, change: Callable[[str], str]) -> object:
    """Return a value with each text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [changed(each, change) for each in value]
    if isinstance(value, dict):
        return {change(str(key)): changed(each, change) for key, each in value.items()}
    return value


class Outcome(Struct, frozen=True, omit_defaults=True, gc=False):
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

    @property
    def known(self) -> bool:
        """True if the episode can be learnt from."""
        return self.success is not None

    @property
    def attributed(self) -> Outcome:
        """The outcome, stated by the log if it is known and its source is not."""
        if self.source != "unknown" or (self.success is None and self.reward is None):
            return self
        return replace(self, source="stated")


class LogSource(Struct, frozen=True, omit_defaults=True, gc=False):
    """The place where an episode was read.

    Attributes:
        file: The log's file name, without the folders of the machine it was read on.
        position: Where the record begins, as a person would look it up (`line 3`, `record 7`).
        format: The name of the reader that read it.
    """

    file: str = ""
    position: str = ""
    format: str = field(default_factory=lambda: "native")


class Trajectory(Struct, frozen=True, omit_defaults=True, dict=True):
    """One episode in the normal form.

    Attributes:
        task: The goal, as the agent was told it.
        environment: What describes the scene: the environment part of the instruction or
            the first observation, without the goal. May be empty.
        steps: The steps in order.
        outcome: How it ended and who says so.
        source: Where it was read.
        domain: The kind of environment (`household`, `coding`, …); empty if unknown.
        agent: The model that acted, if the log names it.
        metadata: Other facts of the log worth keeping (task type, trial, external id), as text.
        verdicts: What others say of how it ended, at most one a source; `outcome` counts.
        receipts: What the agent was shown of its memory, a receipt a recall.
    """

    task: str
    environment: str = field(default_factory=str)
    steps: tuple[Step, ...] = field(default_factory=tuple)
    outcome: Outcome = field(default_factory=Outcome)
    source: LogSource = field(default_factory=LogSource)
    domain: str = ""
    agent: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    verdicts: tuple[Outcome, ...] = ()
    receipts: Receipts = ()

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits: a digest of task, environment and steps."""
        return hashlib.sha256(self.identity).hexdigest()[:16]

    def record(self) -> dict[str, object]:
        """Return the episode and its id as JSON holds them."""
        found = {"id": self.id, **to_builtins(self)}
        return found | {"steps": [*found["steps"]]}

    @cached_property
    def text(self) -> str:
        """The whole episode as text; its length is what memory is compared against."""
        texts = [self.task, self.environment, *(each.thought for each in self.steps)]
        texts += [each.action for each in self.steps]
        texts += [each.observation for each in self.steps]
        return "\n".join(filter(None, texts))

    @cached_property
    def searchable(self) -> bytes:
        """All its texts in UTF-8, those of arguments too, to be searched at once."""
        typed = [
            (step.tool, step.arguments, step.said)
            for step in self.steps
            if step.arguments or step.tool or step.said
        ]
        return "\n".join((self.text, *_texts_in(typed))).encode("utf-8", "surrogatepass")

    @cached_property
    def identity(self) -> bytes:
        """The content that the id is a digest of, as JSON: task, environment and steps."""
        # A reward of 1 and one of 1.0 have one id.
        rows = [
            (
                step.thought,
                step.action,
                step.observation,
                None if step.reward is None else step.reward * 1.0,
            )
            for step in self.steps
        ]
        return orjson.dumps((self.task, self.environment, rows))

    def with_texts(self, change: Callable[[str], str]) -> Trajectory:
        """Return the same episode, each of its texts changed."""
        source, outcome = self.source, self.outcome
        return replace(
            self,
            task=change(self.task),
            environment=change(self.environment),
            steps=tuple(step.with_texts(change) for step in self.steps),
            outcome=replace(outcome, reason=change(outcome.reason)),
            source=LogSource(change(source.file), change(source.position), change(source.format)),
            domain=change(self.domain),
            agent=change(self.agent),
            metadata={change(key): change(fact) for key, fact in self.metadata.items()},
            verdicts=tuple(replace(each, reason=change(each.reason)) for each in self.verdicts),
        )

    def with_outcome(self, outcome: Outcome) -> Trajectory:
        """Return the same episode with another outcome."""
        return self.with_facts(outcome=outcome)

    def with_facts(self, **facts: Any) -> Trajectory:
        """Return the same episode, with the same id, and other facts."""
        changed = replace(self, **facts)
        changed.__dict__.update(self.__dict__)
        return changed


GENERIC = "generic"
"""The domain of what is for no kind of environment in particular."""


def chosen_domain(named: str, *, otherwise: str, given: str = "") -> str:
    """Return the domain that the user gave, else the one its log names, else `otherwise`."""
    return given or " ".join(named.split()) or otherwise


def domain_key(domain: str) -> str:
    """Return what all spellings of a domain's name have in common: logs differ in capitals."""
    return domain.lower()


SESSION = "id"
"""The name of metadata by which a log names its session."""
FORKED_FROM = "forked_from"
"""The name of metadata by which a session names the one that it was copied from."""


def session_of(trajectory: Trajectory) -> str:
    """Return what the records of one session share: format and session id; empty without one."""
    facts = trajectory.metadata
    name = facts.get(FORKED_FROM) or facts.get(SESSION, "")
    return f"{trajectory.source.format} {name}" if name else ""


def scene_of(trajectory: Trajectory) -> str:
    """Return an episode's scene; empty if it has none.

    Banks of earlier versions may have one in the metadata that a model drew out of the task.
    """
    if trajectory.environment.strip():
        return trajectory.environment
    return trajectory.metadata.get("drawn_scene", trajectory.environment)


_RENDERED = "transcript"  # its files are written anew, in another form, by a newer program


def is_earlier(earlier: Trajectory, later: Trajectory) -> bool:
    """Return True if an episode is another one, read before that went on.

    All that was done is the beginning of the later one. Calls may have been answered since, the
    last answer may have gone on, and the agent's last words may have become the thought before its
    next call. An episode of which the log says how it ended went on no further. Of two texts of one
    session, the shorter is the earlier one.
    """
    if earlier.outcome.source == "stated" and earlier.outcome.known:
        return False
    if session_of(earlier).startswith(_RENDERED) and session_of(earlier) == session_of(later):
        return _extent(earlier) < _extent(later)
    if earlier.task != later.task or not 0 < len(earlier.steps) <= len(later.steps):
        return False
    if earlier.source.format == later.source.format == _RENDERED:
        # Two renderings of one session, whose steps differ in form; one of them counts.
        return (len(earlier.steps), earlier.id) < (len(later.steps), later.id)
    *before, last = earlier.steps
    after = later.steps[len(before)]
    return all(map(_goes_on, before, later.steps)) and (
        _goes_on(last, after) or _leads_to(last, after)
    )


# A text of a session, which SpecStory writes anew in the style of its version.
_RENDERED = "transcript "


def _extent(episode: Trajectory) -> tuple[int, int, str]:
    return len(episode.steps), len(episode.searchable), episode.id


def _goes_on(step: Step, later: Step) -> bool:
    same = (step.action, step.thought, step.reward) == (later.action, later.thought, later.reward)
    return same and later.observation.startswith(step.observation)


def _leads_to(words: Step, call: Step) -> bool:
    spoken = "\n".join(filter(None, (words.thought, words.action)))
    return not words.observation and call.thought.startswith(spoken)
