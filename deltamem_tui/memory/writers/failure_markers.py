"""Marks: what a failure record notes about each of its lines.

They belong to the text, not to the label. A `[TRIED]` line holds what an environment answered,
and that stays true under another label: without the mark, what led nowhere would read as advice.
So a node that is relabelled keeps its text, and the person who relabels it is notified.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FAILED = "[FAILED]"
UNEXPLORED = "[UNEXPLORED]"
PARTIAL = "[PARTIAL]"
TRIED = "[TRIED]"
TRAP = "[TRAP]"
RECORD_MARKS = (FAILED, UNEXPLORED, PARTIAL, TRIED)
"""What the lines of a failure record begin with."""
_MARK = re.compile(
    rf"^(?:[^\w\n]|\d)*?({'|'.join(map(re.escape, (*RECORD_MARKS, TRAP)))})", re.MULTILINE
)


def marks_in(payload: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks of a failure record at the beginning of the procedure's lines, each once."""
    return tuple(dict.fromkeys(_MARK.findall(payload["execution_procedure"])))
