"""DeltaMem's numbers, per tree, with the published presets.

The published thresholds belong to E5-base-v2, whose similarities crowd together near the
top. Another embedder's similarities mean something else: `calibrate` proposes thresholds
for it from a bank's own episodes, and a bank whose thresholds are still the preset's takes
them from its first episodes by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal, Self

import msgspec
from msgspec import Meta

from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.memory.settings import Numbers, Settings
from deltamem_tui.trajectory.domains import GENERIC, key


class TreeParameters(Numbers, frozen=True):
    """The numbers of one tree.

    Attributes:
        tau_base: The least score at which a node is a match (τ_base), in [-1, 1].
        failure_penalty: Taken off the similarity of failures (ε), at least 0.
        d_max: The deepest level of the tree (D_max), at least 2: at 1 the sibling rule
            would hang a residual on the virtual root.
        k_cons: Successful hits after which a residual's chain is fused (K_cons), at least 1;
            None never fuses.
        enabled: Whether the tree is queried and grown at all.
        tau_fixed: Whether τ_base stays as it is. Where it does not, the bank's first episodes
            replace the preset's; whatever assigns τ_base fixes it.
        recall: `paper` takes the best node that reaches τ_base; `kind` looks for the kind of
            goal first, where the rules understand it. It means nothing in the env tree.
    """

    fixes = {"tau_base": "tau_fixed"}  # noqa: RUF012 - a constant of the class

    tau_base: Annotated[float, Meta(ge=-1, le=1, description="a similarity from -1 to 1")]
    failure_penalty: Annotated[float, Meta(ge=0, le=2, description="a number from 0 to 2")] = 0.05
    d_max: Annotated[
        int, Meta(ge=2, le=1000, description="a depth from 2 to 1000, a whole number")
    ] = 5
    k_cons: (
        Annotated[int, Meta(ge=1, description="a whole number of hits from 1, or none")] | None
    ) = 3
    enabled: bool = True
    recall: Annotated[Literal["kind", "paper"], Meta(description="kind or paper")] = "kind"
    tau_fixed: bool = True


class Parameters(Settings, frozen=True):
    """The numbers of both trees, and of what an agent is given.

    Attributes:
        task: Those of the task tree.
        env: Those of the env tree.
        budget: How many tokens the entries of a context may have. Beyond it facts go first,
            then warnings; a procedure stays whole.
    """

    meaningless = ("env.recall",)
    recalling = {  # noqa: RUF012 - a constant of the class
        "task.tau_base": "task",
        "task.failure_penalty": "task",
        "task.recall": "task",
        "env.tau_base": "env",
        "env.failure_penalty": "env",
    }

    task: TreeParameters
    env: TreeParameters
    budget: Annotated[int, Meta(ge=0, description="a whole number of tokens")] = 600

    published_for: ClassVar[str] = DEFAULT_EMBEDDER

    @classmethod
    def preset(cls, domain: str) -> Self:
        """The published numbers of a domain; the generic ones for a domain without any."""
        tau_task, tau_env, k_cons = _PUBLISHED.get(key(domain), _PUBLISHED[GENERIC])
        task = TreeParameters(tau_task, k_cons=k_cons, tau_fixed=False)
        return cls(task, msgspec.structs.replace(task, tau_base=tau_env))

    @classmethod
    def presets(cls) -> Collection[str]:
        """The domains of the paper, and the generic one."""
        return _PUBLISHED


# Per domain τ of the task tree, τ of the env tree, and K_cons; one ε for all.
_PUBLISHED: Mapping[str, tuple[float, float, int]] = {
    "alfworld": (0.75, 0.85, 5),
    "scienceworld": (0.82, 0.82, 3),
    "webshop": (0.85, 0.85, 3),
    GENERIC: (0.82, 0.85, 3),
}
