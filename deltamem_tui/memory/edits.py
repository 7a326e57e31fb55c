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
    r"|At the start):"
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
    """One edit after the other; None, and then nothing more, where the lines are something else."""
    at = 0
    while at < len(lines):
        without, head = _WITHOUT.fullmatch(lines[at]), _HEAD.fullmatch(lines[at])
        at += 1
        new: list[str] = []
        while head and at < len(lines) and lines[at].startswith(_NEW):
            new.append(lines[at].removeprefix(_NEW))
            at += 1
        if without:
            yield _replacing(without, ())
        elif not head or not new:
            yield None
            return
        elif head["first"]:
            yield _replacing(head, new)
        else:
            after = int(head["after"] or 0)
            yield Edit(after, after, tuple(new))


def _replacing(found: re.Match[str], new: Sequence[str]) -> Edit | None:
    """An edit of the steps that a head names; None if it ends before it begins."""
    first, last = int(found["first"]), int(found["last"] or found["first"])
    return Edit(first - 1, last, tuple(new)) if first <= last else None


def _steps(start: int, end: int) -> str:
    return f"step {end}" if end - start == 1 else f"steps {start + 1} to {end}"
