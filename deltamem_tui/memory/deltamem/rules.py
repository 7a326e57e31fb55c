"""DeltaMem's texts without a model: skills for the task tree, knowledge for the env tree.

Of real work they write the facts of an episode (`memory.work`). Where a plug-in knows the domain,
they read an episode with its eyes, keep the actions that had an effect, replace what is only an
instance by its kind, and write down what the chain lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.deltamem.definition import PROMPTS
from deltamem_tui.memory.domain import GENERAL, Domain, Goal, Move, domain_for
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.places import Fact, are_counted, summed
from deltamem_tui.memory.procedure import (
    MEASURED,
    Procedure,
    difference,
    filled,
    option_in,
    text_of,
)
from deltamem_tui.memory.wording import (
    ARROW,
    bulleted,
    condense,
    distinct,
    key,
    listed,
    payload_of,
    procedure_lines,
    record_lines,
    shortened,
    unlike,
)
from deltamem_tui.memory.work import writing as work
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.failure_markers import FAILED, PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.text import count_tokens, one_line
from deltamem_tui.trajectory.model import Trajectory

_STEPS = 150  # the longest way in the generated episodes has 118
_TRAPS = 6
_NEW_TRAPS = 2
_NEW_UNEXPLORED = 1
_NEW_ANSWER_WORDS = 8
_TRIED_LINES = 8
_RECORD_WORDS = 25  # of an action that is told about, and not to be carried out
_UNEXPLORED = 6
_SENTENCE = re.compile(r"[A-Z].*?\.(?=\s|$)")
_FACTS = 16
_NEW_FACTS = 3
_FACT_WORDS = 60
_NEW_FACT_WORDS = 14
_COUNT_WORDS = 20
_ITEM_WORDS = 25
_SUBJECT_WORDS = 16
_FACT = re.compile(r"(?P<subject>[^:;]+): (?P<items>.+)")


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,  # noqa: ARG001 - DeltaMem writes from episodes and chains
) -> Extraction:
    """Distil an episode, or fuse the notes where there is none.

    Args:
        purpose: The name of one of DeltaMem's prompts.
        episode: An episode whose outcome is known.
        notes: Root to match as it stands, or empty: then the payload is a root's.
        inputs: None are used.

    Raises:
        ExtractionError: The episode has no task, or there is nothing to fuse.
        OutcomeUnknownError: How the episode ended is not known.
    """
    of_facts = PROMPTS[purpose].collection == "env"
    if episode is None:
        if not notes:
            raise ExtractionError("there is no chain to fuse")
        if work.is_work(notes):
            return work.fused(notes)
        return (fused_facts if of_facts else fused_skill)(notes)
    dialect = domain_for(episode.domain)
    if dialect is GENERAL:
        _require_outcome(episode, of_facts)
        return (
            work.knowledge(episode, scene_of(episode), notes) if of_facts else work.skill(episode)
        )
    return (knowledge if of_facts else _skill)(episode, dialect, notes)


def _skill(trajectory: Trajectory, dialect: Domain, chain: Sequence[Node]) -> Extraction:
    _require_outcome(trajectory)
    episode = Episode.read(trajectory, dialect)
    if not episode.goal.trigger:
        raise ExtractionError("the episode has no task", source=trajectory.id)
    if not episode.moves:
        return Extraction(None, "the episode has no steps")
    return (success if trajectory.outcome.success else failure)(episode, chain)


def _require_outcome(episode: Trajectory, of_facts: bool = False) -> None:
    if episode.outcome.success is None and not of_facts:
        raise OutcomeUnknownError(
            "a skill cannot be told from a failure without an outcome",
            source=episode.id,
            hint="give the episode an outcome",
        )


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as its domain understands it."""

    trajectory: Trajectory
    domain: Domain
    goal: Goal
    moves: tuple[Move, ...]

    @classmethod
    def read(cls, trajectory: Trajectory, domain: Domain) -> Episode:
        """Understand an episode."""
        goal = domain.goal(trajectory)
        return cls(trajectory, domain, goal, tuple(domain.moves(trajectory, goal)))

    def trigger(self, chain: Sequence[Node]) -> str:
        """Return the activation condition of what this episode adds to a chain.

        The first node on a kind of goal speaks for the kind, with nothing but the goal's
        own words, so that it is found from any instance of it. A later one names its
        instances, so that it is found before the general one where they come up again.
        A failure does not speak for the kind to a success: failures are pushed down in
        recall, and the first way that works must not be.
        """
        if self.is_spoken_for(chain) and self.goal.variant:
            return f"{self.goal.trigger} ({self.goal.variant})"
        return self.goal.trigger

    def is_spoken_for(self, chain: Sequence[Node]) -> bool:
        """Return whether a node of the chain speaks for this kind of goal."""
        general = self.goal.trigger.casefold()
        return any(
            (node.label == "success" or not self.trajectory.outcome.success)
            and f"{node.payload['activation_condition'].casefold()} (".startswith(f"{general} (")
            for node in chain
        )


def success(episode: Episode, chain: Sequence[Node]) -> Extraction:
    """Return what a success teaches: the whole way, or where it differs from the chain's.

    Put together with its chain, what is written gives the way that the domain reads in this
    episode, with the names that it had; of more than 150 commands, the first.
    """
    steps = episode.domain.procedure(episode.moves)[:_STEPS]
    if not steps:
        return Extraction(None, "no action of this episode had an effect")
    names = dict(episode.goal.slots)
    known = Procedure.of(chain)
    if known is None:
        if all(_names(chain, filled(step, names)) for step in steps):
            return Extraction(None, "the chain names every action of this episode")
        reason = "the chain is not in the rules' words: the whole procedure"
        return Extraction(_whole(episode, chain, text_of(steps, names)), reason)
    if not known.steps:
        reason = "the first way that works" if chain else "no match: the whole procedure"
        return Extraction(_whole(episode, chain, text_of(steps, names)), reason)
    if tuple(steps) == known.steps and (not names or names == known.names):
        return Extraction(None, "the chain has this way already")
    text = text_of(steps, names, known.steps)
    changes = len(difference(known.steps, steps))
    places = f"{changes} place{'s' if changes > 1 else ''}"
    reason = f"differs from the chain in {places}" if changes else "worked with other names"
    return Extraction(payload_of(episode.trigger(chain), text, _decision(episode)), reason)


def failure(episode: Episode, chain: Sequence[Node]) -> Extraction:
    """Return what a failure teaches: what was tried and answered, and what was not tried."""
    records = record_lines(chain)
    known = {_gist(line) for line in records}
    fresh = [trap for trap in _traps(episode) if _gist(trap) not in known]
    fresh.sort(key=lambda trap: trap.startswith(TRIED))  # what failed by itself comes first
    if chain and not fresh:
        return Extraction(None, "the chain warns of everything that failed here")
    unexplored = _without(episode.domain.unexplored(episode.trajectory, episode.goal), records)
    if episode.is_spoken_for(chain) and not unexplored and fresh[0].startswith(TRIED):
        return Extraction(None, "nothing failed here by itself, and the chain knows the goal")
    if chain:
        lines = [_briefly(trap) for trap in fresh[:_NEW_TRAPS]]
        unexplored = unexplored[:_NEW_UNEXPLORED]
    else:
        lines = _tried(episode) + fresh
        unexplored = unexplored[:_UNEXPLORED]
    if not lines and not unexplored:
        return Extraction(None, "nothing that this episode ran into is worth a warning")
    lines += _earned(episode)
    if unexplored:
        lines.append(f"{UNEXPLORED} {'; '.join(unexplored)}")
    reason = "a trap the chain does not handle" if chain else "no match: a failure record"
    return Extraction(payload_of(episode.trigger(chain), "\n".join(lines)), reason)


def _whole(episode: Episode, chain: Sequence[Node], text: str) -> dict[str, str]:
    """Return a node with a whole procedure, and how one sees that it is done."""
    did = [move for move in episode.moves if move.effect == "done"]
    paid = [move for move in episode.moves if move.reward > 0]
    last = (paid or did or episode.moves)[-1]
    ending = f"`{condense(last.action, _RECORD_WORDS)}` is answered: {last.answer}"
    return payload_of(episode.trigger(chain), text, _decision(episode) or ending)


def _decision(episode: Episode) -> str:
    """Return which reading led to which of the goal's options, with the names of the episode."""
    goal, names = episode.goal, dict(episode.goal.slots)
    taken = next(
        (move for move in reversed(episode.moves) if option_in(move.action, goal.options)), None
    )
    readings = episode.domain.readings(episode.moves)[-len(goal.options) :] if taken else []
    if taken is None or not readings:
        return ""
    name = names[option_in(taken.action, goal.options)]
    rules = _SENTENCE.findall(one_line(episode.trajectory.task))
    rule = next((each for each in rules if each.startswith("If ") and name in each), "")
    text = f"{MEASURED} {'; '.join(readings)}; so `{taken.action}`. {rule}"
    return filled(text.strip(), names)


def _names(chain: Sequence[Node], command: str) -> bool:
    """Return whether a chain in anyone's words names a command."""
    texts = (f" {key(node.payload['execution_procedure'])} " for node in chain)
    return any(f" {key(command)} " in text for text in texts)


def _traps(episode: Episode) -> list[str]:
    """Return what was refused or cost reward, what was done over and over, and how the episode
    ended.
    """
    last = episode.moves[-1]
    lines = [_trap(move, times) for move, times in episode.domain.fruitless(episode.moves)]
    if episode.domain.is_lesson(last):
        times = sum(move.wording == last.wording for move in episode.moves)
        lines.insert(0, _trap(last, times, "" if last.failed else "the last try"))
    return unlike(lines, _gist)[:_TRAPS]


def _trap(move: Move, times: int, aside: str = "") -> str:
    often = f"{times} times" if times > 1 else ""
    asides = ", ".join(part for part in (often, aside) if part)
    mark = FAILED if move.failed else TRIED
    action = condense(move.action, _RECORD_WORDS)
    return f"{mark} {action}{f' ({asides})' if asides else ''}{ARROW}{move.answer}"


def _gist(record: str) -> str:
    """Return the action of a record line and how its answer begins, without marks and counts."""
    action, _, answer = record.removeprefix(FAILED).removeprefix(TRIED).partition(ARROW)
    return f"{key(action)}{ARROW}{key(condense(answer, _NEW_ANSWER_WORDS))}"


def _briefly(trap: str) -> str:
    """Return a trap with its answer cut to how it begins."""
    action, arrow, answer = trap.partition(ARROW)
    return f"{action}{arrow}{condense(answer, _NEW_ANSWER_WORDS)}"


def _tried(episode: Episode) -> list[str]:
    """Return what the episode did before it failed, in order; none of it solved the task."""
    lines = [condense(line, _RECORD_WORDS) for line in episode.domain.procedure(episode.moves)]
    return [f"{TRIED} {'; '.join(shortened(lines, _TRIED_LINES))}"] if lines else []


def _earned(episode: Episode) -> list[str]:
    """Return which part of a failed episode worked, where the environment paid for it."""
    reward = episode.trajectory.outcome.reward
    if reward is None or not 0 < reward < 1:
        return []
    paid = distinct(move.action for move in episode.moves if move.reward > 0)
    up_to = f", the last of it for: {condense(paid[-1], _RECORD_WORDS)}" if paid else ""
    return [f"{PARTIAL} {reward:.0%} of the reward{up_to}"]


def fused_skill(chain: Sequence[Node]) -> Extraction:
    """Return a chain as one self-contained skill, found by the match's activation condition."""
    known = Procedure.of(chain)
    if known is None:  # a person or a model wrote some of it: one text after the other
        text = "\n".join(node.payload["execution_procedure"] for node in chain)
    else:
        text = "\n".join(filter(None, [text_of(known.steps, known.names), *_warnings(known)]))
    endings = [node.payload["termination_condition"] for node in chain]
    ending = next((ending for ending in reversed(endings) if ending), "")
    payload = payload_of(chain[-1].payload["activation_condition"], text, ending)
    return Extraction(payload, f"{len(chain)} nodes fused")


def _warnings(known: Procedure) -> list[str]:
    """Return what failed, each once; what only led nowhere says nothing more where a way is
    known.
    """
    records = unlike(known.warnings, _gist)
    if not known.steps:
        return records
    failed = [line for line in records if line.startswith(FAILED)]
    untried = [line for line in records if line.startswith(UNEXPLORED)]
    rest = _without(distinct(part for line in untried for part in _parts(line)), known.steps)
    return [*failed, f"{UNEXPLORED} {'; '.join(rest)}"] if rest else failed


def _without(phrases: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the phrases that no line lists, each once."""
    known = {key(part) for line in lines for part in _parts(line)}
    return unlike(phrase for phrase in phrases if key(phrase) and key(phrase) not in known)


def _parts(line: str) -> list[str]:
    """Return what a line lists, without its mark."""
    return line.removeprefix(UNEXPLORED).removeprefix(TRIED).strip().split("; ")


def knowledge(trajectory: Trajectory, domain: Domain, chain: Sequence[Node]) -> Extraction:
    """Return what an episode shows of its environment, whatever its outcome."""
    shown = domain.further_facts(trajectory) if chain else domain.facts(trajectory)
    facts = [_bounded(fact, _FACT_WORDS) for fact in shown]
    facts = [fact for fact in facts if fact.items][:_FACTS]
    if not facts:
        return Extraction(None, "the episode shows nothing of its environment")
    scene = domain.scene(trajectory)
    if not chain:
        lines = bulleted([fact.line for fact in facts])
        return Extraction(payload_of(scene, lines), "no match: all that was seen")
    fresh = _unknown(facts, procedure_lines(chain))
    if not fresh:
        return Extraction(None, "the chain states everything seen here")
    new = [_bounded(fact, _COUNT_WORDS if fact.is_count else _NEW_FACT_WORDS) for fact in fresh]
    new = new[:_NEW_FACTS]
    trigger = f"{scene} ({listed(distinct(fact.subject for fact in new))})"
    payload = payload_of(trigger, bulleted([fact.line for fact in new]))
    return Extraction(payload, f"new to the chain: {listed([fact.subject for fact in fresh], 6)}")


def _bounded(fact: Fact, words: int) -> Fact:
    """Return a fact with as many whole items as fit, one at least; a long item is cut."""
    items: list[str] = []
    for item in fact.items:
        short = condense(item.replace(";", ","), _ITEM_WORDS)
        words -= count_tokens(short)
        if items and words < 0:
            break
        items.append(short)
    return Fact(condense(fact.subject, _SUBJECT_WORDS), tuple(items), fact.is_count)


def _unknown(facts: Iterable[Fact], lines: Sequence[str]) -> list[Fact]:
    """Return the facts reduced to items that no line has for the same subject."""
    known = [f" {' | '.join(map(key, line.split('; ')))} " for line in lines]
    fresh: list[Fact] = []
    for fact in facts:
        if fact.is_count:
            fresh += [] if are_counted(fact, lines) else [fact]
            continue
        about = [line for line in known if f" {key(fact.subject)} " in line]
        items = tuple(item for item in fact.items if key(item) and not _holds(about, key(item)))
        if items:
            fresh.append(Fact(fact.subject, items))
    return fresh


def _holds(lines: Sequence[str], phrase: str) -> bool:
    return any(f" {phrase} " in line for line in lines)


def fused_facts(chain: Sequence[Node]) -> Extraction:
    """Return a chain as one text: a line a subject, its items in the order they were learnt."""
    subjects: dict[str, list[str]] = {}
    for line in procedure_lines(chain):
        fact = _FACT.fullmatch(line)
        subject, items = (fact["subject"], fact["items"].split("; ")) if fact else (line, [])
        subjects.setdefault(subject, []).extend(items)
    lines = [
        f"{subject}: {'; '.join(unlike(summed(items)))}" if items else subject
        for subject, items in subjects.items()
    ]
    payload = payload_of(chain[-1].payload["activation_condition"], bulleted(lines))
    return Extraction(payload, f"{len(chain)} nodes fused")
