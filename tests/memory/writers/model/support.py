"""Episodes, chains and answers as a model meets and gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

SKILL = {
    "activation_condition": "put a clean [object] in [receptacle]",
    "execution_procedure": "1. go to [receptacle]\n2. take [object] from [receptacle]",
    "termination_condition": "You put the [object] in the [receptacle].",
}
RECORD = {
    "activation_condition": "put a clean [object] in [receptacle]",
    "execution_procedure": "[FAILED] open fridge: Nothing happens.\n[UNEXPLORED] cabinet",
    "termination_condition": "",
}
FACTS = {
    "activation_condition": "a kitchen with cabinets, a fridge and a sinkbasin",
    "execution_procedure": "cups: countertops, cabinets",
    "termination_condition": "",
}

EPISODE = Trajectory(
    task="put a clean cup in cabinet.",
    environment="You are in a room. You see a cabinet 1, a fridge 1 and a sinkbasin 1.",
    steps=(
        Step("go to countertop 1", "On the countertop 1, you see a cup 2.", "Cups stand there."),
        Step("take cup 2 from countertop 1", "You pick up the cup 2."),
        Step("clean cup 2 with sinkbasin 1", "You clean the cup 2."),
        Step("put cup 2 in cabinet 1", "You put the cup 2 in the cabinet 1.", reward=1.0),
    ),
    outcome=Outcome(success=True, reward=1.0, source="stated"),
    domain="alfworld",
    metadata={"max_steps": "30"},
)
LOST = EPISODE.with_outcome(Outcome(success=False, reward=0.25, source="stated"))


def said(answer: Mapping[str, object]) -> str:
    return json.dumps(answer)


def verdict(solved: object, reasons: str = "It is done.") -> str:
    """A judge's answer."""
    return said({"reasons": reasons, "solved": solved})


def chain(tree: str, *labels: Label) -> tuple[Node, ...]:
    """A chain with one node a label, each with a procedure of its own."""
    nodes: list[Node] = []
    for number, label in enumerate(labels):
        text = {
            "success": f"{number + 1}. Rinse [object] twice.",
            "failure": "[FAILED] rinse: no, never.",
        }
        payload = Payload(f"clean things {number}", text[label], "Done." if not number else "")
        nodes.append(born(tree, nodes[-1] if nodes else None, label, payload, Origin()))
    return tuple(nodes)
