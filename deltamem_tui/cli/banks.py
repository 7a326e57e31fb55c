"""Commands about whole banks: made, listed, counted, moved, frozen, verified, compacted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result, table
from deltamem_tui.errors import BankCorruptError, DeltaMemError, UsageError
from deltamem_tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.statistics import BankStatistics


def list_(invocation: Invocation) -> Result:
    """List all banks and where they are.

    These are the banks in your banks folder and those that ship with the program.
    """
    from deltamem_tui.bank import manifest

    folder = invocation.banks_folder
    banks, rows = [], []
    for each in paths.find_banks(folder):
        method = ""  # of a bank that cannot be opened
        with suppress(DeltaMemError):
            method = manifest.read(each.path).method
        banks.append(asdict(each) | {"method": method})
        kind = "archive" if each.path.is_file() else "shipped" if each.shipped else "own"
        rows.append((each.name, method, kind, str(each.path)))
    notes = []
    if not banks:
        notes.append(f"no banks in {folder}; `deltamem init NAME` makes one")
    elif not folder.is_dir():
        notes.append(
            f"there is no folder {folder} yet, so these are the banks of the package; "
            "`deltamem init NAME` makes it"
        )
    view = table(("bank", "method", "from", "path"), rows)
    return Result("list", {"folder": folder, "banks": banks}, view=view, notes=notes)


def init(
    invocation: Invocation,
    bank: options.NewBank,
    embedder: options.Embedder = None,
    domain: options.Domain = None,
    description: Annotated[str, option("--description", "TEXT", "What the bank is for.")] = "",
    method: Annotated[
        str | None, option("--method", "NAME", "See `deltamem bank methods`.")
    ] = None,
    episodes_from: Annotated[
        str | None,
        option("--episodes-from", "BANK", "Take the episodes of this bank, to be learnt anew."),
    ] = None,
    logs: Annotated[
        list[str] | None, option("--for", "LOG", "Take this log's or folder's domain; repeatable.")
    ] = None,
) -> Result:
    """Make a new bank, empty or with the episodes of another one.

    The embedder is fixed when the bank is made (`deltamem bank reembed` changes it later). The
    parameters are the domain's published preset.
    """
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.domain import domain_named
    from deltamem_tui.memory.method import DEFAULT, settings_record

    source = invocation.open(episodes_from) if episodes_from else None
    if source:
        embedder = embedder or str(source.manifest.embedder.get("model") or "") or None
        domain = domain or source.manifest.domain
    notes = list[str]()
    if logs and not domain:
        domain, about = _domain_of(logs)
        notes.append(about)
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
    data: dict[str, Any] = {"bank": made.name, "path": path, "parameters": settings_record(made)}
    data |= {name: getattr(made.manifest, name) for name in ("embedder", "domain")}
    notes.append(f"made {made.name} in {path}")
    if source:
        data["episodes"] = len(made.episodes)
        waiting = counted(len(made.episodes), "episode waits", "episodes wait")
        notes.append(f"{waiting} to be learnt: `deltamem extract {bank} --extractor rules`")
    return Result("init", data, notes=notes)


def _domain_of(logs: Sequence[str]) -> tuple[str, str]:
    """Return the domain of the first episodes of logs, and a line that says why it is taken."""
    from deltamem_tui.memory.domain import known_domains
    from deltamem_tui.trajectory.model import GENERIC, Trajectory, domain_key
    from deltamem_tui.trajectory.readers.reading import read_logs

    first = islice(read_logs(logs), _LOOKED_AT)
    found = Counter(domain_key(each.domain) for each in first if isinstance(each, Trajectory))
    if not found:
        raise UsageError(
            f"no episode can be read in {one_line(logs[0], 80)}",
            hint="`deltamem episode formats` lists what is read",
        )
    (domain, count), *_ = found.most_common(1)
    if domain not in known_domains():
        return GENERIC, "these logs are of real work: the usual method and embedder measured best"
    return domain, f"{count} of {counted(found.total(), 'episode')} looked at are of {domain}"


_REFUSED_SHOWN = 20
_LOOKED_AT = 100
_NUMBERS: tuple[str, ...] = ("nodes", "failures", "of these", "tokens", "hits")
_OF_LAYERS = (  # where a node is what its parent lacks
    *("nodes", "roots", "residuals", "failures", "consolidated"),
    *("nodes by depth", "tokens", "hits"),
)


def info(invocation: Invocation, bank: options.Bank) -> Result:
    """Count what a bank holds: nodes by kind, label and depth, tokens, episodes."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.method import settings_record
    from deltamem_tui.memory.reports.view import usage_facts
    from deltamem_tui.memory.statistics import bank_statistics, history

    opened = invocation.open(bank)
    statistics = bank_statistics(opened)
    past = history(opened)
    manifest = opened.manifest
    about: dict[str, Any] = {
        "bank": opened.name,
        "description": manifest.description,
        "method": manifest.method,
        "domain": manifest.domain,
        "model": manifest.embedder.get("model"),
        "dimensions": manifest.dimensions,
        "frozen": manifest.frozen,
        "episodes": statistics.episodes,
        "learnt": statistics.learnt,
        "waiting": statistics.waiting,
        "without_outcome": statistics.without_outcome,
    }

    def view(page: Page) -> None:
        page.facts({name.replace("_", " "): fact for name, fact in about.items()})
        _show_trees(page, opened, statistics)
        if past.usage.calls or past.usage.cached:
            page.facts(usage_facts(past.usage))
        if past.refused:
            rows = [(each.trajectory, each.reason) for each in past.refused[-_REFUSED_SHOWN:]]
            page.table(("could not be learnt", "why"), rows)

    data = about | {
        "parameters": settings_record(opened),
        "provenance": manifest.provenance,
        "usage": asdict(past.usage),
        "untold": asdict(Usage()),  # a killed run's payments are in `usage.jsonl` at once
        "refused": [asdict(each) for each in past.refused],
    }
    data |= {str(name): asdict(numbers) for name, numbers in statistics.trees.items()}
    notes: list[object] = []
    if statistics.without_outcome:
        some = counted(statistics.without_outcome, "episode has", "episodes have")
        notes.append(f"{some} no outcome yet: `deltamem episode list {bank} --waiting` lists them")
    if len(past.refused) > _REFUSED_SHOWN:
        notes.append(f"{len(past.refused):,} episodes could not be learnt; `--json` lists them all")
    return Result("info", data, view=view, notes=notes)


def _show_trees(page: Page, bank: Bank, statistics: BankStatistics) -> None:
    """Write the collections' numbers side by side, a row a number."""
    from deltamem_tui.memory.method import display_of, is_shown

    rows, records = _NUMBERS, dict[str, dict[str, Any]]()
    for name, numbers in statistics.trees.items():
        display, depths = display_of(bank, name), numbers.depths
        if display.layered:
            rows = _OF_LAYERS
        if is_shown(bank, name):
            by_depth = " ".join(f"{depth}:{n}" for depth, n in depths.items())
            sizes = {"of these": display.sizes(depths), "nodes by depth": by_depth}
            records[name] = asdict(numbers) | sizes
    page.table(("tree", *records), [(row, *(r[row] for r in records.values())) for row in rows])


def methods() -> Result:
    """List the memory methods; a new bank is made for one of them."""
    from deltamem_tui.memory.method import method_named, names

    data = [{"name": name, "title": method_named(name).title} for name in names()]
    view = table(("method", "what it keeps"), [tuple(each.values()) for each in data])
    return Result("methods", {"methods": data}, view=view)


def rename(
    invocation: Invocation,
    bank: options.Bank,
    name: Annotated[str, argument("NAME", "The new name.")],
) -> Result:
    """Give a bank another name."""
    from deltamem_tui.bank import place

    path = place.rename(invocation.own_bank(bank), name)
    return Result("rename", {"bank": path.name, "path": path}, notes=[f"{bank} is now {path.name}"])


def copy(invocation: Invocation, bank: options.Bank, name: options.NewBank) -> Result:
    """Copy a bank, with its episodes, under another name; a copy can be written."""
    from deltamem_tui.bank.transfer import copy_bank

    path = invocation.new_bank(name)
    copied = copy_bank(invocation.open(bank), path, history=True)
    data = {"bank": copied.name, "path": path}
    return Result("copy", data, notes=[f"{name} is a copy of {bank}"])


def remove(invocation: Invocation, bank: options.Bank, yes: options.Sure = False) -> Result:
    """Remove a bank with all that is in its folder, for good."""
    from deltamem_tui.bank import place

    path = invocation.own_bank(bank)
    held = place.contents(path)
    nodes = counted(held.nodes, "node")
    if not yes:
        episodes = counted(held.episodes, "episode")
        invocation.confirm(f"remove {bank} ({nodes}, {episodes}) for good?")
    place.delete(path)
    return Result("remove", {"bank": bank, "path": path}, notes=[f"{bank} was removed"])


def freeze(invocation: Invocation, bank: options.Bank) -> Result:
    """Forbid all writing to a bank, and note each file's digest."""
    opened = invocation.open(bank, write=True)
    opened.freeze()
    notes = (f"{bank} is frozen; `deltamem bank verify {bank}` proves its files",)
    data = {"bank": opened.name, "frozen": True, "digests": opened.manifest.digests}
    return Result("freeze", data, notes=notes)


def unfreeze(invocation: Invocation, bank: options.Bank) -> Result:
    """Allow writing to a frozen bank again."""
    from deltamem_tui.bank.bank import Bank

    opened = Bank.open(invocation.own_bank(bank))
    opened.require_folder()
    state = "can be written again" if opened.unfreeze() else "was not frozen"
    return Result("unfreeze", {"bank": opened.name, "frozen": False}, notes=(f"{bank} {state}",))


def verify(
    invocation: Invocation,
    bank: options.Bank,
    repair: Annotated[bool, flag("--repair", "First cut a torn journal back.")] = False,
) -> Result:
    """Check every file, line, vector and counter of a bank. Only --repair changes anything."""
    from deltamem_tui.bank import verify as verifying
    from deltamem_tui.bank.bank import Bank

    path = invocation.bank(bank)
    torn = verifying.repair(path) if repair else b""
    opened = Bank.open(path)
    with invocation.output.progress("verifying"):
        flaws = verifying.verify(opened)
    errors = tuple(
        BankCorruptError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for flaw in flaws
    )
    missing = ["whether each vector is that of its text"]
    if not verifying.is_proved(opened):
        missing.insert(0, "the counts: no journal from the bank's beginning is there")
    cut = one_line(torn.replace(b"\0", b"").decode("utf-8", "replace"), 120)
    data = {
        "bank": opened.name,
        "frozen": opened.frozen,
        "sound": not flaws,
        "flaws": flaws,
        "unchecked": missing,
        "cut": {"bytes": len(torn), "text": cut} if torn else None,
    }
    notes = [] if flaws else [f"{bank} is sound"]
    if torn:
        what = f"journal.jsonl: cut off {len(torn):,} bytes behind the last whole commit"
        notes.insert(0, f"{what}: {cut or 'nothing that can be read'}")
    notes += [f"not checked: {each}" for each in missing[:-1]]
    return Result("verify", data, errors, "error" if flaws else "success", notes=notes)


def compact(invocation: Invocation, bank: options.Bank) -> Result:
    """Drop earlier revisions and the journal's old lines. All knowledge and all counts stay.

    Deleted nodes keep their ids, so that no merge brings them back, but not their text. The
    journal becomes one line that sums it up: earlier changes cannot be undone any more.
    """
    from deltamem_tui.bank.compact import compact

    opened = invocation.open(bank, write=True)
    with invocation.output.progress("compacting"):
        found = compact(opened)
    compacted = bool(found.rows_saved or found.commits)
    data = {"bank": opened.name, "compacted": compacted, **asdict(found)}
    if not compacted:
        return Result("compact", data, notes=[f"there is nothing to save in {bank}"])
    saved = f"outdated lines: {found.rows_saved:,}, commits: {found.commits:,}"
    note = f"saved {counted(found.bytes_saved, 'byte')} in {bank}; {saved}"
    return Result("compact", data, notes=[note])
