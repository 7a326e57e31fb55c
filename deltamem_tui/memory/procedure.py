"""A procedure in a node's text: numbered steps, or edits of the chain's, and what it worked with.

Edits are where one procedure differs from another, as text that a person reads and a program
applies: put together again with the chain's procedure they give the episode's own, step by step.

Names of the task stand open in the steps (`take [object] from countertop`); the line at the end
says what they were, so that the episode's own commands can be put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from deltamem_tui.bank.node import Node

FAILED = "[FAILED]"
UNEXPLORED = "[UNEXPLORED]"
PARTIAL = "[PARTIAL]"
TRIED = "[TRIED]"
TRAP = "[TRAP]"
RECORD_MARKS = (FAILED, UNEXPLORED, PARTIAL, TRIED)
"""What the lines of a failure record begin with.

They belong to the text, not to the label. A `[TRIED]` line holds what an environment answered, and
that stays true under another label: without the mark, what led nowhere would read as advice. So a
node that is relabelled keeps its text, and the person who relabels it is notified.
"""
_MARK = re.compile(
    rf"^(?:[^\w\n]|\d)*?({'|'.join(map(re.escape, (*RECORD_MARKS, TRAP)))})", re.MULTILINE
)
_STEP = re.compile(r"\d+\. (.+)")
_NAMES = re.compile(r"Worked (?:as it stands )?with (.+)\.")
_NAME = re.compile(r"\[([^\]]+)\] = (.+?)(?:, (?=\[)|$)")
_SLOT = re.compile(r"\[([a-z][a-z ]*)\]")
_AT = r"[1-9]\d{0,5}"  # a text from a stranger may hold any number
_HEAD = re.compile(
    rf"(?:(?P<how>After step|Instead of steps?|Without steps?) (?P<first>{_AT})"
    rf"(?: to (?P<last>{_AT}))?|At the start)(?P<end>[:.])"
)
_NEW = "+ "


@dataclass(frozen=True, slots=True)
class Procedure:
    """The contents of a chain, put together.

    Attributes:
        steps: The commands in order, names of the task left open.
        names: What stood at each open place in the chain's last success.
        warnings: The lines of failure records, those of the chain's last node first.
    """

    steps: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, chain: Sequence[Node]) -> Procedure | None:
        """Return the procedure of a chain; None if a node is not in the words of the rules."""
        known = cls()
        for node in chain:
            text = node.payload["execution_procedure"]
            # A model's numbers may count remarks.
            is_strange = _STEP.match(text) and node.origin.extractor not in ("rules", "user")
            found = known._with(text.splitlines())
            if found is None or (known.steps and is_strange):
                return None
            known = found
        return known

    def _with(self, lines: Sequence[str]) -> Procedure | None:
        """Return the procedure that the lines of a further node make of this one."""
        records = [line for line in lines if line.startswith(RECORD_MARKS)]
        rest = [line for line in lines if line not in records and not _NAMES.fullmatch(line)]
        steps: list[str] | None = [found[1] for line in rest if (found := _STEP.fullmatch(line))]
        if not rest or len(steps or ()) < len(rest):
            edits = read_edits(rest)
            steps = None if edits is None else merged(self.steps, edits)
        if steps is None:
            return None
        warnings = tuple(dict.fromkeys([*records, *self.warnings]))
        return Procedure(tuple(steps), _names_in(lines) or self.names, warnings)


def put_together(chain: Sequence[Node]) -> str:
    """Return the last text of a chain, with the steps that its edits make of those above it.

    Other lines stay, and edits that do not fit the steps above them.
    """
    text, steps = "", list[str]()
    for node in chain:
        lines = node.payload["execution_procedure"].splitlines()
        edits = [line for line in lines if _HEAD.fullmatch(line) or line.startswith(_NEW)]
        made = merged(steps, read) if (read := read_edits(edits)) else None
        if made:
            spelt = {*edits}
            lines = [*numbered(made), *(line for line in lines if line not in spelt)]
        steps = [found[1] for line in lines if (found := _STEP.fullmatch(line))]
        text = "\n".join(lines)
    return text


def marks_in(payload: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks of a failure record at the beginning of the procedure's lines, each once."""
    return tuple(dict.fromkeys(_MARK.findall(payload["execution_procedure"])))


def names_in(node: Node) -> dict[str, str]:
    """Return what a node worked with: slot → name; empty if it does not say."""
    return _names_in(node.payload["execution_procedure"].splitlines()[-1:])


def _names_in(lines: Iterable[str]) -> dict[str, str]:
    found = [names for line in lines if (names := _NAMES.fullmatch(line))]
    return dict(_NAME.findall(found[-1][1])) if found else {}


def text_of(steps: Sequence[str], names: Mapping[str, str], base: Sequence[str] = ()) -> str:
    """Return a procedure as a node says it: whole, or as edits of a base if they are shorter."""
    lines = numbered(steps)
    if base:
        changes = [line for edit in difference(base, steps) for line in str(edit).splitlines()]
        lines = min(lines, changes, key=lambda text: len("\n".join(text)))
    with_names = ", ".join(f"[{slot}] = {name}" for slot, name in names.items())
    if with_names:
        lines = [*lines, f"Worked {'' if lines else 'as it stands '}with {with_names}."]
    return "\n".join(lines)


def numbered(steps: Sequence[str]) -> list[str]:
    """Return steps as the lines of a numbered list."""
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


def names_open(text: str) -> bool:
    """Return whether a text has an open place."""
    return bool(_SLOT.search(text))


def filled(text: str, names: Mapping[str, str]) -> str:
    """Return a text with its open places filled in where the names tell what stands there.

    A task that names one room means it for what had a second room elsewhere.
    """
    known = {"second room": names["room"], **names} if "room" in names else names
    return _SLOT.sub(lambda found: known.get(found[1], found[0]), text)


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines that take the place of `base[start:end]`."""

    start: int
    end: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        many = f"steps {self.start + 1} to {self.end}"
        steps = f"step {self.end}" if self.end - self.start == 1 else many
        if not self.lines:
            return f"Without {steps}."
        head = f"After step {self.start}:" if self.start else "At the start:"
        if self.start < self.end:
            head = f"Instead of {steps}:"
        return "\n".join([head, *(_NEW + line for line in self.lines)])


def difference(base: Sequence[str], lines: Sequence[str]) -> list[Edit]:
    """Return what makes `lines` of `base`, in order."""
    matcher = SequenceMatcher(None, base, lines, autojunk=False)
    return [
        Edit(start, end, tuple(lines[first:last]))
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]


def merged(base: Sequence[str], edits: Iterable[Edit]) -> list[str] | None:
    """Return the lines that edits make of a base.

    None if they do not come in order and apart from each other, or reach beyond the base's end.
    """
    lines: list[str] = []
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= len(base):
            return None
        lines += [*base[at : edit.start], *edit.lines]
        at = edit.end
    return [*lines, *base[at:]]


def read_edits(lines: Sequence[str]) -> list[Edit] | None:
    """Return the edits that lines spell; None if any line is something else."""
    edits: list[Edit] = []
    rest = [*reversed(lines)]
    while rest:
        head, new = _HEAD.fullmatch(rest.pop()), list[str]()
        while rest and rest[-1].startswith(_NEW):
            new.append(rest.pop().removeprefix(_NEW))
        edit = _edit(head, new) if head else None
        if edit is None:
            return None
        edits.append(edit)
    return edits


def _edit(head: re.Match[str], new: Sequence[str]) -> Edit | None:
    """Return the edit of a head and its new lines; None if they do not go together."""
    how, first = head["how"] or "After", int(head["first"] or 0)
    last, is_without = int(head["last"] or first), how.startswith("Without")
    if is_without == bool(new) or is_without != (head["end"] == ".") or last < first:
        return None
    if how.startswith("After"):
        return None if head["last"] else Edit(first, first, tuple(new))
    return Edit(first - 1, last, tuple(new))
