"""What MemP writes without a model: scripts and facts by the domain, repairs by notes.

A repair adds to a script what went wrong: `[TRAP]` with the first prescribed step that was
refused, else `[MISSING]` with the step of the goal that was never reached and is not prescribed,
else `[TRAP]` with a prescribed step that was repeated to no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.lexical import terms
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.findings import blanked, failure_of, fruitless, moves_of
from deltamem_tui.memory.memp.definition import ADJUST, FACTS, KEY
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.wording import distinct, key
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, extraction_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

TRAP, MISSING = "[TRAP]", "[MISSING]"
ACTION = "Action: "
_MOST_NOTES = 3
_MOST_STEPS = 150
_STEP = re.compile(r"\d+\. (.+)")
_WORDS = 4
_READ = 2000  # characters of a task


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
    if purpose == ADJUST:
        return _adjusted(episode, notes[-1])
    if purpose == FACTS:
        facts = task_facts(episode.domain, episode.task).items()
        pairs = [{"name": name, "value": value} for name, value in facts]
        return extraction_of(pairs, "the facts of the task")
    domain, moves = moves_of(episode)
    steps = domain.source_left_open(domain.procedure(moves))[:_MOST_STEPS]
    script = {"script": "\n".join(numbered(steps))} if steps else None
    return Extraction(script, "the steps that had an effect")


def _adjusted(episode: Trajectory, record: Node) -> Extraction:
    note, why = _note(episode, record)
    lines = record.payload["script"].splitlines()
    known = [line for line in lines if line.startswith((TRAP, MISSING))]
    if not note or note in known:
        return Extraction(None, "the failure shows no step that the record got wrong")
    steps = [line for line in lines if line not in known]
    script = "\n".join([*steps, *[*known, note][-_MOST_NOTES:]])
    return Extraction({"diagnosis": why, "script": script}, why)


def _note(episode: Trajectory, record: Node) -> tuple[str, str]:
    """Return the line that a failure adds to a record, and why; both empty if it shows nothing.

    What the goal of a task of another kind lacked, this record need not tell.
    A step that was merely repeated comes last: it may be right, and the episode stuck elsewhere.
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
    first = [word for word in words if word != "second"]
    return sum(key(step).split()[: len(first)] == first for step in steps) > words.count("second")


def prescribed(record: Node, domain: str) -> list[str]:
    """Return the actions that a record tells to do, in order, the names of its task left open."""
    lines = record.payload["script"].splitlines()
    if steps := [found[1] for line in lines if (found := _STEP.fullmatch(line))]:
        return steps
    done = record.payload["trajectory"].splitlines()
    actions = [line.removeprefix(ACTION) for line in done if line.startswith(ACTION)]
    return list(blanked(Trajectory(record.payload[KEY], domain=domain), actions))


def task_facts(domain: str, task: str) -> dict[str, str]:
    """Return the facts of a task, name to value.

    The names are the domain's; where it has none, or a task is not in its words, they are `verb`
    and `nouns`.
    """
    task = one_line(task[:_READ])
    facts = domain_for(domain).task_facts(task)
    if not facts and (words := distinct(terms(task))):
        facts = {"verb": words[0], "nouns": " ".join(words[1:])}
    short = {name: value.strip(" .,:;'\"").split()[:_WORDS] for name, value in facts.items()}
    return {name: " ".join(words) for name, words in short.items() if words}
