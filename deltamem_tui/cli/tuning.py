"""Commands that tune a bank: parameters, vectors, forgetting, and what helped."""

from __future__ import annotations

from dataclasses import asdict
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, Literal

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.page import Cell
from deltamem_tui.cli.result import InterruptionError, Result, facts, table
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.forgetting import Deletion

_SHOWN = 50


def parameters(
    invocation: Invocation,
    bank: options.Bank,
    changes: Annotated[
        list[str] | None, argument("[NAME=VALUE]...", "Such as task.tau_base=0.8.")
    ] = None,
) -> Result:
    """Show the method's numbers of a bank, or change some.

    DeltaMem has, per tree: tau_base, the score from which a node is a match; failure_penalty,
    taken off the similarity of failures; d_max, the deepest level; k_cons, after how many hits a
    chain is fused into a new root (`none`: never); enabled. The task tree has
    recall: `kind` counts what near tasks know (in a game: by the kind of goal), `paper` takes
    the best node from the threshold up. Every bank has budget, the most tokens of a context (in
    a game without the procedure), admission, forgetting with its numbers, and utility
    (docs/credit.md).
    """
    from deltamem_tui.memory.method import change_settings, settings_of
    from deltamem_tui.memory.settings import assigned, listed, to_record

    opened = invocation.open(bank, write=bool(changes))
    if changes:
        change_settings(opened, "user", lambda numbers: reduce(assigned, changes, numbers))
    numbers = settings_of(opened)
    view = facts({each.path: _shown(each.value) for each in listed(numbers)})
    return Result("parameters", {"bank": opened.name, "parameters": to_record(numbers)}, view=view)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def reembed(
    invocation: Invocation,
    bank: options.Bank,
    embedder: Annotated[str, options.EMBEDDER],
    dry_run: options.DryRun = False,
) -> Result:
    """Give a bank the vectors of another embedder. No episode is learnt again.

    Thresholds that were the usual ones become those of the new embedder.
    While it runs, the bank can be read and can learn; an interrupted run changes nothing.
    """
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.method import settings_for
    from deltamem_tui.memory.settings import stored_record
    from deltamem_tui.memory.vectors import reembed

    opened = invocation.open(bank, write=not dry_run)
    opened.require_folder()
    loaded = load(invocation.settings(embedder=embedder).embedder)
    model = loaded.card.model
    _, chosen = settings_for(opened, model)
    plan = found = reembed.planned(opened, loaded)
    if plan.needed and not dry_run:
        with invocation.output.progress("embedding", plan.texts) as advance:
            settings = lambda bank: stored_record(settings_for(bank, model)[0])  # noqa: E731
            try:
                found = reembed.reembed(opened, loaded, settings=settings, advance=advance)
            except KeyboardInterrupt as error:
                hint = "the bank is as it was"
                raise InterruptionError("interrupted", source=bank, hint=hint) from error
    data = {
        "bank": opened.name,
        "reembedded": plan.needed and not dry_run,
        "before": asdict(found.before),
        "after": asdict(found.after),
        "rows": dict(found.rows),
        "texts": found.texts,
        "kept": {each.path: each.value for each in chosen},
    }
    if not found.needed:
        notes = [f"{bank} has the vectors of {found.after.model} already"]
        return Result("reembed", data, notes=notes)
    named = {"before": found.before.model, "after": found.after.model}
    view = facts(named | {"dimensions": found.after.dimensions, "texts": found.texts})
    notes = [f"{bank} has the vectors of {found.after.model}"]
    if dry_run:
        notes = [f"would embed {counted(found.texts, 'text')} with {found.after.model}"]
    elif chosen:
        kept = ", ".join(f"{each.path} {each.value:g}" for each in chosen)
        notes.append(f"{kept}: chosen for {found.before.model}; it may not suit the new vectors")
        notes.append(f"`deltamem bank parameters {bank}` sets another")
    return Result("reembed", data, view=view, notes=notes)


_PRESETS = {
    "ehr": ("combined", 200, 0, 5, 0.7),
    "driving": ("periodical", 300, 1, 5, 0.5),
    "iot": ("combined", 300, 1, 5, 0.5),
}
"""The published values of `forgetting.RULES`. Driving measures utility as a distance, which is not
a share of successes: of its rules only the period carries over."""


def forget(
    invocation: Invocation,
    bank: options.Bank,
    preset: Annotated[
        Literal["ehr", "driving", "iot"] | None, flag("--preset", "Published numbers.")
    ] = None,
    apply: Annotated[bool, flag("--apply", "Delete the listed nodes.")] = False,
) -> Result:
    """List the nodes that are idle or of little use, and why; delete them with --apply.

    Each goes with its subtree, in a commit that names the rule and its numbers, and leaves a
    tombstone. `deltamem node undo` restores what went last.
    """
    from msgspec.structs import replace

    from deltamem_tui.memory import forgetting
    from deltamem_tui.memory.method import settings_of

    opened = invocation.open(bank, write=apply)
    rules = settings_of(opened)
    if preset:
        rules = replace(rules, **dict(zip(forgetting.RULES, _PRESETS[preset], strict=True)))
    if rules.forgetting == "none":
        raise UsageError(
            "the bank has no forgetting rule",
            hint="give --preset, or set the parameter `forgetting`",
        )
    found = forgetting.proposed(opened, rules)
    if apply:
        found = forgetting.apply(opened, found, rules)
    data: dict[str, Any] = {
        "applied": apply,
        "deletions": [each.record() for each in found],
        "nodes": {name: len(tree) for name, tree in opened.trees.items()},
    }
    gone = counted(sum(each.nodes for each in found), "node")
    notes = [f"{gone} deleted" if apply else f"{gone} would be deleted; nothing was written"]
    if len(found) > _SHOWN:
        notes.append(f"{len(found):,} deletions; `--json` lists them all")
    view = table(_DELETED, [_deletion(opened, each) for each in found[:_SHOWN]])
    return Result("forget", data, view=view, notes=notes)


_DELETED = ("tree", "node", "nodes", "rule", "age", "recent", "judged", "utility", "title")


def _deletion(bank: Bank, each: Deletion) -> tuple[Cell, ...]:
    """Return a deletion for a person; the line of a node that was deleted still has its title."""
    from deltamem_tui.bank.ledger import UNIT
    from deltamem_tui.memory.method import display_of

    node = bank.tree(each.tree).node_at(each.row)
    utility = f"{each.utility / each.judged / UNIT:.2f}" if each.judged else ""
    title = display_of(bank, each.tree).of_title(node)
    used = (each.nodes, each.rule, each.age, each.recent, each.judged)
    return (each.tree, each.node[:8], *used, utility, title)
