"""What MemP writes without a model: scripts and facts by the domain, repairs by notes.

A repair adds to a script what went wrong: `[TRAP]` with the first prescribed step that was
refused, else `[MISSING]` with the step of the goal that was never reached and is not prescribed,
else `[TRAP]` with a prescribed step that was repeated to no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.findings import blanked, failure_of, fruitless, moves_of
from deltamem_tui.memory.memp.definition import ADJUST, FACTS, KEY, SCRIPT
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.wording import distinct, key
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

TRAP, MISSING = "[TRAP]", "[MISSING]"
ACTION = "Action: "
_MOST_NOTES = 3
_MOST_STEPS = 150
_STEP = re.compile(r"\d+\. (.+)")
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


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,  # noqa: ARG001 - the rules have the names of facts themselves
) -> Extraction:
    """Write a script, facts or a repair.

    Raises:
        ExtractionError: There is no episode, or no record to repair.
    """
    if episode is None or (purpose == ADJUST and not notes):
        raise ExtractionError(f"there is nothing to write {purpose} from")
    if purpose == SCRIPT:
        return _script(episode)
    return _facts(episode) if purpose == FACTS else _adjusted(episode, notes[-1])


def _script(episode: Trajectory) -> Extraction:
    domain, moves = moves_of(episode)
    steps = domain.source_left_open(domain.procedure(moves))[:_MOST_STEPS]
    if not steps:
        return Extraction(None, "no action of this episode had an effect")
    return Extraction({"script": "\n".join(numbered(steps))}, "the steps that had an effect")


def _facts(episode: Trajectory) -> Extraction:
    pairs = [
        {"name": name, "value": value}
        for name, value in task_facts(episode.domain, episode.task).items()
    ]
    if not pairs:
        return Extraction(None, "the task names no fact")
    return Extraction(pairs[0], "the facts of the task", further=tuple(pairs[1:]))


def _adjusted(episode: Trajectory, record: Node) -> Extraction:
    note, why = _note(episode, record)
    if not note:
        return Extraction(None, "the failure shows no step that the record got wrong")
    lines = record.payload["script"].splitlines()
    known = [line for line in lines if line.startswith((TRAP, MISSING))]
    if note in known:
        return Extraction(None, "the record warns of this already")
    kept = [*known, note][-_MOST_NOTES:]
    steps = [line for line in lines if line not in known]
    return Extraction({"diagnosis": why, "script": "\n".join([*steps, *kept])}, why)


def _note(episode: Trajectory, record: Node) -> tuple[str, str]:
    """Return the line that a failure adds to a record, and why; both empty if it shows nothing.

    What the goal of a task of another kind lacked, this record need not tell.
    A step that was merely repeated comes last: it may be right, and the episode stuck elsewhere. It
    is, where a step of the goal that the record tells was never reached.
    """
    steps, own = prescribed(record, episode.domain), goal_of(episode.domain, record.payload[KEY])
    attempts = {key(each.action): each for each in reversed(fruitless(episode))}
    met = [each for step in steps if (each := attempts.get(key(step)))]
    is_own = own.trigger == goal_of(episode.domain, episode.task).trigger
    missing = failure_of(episode).missing
    if refused := next((each for each in met if each.refused), None):
        return f"{TRAP} {refused.action} → {refused.answer}", "a prescribed step was refused"
    if missing and is_own and not _tells(steps, missing):
        return f"{MISSING} {missing}", "a step of the goal was not reached"
    if met and not missing:
        return f"{TRAP} {met[0].action} → {met[0].answer}", "a prescribed step led nowhere"
    return "", ""


def _tells(steps: Sequence[str], wanted: str) -> bool:
    """Return whether steps tell to do one of the goal, and twice if it is about a second thing."""
    words = key(wanted).split()
    times = 1 + words.count("second")
    first = [word for word in words if word != "second"]
    return sum(key(step).split()[: len(first)] == first for step in steps) >= times


def prescribed(record: Node, domain: str) -> list[str]:
    """Return the actions that a record tells to do, in order, the names of its task left open."""
    lines = record.payload["script"].splitlines()
    steps = [found[1] for line in lines if (found := _STEP.fullmatch(line))]
    if steps:
        return steps
    done = record.payload["trajectory"].splitlines()
    actions = [line.removeprefix(ACTION) for line in done if line.startswith(ACTION)]
    return list(blanked(Trajectory(record.payload[KEY], domain=domain), actions))


def task_facts(domain: str, task: str) -> dict[str, str]:
    """Return the facts of a task, name to value; a name without a value is left out.

    The names are the domain's; where it has none, or a task is not in its words, they are `verb`
    and `nouns`.
    """
    task = one_line(task[:_READ])
    facts = domain_for(domain).task_facts(task) or _of_any(task)
    return {name: short for name, value in facts.items() if (short := _short(value))}


def _short(value: str) -> str:
    return " ".join(value.strip(" .,:;'\"").split()[:_WORDS])


def _of_any(task: str) -> dict[str, str]:
    words = distinct(_WORD.findall(_without_preamble(task)))
    told = [word for word in words if not _SMALL.fullmatch(word)]
    return {"verb": told[0], "nouns": " ".join(told[1:])} if told else {}


def _without_preamble(task: str) -> str:
    for _ in range(2):
        task = _PREAMBLE.sub("", task)
    return task
