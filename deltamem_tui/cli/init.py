"""`deltamem init`: a new bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank

Description = Annotated[
    str, typer.Option("--description", metavar="TEXT", help="What the bank is for.")
]

Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="The memory method that the bank is for; `deltamem methods` lists them.",
    ),
]
EpisodesFrom = Annotated[
    str | None,
    typer.Option(
        "--episodes-from",
        metavar="BANK",
        help="Take over the episodes of a bank, waiting to be learnt; embedder and domain are "
        "that bank's too, unless given.",
    ),
]


def run(
    context: typer.Context,
    bank: options.NewBank,
    embedder: options.Embedder = None,
    domain: options.Domain = None,
    description: Description = "",
    method: Method = None,
    episodes_from: EpisodesFrom = None,
) -> Result:
    """Make a new bank, empty or with the episodes of another one.

    The embedder is met once, and the bank will accept no other. The parameters are the
    domain's published preset.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.domain import domain_named
    from deltamem_tui.memory.methods import DEFAULT, settings_record
    from deltamem_tui.text import clean, counted

    invocation = Invocation.of(context)
    source = Bank.open(invocation.bank(episodes_from)) if episodes_from else None
    if source:
        embedder = embedder or str(source.manifest.embedder.get("model") or "") or None
        domain = domain or source.manifest.domain
    settings = invocation.settings(embedder=embedder, domain=domain)
    path = invocation.new_bank(bank)
    made = create_bank(
        path,
        embedder=settings.embedder,
        domain=domain_named(clean(settings.domain).strip() or "generic"),
        description=clean(description),
        method=method or DEFAULT,
        episodes_from=source,
    )
    data: dict[str, Any] = {
        "bank": made.name,
        "path": path,
        "embedder": made.manifest.embedder,
        "domain": made.manifest.domain,
        "parameters": settings_record(made),
    }
    notes = [f"made {made.name} in {path}", *_preset_notes(made)]
    if source:
        data["episodes"] = len(made.episodes)
        waiting = counted(len(made.episodes), "episode waits", "episodes wait")
        notes.append(f"{waiting} to be learnt: `deltamem extract {bank}`")
    return Result("init", data, notes=notes)


def _preset_notes(made: Bank) -> list[str]:
    """Where the method's usual numbers may not be the right ones for a bank."""
    from deltamem_tui.memory.methods import method_of

    numbers, manifest = method_of(made).settings, made.manifest
    notes, model, presets = list[str](), manifest.embedder["model"], numbers.presets()
    if numbers.published_for not in ("", model):
        notes.append(
            f"the thresholds were published for {numbers.published_for}; the first `deltamem "
            f"extract {made.name}` takes some for {model} from the bank's own episodes"
        )
    if presets and manifest.domain not in presets:
        notes.append(
            f"{manifest.domain} has no preset, so the generic one is used; there are presets "
            f"for {', '.join(presets)}"
        )
    return notes
