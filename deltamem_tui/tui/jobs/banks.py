"""Whole banks: made, frozen, verified, renamed, deleted, exported, installed, merged."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.embedding.load import HASHING, MINILM
from deltamem_tui.errors import (
    BankExistsError,
    DeltaMemError,
    UsageError,
)
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.forms import about
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.bank.place import BankContents
    from deltamem_tui.memory.reports.view import ReportSection
    from deltamem_tui.memory.transfer.merging import Merge

_MOST_LINES = 20
_MEGABYTE = 1_000_000


# Making


def embedders(wanted: str) -> dict[str, str]:
    """Return what can embed a new bank's texts, and what each is good for; the wanted one first."""
    about_them = {
        MINILM: "built in\nunderstands paraphrases; loads in seconds",
        PUBLISHED_EMBEDDER: "the model of the published thresholds\nunderstands paraphrases; "
        "needs the extra `transformers` and, once, a download of some 440 MB",
        HASHING: "no model, only the words themselves\nat once and everywhere the same; "
        "does not know that two words mean the same",
    }
    return {wanted: about_them.get(wanted, "the one of the settings"), **about_them}


def create(
    path: Path,
    *,
    embedder: str,
    domain: str,
    description: str,
    method: str = "",
    episodes_from: Path | None = None,
) -> BankChange:
    """Make a bank without nodes at `path`, with the episodes of another one if that is given."""
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.methods import DEFAULT

    with about("episodes_from"):
        source = None if episodes_from is None else Bank.open(episodes_from)
    made = create_bank(
        path,
        embedder=embedder,
        domain=domain,
        description=description,
        method=method or DEFAULT,
        episodes_from=source,
    )
    waiting = f"; {counted(len(made.episodes), 'episode')} to learn" if source else ""
    return BankChange(path, f"created {path.name}{waiting}", opens=source is None)


# Freezing and verifying


def freeze(path: Path, thaw: str) -> BankChange:
    """Freeze the bank at `path`."""
    bank = Bank.open(path)
    bank.freeze()
    return BankChange(path, f"froze {bank.name}; {thaw} unfreezes it")


def plan_unfreeze(path: Path) -> WorkPlan:
    """Ask before the bank at `path` is unfrozen: what was promised of it cannot be had back."""
    bank = Bank.open(path)

    def unfreeze(_: Progress) -> BankChange:
        done = Bank.open(path).unfreeze()
        return BankChange(path, f"{'unfroze' if done else 'not frozen any more:'} {bank.name}")

    files = counted(len(bank.manifest.digests), "file")
    section = Section(
        f"Frozen: the digests of {files} are recorded, so any change shows",
        "Once unfrozen, the bank can be changed and the digests are dropped. "
        "To keep this version too, export it and install a writable copy.",
    )
    return WorkPlan("unfreezing", f"Unfreeze {one_line(bank.name, 60)}?", [section], unfreeze)


def verify(path: Path, progress: Progress) -> Info:
    """Check every file of the bank at `path`."""
    from deltamem_tui.bank import verify as checks

    bank = Bank.open(path)
    flaws = checks.verify(bank, progress.go_on)
    if not flaws:
        return Info(f"{bank.name}: all files are intact")
    first = flaws[0]
    where = ", ".join(part for part in (first.source, first.position) if part)
    words = f"{bank.name}: {counted(len(flaws), 'flaw')}; {where}: {first.message}"
    return Info(words, warning=True)


# Renaming and deleting


def rename(path: Path, name: str) -> BankChange:
    """Call the bank at `path` otherwise."""
    from deltamem_tui.bank import place

    with about("name"):
        renamed = place.rename(path, name)
    return BankChange(
        renamed, f"{path.name} is {renamed.name} now; hooks and scripts must name it so, too"
    )


def deletion_lines(found: BankContents) -> list[str]:
    """Return what goes with a bank that is deleted."""
    if found.error:
        lines = [f"it cannot be opened: {found.error}"]
    else:
        nodes = sum(found.nodes.values())
        lines = [f"{counted(nodes, 'node')} and {counted(found.episodes, 'episode')} are deleted"]
    if found.frozen:
        lines.append("it is frozen, which does not keep it from being deleted")
    size = f"{found.bytes / 1e6:,.1f} MB" if found.bytes >= _MEGABYTE else f"{found.bytes:,} bytes"
    return [*lines, f"{counted(found.files, 'file')}, {size}; this cannot be undone"]


def delete(path: Path, expected: BankContents) -> BankChange:
    """Delete the bank at `path`, if it is still what was shown."""
    from deltamem_tui.bank import place

    place.delete(path, expected)
    return BankChange(path, f"deleted {path.name}: {deletion_lines(expected)[0]}")


# Exporting, installing, merging


def plan_export(path: Path, out: str, *, episodes: bool, journal: bool, builder: str) -> WorkPlan:
    """Seal the bank at `path` and look it through for secrets."""
    from deltamem_tui.memory.transfer.export import prepare
    from deltamem_tui.memory.transfer.views import view_export

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
    sections = _sections(view_export(outgoing).sections)
    return WorkPlan("exporting", question, sections, lambda _: write())


def _archive_path(out: str, name: str) -> Path:
    file_name = Path(name).name + paths.ARCHIVE_SUFFIX
    file = Path(out).expanduser() if out else Path(file_name)
    return (file / file_name if file.is_dir() else file).absolute()


def plan_install(source: str, folder: Path, *, name: str, digest: str, writable: bool) -> Outcome:
    """Check an archive from elsewhere, whoever made it; a folder is copied, to be written."""
    from deltamem_tui.bank import transfer as installing
    from deltamem_tui.memory.transfer.views import view_install

    with about("digest"):
        pinned = installing.checked_digest(digest or None)
    place = Path(source).expanduser()
    if place.is_dir():
        return _copy(place, name, folder)
    with about("source"):
        delivery = installing.receive(place)
        called = name or delivery.manifest.name
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
    return WorkPlan("installing", question, _sections(view.sections), lambda _: install())


def _copy(place: Path, name: str, folder: Path) -> BankChange:
    """Copy a bank of this machine, such as one that came with the program."""
    from deltamem_tui.bank.transfer import copy_bank

    with about("source"):
        bank = Bank.open(place)
    with about("name"):
        path = _place_for(name or place.name, folder)
    copy_bank(bank, path, history=True)
    return BankChange(path, f"copied {path.name}; it can be written")


def _place_for(name: str, folder: Path) -> Path:
    """Return where a bank of this name will lie."""
    try:
        return paths.new_bank_path(paths.check_bank_name(name), folder)
    except (UsageError, BankExistsError) as error:
        raise type(error)(
            error.message, source=error.source, hint="give it another name"
        ) from error


def plan_merge(path: Path, other: str, folder: Path, *, episodes: bool) -> Outcome:
    """Find out what merging another bank into the one at `path` would change."""
    from deltamem_tui.memory.transfer.merging import merge

    target = Bank.open(path)
    with about("other"):
        source = Bank.open(paths.find_bank(other, folder))
    banks = [target, source]
    planned = merge(banks, with_episodes=episodes, across_domains=True, dry_run=True)
    if not planned.changed:
        return Info(f"{one_line(target.name)} holds all of it already; nothing to merge")

    def write() -> Outcome:
        merge(banks, with_episodes=episodes, across_domains=True)
        return BankChange(path, f"merged {source.name} into {path.name}")

    question = f"Merge {one_line(source.name)} into {one_line(path.name)}?"
    return WorkPlan("merging", question, _merge_sections(planned), lambda _: write())


def bank_choices(folder: Path, but: Path | None = None) -> dict[str, str]:
    """Return the banks that can be opened, and how much each holds; without the bank at `but`."""
    return {
        name: f"{bank.manifest.domain}, "
        f"{counted(sum(map(len, bank.trees.values())), 'node')}, "
        f"{counted(len(bank.episodes), 'episode')}"
        for name, bank in _others(folder, but).items()
    }


def _others(folder: Path, but: Path | None) -> dict[str, Bank]:
    found = {}
    for place in paths.find_banks(folder):
        if but is None or place.path.resolve() != but.resolve():
            with suppress(DeltaMemError):
                found[place.name] = Bank.open(place.path)
    return found


def merge_choices(path: Path, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the banks that can be merged into the one at `path`, and why the others cannot."""
    target = Bank.open(path)
    why = {}
    for name, bank in _others(folder, path).items():
        if bank.manifest.method != target.manifest.method:
            why[name] = f"another method, {one_line(bank.manifest.method, 40)}"
        elif bank.manifest.embedder != target.manifest.embedder:
            model = one_line(str(bank.manifest.embedder.get("model", "")), 40)
            why[name] = f"another embedder, {model}"
    choices = bank_choices(folder, path)
    return {name: what for name, what in choices.items() if name not in why}, why


def _sections(found: Iterable[ReportSection]) -> list[Section]:
    """Return the sections of a report, cut to what a dialog can show."""
    return [Section(each.title, _cut(each.lines), warning=each.warning) for each in found]


def _merge_sections(merge: Merge) -> list[Section]:
    """Return what a merge changes tree by tree, and what it loses."""
    from deltamem_tui.memory.transfer.views import change_counts, view_merge

    sections = []
    first = merge.plan.banks[0]
    for name, changes in merge.plan.changes.items():
        counts = change_counts(changes).items()
        text = ", ".join(f"{count:,} {what}" for what, count in counts if count)
        sections.append(Section(display_of(first, name).title, text or "stays as it is"))
    if merge.plan.episodes is not None:
        sections.append(Section("Episodes", f"{merge.plan.episodes.added:,} new"))
    return sections + _sections(view_merge(merge).sections)


def _cut(lines: Iterable[str]) -> str:
    text = [line for each in lines for line in each.split("\n")]
    shown = [one_line(line, 500) for line in text[:_MOST_LINES]]
    if len(text) > _MOST_LINES:
        shown.append(f"… and {len(text) - _MOST_LINES:,} more")
    return "\n".join(shown)
