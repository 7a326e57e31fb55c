"""`deltamem compact`: a bank without what it holds only because files grow."""

from __future__ import annotations

from dataclasses import asdict

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted


def run(context: typer.Context, bank: options.Bank, dry_run: options.DryRun = False) -> Result:
    """Drop earlier revisions and the journal's old lines. All knowledge and all counts stay.

    Deleted nodes keep their ids, so that no merge brings them back, but not their text. The
    journal becomes one line that sums it up: earlier changes cannot be undone any more.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.compact import compact, planned
    from deltamem_tui.memory.runs.payments import take_over

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    opened.require_folder()
    if not dry_run:
        take_over(opened)  # while the journal still has the lines that they are compared with
    with invocation.output.progress("compacting"):
        found = planned(opened) if dry_run else compact(opened)
    data = {
        "bank": opened.name,
        "compacted": found.done,
        "bytes_saved": found.bytes_saved if found.worthwhile else 0,
        "rows_saved": found.rows_saved if found.worthwhile else 0,
        "files": [asdict(saving) for saving in found.savings] if found.worthwhile else [],
        "folded": found.folded if found.worthwhile else {},
    }
    if not found.worthwhile:
        return Result("compact", data, notes=(f"there is nothing to save in {bank}",))

    def view(page: Page) -> None:
        columns = ("file", "rows", "rows then", "bytes", "bytes then")
        page.table(columns, [tuple(asdict(saving).values()) for saving in found.savings])

    would = "would save" if dry_run else "saved"
    lines = found.savings[-1].rows_before - found.savings[-1].rows_after
    saved = f"outdated lines: {found.rows_saved:,}, lines of the journal: {lines:,}"
    notes = (f"{would} {counted(found.bytes_saved, 'byte')} in {bank}; {saved}",)
    return Result("compact", data, view=view, notes=notes)
