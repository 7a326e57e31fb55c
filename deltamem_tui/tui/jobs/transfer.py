"""Banks that come and go: exported, installed, merged. Each job plans first and writes nothing.

The plan shows what would be done and carries the doing with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankExistsError, UsageError
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.forms import about
from deltamem_tui.tui.core.job import BankChange, Info, Outcome, WorkPlan
from deltamem_tui.tui.models.transfer import merge_sections, sections_of


def plan_export(path: Path, out: str, *, episodes: bool, journal: bool, builder: str) -> WorkPlan:
    """Seal the bank at `path` and look it through for secrets.

    Args:
        path: The bank.
        out: The file, or the folder for it; empty: here, called like the bank.
        episodes: Whether its episodes go along.
        journal: Whether its history goes along.
        builder: Who built it; as it says already if empty.

    Raises:
        BankError: It cannot be read.
    """
    from deltamem_tui.memory.reports.transfer import view_export
    from deltamem_tui.memory.transfer.export import prepare

    bank = Bank.open(path)
    file = _archive_path(out, bank.name)
    outgoing = prepare(bank, with_episodes=episodes, with_journal=journal, builder=builder)
    there = file.exists()

    def write() -> Outcome:
        with about("out"):
            digest = outgoing.package.write(file, replace=there)
        return Info(f"wrote {file}; its digest is {digest}")

    question = f"Write {file}" + (" in place of the file there?" if there else "?")
    if outgoing.leaks:
        secrets = counted(len(outgoing.leaks), "secret")
        question = f"Write {file} although {secrets} would leave with it?"
    sections = sections_of(view_export(outgoing).sections)
    return WorkPlan("exporting", question, sections, lambda _: write())


def _archive_path(out: str, name: str) -> Path:
    file_name = Path(name).name + paths.ARCHIVE_SUFFIX
    file = Path(out).expanduser() if out else Path(file_name)
    return (file / file_name if file.is_dir() else file).absolute()


def plan_install(source: str, folder: Path, *, name: str, digest: str, writable: bool) -> WorkPlan:
    """Check a bank from elsewhere, whoever made it.

    Args:
        source: An archive or the folder of a bank.
        folder: The banks folder.
        name: What to call it; as it says if empty.
        digest: `sha256:…` that it must have; any if empty.
        writable: Whether it may be written from now on.

    Raises:
        BankError: It is not sound, or a bank of that name is there.
        UsageError: The digest or the name is none.
    """
    from deltamem_tui.bank.transfer import installing
    from deltamem_tui.memory.reports.transfer import view_install

    with about("digest"):
        pinned = installing.checked_digest(digest or None)
    with about("source"):
        delivery = installing.receive(Path(source).expanduser())
        called = name or delivery.name
    with about("name"):
        path = _place_for(called, folder)
    with about("source"):
        found = installing.inspect(delivery, pinned=pinned)

    def install() -> Outcome:
        bank, _ = installing.install(delivery, path, pinned=pinned, frozen=not writable)
        return BankChange(path, f"installed {bank.name}" + ("" if writable else ", frozen"))

    bank = Bank.open(delivery.source)
    view = view_install(delivery, bank, path, found, pinned=pinned is not None, dry_run=True)
    question = f"Install it as {path.name}?"
    return WorkPlan("installing", question, sections_of(view.sections), lambda _: install())


def _place_for(name: str, folder: Path) -> Path:
    """Where a bank of this name will lie."""
    try:
        return paths.new_bank_path(paths.check_bank_name(name), folder)
    except (UsageError, BankExistsError) as error:
        raise type(error)(
            error.message, source=error.source, hint="give it another name"
        ) from error


def plan_merge(path: Path, others: Sequence[str], folder: Path, *, episodes: bool) -> Outcome:
    """Find out what merging other banks into the one at `path` would change.

    Args:
        path: The bank that gets all.
        others: The other banks, by name or path.
        folder: The banks folder.
        episodes: Whether the episodes are merged too.

    Raises:
        BankError: A bank cannot be read, or the first cannot be written.
        EmbedderMismatchError: Two banks have different embedders.
        UsageError: A bank is to be merged into itself.
    """
    from deltamem_tui.memory.transfer.merging import merge

    target = Bank.open(path)
    sources = [Bank.open(paths.find_bank(name, folder)) for name in others]
    if any(source.path.resolve() == path.resolve() for source in sources):
        raise UsageError("a bank cannot be merged into itself", source=one_line(path.name))
    banks = [target, *sources]
    planned = merge(banks, with_episodes=episodes, dry_run=True)
    if not planned.changed:
        return Info(f"{one_line(target.name)} holds all of it already; nothing to merge")

    def write() -> Outcome:
        merge(banks, with_episodes=episodes)
        return BankChange(
            path, f"merged {', '.join(bank.name for bank in sources)} into {path.name}"
        )

    question = f"Merge {counted(len(sources), 'bank')} into {one_line(path.name)}?"
    return WorkPlan("merging", question, merge_sections(planned), lambda _: write())
