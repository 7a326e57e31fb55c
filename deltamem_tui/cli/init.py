"""`deltamem init`: a new bank."""

from __future__ import annotations

from typing import Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result

Description = Annotated[
    str, typer.Option("--description", metavar="TEXT", help="What the bank is for.")
]

Method = Annotated[
    str, typer.Option("--method", metavar="NAME", help="The memory method that the bank is for.")
]


def run(
    context: typer.Context,
    bank: options.NewBank,
    embedder: options.Embedder = None,
    domain: options.Domain = None,
    description: Description = "",
    method: Method = "deltamem",
) -> Result:
    """Make a new, empty bank.

    The embedder is met once, and the bank will accept no other. The parameters are the
    domain's published preset.
    """
    from deltamem_tui.config import DEFAULT_EMBEDDER
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.deltamem.settings import PRESETS, domain_named
    from deltamem_tui.memory.methods import settings_record
    from deltamem_tui.text import clean

    invocation = Invocation.of(context)
    settings = invocation.settings(embedder=embedder, domain=domain)
    path = invocation.new_bank(bank)
    made = create_bank(
        path,
        embedder=settings.embedder,
        domain=domain_named(clean(settings.domain).strip() or "generic"),
        description=clean(description),
        method=method,
    )
    notes = [f"made {made.name} in {path}"]
    if made.manifest.embedder["model"] != DEFAULT_EMBEDDER:
        notes.append(
            f"the thresholds were published for {DEFAULT_EMBEDDER}; the first `deltamem extract "
            f"{bank}` takes some for {made.manifest.embedder['model']} from the bank's own episodes"
        )
    if made.manifest.domain not in PRESETS:
        notes.append(
            f"{made.manifest.domain} has no preset, so the generic one is used; there are presets "
            f"for {', '.join(PRESETS)}"
        )
    data = {
        "bank": made.name,
        "path": path,
        "embedder": made.manifest.embedder,
        "domain": made.manifest.domain,
        "parameters": settings_record(made),
    }
    return Result("init", data, notes=notes)
