"""The form of a report that every face shows.

A command prints the facts, sections and notes, or the record as JSON; the browser shows the
summary, and the sections where it asks before the work is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deltamem_tui.llm.cost import Usage

Value = str | int | float | bool | None


class ReportNote(NamedTuple):
    """A thing that a person should know, without its full stop; how to go on, on a command line."""

    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.hint}" if self.hint else self.text


class ReportSection(NamedTuple):
    """Some lines of one kind; a `warning` should be read before going on."""

    title: str
    lines: Sequence[str]
    warning: bool = False


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as every face shows it.

    Attributes:
        record: All of it, as JSON can hold it; the rest is for a person.
        facts: Its numbers by name.
        summary: All that matters on one line.
    """

    record: Mapping[str, Any]
    facts: Mapping[str, Value] = field(default_factory=dict)
    sections: Sequence[ReportSection] = ()
    notes: Sequence[ReportNote] = ()
    summary: str = ""


def cost_text(usage: Usage) -> str:
    """`$0.0123`; a cost that is not known is not zero."""
    return "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"


def usage_facts(usage: Usage) -> dict[str, Value]:
    """Return what calls of a model took."""
    return {
        "calls": usage.calls,
        "answers from the cache": usage.cached,
        "prompt tokens": usage.prompt_tokens,
        "answer tokens": usage.completion_tokens,
        "cost": "unknown" if usage.cost is None else cost_text(usage),
    }
