"""Facts of a task: named parts of one to four words, by which tasks are compared (MemP's AveFact).

The names are closed for each domain, so that two tasks of it have names in common. Values are
the task's own words. Nothing of an episode is read: a question has no episode yet.
"""

from __future__ import annotations

import re

from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.wording import distinct
from deltamem_tui.text import one_line

_WORDS = 4
_READ = 2000  # characters of a task
_PREAMBLE = re.compile(
    r"^(?:task description:|your task is to|please|could you|can you|i (?:want|need|would like) "
    r"you to|i (?:want|need|would like) to|help me(?: to)?|you (?:must|should|are to))\s+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_SMALL = re.compile(
    r"an?|the|this|that|these|those|some|any|all|each|its?|is|are|be|been|was|were|has|have|had"
    r"|and|or|but|if|then|than|so|as|of|in|on|at|to|from|by|for|with|without|into|onto|about|over"
    r"|under|up|down|out|off|not?|do|does|did|your?|my|me|we|our|us|i|he|she|they|them|their|his"
    r"|her|which|what|who|when|where|why|how|can|could|should|would|will|must|may|there|here"
    r"|please|using|use",
    re.IGNORECASE,
)


def task_facts(domain: str, task: str) -> dict[str, str]:
    """The facts of a task, name to value; a name without a value is left out.

    The names are the domain's; where it has none, or a task is not in its words, they are `verb`
    and `nouns`.
    """
    task = one_line(task[:_READ])
    facts = domain_for(domain).task_facts(task) or _of_any(task)
    return {name: short for name, value in facts.items() if (short := _short(value))}


def _short(value: str) -> str:
    return " ".join(value.strip(" .,:;'\"").split()[:_WORDS])


def _of_any(task: str) -> dict[str, str]:
    words = distinct(_WORD.findall(without_preamble(task)))
    told = [word for word in words if not _SMALL.fullmatch(word)]
    return {"verb": told[0], "nouns": " ".join(told[1:])} if told else {}


def without_preamble(task: str) -> str:
    """A task without what people say before they ask."""
    for _ in range(2):
        task = _PREAMBLE.sub("", task)
    return task
