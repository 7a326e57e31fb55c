"""`deltamem forget`: what the rules of forgetting would delete, and deleting it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.forgetting import Deletion

Rule = Annotated[
    Literal["periodical", "history", "combined"] | None,
    typer.Option(
        "--rule",
        help="What goes: idle nodes (periodical), those of little use (history), or both; the "
        "bank's parameter `forgetting` if not given.",
    ),
]
Preset = Annotated[
    Literal["ehr", "ehr-coarse", "driving", "iot"] | None,
    typer.Option("--preset", help="Published numbers in place of the bank's."),
]
Capacity = Annotated[
    int | None,
    typer.Option("--capacity", metavar="N", min=1, help="At most N nodes a tree, the worst go."),
]
Coarse = Annotated[
    bool, typer.Option("--coarse", help="Go by the judge's word instead of log's and yours.")
]
Promote = Annotated[
    bool,
    typer.Option(
        "--promote",
        help="First make good nodes below those of little use roots of their own, by the rules.",
    ),
]
Apply = Annotated[bool, typer.Option("--apply", help="Delete them; else they are only listed.")]


def run(
    context: typer.Context,
    bank: options.Bank,
    rule: Rule = None,
    preset: Preset = None,
    capacity: Capacity = None,
    coarse: Coarse = False,
    promote: Promote = False,
    apply: Apply = False,
) -> Result:
    """List the nodes that are idle or of little use, and why; delete them with --apply.

    Each goes with all below it, in a commit that has the rule and its numbers, and leaves a
    tombstone. `deltamem undo` brings back what went last.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import UsageError
    from deltamem_tui.memory import forgetting
    from deltamem_tui.memory.methods import settings_of
    from deltamem_tui.memory.policies.forgetting import PRESETS

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.writable_bank(bank) if apply else invocation.bank(bank))
    if apply:
        opened.require_writable()
    rules = PRESETS[preset] if preset else forgetting.rules_of(settings_of(opened))
    rules = replace(rules, forgetting=rule or rules.forgetting)
    rules = replace(rules, capacity=capacity or rules.capacity)
    if not rules.any:
        raise UsageError(
            "the bank has no rule of forgetting",
            hint="give --rule, --preset or --capacity, or set the parameter `forgetting`",
        )
    promoted = forgetting.promotable(opened, rules, coarse=coarse) if promote else []
    fused = len(promoted)
    if apply and promoted:
        from deltamem_tui.memory.engine import promote as fuse

        fused = len(fuse(opened, promoted))
    found = forgetting.proposed(opened, rules, coarse=coarse)
    if apply:
        found = forgetting.apply(opened, found, rules)

    def view(page: Page) -> None:
        page.table(_COLUMNS, [_row(opened, each) for each in found[:_SHOWN]], headed=True)

    data: dict[str, Any] = {
        "applied": apply,
        "promoted": [{"tree": tree, "node": node} for tree, node in promoted],
        "deletions": [each.record() for each in found],
        "nodes": {name: len(tree) for name, tree in opened.trees.items()},
    }
    gone = counted(sum(each.nodes for each in found), "node")
    notes = [f"{gone} deleted" if apply else f"{gone} would be deleted; nothing was written"]
    if promoted:
        chains = counted(fused, "chain")
        notes.append(f"{chains} fused" if apply else f"{chains} would be fused first")
    if len(found) > _SHOWN:
        notes.append(f"{len(found):,} deletions; `--json` lists them all")
    if coarse:
        notes.append("a judge's word deletes good nodes too: in the published runs it did harm")
    return Result("forget", data, view=view, notes=notes)


def _row(bank: Bank, each: Deletion) -> tuple[str | int, ...]:
    """Return a deletion for a person. The line of a node that was deleted still says what it
    was.
    """
    from deltamem_tui.bank.credit import UNIT
    from deltamem_tui.memory.methods import display_of

    node = bank.tree(each.tree).node_at(each.row)
    return (
        each.tree,
        each.node[:8],
        each.nodes,
        each.rule,
        each.age,
        each.recent,
        each.judged,
        f"{each.utility / each.judged / UNIT:.2f}" if each.judged else "",
        one_line(display_of(bank, each.tree).of_title(node), 60),
    )


_SHOWN = 50
_COLUMNS = ("tree", "node", "nodes", "rule", "age", "recent", "judged", "utility", "title")
