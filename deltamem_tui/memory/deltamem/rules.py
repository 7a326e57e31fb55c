"""DeltaMem's texts without a model: skills for the task tree, knowledge for the env tree.

Of real work they write the facts of an episode (`memory.work`). Where a plug-in knows the domain,
they read an episode with its eyes, keep the actions that had an effect, replace what is only an
instance by its kind, and write down what the chain lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, TrajectoryError
from deltamem_tui.memory.deltamem.definition import FIELDS, PROMPTS
from deltamem_tui.memory.domain import GENERAL, Domain, Goal, Move, domain_for
from deltamem_tui.memory.places import bounded, unknown
from deltamem_tui.memory.procedure import (
    FAILED,
    RECORD_MARKS,
    TRIED,
    UNEXPLORED,
    Procedure,
    difference,
    text_of,
)
from deltamem_tui.memory.work import facts as work
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, Notes
from deltamem_tui.text import (
    ARROW,
    LIST_MARK,
    bulleted,
    condense,
    counted,
    distinct,
    key,
    listed,
    shortened,
    unlike,
)
from deltamem_tui.trajectory.model import Trajectory, scene_of

_STEPS = 150  # the longest way in the generated episodes has 118
_TRAPS, _NEW_TRAPS = 6, 2  # of a root, of a residual
_UNEXPLORED, _NEW_UNEXPLORED = 6, 1
_FACTS, _NEW_FACTS = 16, 3
_TRIED_LINES = 8
_RECORD_WORDS = 25  # of an action that is told about, and not to be carried out
_ANSWER_WORDS = 8
_FACT_WORDS, _NEW_FACT_WORDS = 60, 14
_BULLET = re.compile(r"^\s*[-*•]\s+")
_FACT = re.compile(r"(?P<subject>[^:;]+): (?P<items>.+)")


class Payload(dict[str, str]):
    """The texts of a node of either tree, as `Node.payload` holds them.

    Args:
        activation_condition: When it applies (α). This text is what is embedded.
        execution_procedure: The skill's procedure (π), or the knowledge's facts (κ).
        termination_condition: When the skill is done (ω); empty for failures and knowledge.
    """

    def __init__(
        self,
        activation_condition: str,
        execution_procedure: str,
        termination_condition: str = "",
    ) -> None:
        texts = (activation_condition, execution_procedure, termination_condition)
        super().__init__(zip(FIELDS, texts, strict=True))


def write_by_rules(
    purpose: str, episode: Trajectory | None, notes: Notes, _inputs: Inputs = NO_INPUTS
) -> Extraction:
    """Distil an episode whose outcome is known, or fuse the notes where there is none.

    The notes are root to match as it stands, or empty: then the payload is a root's. Raises an
    ExtractionError without a task or anything to fuse, a TrajectoryError without an outcome.
    """
    of_facts = PROMPTS[purpose].collection == "env"
    if episode is None:
        if not notes:
            raise ExtractionError("there is no chain to fuse")
        if work.is_work(notes):
            return work.fused(notes)
        return _fused_facts(notes) if of_facts else _fused_skill(notes)
    domain = domain_for(episode.domain)
    if of_facts:
        is_work, scene = domain is GENERAL, scene_of(episode)
        return work.knowledge(episode, scene, notes) if is_work else _facts(episode, domain, notes)
    if episode.outcome.success is None:
        raise TrajectoryError(
            "the episode has no outcome", source=episode.id, hint="give the episode an outcome"
        )
    if domain is GENERAL:
        return work.skill(episode)
    known = _Episode.read(episode, domain)
    if not known.goal.trigger:
        raise ExtractionError("the episode has no task", source=episode.id)
    if not known.moves:
        return Extraction(None, "the episode has no steps")
    return _success(known, notes) if episode.outcome.success else _failure(known, notes)


class _Episode(NamedTuple):
    """An episode as its domain understands it."""

    trajectory: Trajectory
    domain: Domain
    goal: Goal
    moves: list[Move]

    @classmethod
    def read(cls, trajectory: Trajectory, domain: Domain) -> _Episode:
        goal = domain.goal(trajectory)
        return cls(trajectory, domain, goal, domain.moves(trajectory, goal))

    def trigger(self, chain: Sequence[Node]) -> str:
        """Return the activation condition of what this episode adds to a chain.

        The first node on a kind of goal has nothing but the goal's own words, so that it is found
        from any instance of it. A later one names its instances, so that it is found before the
        general one where they come up again. A failure does not speak for the kind to a success:
        failures are pushed down in recall, and the first way that works must not be.
        """
        named = self.goal.variant and self.is_spoken_for(chain)
        return f"{self.goal.trigger} ({self.goal.variant})" if named else self.goal.trigger

    def is_spoken_for(self, chain: Sequence[Node]) -> bool:
        """Return whether a node of the chain speaks for this kind of goal."""
        general = f"{self.goal.trigger.casefold()} ("
        return any(
            (node.label == "success" or not self.trajectory.outcome.success)
            and f"{node.payload['activation_condition'].casefold()} (".startswith(general)
            for node in chain
        )


def _success(episode: _Episode, chain: Sequence[Node]) -> Extraction:
    """Return what a success teaches: the whole way, or where it differs from the chain's.

    Put together with its chain, what is written gives the way that the domain reads in this
    episode, with the names that it had; of more than 150 commands, the first.
    """
    steps = episode.domain.procedure(episode.moves)[:_STEPS]
    if not steps:
        return Extraction(None, "no action of this episode had an effect")
    names, known = dict(episode.goal.slots), Procedure.of(chain)
    trigger = episode.trigger(chain)
    if known is None or not known.steps:
        did = [move for move in episode.moves if move.effect == "done"]
        paid = [move for move in episode.moves if move.reward > 0]
        last = (paid or did or episode.moves)[-1]
        ending = f"`{condense(last.action, _RECORD_WORDS)}` is answered: {last.answer}"
        reason = "the first way that works" if chain else "no match: the whole procedure"
        return Extraction(Payload(trigger, text_of(steps, names), ending), reason)
    if tuple(steps) == known.steps and (not names or names == known.names):
        return Extraction(None, "the chain has this way already")
    changes = len(difference(known.steps, steps))
    reason = f"differs from the chain in {counted(changes, 'place')}"
    text = text_of(steps, names, known.steps)
    return Extraction(Payload(trigger, text), reason if changes else "worked with other names")


def _failure(episode: _Episode, chain: Sequence[Node]) -> Extraction:
    """Return what a failure teaches: what was tried and answered, and what was not tried."""
    domain, records = episode.domain, _lines_of(chain, records=True)
    known = set(map(_gist, records))
    lines = [trap for trap in _traps(episode) if _gist(trap) not in known]
    lines.sort(key=lambda trap: trap.startswith(TRIED))  # what failed by itself comes first
    unexplored = _without(domain.unexplored(episode.trajectory, episode.goal), records)
    if chain and not lines:
        return Extraction(None, "the chain warns of everything that failed here")
    if lines and lines[0].startswith(TRIED) and not unexplored and episode.is_spoken_for(chain):
        return Extraction(None, "nothing failed here by itself, and the chain knows the goal")
    if chain:
        answers = (line.partition(ARROW) for line in lines[:_NEW_TRAPS])
        lines = [f"{did}{arrow}{condense(said, _ANSWER_WORDS)}" for did, arrow, said in answers]
    else:
        way = [condense(line, _RECORD_WORDS) for line in domain.procedure(episode.moves)]
        tried = [f"{TRIED} {'; '.join(shortened(way, _TRIED_LINES))}"] if way else []
        lines = [*tried, *lines]
    if unexplored := unexplored[: _NEW_UNEXPLORED if chain else _UNEXPLORED]:
        lines.append(f"{UNEXPLORED} {'; '.join(unexplored)}")
    if not lines:
        return Extraction(None, "nothing that this episode ran into is worth a warning")
    reason = "a trap the chain does not handle" if chain else "no match: a failure record"
    return Extraction(Payload(episode.trigger(chain), "\n".join(lines)), reason)


def _traps(episode: _Episode) -> list[str]:
    """Return what failed, what was done over and over, and how the episode ended, a line each."""
    last, domain = episode.moves[-1], episode.domain
    lines = [_trap(move, times) for move, times in domain.fruitless(episode.moves)]
    if domain.is_lesson(last):
        times = sum(move.wording == last.wording for move in episode.moves)
        lines.insert(0, _trap(last, times, "" if last.failed else "the last try"))
    return unlike(lines, _gist)[:_TRAPS]


def _trap(move: Move, times: int, aside: str = "") -> str:
    asides = ", ".join(filter(None, [f"{times} times" if times > 1 else "", aside]))
    action = condense(move.action, _RECORD_WORDS) + (f" ({asides})" if asides else "")
    return f"{FAILED if move.failed else TRIED} {action}{ARROW}{move.answer}"


def _gist(record: str) -> str:
    """Return the action of a record line and how its answer begins, without marks and counts."""
    action, _, answer = record.removeprefix(FAILED).removeprefix(TRIED).partition(ARROW)
    return f"{key(action)}{ARROW}{key(condense(answer, _ANSWER_WORDS))}"


def _without(phrases: Iterable[str], lines: Sequence[str]) -> list[str]:
    """Return the phrases that no line lists, each once."""
    known = {key(part) for line in lines for part in _parts(line)}
    return unlike(phrase for phrase in phrases if key(phrase) and key(phrase) not in known)


def _parts(line: str) -> list[str]:
    """Return what a line lists, without its mark."""
    return line.removeprefix(UNEXPLORED).removeprefix(TRIED).strip().split("; ")


def _fused_skill(chain: Sequence[Node]) -> Extraction:
    """Return a chain as one self-contained skill, found by the match's activation condition."""
    known = Procedure.of(chain)
    if known is None:  # a person or a model wrote some of it: one text after the other
        lines = [node.payload["execution_procedure"] for node in chain]
    elif known.steps:
        untried = (line for line in known.warnings if line.startswith(UNEXPLORED))
        rest = _without((part for line in untried for part in _parts(line)), known.steps)
        failed = (line for line in known.warnings if line.startswith(FAILED))
        lines = [text_of(known.steps, known.names), *unlike(failed, _gist)]
        lines += [f"{UNEXPLORED} {'; '.join(rest)}"] if rest else []
    else:
        lines = unlike(known.warnings, _gist)
    endings = [node.payload["termination_condition"] for node in chain]
    ending = next(filter(None, reversed(endings)), "")
    payload = Payload(chain[-1].payload["activation_condition"], "\n".join(lines), ending)
    return Extraction(payload, f"{len(chain)} nodes fused")


def _facts(trajectory: Trajectory, domain: Domain, chain: Sequence[Node]) -> Extraction:
    """Return what an episode shows of its environment, whatever its outcome."""
    shown = domain.facts(trajectory)
    facts = [bounded(fact, _FACT_WORDS) for fact in shown if fact.items][:_FACTS]
    if not facts:
        return Extraction(None, "the episode shows nothing of its environment")
    trigger, reason = domain.scene(trajectory), "no match: all that was seen"
    if chain:
        facts = unknown(facts, _lines_of(chain))
        if not facts:
            return Extraction(None, "the chain states everything seen here")
        reason = f"new to the chain: {listed([fact.subject for fact in facts], 6)}"
        facts = [bounded(fact, _NEW_FACT_WORDS) for fact in facts[:_NEW_FACTS]]
        trigger = f"{trigger} ({listed(distinct(fact.subject for fact in facts))})"
    return Extraction(Payload(trigger, bulleted([fact.line for fact in facts])), reason)


def _fused_facts(chain: Sequence[Node]) -> Extraction:
    """Return a chain as one text: a line a subject, its items in the order they were learnt."""
    subjects: dict[str, list[str]] = {}
    for line in _lines_of(chain):
        fact = _FACT.fullmatch(line)
        subject, items = (fact["subject"], fact["items"].split("; ")) if fact else (line, [])
        subjects.setdefault(subject, []).extend(items)
    lines = [
        f"{subject}: {'; '.join(unlike(items))}" if items else subject
        for subject, items in subjects.items()
    ]
    payload = Payload(chain[-1].payload["activation_condition"], bulleted(lines))
    return Extraction(payload, f"{len(chain)} nodes fused")


def _lines_of(nodes: Sequence[Node], *, records: bool = False) -> list[str]:
    """Return the lines of a chain's failure records, or all others: what worked, or the facts.

    A record's line may be a bullet; a numbered line is a step in any case.
    """
    texts = [node.payload["execution_procedure"] for node in nodes]
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    mark = _BULLET if records else LIST_MARK
    return [
        mark.sub("", line).strip()
        for line in lines
        if _BULLET.sub("", line).strip().startswith(RECORD_MARKS) == records
    ]
