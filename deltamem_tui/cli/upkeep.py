"""Commands that look after a bank's files: freezing, verification, compaction."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import flag
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.verify import Flaw


def freeze(context: typer.Context, bank: options.Bank) -> Result:
    """Forbid all writing to a bank, and note each file's digest."""
    opened = Invocation.of(context).open(bank, write=True)
    opened.freeze()
    notes = (f"{bank} is frozen; `deltamem bank verify {bank}` proves its files",)
    data = {"bank": opened.name, "frozen": True, "digests": opened.manifest.digests}
    return Result("freeze", data, notes=notes)


def unfreeze(context: typer.Context, bank: options.Bank) -> Result:
    """Allow writing to a frozen bank again."""
    opened = Invocation.of(context).open(bank, write=True)
    was_frozen = opened.unfreeze()
    state = "can be written again" if was_frozen else "was not frozen"
    return Result("unfreeze", {"bank": opened.name, "frozen": False}, notes=(f"{bank} {state}",))


Vectors = Annotated[
    bool, flag("--vectors", "Embed every text again, and compare. Loads the bank's model.")
]

Repair = Annotated[
    bool,
    flag(
        "--repair",
        "First cut a torn journal back to its last whole commit, as a power cut may need.",
    ),
]


def verify(
    context: typer.Context, bank: options.Bank, vectors: Vectors = False, repair: Repair = False
) -> Result:
    """Check every file, line, vector and counter of a bank. Only --repair changes anything."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep import verify as verifying
    from deltamem_tui.errors import BankCorruptError

    invocation = Invocation.of(context)
    path = invocation.bank(bank)
    torn = verifying.repair(path) if repair else b""
    opened = Bank.open(path)
    with invocation.output.progress("verifying"):
        flaws = verifying.verify(opened)
    if vectors and not flaws:
        flaws = _strange_vectors(invocation, opened)
    errors = tuple(
        BankCorruptError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for flaw in flaws
    )
    missing = verifying.unchecked(opened)
    if not vectors:
        hint = f"`deltamem bank verify {bank} --vectors` embeds the texts again"
        missing = [*missing, f"whether each vector is that of its text: {hint}"]
    data = {
        "bank": opened.name,
        "frozen": opened.frozen,
        "sound": not flaws,
        "flaws": flaws,
        "unchecked": missing,
        "cut": {"bytes": len(torn), "text": _beginning(torn)} if torn else None,
    }
    sound = [] if flaws else [f"{bank} is sound"]
    cut = f"journal.jsonl: cut off {len(torn):,} bytes behind the last whole commit"
    cut_off = [f"{cut}: {_beginning(torn) or 'nothing that can be read'}"] if torn else []
    notes = [*cut_off, *sound, *(f"not checked: {each}" for each in missing)]
    return Result("verify", data, errors, "error" if flaws else "success", notes=notes)


def _beginning(torn: bytes) -> str:
    return one_line(torn.replace(b"\0", b"").decode("utf-8", "replace"), 120)


def _strange_vectors(invocation: Invocation, bank: Bank) -> list[Flaw]:
    """Return the vectors that are not those of their texts; the files have no flaws."""
    from deltamem_tui.memory.vectors.embedder import embedder_of
    from deltamem_tui.memory.vectors.reembed import strange_vectors

    embedder = embedder_of(bank)
    total = sum(
        snapshot.extent.rows for snapshot in map(bank.snapshots.get, bank.trees) if snapshot
    )
    with invocation.output.progress("embedding", total) as advance:
        return list(strange_vectors(bank, embedder, advance=advance))


def compact(context: typer.Context, bank: options.Bank, dry_run: options.DryRun = False) -> Result:
    """Drop earlier revisions and the journal's old lines. All knowledge and all counts stay.

    Deleted nodes keep their ids, so that no merge brings them back, but not their text. The
    journal becomes one line that sums it up: earlier changes cannot be undone any more.
    """
    from deltamem_tui.bank.upkeep.compact import compact, planned

    invocation = Invocation.of(context)
    opened = invocation.open(bank, write=not dry_run)
    opened.require_folder()
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
