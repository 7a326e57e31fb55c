"""DeltaMem's two trees of nodes, and the texts of a node."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import DEPTH_LIMIT, Collection

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
