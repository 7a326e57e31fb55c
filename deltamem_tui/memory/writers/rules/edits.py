"""Where one procedure differs from another, as text that a person reads and a program applies.

A residual holds the differences from its chain's procedure; put together again they give the
episode's own procedure, step by step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_AT = r"[1-9]\d{0,5}"  # a text from a stranger may hold any number
_HEAD = re.compile(
    rf"(?:After step (?P<after>{_AT})|Instead of steps? (?P<first>{_AT})(?: to (?P<last>{_AT}))?"
    r"|(?P<start>At the start)):"
)
_WITHOUT = re.compile(rf"Without steps? (?P<first>{_AT})(?: to (?P<last>{_AT}))?\.")
_NEW = "+ "


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines that take the place of `base[start:end]`."""

    start: int
    end: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        if not self.lines:
            return f"Without {_steps(self.start, self.end)}."
        if self.start < self.end:
            head = f"Instead of {_steps(self.start, self.end)}:"
        else:
            head = f"After step {self.start}:" if self.start else "At the start:"
        return "\n".join([head, *(_NEW + line for line in self.lines)])


def difference(base: Sequence[str], lines: Sequence[str]) -> list[Edit]:
    """What makes `lines` of `base`, in order."""
    matcher = SequenceMatcher(None, base, lines, autojunk=False)
    return [
        Edit(start, end, tuple(lines[first:last]))
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]


def merged(base: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The lines that edits make of a base.

    Args:
        base: The lines that the edits were made for.
        edits: In order and apart from each other, within the base (see `fit`).
    """
    lines: list[str] = []
    at = 0
    for edit in edits:
        lines += [*base[at : edit.start], *edit.lines]
        at = edit.end
    return [*lines, *base[at:]]


def fit(base: Sequence[str], edits: Iterable[Edit]) -> bool:
    """Whether edits come in order and apart from each other, none beyond the base's end."""
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end:
            return False
        at = edit.end
    return at <= len(base)


def read_edits(lines: Sequence[str]) -> list[Edit] | None:
    """The edits that lines spell; None if any line is something else."""
    edits = []
    for edit in _edits(lines):
        if edit is None:
            return None
        edits.append(edit)
    return edits


def _edits(lines: Sequence[str]) -> Iterator[Edit | None]:
    """One edit after the other; None and no more where the lines are something else."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if without := _WITHOUT.fullmatch(line):
            yield Edit(*_range(without), ())
            continue
        head = _HEAD.fullmatch(line)
        end = at
        while end < len(lines) and lines[end].startswith(_NEW):
            end += 1
        if head is None or end == at:
            yield None
            return
        new = tuple(each.removeprefix(_NEW) for each in lines[at:end])
        after = 0 if head["start"] else int(head["after"] or 0)
        yield Edit(*_range(head), new) if head["first"] else Edit(after, after, new)
        at = end


def _range(found: re.Match[str]) -> tuple[int, int]:
    return int(found["first"]) - 1, int(found["last"] or found["first"])


def _steps(start: int, end: int) -> str:
    return f"step {end}" if end - start == 1 else f"steps {start + 1} to {end}"
