"""The set of workflows and their counts, against a slow reference over random streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as some

from deltamem_tui.memory.awm.definition import WORKFLOWS
from deltamem_tui.memory.awm.write import actions_in, occur
from tests.effort import examples
from tests.memory.awm.support import Answer, Inducer, attempt, new_bank, teach

ACTIONS = some.sampled_from(["wash it", "rinse it", "dry it"])
STEPS = some.lists(ACTIONS, min_size=1, max_size=3).map(tuple)
Steps = tuple[str, ...]


class Told(NamedTuple):
    """One episode of a stream, and what the writer would answer after it."""

    kind: str
    task: str
    success: bool
    actions: Steps
    answer: Answer


STREAMS = some.lists(
    some.builds(
        Told,
        some.sampled_from(["chores", "errands"]),
        some.sampled_from(["a cup", "a pan", "a pot", "A  cup"]),
        some.sampled_from([True, True, False]),
        some.lists(ACTIONS, min_size=1, max_size=4).map(tuple),
        some.none() | some.lists(STEPS, max_size=3),
    ),
    max_size=10,
)


@dataclass
class Known:
    """A kind as the reference has it: solved tasks with what was done, and workflows."""

    solved: dict[str, Steps] = field(default_factory=dict)
    living: list[Steps] = field(default_factory=list)
    born: dict[Steps, tuple[Steps, tuple[str, ...]]] = field(default_factory=dict)


def within(steps: Steps, actions: Steps) -> bool:
    if not steps:
        return True
    return any(
        action == steps[0] and within(steps[1:], actions[at + 1 :])
        for at, action in enumerate(actions)
    )


@examples(30)
@given(STREAMS)
def test_any_stream_has_the_workflows_and_counts_of_the_slow_reference(
    stream: list[Told],
) -> None:
    kinds = {"chores": Known(), "errands": Known()}
    counts: dict[tuple[str, Steps, tuple[str, ...]], list[int]] = {}
    with TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank")
        for number, told in enumerate(stream):
            known = kinds[told.kind]
            for steps in known.living:
                if within(steps, told.actions):
                    counted = counts[told.kind, *known.born[steps]]
                    counted[0] += 1
                    counted[1] += told.success
            episode = attempt(
                told.task,
                *told.actions,
                kind=told.kind,
                success=told.success,
                number=number,
            )
            teach(bank, episode, Inducer(told.answer))
            template = told.task.lower().replace("  ", " ")
            if told.success and template not in known.solved:
                known.solved[template] = told.actions
                induce(known, told, counts)
        found = {
            (node.payload["group"], tuple(actions_in(node.payload["steps"]))): [
                bank.tree(WORKFLOWS).counts(node.id).recalls,
                bank.tree(WORKFLOWS).counts(node.id).successes,
            ]
            for node in bank.tree(WORKFLOWS)
        }
        assert found == {
            (kind, steps): counts[kind, *known.born[steps]]
            for kind, known in kinds.items()
            for steps in known.living
        }


def induce(
    known: Known, told: Told, counts: dict[tuple[str, Steps, tuple[str, ...]], list[int]]
) -> None:
    wanted = list(dict.fromkeys(tuple(each) for each in told.answer or () if len(each) > 1))
    if not wanted:
        return
    for steps in wanted:
        if steps not in known.living:  # with the same sources it is the same node as before
            sources = tuple(task for task, done in known.solved.items() if within(steps, done))
            known.born[steps] = steps, sources or tuple(known.solved)
            counts.setdefault((told.kind, *known.born[steps]), [0, 0])
    known.living = wanted


@given(
    some.lists(some.sampled_from("ab[x]"), max_size=6).map("".join),
    some.lists(some.sampled_from("ab"), max_size=6).map("".join),
)
def test_a_blank_is_filled_by_any_words_but_none(step: str, action: str) -> None:
    step = step.replace("[", "").replace("]", "").replace("x", " [x] ").strip() or "a"
    action = " ".join(action) or "a"
    step = " ".join(" ".join(step.replace("[x]", "_")).split()).replace("_", "[x]")

    def fills(steps: str, text: str) -> bool:
        if steps.startswith("[x]"):
            return any(fills(steps[3:], text[end:]) for end in range(1, len(text) + 1))
        if not steps or not text:
            return steps == text
        return steps[0] == text[0] and fills(steps[1:], text[1:])

    assert occur([step], [action]) == fills(step, action)
