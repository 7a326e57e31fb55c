"""Two tasks compared: whether they are one, and an older one's way with the present one's names.

Two tasks of one form differ in names: a release, a file, a service. What an older one names is
found by comparing their words, and takes the present task's name wherever it stands by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher

_SAME = 0.85  # the share of two tasks' words that are in both, from which on they are one
_WORDS = re.compile(r"[\w.*/-]*\w")
_ALIKE = 0.6


def is_same(words: set[str], others: set[str]) -> bool:
    """Return whether two tasks are one, by the share of their words that both have."""
    return bool(words) and len(words & others) >= _SAME * len(words | others)


def renaming(old: str, new: str) -> dict[str, str]:
    """Return what stands in a task for what an older one of the same form names."""
    before, after = _WORDS.findall(old)[:60], _WORDS.findall(new)[:60]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return {}
    return {
        before[at]: after[to]
        for kind, at, at_end, to, to_end in matcher.get_opcodes()
        if kind == "replace" and at_end - at == to_end - to == 1 and len(before[at]) > 1
    }


def adapted(step: str, names: Mapping[str, str]) -> str:
    """Return a step with the present task's names; what came of it then stays as it was."""
    did, sign, answer = step.partition(" → ")
    return f"{renamed(did, names)}{sign}{answer}"


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names replaced where they stand by themselves."""
    if not names:
        return text
    ordered = sorted(names, key=len, reverse=True)
    pattern = "|".join(f"{_before(name)}{re.escape(name)}" for name in ordered)
    text_now = re.sub(rf"(?:{pattern})(?!\w)", lambda found: names[found.group()], text)
    # Half of a command with the new names would be worse than all of it with the old ones.
    left = any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text_now) for name in names)
    return text if left else text_now


def _before(name: str) -> str:
    """Return what may stand before a name: a plain word is one only as a part of a path or a
    value.
    """
    if name.isdigit():  # alone it may be the value of an option
        return r"(?<=[/#_:])"
    if name[0].isdigit():
        return r"(?<![\d.])"
    return r"(?<=[/=:.])(?<!//)" if name.isalpha() else r"(?<![\w*])"
