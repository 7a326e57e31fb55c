"""Marks: how a failure record says of each line what came of it.

They belong to the text, not to the label. A `[TRIED]` line tells what an environment answered,
and that stays true whatever somebody calls the node: to take the mark away would make advice of
what led nowhere. So a node that is relabelled keeps its text, and whoever relabels it is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FAILED = "[FAILED]"
UNEXPLORED = "[UNEXPLORED]"
PARTIAL = "[PARTIAL]"
TRIED = "[TRIED]"
TRAP = "[TRAP]"
_MARK = re.compile(
    rf"^(?:[^\w\n]|\d)*?({'|'.join(map(re.escape, (FAILED, UNEXPLORED, PARTIAL, TRIED, TRAP)))})",
    re.MULTILINE,
)


def marks_in(payload: Mapping[str, str]) -> tuple[str, ...]:
    """The marks of a failure record at the beginning of the procedure's lines, each once."""
    return tuple(dict.fromkeys(_MARK.findall(payload["execution_procedure"])))
