"""Banks that come and go: exported, installed, merged, after a question each; and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import require_same
from deltamem_tui.errors import DeltaMemError, EmbedderMismatchError, UsageError
from deltamem_tui.memory.method import display_of
from deltamem_tui.memory.vectors.search import card_of
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.tui.core.browser import Browser
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.bank_actions import bank_facts, is_own, new_path

if TYPE_CHECKING:
    from deltamem_tui.bank.diff import BankDiff
    from deltamem_tui.memory.reports.view import ReportSection
    from deltamem_tui.memory.transfer.merging import Merge

_MOST_LINES = 20


def export(browser: Browser, path: Path) -> None:
    """Ask where a bank is to go, and what goes along."""
    lines = (
        FormLine("out", "File", hint="./NAME.deltamem", path=True),
        FormLine("builder", "Built by", hint="same as last export"),
        FormLine("episodes", "include the episodes it was learnt from", tick=True),
        FormLine("journal", "include its history, and so its episodes", tick=True),
    )
    export = partial(_plan_export, path)
    browser.forms.ask_to("looking for secrets", f"Export {path.name}", lines, export, bank=path)


def _plan_export(path: Path, answer: FormAnswer, _: Progress) -> WorkPlan:
    """Seal a bank and look it through for secrets."""
    from deltamem_tui.memory.transfer.export import prepare
    from deltamem_tui.memory.transfer.views import view_export

    bank = Bank.open(path)
    name = Path(bank.name).name + paths.ARCHIVE_SUFFIX
    file = paths.expanded(answer["out"]) if answer["out"] else Path(name)
    file = (file / name if file.is_dir() else file).absolute()
    there = file.exists()
    outgoing = prepare(
        bank,
        with_episodes=bool(answer["episodes"] or answer["journal"]),
        with_journal=bool(answer["journal"]),
        builder=clean(answer["builder"]),
    )

    def write(_: Progress) -> Outcome:
        with about("out"):
            digest = outgoing.package.write(file, replace=there)
        return Info(f"wrote {file}; its digest is {digest}")

    question = f"Write {file}" + (" in place of the file there?" if there else "?")
    if outgoing.leaks:
        secrets = counted(len(outgoing.leaks), "secret")
        question = f"Write {file} although {secrets} would leave with it?"
    return WorkPlan("exporting", question, _sections(view_export(outgoing).sections), write)


def install(browser: Browser) -> None:
    """Ask what is to be installed."""
    lines = (
        FormLine("source", "An archive, or a bank to copy", hint="~/kitchen.deltamem", path=True),
        FormLine("name", "Name", hint="its own name"),
        FormLine("digest", "Its digest, if you know it", hint="sha256:…"),
        FormLine("writable", "make it writable", tick=True),
    )
    browser.forms.ask_to("checking", "Install a bank", lines, partial(_plan_install, browser))


def _plan_install(browser: Browser, answer: FormAnswer, _: Progress) -> Outcome:
    """Check an archive from elsewhere, whoever made it; a folder is copied, to be written."""
    from deltamem_tui.bank import transfer as installing
    from deltamem_tui.memory.transfer.views import view_install

    if not answer["source"]:
        with about("source"):
            raise UsageError("name the archive")
    with about("digest"):
        pinned = installing.checked_digest(answer["digest"] or None)
    place = paths.expanded(answer["source"])
    if place.is_dir():
        with about("source"):
            bank = Bank.open(place)
        path = new_path(browser, answer["name"] or place.name)
        installing.copy_bank(bank, path, history=True)
        return BankChange(path, f"copied {path.name}; it can be written")
    with about("source"):
        delivery = installing.receive(place)
        called = answer["name"] or delivery.manifest.name
    path = new_path(browser, called)
    with about("source"):
        found = installing.inspect(delivery, pinned=pinned)

    def write(_: Progress) -> Outcome:
        frozen = not answer["writable"]
        bank, _receipt = installing.install(delivery, path, pinned=pinned, frozen=frozen)
        return BankChange(path, f"installed {bank.name}" + (", frozen" if frozen else ""))

    bank = Bank.open(delivery.source)
    view = view_install(delivery, bank, path, found, pinned=pinned is not None, dry_run=True)
    return WorkPlan("installing", f"Install it as {path.name}?", _sections(view.sections), write)


def merge(browser: Browser, path: Path) -> None:
    """Ask what is to be merged into a bank; what cannot be merged is named with the reason."""
    if not is_own(browser, path):
        return
    choices, unfit = _others(browser, path, same_embedder=True)
    if not choices:
        return
    lines = (FormLine("other", "Bank to merge", choices=choices, unfit=unfit),)
    merge = partial(_plan_merge, path, browser.folder)
    browser.forms.ask_to("comparing", f"Merge into {path.name}", lines, merge, bank=path)


def _others(
    browser: Browser, path: Path, *, same_embedder: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the banks that fit the one at `path`, and why others do not; says if none does."""
    target, choices, unfit = Bank.open(path), dict[str, str](), dict[str, str]()
    for place in paths.find_banks(browser.folder):
        if place.path.resolve() == path.resolve():
            continue
        with suppress(DeltaMemError):
            bank = Bank.open(place.path)
            method = bank.manifest.method
            try:
                if same_embedder:
                    require_same(card_of(target), card_of(bank))
            except EmbedderMismatchError:
                unfit[place.name] = f"another search model, {one_line(card_of(bank).model, 40)}"
                continue
            if method != target.manifest.method:
                unfit[place.name] = f"another method, {one_line(method, 40)}"
            else:
                choices[place.name] = bank_facts(bank)
    if not choices:
        why = [f"{name}: {reason}" for name, reason in unfit.items()]
        browser.notes.notify("; ".join(["no other bank fits this one", *why]))
    return choices, unfit


def _plan_merge(path: Path, folder: Path, answer: FormAnswer, _: Progress) -> Outcome:
    """Find out what merging another bank into the one at `path` would change, and lose."""
    from deltamem_tui.memory.transfer import merging
    from deltamem_tui.memory.transfer.views import change_counts, view_merge

    target = Bank.open(path)
    with about("other"):
        source = Bank.open(paths.find_bank(answer["other"], folder))

    def merged(*, dry_run: bool) -> Merge:
        return merging.merge([target, source], across_domains=True, dry_run=dry_run)

    def write(_: Progress) -> Outcome:
        merged(dry_run=False)
        return BankChange(path, f"merged {source.name} into {path.name}")

    planned = merged(dry_run=True)
    if not planned.changed:
        return Info(f"{one_line(target.name)} holds all of it already; nothing to merge")
    question = f"Merge {one_line(source.name)} into {one_line(path.name)}?"
    sections = []
    for name, changes in planned.plan.changes.items():
        counts = change_counts(changes).items()
        text = ", ".join(f"{count:,} {what}" for what, count in counts if count)
        title = display_of(target, name).title
        sections.append(Section(title, text or "stays as it is"))
    sections.append(Section("Episodes", f"{planned.plan.episodes.added:,} new"))
    sections += _sections(view_merge(planned).sections)
    return WorkPlan("merging", question, sections, write)


def _sections(found: Iterable[ReportSection]) -> list[Section]:
    """Return the sections of a report, cut to what a dialog can show."""
    return [Section(each.title, _cut(each.lines), warning=each.warning) for each in found]


def _cut(lines: Iterable[str]) -> str:
    text = [line for each in lines for line in each.split("\n")]
    shown = [one_line(line, 500) for line in text[:_MOST_LINES]]
    if len(text) > _MOST_LINES:
        shown.append(f"… and {len(text) - _MOST_LINES:,} more")
    return "\n".join(shown)


def compare(browser: Browser, path: Path) -> None:
    """Ask for another bank, and show what sets the two apart."""
    choices, unfit = _others(browser, path, same_embedder=False)
    if not choices:
        return
    screen = browser.screen

    def work(answer: FormAnswer, _: Progress) -> Outcome:
        from deltamem_tui.bank.diff import diff

        with about("other"):
            here, there = Bank.open(path), Bank.open(paths.find_bank(answer["other"], folder))
        sections = [*_comparison(here, there, diff(here, there))]
        return lambda: show(sections)

    def show(sections: Sequence[Section]) -> None:
        from deltamem_tui.tui.widgets.dialogs import ReadingDialog

        if screen.is_current:  # else the user went on
            browser.push_screen(ReadingDialog(sections, tall=True))

    folder = browser.folder
    lines = [FormLine("other", "The other bank", choices=choices, unfit=unfit)]
    title = f"Compare {path.name} with another bank"
    browser.forms.ask_to("comparing", title, lines, work, bank=path)


def _comparison(here: Bank, there: Bank, found: BankDiff) -> Iterator[Section]:
    """Yield what sets two banks apart: their nodes, then their episodes and settings."""
    from deltamem_tui.memory.transfer.views import field_text, value_change

    displays = {name: display_of(here, name) for name in found.trees}
    room = max(len(each.title) for each in displays.values())
    table, details = [f"{'':<{room}}  only here  only there  differ  same"], list[Section]()
    for name, tree in found.trees.items():
        display, changes = displays[name], dict[str, list[str]]()
        for change in (*tree.changed, *tree.moved):
            lines = changes.setdefault(change.node.id, [f"· {display.of_title(change.node)}"])
            lines += map(field_text, change.fields)
        lone, other, both = len(tree.removed), len(tree.added), len(changes)
        same = len(there.tree(name)) - other - both
        table.append(f"{display.title:<{room}}  {lone:>9,}  {other:>10,}  {both:>6,}  {same:>4,}")
        here_alone, there_alone = (
            _cut(f"· {display.of_title(each)}" for each in nodes)
            for nodes in (tree.removed, tree.added)
        )
        details += [
            Section(f"Only here: {display.title}", here_alone),
            Section(f"Only there: {display.title}", there_alone),
            Section(f"Differ, here → there: {display.title}", _cut(chain(*changes.values()))),
        ]
    yield Section(f"{one_line(here.name, 40)} (here) and {one_line(there.name, 40)} (there)")
    yield Section("Nodes", "\n".join(table))
    lone, other = len(found.episodes.removed), len(found.episodes.added)
    both = len({*here.episodes.ids()} & {*there.episodes.ids()})
    settings = _cut(f"{each.name}: {value_change(each)}" for each in found.manifest)
    details += [
        Section("Episodes", f"{lone:,} only here, {other:,} only there, {both:,} in both"),
        Section("Settings, here → there", settings),
    ]
    yield from (each for each in details if each.body)
