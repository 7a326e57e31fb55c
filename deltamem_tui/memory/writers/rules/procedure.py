"""A procedure in a node's text: numbered steps, or edits of the chain's, and what it worked with.

Names of the task stand open in the steps (`take [object] from countertop`); the line at the end
says what they were, so that the episode's own commands can be put together again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.writers.failure_markers import FAILED, PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.memory.writers.rules.edits import Edit, difference, merged, read_edits

_STEP = re.compile(r"\d+\. (.+)")
_NAMES = re.compile(r"Worked (?:as it stands )?with (.+)\.")
_NAME = re.compile(r"\[([^\]]+)\] = ([^,]+)(?:, |$)")
_SLOT = re.compile(r"\[([a-z][a-z ]*)\]")
_MARKS = (FAILED, TRIED, PARTIAL, UNEXPLORED)


@dataclass(frozen=True, slots=True)
class Procedure:
    """What a chain says, put together.

    Attributes:
        steps: The commands in order, names of the task left open.
        names: What stood at each open place in the episode that is nearest.
        warnings: The lines of failure records.
    """

    steps: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, chain: Sequence[Node]) -> Procedure | None:
        """The procedure of a chain; None if a node of it is not in the words of the rules."""
        steps: list[str] = []
        names: Mapping[str, str] | None = None
        warnings: list[str] = []
        for node in chain:
            lines = node.payload["execution_procedure"].splitlines()
            if found := _NAMES.fullmatch(lines[-1]):
                names = dict(_NAME.findall(found[1]))
                lines.pop()
            warnings += [line for line in lines if line.startswith(_MARKS)]
            rest = [line for line in lines if not line.startswith(_MARKS)]
            numbered = [found for line in rest if (found := _STEP.fullmatch(line))]
            if rest and len(numbered) == len(rest):
                steps = [found[1] for found in numbered]
                continue
            edits = read_edits(rest)
            if edits is None:
                return None
            steps = merged(steps, edits)
        return cls(tuple(steps), names, tuple(dict.fromkeys(warnings)))


def text_of(steps: Sequence[str], names: Mapping[str, str], base: Sequence[str] = ()) -> str:
    """A procedure as a node says it: whole, or where it differs from a base if that is shorter."""
    whole = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    edits: list[Edit] = difference(base, steps) if base else []
    changes = [line for edit in edits for line in str(edit).splitlines()]
    lines = changes if base and len(changes) < len(whole) else whole
    with_names = ", ".join(f"[{slot}] = {name}" for slot, name in names.items())
    if with_names:
        lines = [*lines, f"Worked {'' if lines else 'as it stands '}with {with_names}."]
    return "\n".join(lines)


def filled(text: str, names: Mapping[str, str]) -> str:
    """A text with its open places filled in where the names tell what stands there."""
    return _SLOT.sub(lambda found: names.get(found[1], found[0]), text)
