"""Two banks side by side: what differs above, both sides of one difference below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import BankDiff, CountChange, FieldChange, NodeChange, TreeDiff, diff
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.bank_session import Stamp, stamp_of
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import Retry, WorkState
from deltamem_tui.tui.models.banks import BankLine
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens import bank_actions
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, line_of

Sign = Literal["+", "−", "~"]
_TITLE = 200
_SHORT_ID = 8


@dataclass(frozen=True, slots=True)
class BankDifference:
    """One thing that differs.

    Attributes:
        sign: `+` is only in the right bank, `−` only in the left, `~` in both, but changed.
        where: The collection, or what else differs.
        title: What tells it from others.
        fields: What the sides say; None where a side has nothing of it.
        rest: What both say: the other texts of the node.
        labels: What stands before a field's text.
    """

    sign: Sign
    where: str
    title: str
    fields: tuple[FieldChange, ...]
    rest: tuple[tuple[str, str], ...] = ()
    labels: Display | None = None

    def sides(self) -> tuple[list[Section], list[Section]]:
        """Return the left and the right bank's sections; what the other side says too is quiet."""
        left: list[Section] = []
        right: list[Section] = []
        for each in self.fields:
            label = self._label(each.name)
            before, after = _said(each.before), _said(each.after)
            if each.before is not None:
                left.append(Section(label, before, above=(after,) if after else ()))
            if each.after is not None:
                right.append(Section(label, after, above=(before,) if before else ()))
        same = [Section(self._label(name), text, quiet=True) for name, text in self.rest]
        nothing = [Section("", "not in this bank", quiet=True)]
        return [*left, *same] or nothing, [*right, *same] or nothing

    def _label(self, name: str) -> str:
        return self.labels.label(name) if self.labels else name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class BankComparison:
    """What differs between two banks.

    Attributes:
        before: The bank at the left.
        after: The bank at the right.
        differences: A line each.
        uncompared: Collections that only one of them has.
    """

    before: Bank
    after: Bank
    differences: tuple[BankDifference, ...]
    uncompared: tuple[str, ...] = ()

    @classmethod
    def of(cls, before: Bank, after: Bank) -> BankComparison:
        """Compare two banks; of banks of two methods, the collections that both have."""
        alone = tuple(sorted({*before.collections} ^ {*after.collections}))
        common = [name for name in before.collections if name not in alone] if alone else None
        found = diff(before, after, common)
        return cls(before, after, tuple(_differences(found, before, after)), alone)

    @property
    def summary(self) -> str:
        """How much of what differs."""
        counts = {
            words: sum(each.sign == sign for each in self.differences)
            for sign, words in (("+", "only on the right"), ("−", "only on the left"))
        }
        counts["changed"] = len(self.differences) - sum(counts.values())
        told = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
        text = told or "nothing differs"
        return f"{text} · not compared: {', '.join(self.uncompared)}" if self.uncompared else text


def _differences(found: BankDiff, before: Bank, after: Bank) -> Iterator[BankDifference]:
    for change in found.manifest:
        yield BankDifference("~", "bank", change.name, (change,))
    for name, tree in found.trees.items():
        yield from _of_tree(tree, before, name, display_of(after, name))
    episodes = found.episodes
    told: tuple[tuple[Sign, tuple[str, ...], tuple[str | None, str | None]], ...] = (
        ("−", episodes.removed, ("is there", None)),
        ("+", episodes.added, (None, "is there")),
        ("~", episodes.changed, ("the records differ", "the records differ")),
        ("~", episodes.learnt, ("learnt in only one bank", "learnt in only one bank")),
    )
    for sign, ids, (left, right) in told:
        for each in ids:
            yield BankDifference(sign, "episode", each, (FieldChange("episode", left, right),))


def _of_tree(tree: TreeDiff, bank: Bank, name: str, display: Display) -> Iterator[BankDifference]:
    for node in tree.removed:
        gone = tuple(FieldChange(each, text, None) for each, text in _texts(node).items())
        yield BankDifference("−", display.title, _title(display, node), gone, labels=display)
    for node in tree.added:
        new = tuple(FieldChange(each, None, text) for each, text in _texts(node).items())
        yield BankDifference("+", display.title, _title(display, node), new, labels=display)
    changes: dict[str, tuple[Node, tuple[FieldChange, ...]]] = {}
    for change in (*tree.changed, *tree.moved):
        changes[change.node.id] = _joined(changes.get(change.node.id), change)
    for node, fields in changes.values():
        differs = {each.name for each in fields}
        rest = tuple(each for each in node.payload.items() if each[0] not in differs and each[1])
        yield BankDifference("~", display.title, _title(display, node), fields, rest, display)
    for count in tree.counted:
        node = bank.tree(name).node(count.node)
        yield BankDifference("~", f"{display.title}, counts", _title(display, node), _counts(count))


def _joined(
    known: tuple[Node, tuple[FieldChange, ...]] | None, change: NodeChange
) -> tuple[Node, tuple[FieldChange, ...]]:
    return change.node, (*(known[1] if known else ()), *change.fields)


def _texts(node: Node) -> Mapping[str, str]:
    facts = {"id": node.id, "label": node.label, "parent": node.parent or ""}
    return {name: text for name, text in {**node.payload, **facts}.items() if text}


def _title(display: Display, node: Node) -> str:
    return f"{one_line(display.of_title(node), _TITLE)} · {node.id[:_SHORT_ID]}"


def _counts(change: CountChange) -> tuple[FieldChange, ...]:
    before, after = asdict(change.before), asdict(change.after)
    return tuple(
        FieldChange(name, before[name], after[name])
        for name in before
        if before[name] != after[name]
    )


def _said(value: Any) -> str:
    return "" if value is None else str(value)


_STYLES = {"+": "good", "−": "warning", "~": "strong"}


class DifferenceList(LineList):
    """One difference a line.

    Attributes:
        differences: What is listed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.differences: Sequence[BankDifference] = ()

    def line_count(self) -> int:
        """Return how many differences there are."""
        return len(self.differences)

    def line_text(self, line: int, width: int) -> Text:  # noqa: ARG002 - the list cuts it
        """Sign, collection, title."""
        each = self.differences[line]
        quiet = self.style_of("quiet")
        sign = (f" {each.sign} ", self.style_of(_STYLES[each.sign]))
        return line_of(sign, (f"{each.where}  ", quiet), (each.title, None))


class ComparisonScreen(Screen[None]):
    """Two banks, and what differs."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ("comparison", "list", "app")
    BINDINGS: ClassVar = [*bindings("comparison")]
    DEFAULT_CSS = """
    ComparisonScreen DifferenceList { height: 1fr; border-top: solid $primary; }
    ComparisonScreen #sides { height: 1fr; }
    ComparisonScreen TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    ComparisonScreen DifferenceList:focus, ComparisonScreen TextPane:focus {
        border-top: heavy $accent;
    }
    """

    def __init__(self, before: Path, after: Path) -> None:
        super().__init__()
        self._paths = before, after
        self._looking = Inquiry(self, "comparing the banks")
        self._list = DifferenceList()
        self._sides = TextPane(id="before"), TextPane(id="after")
        self._stamps: Sequence[Stamp] = ()
        self._told = "comparing …"

    def compose(self) -> ComposeResult:
        yield TopBar("two banks")
        yield self._list
        with Horizontal(id="sides"):
            yield from self._sides
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        self.browser.work.changed.subscribe(self, self._written)
        self._list.focus()
        self._look()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """Return the panes that actions are about while none has the focus, in order."""
        return self.focus_chain

    def _written(self, state: WorkState | None) -> None:
        if state is None and self._stamps != [stamp_of(path) for path in self._paths]:
            self._look()

    def _look(self) -> None:
        """Compare the banks as they are now."""
        before, after = self._paths
        self._stamps = [stamp_of(path) for path in self._paths]
        for pane, path in zip(self._sides, self._paths, strict=True):
            pane.border_title = Content(one_line(path.name, 60))
        self._list.border_title = "comparing …"
        self._looking.ask(
            lambda _: BankComparison.of(Bank.open(before), Bank.open(after)),
            self._show,
            at_once=True,
        )

    def _show(self, found: BankComparison) -> None:
        self._told = found.summary
        self._list.border_title = Content(found.summary)
        self._list.differences = found.differences
        self._list.lines_changed(min(self._list.cursor, max(len(found.differences) - 1, 0)))

    def on_line_list_moved(self) -> None:
        found = self._list.differences
        nothing = [Section("", self._told, quiet=True)]
        sides = found[self._list.cursor].sides() if found else (nothing, nothing)
        for pane, sections in zip(self._sides, sides, strict=True):
            pane.show(sections)

    def action_leave_comparison(self) -> None:
        self.dismiss()

    def action_swap_sides(self) -> None:
        self._paths = self._paths[::-1]
        self._look()

    def action_merge_right(self) -> None:
        target, source = self._paths
        bank_actions.plan_merge(self.browser, target, [str(source.resolve())])


def ask_for_comparison(
    browser: Browser, screen: Screen[None], bank: BankLine, banks: Sequence[BankLine]
) -> None:
    """Ask which bank stands at the right, and shows the two side by side."""
    others = {
        each.place.name: f"{each.domain}, {counted(sum(each.nodes.values()), 'node')}"
        for each in banks
        if each is not bank and not each.error
    }
    if bank.error or not others:
        browser.notes.notify("there is no other bank to compare it with")
        return
    paths = {each.place.name: each.place.path for each in banks}
    lines = (FormLine("other", "On the right", next(iter(others)), choices=others),)

    def begin(answer: FormAnswer, retry: Retry) -> None:
        retry.forget()
        screen.app.push_screen(ComparisonScreen(bank.place.path, paths[answer["other"]]))

    browser.forms.ask(f"Compare {bank.place.name} with", lines, begin, bank=bank.place.path)
