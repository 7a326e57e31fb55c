"""Texts of an episode of real work: its task, its facts, and the place it was done in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.work.acts import read_step
from deltamem_tui.memory.work.facts import (
    WorkFact,
    as_text,
    facts_of,
    from_text,
    has_facts,
    impersonal,
    shown,
)
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

_TASK_WORDS = 200
_TASK_CHARACTERS = 4_000
_SCENE_WORDS = 60
_SCENE_CHARACTERS = 40_000
_SIGNED = re.compile(r" \[scene ([0-9a-f]{8})\]$")
_TRAPS = 8


def task_text(task: str) -> str:
    """Return a task as it is looked for: its own words, without what identifies a person."""
    words = impersonal(task[:_TASK_CHARACTERS]).split()
    return one_line(" ".join(words[:_TASK_WORDS]))


def skill(episode: Trajectory) -> Extraction:
    """Return the node of an episode in the task tree.

    Raises:
        ExtractionError: The episode has no task.
    """
    if not (task := task_text(episode.task)):
        raise ExtractionError("the episode has no task", source=episode.id)
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    return _payload(task, as_text(facts_of(episode)) or _last_words(episode))


def _last_words(episode: Trajectory) -> str:
    said = next((step.action for step in reversed(episode.steps) if step.action.strip()), "nothing")
    return f"Did: {shown(said, 240)}"


def with_facts(payload: Mapping[str, str], episode: Trajectory) -> dict[str, str]:
    """Return a payload that a model wrote, with the facts of its episode below the procedure."""
    procedure = payload["execution_procedure"].rstrip()
    facts = [fact for fact in facts_of(episode) if fact.kind != "did"]
    text = as_text(facts)
    return {**payload, "execution_procedure": f"{procedure}\n\n{text}" if text else procedure}


def scene_text(scene: str) -> str:
    """Return a scene as it is looked for: its beginning, and a digest of all of it.

    A folder alone is no scene: then it is empty.
    """
    plain = one_line(impersonal(scene[:_SCENE_CHARACTERS]))
    if not plain or re.fullmatch(r"[Ww]orking directory: \S+", plain):
        return ""
    digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
    return f"{' '.join(plain.split()[:_SCENE_WORDS])} [scene {digest}]"


def knowledge(episode: Trajectory, scene: str, chain: Sequence[Node]) -> Extraction:
    """Return what an episode adds to what is known of its scene: tools, tables, and what goes
    wrong.
    """
    trigger = scene_text(scene)
    if not trigger:
        return Extraction(None, "the scene is a folder alone")
    known = {line for node in chain for line in node.payload["execution_procedure"].splitlines()}
    lines = [line for line in _scene_lines(episode) if line not in known]
    if not lines:
        return Extraction(None, "the scene is known, and the episode shows nothing new of it")
    return _payload(trigger, "\n".join(lines))


def _scene_lines(episode: Trajectory) -> list[str]:
    facts = facts_of(episode)
    heads = dict.fromkeys(fact.value.split()[0] for fact in facts if fact.kind == "run")
    tools: dict[str, Counter[str]] = {}
    for index, step in enumerate(episode.steps):
        act = read_step(index, step)
        if act.form == "call" and act.arguments and "" not in act.arguments:
            tools.setdefault(act.tool, Counter()).update(list(act.arguments))
    lines = [f"Tool: {tool}({', '.join(sorted(names))})" for tool, names in tools.items()]
    commands = [f"Command: {head}" for head in heads]
    traps = [f"Trap: {fact.value}" for fact in facts if fact.kind in ("fix", "error")]
    return [*lines, *commands, *traps[:_TRAPS]]


def is_signed(trigger: str) -> bool:
    """Return whether a trigger ends with the digest of its scene."""
    return bool(_SIGNED.search(trigger))


def is_work(notes: Sequence[Node]) -> bool:
    """Return whether notes were written of real work: they hold facts, or are of one signed
    scene.
    """
    signed = is_signed(notes[0].payload["activation_condition"])
    return signed or any(has_facts(each.payload["execution_procedure"]) for each in notes)


def fused(notes: Sequence[Node]) -> Extraction:
    """Return a chain as one node: the root's task, and all facts, what several say first."""
    counts = Counter(
        fact
        for node in notes
        for fact in dict.fromkeys(from_text(node.payload["execution_procedure"]))
    )
    facts: list[WorkFact] = sorted(counts, key=lambda fact: -counts[fact])
    lines = dict.fromkeys(
        line for node in notes for line in node.payload["execution_procedure"].splitlines()
    )
    return _payload(notes[0].payload["activation_condition"], as_text(facts) or "\n".join(lines))


def _payload(condition: str, procedure: str) -> Extraction:
    texts = (condition, procedure, "")
    names = ("activation_condition", "execution_procedure", "termination_condition")
    return Extraction(dict(zip(names, texts, strict=True)), "what the log shows of it")
