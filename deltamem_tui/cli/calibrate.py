"""`deltamem calibrate`: thresholds from a bank's own scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.memory.threshold_proposal import Proposal

Apply = Annotated[
    bool, typer.Option("--apply", help="Make the proposed thresholds the bank's own.")
]

_BAR_WIDTH = 40
_COMPARED = {
    "nodes": "the bank's nodes",
    "triggers": "the conditions that the rules would write for them",
}


def run(
    context: typer.Context,
    bank: options.Bank,
    apply: Apply = False,
) -> Result:
    """Propose a threshold per tree from the scores of the bank's own episodes.

    A new bank is calibrated by itself before it first learns from enough episodes, unless its
    thresholds were set by then, or its embedder is the one that the preset was published for.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory import engine

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.writable_bank(bank) if apply else invocation.bank(bank))
    with invocation.output.progress("scoring"):
        proposals = engine.calibrate(opened)
    applied = apply and any(proposal.proposed is not None for proposal in proposals)
    if applied:
        engine.apply_proposals(opened, proposals)

    def view(page: Page) -> None:
        for proposal in proposals:
            page.text(_headline(proposal), style="bold")
            page.text("\n".join(_histogram(proposal)))

    data = {
        "applied": applied,
        "trees": {proposal.tree: asdict(proposal) for proposal in proposals},
    }
    notes = [
        f"nothing proposed for the {each.tree} tree: {each.reason}"
        for each in proposals
        if each.reason
    ]
    if all(proposal.proposed is None for proposal in proposals):
        notes.append("`deltamem import` brings more episodes")
    elif not applied:
        notes.append(f"`deltamem calibrate {bank} --apply` makes these the bank's own")
    return Result("calibrate", data, view=view, notes=notes)


def _headline(proposal: Proposal) -> str:
    proposed = "nothing" if proposal.proposed is None else f"{proposal.proposed:g}"
    then = "" if proposal.matching_then is None else f" → {proposal.matching_then:.0%}"
    episodes = counted(proposal.questions, "different question")
    return (
        f"{proposal.tree} tree: {proposal.current:g} now, {proposed} proposed; "
        f"{episodes} of the bank's episodes, compared with {_COMPARED[proposal.compared_with]}: "
        f"{proposal.matching_now:.0%}{then} match"
    )


def _histogram(proposal: Proposal) -> list[str]:
    """The best scores as bars, with the thresholds at their bins."""
    most = max(proposal.bin_counts, default=0) or 1
    lines = []
    for low, high, count in zip(
        proposal.bin_edges, proposal.bin_edges[1:], proposal.bin_counts, strict=False
    ):
        bar = "█" * -(-_BAR_WIDTH * count // most)
        marks = [
            word
            for word, value in (("now", proposal.current), ("proposed", proposal.proposed))
            if value is not None and low <= value < high
        ]
        line = f"{low:7.3f} {bar:<{_BAR_WIDTH}} {count:5d}"
        lines.append(f"{line}  ← {', '.join(marks)}" if marks else line)
    return lines
