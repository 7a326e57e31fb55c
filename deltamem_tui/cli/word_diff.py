"""Two texts as one, with what went and what came marked word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing may take time with the cube of the words, and a text may be a stranger's. Those
# that stand in more than one place of a hundred are left aside, which tames repetitions.
_MOST_WORDS = 500


def word_diff(before: str, after: str) -> str:
    """The second text with `[−what went−]` and `{+what came+}` in place.

    Texts that are too long to be compared are told by their length.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        return f"[−{len(before):,} characters−]{{+{len(after):,} characters+}}"
    parts = []
    for what, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        if what == "equal":
            parts += new[k:m]
            continue
        if i < j:
            parts.append(f"[−{''.join(old[i:j])}−]")
        if k < m:
            parts.append(f"{{+{''.join(new[k:m])}+}}")
    return "".join(parts)
