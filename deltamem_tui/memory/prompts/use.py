"""Uses of prompts: what each is given, and what its answer is read as.

A method declares the uses of its own prompts; those that every method shares stand here. A
prompt's file may ask for less than its use allows, never for something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deltamem_tui.bank.node import Label

Purpose = Literal["extract", "fuse", "induce", "classify", "judge", "act"]
"""The journal's name for a call of a model; see `writers.extraction.Call`."""

OF_AN_EPISODE = frozenset({"environment", "task", "trajectory", "outcome", "memory", "words"})
"""Variables of a prompt about an episode: the episode, how it ended, and the notes."""
OF_NOTES = frozenset({"memory", "failure", "words"})
"""Variables of a prompt without an episode: the notes, and whether all are of failures."""
MAY_SKIP = "may_skip"
"""The input that says whether the answer may be that there is nothing to write."""

_LOG = frozenset({"environment", "task", "trajectory", "words"})


@dataclass(frozen=True, slots=True)
class PromptUse:
    """The use of one prompt.

    Attributes:
        collection: The collection that it writes for; empty if for no single one.
        inputs: The names that its template may use: of what the program knows (see
            `OF_AN_EPISODE`), and of what the method gives to `Writer.write`.
        fields: The texts of its answer; none if the answer is free text.
        optional: Those of them that may be empty.
        items: The most objects of these fields in its answer, which is a list then; 0 if it is
            one object.
        label: The outcome of the episodes that it is for; None if for both.
        body: The field that holds what a node has to say. To skip, a model quotes a note's; a
            prompt's markers must stand in it. Without one, a single object cannot be skipped.
        choices: The values that a field of the answer may have; any if it is not named.
        empty_of_failures: The fields that stay empty where all notes are of failures.
        call: What the journal calls a call.
    """

    collection: str = ""
    inputs: frozenset[str] = OF_AN_EPISODE
    fields: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    items: int = 0
    label: Label | None = None
    body: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    empty_of_failures: tuple[str, ...] = ()
    call: Purpose = "extract"


HEADER = "memory_header"
SYSTEM = "system"
JUDGE = "judge"
KIND = "kind"
AGENT = "agent"

SHARED: Mapping[str, PromptUse] = {
    SYSTEM: PromptUse(inputs=frozenset()),
    JUDGE: PromptUse(
        inputs=_LOG, fields=("reasons", "solved"), choices={"solved": ("yes", "no")}, call="judge"
    ),
    KIND: PromptUse(
        inputs=frozenset({"task", "kinds", "words"}), fields=("kind",), call="classify"
    ),
    HEADER: PromptUse(inputs=frozenset()),
    AGENT: PromptUse(inputs=frozenset({"context", "task", "scene", "history"}), call="act"),
}
"""The prompts that belong to no method."""
