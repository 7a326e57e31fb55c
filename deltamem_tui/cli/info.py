"""`deltamem info`: what a bank amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.views.statistics import TreeStatistics

_REFUSED_SHOWN = 20


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Count what a bank holds: nodes by kind, label and depth, tokens, episodes."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.credit.credit import tree_credit
    from deltamem_tui.memory.methods import is_shown, settings_record
    from deltamem_tui.memory.reports.view import usage_facts
    from deltamem_tui.memory.views.history import history
    from deltamem_tui.memory.views.statistics import bank_statistics

    opened = Bank.open(Invocation.of(context).bank(bank))
    statistics = bank_statistics(opened)
    past = history(opened)
    credit = {name: tree_credit(opened, name) for name in opened.trees}
    manifest = opened.manifest
    about = {
        "bank": opened.name,
        "description": manifest.description,
        "method": manifest.method,
        "domain": manifest.domain,
        "model": manifest.embedder.get("model"),
        "dimensions": manifest.dimensions,
        "frozen": manifest.frozen,
    }
    episodes = {
        "episodes": statistics.episodes,
        "learnt": statistics.learnt,
        "waiting": statistics.waiting,
        "without_outcome": statistics.without_outcome,
    }

    def view(page: Page) -> None:
        facts: dict[str, Any] = {**about, **episodes}
        page.facts({name.replace("_", " "): fact for name, fact in facts.items()})
        trees = {name: each for name, each in statistics.trees.items() if is_shown(opened, name)}
        page.table(("tree", *trees), _rows(opened, trees), headed=True)
        for name, each in credit.items():
            page.facts({f"{name} {fact}": value for fact, value in each.facts(pairs=True).items()})
        if past.usage.calls or past.usage.cached:
            page.facts(usage_facts(past.usage))
        if past.refused:
            shown = past.refused[-_REFUSED_SHOWN:]
            page.table(
                ("could not be learnt", "why"), [(each.trajectory, each.reason) for each in shown]
            )

    data: dict[str, Any] = {
        **about,
        **episodes,
        "parameters": settings_record(opened),
        "provenance": manifest.provenance,
        "usage": asdict(past.usage),
        "untold": asdict(Usage()),  # a killed run's payments are in `usage.jsonl` at once
        "refused": [asdict(each) for each in past.refused],
    }
    data |= {
        str(name): asdict(numbers) | {"credit": credit[name].record()}
        for name, numbers in statistics.trees.items()
    }
    notes: list[object] = []
    if statistics.without_outcome:
        notes.append(_without_outcome(statistics.without_outcome, bank))
    if len(past.refused) > _REFUSED_SHOWN:
        notes.append(f"{len(past.refused):,} episodes could not be learnt; `--json` lists them all")
    return Result("info", data, view=view, notes=notes)


def _without_outcome(waiting: int, bank: str) -> str:
    """How to give waiting episodes an outcome."""
    return (
        f"{counted(waiting, 'episode waits', 'episodes wait')} for an outcome: import again with "
        "`--outcome success`, `--outcome failure` or `--outcome FILE`, or let a model say: "
        f"`deltamem judge {bank}`"
    )


_OF_LAYERS = (
    *("roots", "residuals", "consolidated", "max_depth"),
    *("mean_tokens_root", "mean_tokens_residual"),
)
"""Numbers that mean something only where a node is what its parent lacks."""


def _rows(bank: Bank, trees: Mapping[str, TreeStatistics]) -> list[list[Any]]:
    """The collections' numbers side by side, a row a number."""
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.views.statistics import TreeStatistics

    displays = [display_of(bank, name) for name in trees]
    layered = any(each.layered for each in displays)
    left_out = ("depths",) if layered else ("depths", *_OF_LAYERS)
    rows = [
        [name.replace("_", " "), *(getattr(numbers, name) for numbers in trees.values())]
        for name in (each.name for each in fields(TreeStatistics))
        if name not in left_out
    ]
    if layered:
        return [*rows, ["nodes by depth", *(_by_depth(numbers) for numbers in trees.values())]]
    sizes = (
        display.sizes(tree.depths) for display, tree in zip(displays, trees.values(), strict=True)
    )
    return [*rows[:1], ["of these", *sizes], *rows[1:]]


def _by_depth(numbers: TreeStatistics) -> str:
    return " ".join(f"{depth}:{count}" for depth, count in numbers.depths.items())
