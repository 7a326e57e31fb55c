"""Facts of a task: named parts of one to four words, by which tasks are compared (MemP's AveFact).

The names are closed for each domain, so that two tasks of it have names in common. Values are
the task's own words. Nothing of an episode is read: a question has no episode yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from deltamem_tui.memory.writers.rules.alfworld_goals import house_goal
from deltamem_tui.memory.writers.rules.dialects import goal_of
from deltamem_tui.memory.writers.rules.webshop import ASK, PRICE
from deltamem_tui.memory.writers.rules.wording import distinct
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import key

_WORDS = 4
_READ = 2000  # characters of a task
_MOST_ATTRIBUTES = 4
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
_VERB = re.compile(
    r"measure the (?:melting point|temperature)|change the state|turn on|use chemistry|focus on"
    r"|determine (?:which|whether|if)|\w+"
)
_INSTRUMENT = re.compile(r"\bthermometer\b|\b(?:non)?renewable power source\b")
_TARGET = re.compile(
    r"\bfind a\(n\) ([\w-]+(?: thing)?)|\bcreate ([\w-]+ paint)\b"
    r"|\bhas the (\w+ (?:angle|friction))\b|\bwith the (\w+ life span)\b"
)
_TARGETS = ("trait", "substance", "device", "fruit", "plant", "animal")
_WANTED = re.compile(
    r"^.*?\b(?:need|want|look(?:ing)? for|search(?:ing)? for|(?:find|get|show)(?: me)?|buy|like"
    r"|order(?:ing)?|interested in)\b\s*"
    r"(?:to (?:buy|get|find|order|purchase)\s+)?(?:(?:an?|the|some)\s+)?",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:[,.;]+|\s(?:and|with|in|for|that|which|preferably)(?=\s))\s+"
    r"(?:(?:an?|the|and|also|with|in|is|are|has|have|i|want|need|comes?|choose|please)\s+)*"
)
_OPTION = re.compile(
    r"(?P<name>colou?r|size|style|flavor(?: name)?|scent|fit type|pattern|item package quantity"
    r"|material|number)\b\s*(?:is|:)?\s*(?P<value>.+)|(?P<before>.+?) (?:colou?r|size|style|flavor)"
)


def task_facts(domain: str, task: str) -> dict[str, str]:
    """The facts of a task, name to value; a name without a value is left out.

    Names by domain: ALFWorld `do`, `state`, `object`, `receptacle`, `tool`, `count` (only `two`);
    ScienceWorld `verb`, `target`, `instrument`, `place`; WebShop `category`, `attribute 1` …,
    `option 1` …, `price`; elsewhere, and where a task is not in its domain's words, `verb` and
    `nouns`. WebShop's tasks are people's sentences: which of their words is the category and which
    an attribute goes by their places alone.
    """
    task = one_line(task[:_READ])
    facts = _READERS.get(key(domain), _of_any)(task) or _of_any(task)
    return {name: short for name, value in facts.items() if (short := _short(value))}


def _short(value: str) -> str:
    return " ".join(value.strip(" .,:;'\"").split()[:_WORDS])


def _of_house(task: str) -> dict[str, str]:
    goal = house_goal(task)
    if goal is None:
        return {}
    return {
        "do": goal.treatment or ("look at" if goal.tool else "put"),
        "state": goal.state,
        "object": goal.object,
        "receptacle": goal.receptacle,
        "tool": goal.tool,
        "count": "two" if goal.count > 1 else "",
    }


def _of_science(task: str) -> dict[str, str]:
    text = _without_preamble(task)
    verb, instrument, target = _VERB.match(text), _INSTRUMENT.search(text), _TARGET.search(text)
    slots = dict(goal_of("scienceworld", task).slots)
    named = next((slots[kind] for kind in _TARGETS if kind in slots), "")
    return {
        "verb": verb[0] if verb else "",
        "target": named or (target[target.lastindex or 0] if target else ""),
        "instrument": instrument[0] if instrument else "",
        "place": slots.get("room", ""),
    }


def _of_shop(task: str) -> dict[str, str]:
    text = ASK.sub("", task)
    price = PRICE.search(text)
    text = re.sub(r",? *(?:and )?price (?:lower|less|below).*$", "", PRICE.sub("", text))
    first, *rest = distinct(_BREAK.split(_WANTED.sub("", text, count=1))) or [""]
    options = [found for part in rest if (found := _OPTION.fullmatch(part))]
    values = [found["value"] or found["before"] for found in options]
    words = first.split()
    plain = [part for part in rest if part != "also" and not _OPTION.fullmatch(part)]
    attributes = distinct([" ".join(words[:-2]), *plain])[:_MOST_ATTRIBUTES]
    return {
        "category": " ".join(words[-2:]),
        **_counted("attribute", attributes),
        **_counted("option", values),
        "price": price[0] if price else "",
    }


def _counted(name: str, values: Iterable[str]) -> dict[str, str]:
    return {f"{name} {number}": value for number, value in enumerate(values, 1)}


def _of_any(task: str) -> dict[str, str]:
    words = distinct(_WORD.findall(_without_preamble(task)))
    told = [word for word in words if not _SMALL.fullmatch(word)]
    return {"verb": told[0], "nouns": " ".join(told[1:])} if told else {}


def _without_preamble(task: str) -> str:
    for _ in range(2):
        task = _PREAMBLE.sub("", task)
    return task


_READERS: Mapping[str, Callable[[str], dict[str, str]]] = {
    "alfworld": _of_house,
    "scienceworld": _of_science,
    "webshop": _of_shop,
}
