"""The report: what the bank is worth in words, how it grew, and what each commit brought."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from textual.app import ComposeResult

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.undo import moments, sizes_after
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import DEFAULT, display_of, is_shown
from deltamem_tui.memory.statistics import BankStatistics, bank_statistics
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.jobs.episodes import LEAST_NODES, is_counted, mostly_roots
from deltamem_tui.tui.models.sections import Section, local_time
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.text_pane import TextPane

_COMMITS = 200
_CURVE = 60
_HEIGHTS = "▁▂▃▄▅▆▇█"


def report_sections(bank: Bank, key: Callable[[str], str]) -> list[Section]:
    """Count a bank, and say in words what it is worth: every node and the journal are read once."""
    past, shown, counts = moments(bank), _displays(bank), bank_statistics(bank)
    sizes = np.sum([sizes_after(bank.tree(name), past) for name in shown], axis=0) if past else []
    too_high = bool(mostly_roots(bank))
    sections = [
        Section("Verdict", "\n".join(_verdict(bank, counts, too_high=too_high))),
        Section("What to do", _advice(bank, counts, key, too_high=too_high)),
        Section("Growth", _curve([int(each) for each in sizes])),
        *_collections(shown, counts),
        Section("Changes, newest first", "\n".join(_commit_lines(bank, past, shown))),
    ]
    return [each for each in sections if each.body]


def _displays(bank: Bank) -> dict[str, Display]:
    return {name: display_of(bank, name) for name in bank.trees if is_shown(bank, name)}


def _unused(tree: Tree) -> int:
    """Count the nodes that were neither hit nor recalled."""
    if not len(tree):
        return 0
    counters = tree.snapshot.counters[tree.birth[tree.rows], :2]
    return int((counters == 0).all(axis=1).sum())


def _commit_lines(bank: Bank, past: list[Commit], shown: Mapping[str, Display]) -> Iterator[str]:
    """Return a line for each of the last commits: when, what, what it brought, of which task."""
    pairs = [*zip(past[:1] + past, past, strict=False)]
    for before, moment in pairs[: -_COMMITS - 1 : -1]:
        brought = []
        for name, display in shown.items():
            if lines := moment.extent(name).rows - before.extent(name).rows:
                brought.append(f"{counted(lines, 'change')} in the {display.title}")
        facts = (one_line(moment.event, 20), ", ".join(brought), _task(bank, moment))
        yield f"{local_time(moment.time)}  " + " · ".join(filter(None, facts))


def _task(bank: Bank, moment: Commit) -> str:
    """Return the task of the episode that a commit is about, if the bank has it."""
    episode = moment.detail.get("trajectory")
    record = bank.episodes.record(episode) if isinstance(episode, str) else None
    task = (record or {}).get("task")
    return one_line(task, 70) if isinstance(task, str) else ""


def _verdict(bank: Bank, counts: BankStatistics, *, too_high: bool) -> Iterator[str]:
    """Say in words what a bank is worth."""
    rest = f" {counted(counts.without_outcome, 'outcome')} unknown."
    learnt = f"{counted(counts.learnt, 'episode')} learnt, {counts.waiting:,} waiting."
    yield learnt + (rest if counts.without_outcome else "")
    nodes = sum(each.nodes for each in counts.trees.values())
    if nodes:
        unused = sum(_unused(bank.tree(name)) for name in _displays(bank))
        failures = sum(each.failures for each in counts.trees.values())
        yield f"Never used, since no task matched: {unused:,} of {counted(nodes, 'node')}."
        yield f"Failures, kept as warnings: {failures:,} of {counted(nodes, 'node')}."
    if too_high:
        yield "The thresholds are too high: most nodes found nothing to add to."
    elif nodes >= LEAST_NODES and bank.manifest.method == DEFAULT and not is_counted(bank):
        yield "The thresholds fit: most nodes add to what was known."


def _advice(
    bank: Bank, counts: BankStatistics, key: Callable[[str], str], *, too_high: bool
) -> str:
    """Return the next step."""
    episodes = key("show_episodes")
    if bank.frozen:
        return f"The bank is frozen. Press {key('show_recall')} to ask it."
    if not counts.episodes:
        return f"Press {episodes}, then {key('import_logs')}: import your agent's logs."
    if counts.waiting:
        return f"Press {episodes}, then {key('extract')}: learn from the episodes that wait."
    if too_high:
        return (
            f"`deltamem bank parameters {bank.name} task.tau_base=…` sets a lower one; "
            f"then {episodes} and {key('relearn')} learn the episodes again."
        )
    return (
        f"Press {key('show_recall')} and ask a task of yours. To share the bank: "
        f"{key('close_bank')}, then {key('export_bank')}."
    )


def _curve(sizes: Sequence[int]) -> str:
    """Return one curve: nodes after each commit; empty if there is nothing to draw."""
    most = max(sizes, default=0)
    if len(sizes) <= 1 or not most:
        return ""
    width = min(_CURVE, len(sizes))
    places = [round(column * (len(sizes) - 1) / (width - 1)) for column in range(width)]
    curve = "".join(_HEIGHTS[(len(_HEIGHTS) - 1) * sizes[place] // most] for place in places)
    ends = f"{sizes[0]:,} → {counted(sizes[-1], 'node')} over {counted(len(sizes), 'change')}"
    return f"{curve}  {ends}"


def _collections(shown: Mapping[str, Display], counts: BankStatistics) -> Iterator[Section]:
    """Yield the numbers of each collection."""
    for name, display in shown.items():
        tree = counts.trees[name]
        layers = f"{counted(tree.roots, 'root')}, {counted(tree.residuals, 'residual')}"
        kinds = display.sizes(tree.depths) if display.levels else layers
        fused = f" · {tree.consolidated:,} fused" if display.layered else ""
        yield Section(
            display.title,
            f"{counted(tree.nodes, 'node')}: {kinds} · {counted(tree.failures, 'failure')}{fused}\n"
            f"matched {counted(tree.hits, 'time')} with success · {tree.tokens:,} tokens",
        )


class ReportScreen(BankScreen):
    """One page to read."""

    SCOPES = ("report", "list", "bank", "app")
    DEFAULT_CSS = """
    ReportScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._counting = Inquiry(self, "counting")
        self.main_pane = TextPane(id="report")

    def compose(self) -> ComposeResult:
        yield TopBar("report")
        yield self.main_pane
        yield from bottom_bars()

    def on_mount(self) -> None:
        self.main_pane.border_title = "report"
        self.main_pane.show([Section("", "counting …", quiet=True)])
        self.main_pane.focus()

    def bank_changed(self) -> None:
        """Count again."""
        bank, key = self.bank, self.browser.key_of
        self._counting.ask(lambda _: report_sections(bank, key), self.main_pane.show)
