"""How DeltaMem's two trees are shown: skills say how, knowledge says where and what."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.deltamem.collections import OPTIONAL
from deltamem_tui.memory.display import Display

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
    ),
}
