"""Answers of a writer: texts for new nodes, or nothing.

A method decides *where* a new node goes; a writer decides *what* it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from deltamem_tui.bank.node import Node, Origin
from deltamem_tui.errors import ExtractionError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.prompts.use import Purpose
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

Notes = Sequence[Node]
"""The texts that a writer is given to read: the chain root → match, or what is to be fused."""
Inputs = Mapping[str, str | tuple[str, ...]]
"""Inputs of a writer beside an episode and notes, by name: a text, or several, the first ones the
most important."""

NO_INPUTS: Inputs = MappingProxyType({})
_NOTHING_USED = Usage()
_NO_EPISODE = Origin()


@dataclass(frozen=True, slots=True)
class Extraction:
    """A writer's answer about an episode for one collection.

    Attributes:
        payload: What the new node will say; None to skip, because the notes cover it all.
        reason: Why, in one line, for the journal.
        usage: What asking the model took, all attempts together.
        attempts: How often the model was asked.
        cut: What of the episode did not fit the model's window, in one line; empty if all did.
        further: Where several nodes are wanted, what those after the first will say.
        unrelated: Whether the notes are about something else, so that it has to be asked without.
    """

    payload: Mapping[str, str] | None
    reason: str
    model: str = ""
    prompt: str = ""
    usage: Usage = _NOTHING_USED
    attempts: int = 0
    cut: str = ""
    further: tuple[Mapping[str, str], ...] = ()
    unrelated: bool = False

    @property
    def payloads(self) -> tuple[Mapping[str, str], ...]:
        """The texts of each new node; empty to skip."""
        return () if self.payload is None else (self.payload, *self.further)

    def origin(
        self, writer: str, episode: Trajectory | None = None, before: Origin = _NO_EPISODE
    ) -> Origin:
        """Return where a node comes from that a writer made, of an episode if one is given.

        What is known of it besides, `before`, stays.
        """
        if episode is not None:
            source = episode.outcome.source
            before = replace(before, trajectory=episode.id, outcome_source=source)
        return replace(before, extractor=writer, model=self.model, prompt=self.prompt)

    def calls(self, purpose: Purpose, tree: str | None = None) -> tuple[Call, ...]:
        """Return the question that was put to a model; empty if none was asked."""
        call = Call(purpose, tree, self.model, self.prompt, self.usage, self.attempts, self.cut)
        return (call,) if self.attempts else ()


def extraction_of(payloads: Sequence[Mapping[str, str]], reason: str) -> Extraction:
    """Return what was written without a model: several payloads, or none."""
    first = payloads[0] if payloads else None
    return Extraction(first, reason, further=tuple(payloads[1:]))


@dataclass(frozen=True, slots=True)
class FunctionWriter:
    """A writer made of one function."""

    name: str
    write: Callable[..., Extraction]


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a language model, with its repeats, as the journal remembers it.

    Attributes:
        purpose: To `extract` from an episode, to `fuse` a chain, to `induce` from several
            episodes, to `classify` a task, or to `judge` how an episode ended.
        tree: The tree it was for; None if it was not for a single tree.
        model: Who was asked.
        prompt: Digest of the prompt; empty if there was no answer to it.
        usage: What it took, all attempts together; one answer out of the cache took nothing.
        attempts: How often it was asked, the first time included.
        cut: What of the episode did not fit the model's window; empty if all did.
        source: The episode's id; without an episode that of the last note.
    """

    purpose: Purpose
    tree: str | None
    model: str
    prompt: str
    usage: Usage
    attempts: int = 1
    cut: str = ""
    source: str = ""

    def record(self) -> dict[str, Any]:
        """Return the call as data, without what is empty and without what it took."""
        facts = {"tree": self.tree, "prompt": self.prompt, "cut": self.cut}
        return {
            "purpose": self.purpose,
            "model": one_line(self.model, 200),
            "attempts": self.attempts,
            **{name: fact for name, fact in facts.items() if fact},
        }

    def bill(self) -> dict[str, Any]:
        """Return what it took, as a line of `usage.jsonl`. A cost of null is not known."""
        kind = "node" if self.purpose in ("fuse", "induce") else "episode"
        return {
            "purpose": self.purpose,
            **({"tree": self.tree} if self.tree else {}),
            **({kind: self.source} if self.source else {}),
            "model": one_line(self.model, 200),
            "prompt": self.prompt,
            **asdict(self.usage),
        }


OnPayment = Callable[[Call], object]
"""Called with each answer when it comes, in whatever thread, before it is kept or used."""


class FailedCallError(ExtractionError):
    """A model was asked and gave nothing that can be used; what that took stays known."""

    def __init__(
        self, message: str, call: Call, *, source: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, source=source, hint=hint)
        self.call = call
