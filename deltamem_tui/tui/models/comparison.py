"""Two banks side by side: a line for each thing that differs, and both sides of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import BankDiff, CountChange, FieldChange, NodeChange, TreeDiff, diff
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import one_line
from deltamem_tui.tui.models.sections import Section

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
        """The left and the right bank's sections; what the other side says too is quiet."""
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
        """Compares two banks; of banks of two methods, the collections that both have."""
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
