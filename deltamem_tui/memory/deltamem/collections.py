"""DeltaMem's two trees of nodes, the texts of a node, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import DEPTH_LIMIT, Collection
from deltamem_tui.memory.display import Display

METHOD = "deltamem"

_TREE = Collection(
    fields=("activation_condition", "execution_procedure", "termination_condition"),
    key="activation_condition",
    depth=DEPTH_LIMIT,
)

COLLECTIONS: Mapping[str, Collection] = {"task": _TREE, "env": _TREE}
"""The task tree keeps skills (when, how, until when), the env tree knowledge (where, what)."""


OPTIONAL = ("termination_condition",)
"""Fields that may be empty."""


DISPLAY: Mapping[str, Display] = {
    "task": Display(
        title="task tree",
        noun="skill",
        heading="Skills",
        labels={
            "activation_condition": "When",
            "execution_procedure": "How",
            "termination_condition": "Done when",
        },
        optional=OPTIONAL,
        warning="WARNING: this failed, never carry it out",
        layered=True,
        penalised=True,
        instruction="execution_procedure",
    ),
    "env": Display(
        title="env tree",
        noun="knowledge",
        heading="Knowledge",
        labels={
            "activation_condition": "Where",
            "execution_procedure": "What",
            "termination_condition": "Done when",
        },
        optional=OPTIONAL,
        layered=True,
        penalised=True,
    ),
}
"""Skills say how, knowledge says where and what."""


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
        super().__init__(
            activation_condition=activation_condition,
            execution_procedure=execution_procedure,
            termination_condition=termination_condition,
        )
