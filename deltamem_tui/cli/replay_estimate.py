"""What a replay would take, before it is begun: its episodes, contestants, and a model's calls."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltamem_tui.cli.interruption import Interruption
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.replay.contest import ReplayTools
    from deltamem_tui.memory.replay.replay import ReplayPlan
    from deltamem_tui.trajectory.model import Trajectory


def estimated(
    episodes: Sequence[Trajectory],
    plan: ReplayPlan,
    tools: ReplayTools,
    errors: Sequence[DeltaMemError],
    stop: Interruption,
) -> Result:
    """How much a replay would do, and what a model would be asked by all contestants. Nothing is
    sent. What several of them ask is counted for each, though the cache answers it but once.
    """
    from deltamem_tui.memory.replay.episodes import kinds_of
    from deltamem_tui.memory.replay.replay import distinct_orders, replayable

    known = replayable(episodes, plan)
    orders = distinct_orders(known, kinds_of(known, plan.kind_field), plan)
    usage = _usage([ordered for _, ordered in orders], plan, tools, stop)
    data: dict[str, Any] = {
        "dry_run": True,
        "episodes": len(known),
        "contestants": len(plan.contestants),
        "orders": [order for order, _ in orders],
        "steps": len(known) * len(plan.contestants) * len(orders),
        "usage": asdict(usage) if usage else None,
    }
    size = ", ".join(
        counted(number, name)
        for number, name in (
            (len(known), "episode"),
            (len(plan.contestants), "contestant"),
            (len(orders), "order"),
            (data["steps"], "step"),
        )
    )
    notes = [f"{size}; nothing was replayed"]
    if usage:
        price = "at a price that is not known" if usage.cost is None else f"${usage.cost:.2f}"
        notes.append(f"at most {counted(usage.calls, 'call')} of the model, {price}")
    return Result("replay", data, list(errors), Result.verdict(len(known), errors), notes=notes)


def _usage(
    orders: Sequence[Sequence[Trajectory]], plan: ReplayPlan, tools: ReplayTools, stop: Interruption
) -> Usage | None:
    """What all contestants would ask a model in all orders; None if the rules write."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.runs.estimate import estimate_learning
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(tools.writer, ModelExtractor):
        return None
    usage = Usage()
    for ordered in orders:
        for each in plan.contestants:
            admitted = [kept for episode in ordered if (kept := each.admitted(episode))]
            with tempfile.TemporaryDirectory(prefix="deltamem-estimate-") as folder:
                bank = create_bank(
                    Path(folder) / "bank",
                    embedder=tools.embedder,
                    domain=tools.domain,
                    method=each.method,
                    parameters=each.settings(tools.domain),
                )
                usage += estimate_learning(
                    bank, admitted, tools.writer, tools.embedder, stopped=lambda: bool(stop)
                )
            if stop:
                raise InterruptionError("interrupted", hint="nothing was replayed")
    return usage
