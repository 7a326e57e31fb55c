"""`deltamem list`: which banks there are."""

from __future__ import annotations

from dataclasses import asdict

import typer

from deltamem_tui import paths
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import DeltaMemError


def run(context: typer.Context) -> Result:
    """List all banks and where they are.

    Those of the banks folder come together with those that were shipped with the program.
    """
    folder = Invocation.of(context).banks_folder
    banks = paths.find_banks(folder)
    methods = {bank.name: _method(bank) for bank in banks}

    def view(page: Page) -> None:
        rows = [(bank.name, methods[bank.name], _kind(bank), str(bank.path)) for bank in banks]
        if rows:
            page.table(("bank", "method", "from", "path"), rows)

    notes = []
    if not banks:
        notes.append(f"no banks in {folder}; `deltamem init NAME` makes one")
    elif not folder.is_dir():
        notes.append(
            f"there is no folder {folder} yet, so these are the banks of the package; "
            "`deltamem init NAME` makes it"
        )
    records = [{**asdict(bank), "method": methods[bank.name]} for bank in banks]
    return Result("list", {"folder": folder, "banks": records}, view=view, notes=notes)


def _method(place: paths.BankPlace) -> str:
    """The method of a bank; empty if the bank cannot be opened."""
    from deltamem_tui.bank import manifest

    try:
        return manifest.read(place.path).method
    except DeltaMemError:
        return ""


def _kind(bank: paths.BankPlace) -> str:
    """Where a bank comes from, or that it is still packed."""
    if bank.path.is_file():
        return "archive"
    return "shipped" if bank.shipped else "own"
