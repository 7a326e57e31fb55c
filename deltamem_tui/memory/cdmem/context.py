"""What CDMem hands to an agent, in the authors' order: examples, this environment, insights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.cdmem.collections import (
    DISPLAY,
    ENV_INSIGHTS,
    ENVIRONMENTS,
    TASK_INSIGHTS,
    TASKS,
)
from deltamem_tui.memory.cdmem.recall import HERE
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.wording import condense, shortened
from deltamem_tui.memory.writers.rules.attempts import moves_of
from deltamem_tui.memory.writers.rules.expert import effective_steps
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

_SHORTENED = ", without detours"
_ACTION_WORDS = 60
_ANSWER_WORDS = 30
_STEPS = 40
_LEAST_STEPS = 2


def context_entries(
    bank: Bank, task: str, found: Mapping[str, CollectionRecall | None], budget: int | None
) -> list[str]:
    """Everything that was recalled, an entry each, the names of the present task filled in.

    The examples have at most `budget` tokens together.
    """
    names = dict(goal_of(bank.manifest.domain, task).slots)
    shown = {name: _shown(each) for name, each in found.items()}
    lost = [node for node in shown[TASKS] if node.label == "failure"]
    insights = shown[TASK_INSIGHTS]
    return [
        *_examples(bank, found[TASKS], budget),
        *(_places(each.payload["memory"]) for each in shown[ENVIRONMENTS]),
        *_listed("What things do here", shown[ENV_INSIGHTS], names),
        *_listed("Plans for this kind of task", _of(insights, "success"), names),
        *_listed(
            f"Mistakes at this kind of task ({DISPLAY[TASK_INSIGHTS].warning})",
            _of(insights, "failure"),
            names,
        ),
        *_tries(lost, names),
    ]


def _shown(found: CollectionRecall | None) -> list[Node]:
    return [chain[-1] for chain in found.chains] if found else []


def _of(nodes: Sequence[Node], label: str) -> list[Node]:
    return [node for node in nodes if node.label == label]


def _examples(bank: Bank, found: CollectionRecall | None, budget: int | None) -> list[str]:
    """The exemplars, each with its task and the steps that tell how it is done."""
    if found is None:
        return []
    rules = {each.node.id: each.rule for each in found.candidates}
    chains = [chain for chain in found.chains if chain[-1].label == "success"]
    share = None if budget is None else budget // max(len(chains), 1)
    entries = []
    for _, task, node in chains:
        source = episode(bank, node.origin.trajectory) if node.origin.trajectory else None
        steps, aside = _steps(source) if source else (node.payload["actions"].splitlines(), "")
        where = "this task, here" if rules.get(node.id) == HERE else "a task of this kind"
        lines = [f"### Example of {where}{aside}", f"Task: {fenced(task.payload['text'])}"]
        entries.append("\n".join([*lines, fenced(_within(steps, share))]))
    return entries


def _within(steps: list[str], budget: int | None) -> str:
    """As many steps as a budget of tokens holds, two at least."""
    most = _STEPS
    while True:
        text = "\n".join(shortened(steps, most))
        if budget is None or most <= _LEAST_STEPS or count_tokens(text) <= budget:
            return text
        most = min(most, len(steps)) - 1


def _steps(source: Trajectory) -> tuple[list[str], str]:
    """Steps with what came back, and how the title goes on.

    They are those that a replay proves are enough, where the rules can tell; else all that had an
    effect.
    """
    _, moves = moves_of(source)
    proved = [at for at, move in enumerate(moves) if move.is_needed]
    lines = []
    for step in (source.steps[at] for at in proved or effective_steps(source)):
        answer = condense(step.observation, _ANSWER_WORDS)
        lines.append(f"> {condense(step.action, _ACTION_WORDS)}\n{answer}".strip())
    return lines, _SHORTENED if proved else ""


def _places(memory: str) -> str:
    """What is known of this environment, the things of one place in one line."""
    things: dict[str, list[str]] = {}
    for line in memory.splitlines():
        thing, _, place = line.partition(": ")
        things.setdefault(place, []).append(thing)
    lines = [
        f"{place}: {', '.join(items)}" if place else "\n".join(items)
        for place, items in things.items()
    ]
    return f"### Seen here before\n{fenced(chr(10).join(lines))}"


def _listed(title: str, nodes: Sequence[Node], names: Mapping[str, str]) -> list[str]:
    texts = [filled(node.payload["text"], names) for node in nodes]
    lines = [
        f"{number}.{chr(10) if chr(10) in text else ' '}{text}"
        for number, text in enumerate(texts, 1)
    ]
    return [f"### {title}\n{fenced(chr(10).join(lines))}"] if lines else []


def _tries(lost: Sequence[Node], names: Mapping[str, str]) -> list[str]:
    lines = [
        f"- {': '.join(filter(None, [node.payload['failure'], node.payload['text']]))}"
        f" {DISPLAY[TASKS].label('remedy')}: {node.payload['remedy']}"
        for node in lost
    ]
    text = fenced(filled("\n".join(dict.fromkeys(lines)), names))
    return [f"### Last tries at this task, here: they failed\n{text}"] if lines else []
