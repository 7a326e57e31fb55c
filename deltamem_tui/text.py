"""Text: made safe, shortened, listed and compared.

No control character reaches a file, terminal or prompt.
Logs, banks, archives and models are not trusted. `clean` is applied where their text comes in
and again where it is shown, because another program may have written the bank.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

# Terminal control strings: CSI (ESC [ … letter), OSC/DCS/SOS/PM/APC (ESC ] … BEL or ST)
# and two-byte escapes, each also in its one-byte C1 form.
_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 without tab and newline, DEL, C1, lone surrogates, the bidirectional marks,
# overrides and isolates that make text read as something it is not, and the tag
# characters, which are invisible and which a model reads.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
_NEWLINE = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_UNCLEAN = re.compile(
    "[^\n\t\x20-\x7e\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff"
    "\ue000-\ufefe\uff00-\U000dffff\U000e0080-\U0010ffff]"
)
_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing may take cubic time, and texts are not trusted.
_MOST_COMPARED_WORDS = 500

_ASIDE = re.compile(r"\([^()]*\)")
LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOT_WORD = re.compile(r"[^\w#{}\[\]′″‴]+")  # a prime tells one box from another
_ARTICLE = re.compile(r"\b(?:the|an|a)\b")
_WIDEST_WORD = 80
ARROW = " → "


def clean(text: str) -> str:
    """Remove everything from `text` that could act on a terminal instead of being read.

    Escape sequences go as a whole, and tabs stay. All kinds of line ends become newlines, a lone
    carriage return included: the text that it would overwrite on a terminal stays visible.
    Clean text comes back unchanged.
    """
    if not _UNCLEAN.search(text):
        return text
    text = _NEWLINE.sub("\n", text)
    text = _ESCAPE_SEQUENCE.sub("", text)
    return _CONTROL.sub("", text)


def cleaned(value: Any) -> Any:
    """Return a value as JSON can hold it, with all its text cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [cleaned(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: cleaned(getattr(value, item.name)) for item in fields(value)}
    return clean(os.fspath(value)) if isinstance(value, os.PathLike) else value


def one_line(text: str, width: int | None = None) -> str:
    """Clean `text`, fold its white space, and cut it at `width` characters with an ellipsis."""
    line = _BLANK.sub(" ", clean(text)).strip()
    if width is None or len(line) <= width:
        return line
    return line[: max(width - 1, 0)].rstrip() + "…"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 node`, `2,000 nodes`, `3 children`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def count_tokens(text: str) -> int:
    """Count tokens parted by white space, the unit in which the papers report size."""
    return len(text.split())


def word_diff(before: str, after: str) -> str:
    """Return the second text with `[−what went−]` and `{+what came+}` in place, word by word.

    Of texts that are too long to be compared, only the lengths are shown.
    """
    from difflib import SequenceMatcher

    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > _MOST_COMPARED_WORDS:
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


def condense(text: str, words: int) -> str:
    """`text` on one line, cut after so many words; a word of absurd length is cut too."""
    parts = one_line(text).split()
    kept = [part if len(part) <= _WIDEST_WORD else part[:_WIDEST_WORD] + "…" for part in parts]
    return " ".join(kept[:words]) + (" …" if len(kept) > words else "")


def listed(items: Sequence[str], most: int | None = None) -> str:
    """Items with commas between; those beyond `most` are only counted."""
    shown = list(items[:most])
    left = len(items) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def distinct(items: Iterable[str]) -> list[str]:
    """Items in their first order, each once, the empty ones dropped."""
    return [item for item in dict.fromkeys(items) if item]


def key(phrase: str) -> str:
    """Return what a phrase says without how it is set: two phrases with one key say the same.

    Case, list marks, asides in parentheses, articles, punctuation and the values of
    numbers are dropped.
    """
    text = LIST_MARK.sub("", phrase.casefold())
    # A bounded number of rounds: hostile nesting must not cost more than it is worth.
    for _ in range(3):
        text = _ASIDE.sub(" ", text)
    text = _NUMBER.sub("#", text)
    return " ".join(_ARTICLE.sub(" ", _NOT_WORD.sub(" ", text)).split())


def unlike(phrases: Iterable[str], same: Callable[[str], str] = key) -> list[str]:
    """Return the first of all phrases that say the same, in order."""
    firsts: dict[str, str] = {}
    for phrase in phrases:
        firsts.setdefault(same(phrase), phrase)
    return list(firsts.values())


def bulleted(lines: Sequence[str]) -> str:
    """Lines as a bulleted list."""
    return "\n".join(f"- {line}" for line in lines)


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """At most so many lines: the middle of a longer list gives way to a count."""
    if len(lines) <= most:
        return list(lines)
    head = (most - 1) * 2 // 3
    tail = most - 1 - head
    return [*lines[:head], f"({len(lines) - head - tail} more steps)", *lines[len(lines) - tail :]]
