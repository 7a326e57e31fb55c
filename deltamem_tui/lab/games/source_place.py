"""Where an object was taken from, left open: `[place]`, which is not where it is to be put.

Both may be of one kind in an episode (a cloth from a drawer into a drawer), and only the
destination is the task's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TAKEN = re.compile(r"take \[object\] from .+")
_WAY = ("go to ", "open ")
_GO, _TAKE = "go to [place]", "take [object] from [place]"


def source_left_open(actions: Iterable[str]) -> tuple[str, ...]:
    """ALFWorld's actions without where the object lay, and the way there.

    Both differ from house to house.
    """
    steps: list[str] = []
    for action in actions:
        is_taking = _TAKEN.fullmatch(action)
        if is_taking:
            before = len(steps)
            while steps and steps[-1].startswith(_WAY):
                steps.pop()
            steps += [_GO] * (len(steps) < before)
        steps.append(_TAKE if is_taking else action)
    return tuple(steps)
