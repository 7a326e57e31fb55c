"""Commands that tune a bank: thresholds, settings, maintenance and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.models import ModelOptions, chosen_extractor
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, ExtractionError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.plan import MaintenanceResult, Proposal
    from deltamem_tui.memory.vectors.reembed import Reembedding
    from deltamem_tui.memory.writers.writer import Writer


Apply = Annotated[
    bool, typer.Option("--apply", help="Make the proposed thresholds the bank's own.")
]

_BAR_WIDTH = 40


def calibrate(
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
        f"{episodes} of the bank's episodes: "
        f"{proposal.matching_now:.0%}{then} match"
    )


def _histogram(proposal: Proposal) -> list[str]:
    """Return the best scores as bars, with the thresholds at their bins."""
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


Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=VALUE]…", help="What to change, such as task.tau_base=0.8"),
]


def parameters(context: typer.Context, bank: options.Bank, changes: Changes = None) -> Result:
    """Show the method's numbers of a bank, or change some.

    Without changes it lists the names and values that the bank's method has.

    DeltaMem has, per tree: tau_base, the threshold that a node must score to be a match;
    failure_penalty, taken off the similarity of what failed; d_max, the deepest level, below
    which a difference is written beside its match; k_cons, after how many hits a chain is fused
    into a new root (`none`: never); enabled, whether the tree is used at all; tau_fixed, whether
    the threshold stays: else a new bank's first episodes replace it. To set the threshold fixes
    it. Of the task tree alone: recall, how it is asked: `kind` counts what near tasks know (in
    a game: by the kind of goal), `paper` takes the best node from the threshold up. Of neither:
    budget, how many tokens a context may have; in a game, without the procedure.

    Every method has admission, forgetting with its numbers, capacity, utility and half_life:
    `deltamem forget`, and docs/credit.md.
    """
    from functools import reduce

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.methods import change_settings, settings_of
    from deltamem_tui.memory.settings import assigned, listed, to_record

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.writable_bank(bank) if changes else invocation.bank(bank))
    if changes:
        change_settings(opened, "user", lambda numbers: reduce(assigned, changes, numbers))
    parameters = settings_of(opened)
    columns: dict[str, Any] = to_record(parameters)

    def view(page: Page) -> None:
        groups = {name: each for name, each in columns.items() if isinstance(each, dict)}
        page.facts(
            {name: _shown_value(each) for name, each in columns.items() if name not in groups}
        )
        names = dict.fromkeys(name for numbers in groups.values() for name in numbers)
        known = {setting.path for setting in listed(parameters)}
        rows = [
            (
                name,
                *(
                    _shown_value(each.get(name)) if f"{group}.{name}" in known else ""
                    for group, each in groups.items()
                ),
            )
            for name in names
        ]
        if rows:
            page.table(("", *groups), rows)

    return Result("parameters", {"bank": opened.name, "parameters": columns}, view=view)


def _shown_value(value: object) -> str:
    return (
        "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def consolidate(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    model: options.Model = None,
    dry_run: options.DryRun = False,
    api_base: options.ApiBase = None,
    concurrency: options.Concurrency = 1,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
) -> Result:
    """Do what a bank's method does between episodes: fuse chains, conclude, catch up."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    if not (extractor or model or due(opened)):  # then it does not matter who would write
        if not dry_run:
            opened.require_writable()
        return _fusions([], 0, [], Usage())
    wanted = ModelOptions(model, api_base, max_cost, no_cache, prompts, dry_run, timeout)
    chosen = chosen_extractor(invocation, opened, extractor, wanted)
    if dry_run:
        return _foreseen(opened, chosen)
    opened.require_writable()
    fusions: list[MaintenanceResult] = []
    errors: list[DeltaMemError] = []
    with interruptible() as interruption:
        for found in _fused(opened, chosen, concurrency, interruption):
            if isinstance(found, DeltaMemError):
                invocation.output.trace(found)
                errors.append(found)
                continue
            fusions.append(found)
            if not found.done:
                errors.append(ExtractionError(found.reason, source=found.chain[-1].id))
    if interruption and not errors:
        errors.append(InterruptionError("interrupted", hint="what was done before stays"))
    done = sum(each.done for each in fusions)
    return _fusions([_fusion_record(each) for each in fusions], done, errors, _usage_of(chosen))


def _fused(
    bank: Bank, extractor: Writer, concurrency: int, interruption: Interruption
) -> Iterator[MaintenanceResult | DeltaMemError]:
    """Yield each chain that was due; an error that ended the work comes last."""
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.learning import consolidate

    try:
        if due(bank):
            yield from consolidate(bank, extractor, concurrency=concurrency, stopped=interruption)
    except DeltaMemError as error:
        yield error
    except KeyboardInterrupt:
        yield InterruptionError("interrupted", hint="what was done before stays")


def _foreseen(bank: Bank, extractor: Writer) -> Result:
    """Return what is due, and what a model would take for it. Nothing is sent."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.estimate import estimate_fusions
    from deltamem_tui.memory.writers.model import ModelExtractor

    chains = due(bank)
    usage = Usage()
    if isinstance(extractor, ModelExtractor):
        usage = estimate_fusions(bank, chains, extractor)
    rows = [
        {"tree": each.collection, "node": each.nodes[-1].id, "root": None, "reason": "due"}
        for each in chains
    ]
    return _fusions(rows, 0, [], usage)


def _usage_of(extractor: Writer) -> Usage:
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.writers.writer import ModelWriter

    return extractor.usage if isinstance(extractor, ModelWriter) else Usage()


def _fusion_record(fusion: MaintenanceResult) -> dict[str, Any]:
    return {
        "tree": fusion.collection,
        "node": fusion.chain[-1].id,
        "root": fusion.root.id if fusion.root else None,
        "reason": fusion.reason,
    }


def _fusions(
    found: list[dict[str, Any]], done: int, errors: list[DeltaMemError], usage: Usage
) -> Result:
    from deltamem_tui.memory.reports.view import usage_facts

    def view(page: Page) -> None:
        rows = [(each["tree"], each["node"], each["root"], each["reason"]) for each in found]
        if rows:
            page.table(("in", "node", "became", "why"), rows)
        if usage.calls or usage.cached:
            page.facts(usage_facts(usage))

    status = Result.verdict(done, errors)
    notes = () if found or errors else ("nothing is due",)
    data = {"consolidated": done, "chains": found, "usage": asdict(usage)}
    return Result("consolidate", data, errors, status, view=view, notes=notes)


NewEmbedder = Annotated[
    str,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="The new embedder: minilm, hashing, or a sentence-transformers model.",
    ),
]
Calibrate = Annotated[
    bool,
    typer.Option("--calibrate", help="Apply the thresholds proposed for the new embedder."),
]


def reembed(
    context: typer.Context,
    bank: options.Bank,
    embedder: NewEmbedder,
    calibrate: Calibrate = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Give a bank the vectors of another embedder. No episode is learnt again.

    While it runs, the bank can be read and can learn; an interrupted run changes nothing.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.vectors import reembed

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    opened.require_folder()
    if not dry_run:
        opened.require_writable()
    loaded = load(invocation.settings(embedder=embedder).embedder)
    plan = found = reembed.planned(opened, loaded)
    if plan.needed and not dry_run:
        with invocation.output.progress("embedding", plan.texts) as advance:
            try:
                found = reembed.reembed(opened, loaded, advance=advance)
            except KeyboardInterrupt as error:
                raise InterruptionError(
                    "interrupted",
                    source=bank,
                    hint="the bank is as it was",
                ) from error
    data = {"bank": opened.name, **_described(found)}
    if not found.done:
        data["thresholds"] = None
        view = _reembedding_view(found, []) if found.needed else None
        return Result("reembed", data, view=view, notes=_unchanged(found, bank))
    proposals = _calibrated(opened, loaded, apply=calibrate)
    applied = calibrate and any(each.proposed is not None for each in proposals)
    data["thresholds"] = {
        "meaning": f"chosen for {found.before.model}; {found.after.model} scores differently",
        "applied": applied,
        "trees": {each.tree: asdict(each) for each in proposals},
    }
    notes = [f"{bank} has the vectors of {found.after.model}", *_advice(bank, proposals, applied)]
    return Result("reembed", data, view=_reembedding_view(found, proposals), notes=notes)


def _described(found: Reembedding) -> dict[str, Any]:
    return {
        "reembedded": found.done,
        "before": asdict(found.before),
        "after": asdict(found.after),
        "rows": dict(found.rows),
        "texts": found.texts,
    }


def _unchanged(found: Reembedding, bank: str) -> list[str]:
    if not found.needed:
        return [f"{bank} has the vectors of {found.after.model} already"]
    return [f"would embed {counted(found.texts, 'text')} with {found.after.model}"]


def _calibrated(bank: Bank, embedder: Embedder, *, apply: bool) -> list[Proposal]:
    from deltamem_tui.memory import engine

    proposals = engine.calibrate(bank, embedder=embedder)
    if apply:
        engine.apply_proposals(bank, proposals)
    return proposals


def _advice(bank: str, proposals: Sequence[Proposal], applied: bool) -> list[str]:
    """Return the thresholds were chosen for other scores: what to do about it."""
    if applied:
        return ["the thresholds are now those that fit its scores"]
    warning = "the thresholds were chosen for the embedder before, and mean something else now"
    if any(each.proposed is not None for each in proposals):
        return [f"{warning}; `deltamem calibrate {bank} --apply` takes the proposed ones"]
    return [f"{warning}; with too few episodes to propose others, `deltamem parameters` sets them"]


def _reembedding_view(found: Reembedding, proposals: Sequence[Proposal]) -> Any:
    def view(page: Page) -> None:
        page.facts(
            {
                "before": found.before.model,
                "after": found.after.model,
                "dimensions": found.after.dimensions,
                "texts": found.texts,
            }
        )
        rows = [
            (each.tree, each.current, each.proposed, each.matching_now, each.matching_then)
            for each in proposals
        ]
        if rows:
            page.table(("tree", "threshold", "proposed", "match now", "match then"), rows)

    return view
