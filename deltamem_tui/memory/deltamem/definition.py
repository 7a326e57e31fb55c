"""DeltaMem: residual experience in a task tree and an env tree.

New experience is stored as what it adds to what is known. The published thresholds belong to
E5-base-v2, whose similarities crowd together near the top; other embedders have their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta

from deltamem_tui.bank.node import DEPTH_LIMIT, Collection
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import MAY_SKIP, OF_AN_EPISODE, OF_NOTES, PromptUse
from deltamem_tui.memory.settings import FromOne, Numbers, Settings

FIELDS = ("activation_condition", "execution_procedure", "termination_condition")
OPTIONAL = ("termination_condition",)
"""Fields that may be empty."""

_TREE = Collection(FIELDS, key="activation_condition", depth=DEPTH_LIMIT)
COLLECTIONS: Mapping[str, Collection] = {"task": _TREE, "env": _TREE}
"""The task tree keeps skills (when, how, until when), the env tree knowledge (where, what)."""

_of_tree = partial(Display, optional=OPTIONAL, layered=True)
DISPLAY: Mapping[str, Display] = {
    "task": _of_tree(
        "task tree",
        "skill",
        dict(zip(FIELDS, ("When", "How", "Done when"), strict=True)),
        warning="WARNING: this failed, never carry it out",
        instruction="execution_procedure",
    ),
    "env": _of_tree(
        "env tree",
        "knowledge",
        dict(zip(FIELDS, ("Where", "What", "Done when"), strict=True)),
    ),
}


def _prompts(tree: str, labels: Mapping[str, Any]) -> dict[str, PromptUse]:
    """Return a tree's prompts: a root's and a residual's of each label, and a fused chain's."""
    use = partial(PromptUse, tree, fields=FIELDS, optional=OPTIONAL, body="execution_procedure")
    of_episodes = {
        f"{tree}_{kind}{name}": use(OF_AN_EPISODE | {MAY_SKIP}, label=label)
        for kind in ("root", "residual")
        for name, label in labels.items()
    }
    fused = use(OF_NOTES, empty_of_failures=OPTIONAL, call="fuse")
    return {**of_episodes, f"{tree}_consolidation": fused}


PROMPTS: Mapping[str, PromptUse] = {
    **_prompts("task", {"_success": "success", "_failure": "failure"}),
    **_prompts("env", {"": None}),
}


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
        recall: `paper` takes the best node that reaches τ_base; `kind` looks for the kind of
            goal first, where the rules understand it. It means nothing in the env tree.
    """

    tau_base: Annotated[float, Meta(ge=-1, le=1)]
    failure_penalty: Annotated[float, Meta(ge=0, le=2)] = 0.05
    d_max: Annotated[int, Meta(ge=2, le=1000)] = 5
    k_cons: FromOne | None = 3
    enabled: bool = True
    recall: Literal["kind", "paper"] = "kind"


class Parameters(Settings, frozen=True):
    """The numbers of both trees, and of what an agent is given.

    Attributes:
        task: Those of the task tree.
        env: Those of the env tree.
        budget: How many tokens the entries of a context may have. Beyond it facts go first,
            then warnings; a procedure stays whole. Of real work the whole context counts, four
            characters a token.
    """

    meaningless = ("env.recall",)
    recalling = {  # noqa: RUF012 - a constant of the class
        **dict.fromkeys(("task.tau_base", "task.failure_penalty", "task.recall"), "task"),
        **dict.fromkeys(("env.tau_base", "env.failure_penalty"), "env"),
    }

    task: TreeParameters
    env: TreeParameters
    budget: Annotated[int, Meta(ge=0)] = 600

    @classmethod
    def preset(cls, domain: str, embedder: str = PUBLISHED_EMBEDDER) -> Self:
        """Return the published numbers of a domain; the generic ones for a domain without any.

        The thresholds are those of the embedder.
        """
        from deltamem_tui.memory.domain import GENERAL, domain_for

        numbers = {**_GENERIC, **domain_for(domain).presets.get("deltamem", {})}
        tau_task, tau_env = numbers["tau_task"], numbers["tau_env"]
        if not _E5.search(embedder):
            tau_task, tau_env = _THRESHOLDS.get(embedder, _OF_OTHERS)
        task = TreeParameters(tau_task, k_cons=int(numbers["k_cons"]))
        env = msgspec.structs.replace(task, tau_base=tau_env)
        # The lists of real work could go on for ever.
        return cls(task, env, budget=300 if domain_for(domain) is GENERAL else 600)


_GENERIC = {"tau_task": 0.82, "tau_env": 0.85, "k_cons": 3}
"""τ of the task tree, τ of the env tree, and K_cons; one ε for all."""
_E5 = re.compile(r"\be5\b")
_THRESHOLDS = {"hashing": (0.66, 0.85)}
_OF_OTHERS = (0.58, 0.75)
"""τ of both trees for an embedder, and for models of sentences other than E5, as MiniLM.

Medians of the thresholds that best separate each episode's nearest of its kind from the nearest of
another: for tasks over five logs of real work and two of games (0.45 to 0.80 by MiniLM, 0.53 to
0.93 by hashing), for scenes over the two of games, since those of work say too little of them.
"""

_HERE = "deltamem_tui.memory.deltamem"
METHOD = Method(
    name="deltamem",
    title="residual experience in two trees",
    good_when=("kinds of tasks recur with other objects and places, and prompts must stay short"),
    collections=COLLECTIONS,
    display=DISPLAY,
    ranking=(
        "In real work, similar past tasks count; in a game, the kind of task. Otherwise the "
        "best node matches if its score (similarity, less a penalty for failures) reaches the "
        "threshold."
    ),
    rules={
        "work": "what similar past tasks say; no threshold is used",
        "kind": "the kind of task is known; within it, a score is the similarity of names",
    },
    prompts=PROMPTS,
    settings=Parameters,
    recall=late(f"{_HERE}.recall:recall"),
    plan=late(f"{_HERE}.write:plan"),
    write_by_rules=late(f"{_HERE}.rules:write_by_rules"),
    digest=late("deltamem_tui.memory.work_context:digest_lines"),
    due=late(f"{_HERE}.write:due"),
    maintain=late(f"{_HERE}.write:maintain"),
)
