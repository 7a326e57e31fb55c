"""A user's changes to a bank's trees: each is one commit, and refused early on a frozen bank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Collection, Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankError, DeltaMemError
from deltamem_tui.memory import editing
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import display_of, method_of
from deltamem_tui.memory.procedure import marks_in
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import BankChange, Progress, WorkPlan
from deltamem_tui.tui.jobs.outcomes import plan_undo
from deltamem_tui.tui.models.nodes import subtree_preview
from deltamem_tui.tui.screens.base import BankScreen

_SIMILAR = 8
_LEAST_SIMILARITY = 0.5


def _about(name: str, collection: Collection, display: Display) -> str:
    """Return what a field says of a node, and what is to be known when it is edited."""
    facts = [display.label(name).lower()]
    facts += ["this text is embedded"] if name == collection.key else []
    facts += ["may be empty"] if name in display.optional else []
    return "; ".join(facts)


def similar_nodes(tree: Tree, node: Node) -> list[tuple[float, Node]]:
    """Return the nodes whose embedded text is most like a node's, without those above it."""
    if not tree.snapshot.table.dimensions:
        return []
    rows = tree.rows
    scores = tree.embeddings[rows] @ tree.embeddings[tree.row(node.id)]
    above = {each.id for each in tree.chain(node.id)}
    best = (-scores).argsort(kind="stable")[: _SIMILAR + len(above)].tolist()
    found = [(float(scores[at]), tree.node_at(int(rows[at]))) for at in best]
    near = [each for each in found if each[0] >= _LEAST_SIMILARITY and each[1].id not in above]
    return near[:_SIMILAR]


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node that the user looks at."""

    tree: str
    node: Node

    @property
    def place(self) -> tuple[str, str]:
        """Tree and id: where to look after a change."""
        return self.tree, self.node.id


class NodeEditor:
    """Changes the node that a screen shows."""

    def __init__(
        self,
        screen: BankScreen,
        chosen: Callable[[], ChosenNode | None],
        show_move: Callable[[ChosenNode | None], None],
    ) -> None:
        self._screen = screen
        self._chosen = chosen
        self._show_move = show_move
        self.moving: ChosenNode | None = None

    def _writable_node(self) -> ChosenNode | None:
        """Return the node to change; None, and the reason reported, if it cannot be changed."""
        if not self._screen.writable():
            return None
        try:
            return self._chosen()
        except DeltaMemError as error:
            self._screen.browser.notes.report(error)
            return None

    def _write(self, name: str, work: Callable[[Bank], str], place: tuple[str, str]) -> None:
        """Change the bank by work that writes one commit or raises, which `undo` takes back."""
        hint = self._undo_hint
        self._screen.change(name, lambda bank: f"{work(bank)}; {hint}", place)

    def _display(self, chosen: ChosenNode) -> Display:
        return display_of(self._screen.bank, chosen.tree)

    def _titled(self, chosen: ChosenNode) -> str:
        """Return a node's title, for a message."""
        return f"“{self._display(chosen).of_title(chosen.node)}”"

    # The texts

    def edit(self) -> None:
        """Edit the node's texts, beginning with what could not be saved before."""
        from deltamem_tui.tui.widgets.dialogs import EditFieldsDialog

        screen, chosen = self._screen, self._writable_node()
        if not chosen or not screen.browser.work.is_free():  # what one types could not be written
            return
        collection, display = screen.bank.collections[chosen.tree], self._display(chosen)
        drafts, notify = screen.home.drafts, screen.browser.notes.notify
        labels = {name: _about(name, collection, display) for name in collection.fields}
        texts = {name: clean(chosen.node.payload[name]).strip() for name in collection.fields}

        def answered(after: Mapping[str, str] | None) -> None:
            typed = {name: clean(text).strip() for name, text in (after or texts).items()}
            if typed != texts:
                drafts[chosen.place] = typed
                self._write_text(chosen, typed)
                return
            drafts.pop(chosen.place, None)
            if after is not None:
                notify("nothing was changed")

        draft = drafts.get(chosen.place, {})
        if draft:
            notify("this is your text that was not saved; escape twice discards it")
        screen.app.push_screen(EditFieldsDialog(labels, texts, draft), answered)

    def _write_text(self, chosen: ChosenNode, typed: Mapping[str, str]) -> None:
        """Write the texts; what cannot be written stays a draft."""
        drafts = self._screen.home.drafts
        kept = f"your text is kept, {self._screen.browser.key_of('edit')} offers it again"

        def work(bank: Bank) -> str:
            try:
                payload = method_of(bank).cleaned(chosen.tree, typed)
                editing.edit(bank, chosen.tree, chosen.node, payload)
            except DeltaMemError as error:
                error.message += f"; {kept}"
                raise
            drafts.pop(chosen.place, None)
            return f"edited {self._titled(chosen)}"

        self._write("writing the edit", work, chosen.place)

    # The label and the place

    def relabel(self, label: Label) -> None:
        """Mark the node as a success or a failure."""
        if (chosen := self._writable_node()) is None:
            return
        node, browser = chosen.node, self._screen.browser
        if node.label == label:
            browser.notes.notify(f"it is a {label} already")
            return

        def work(bank: Bank) -> str:
            editing.relabel(bank, chosen.tree, node, label)
            unwarned = self._display(chosen).warning and label == "success"
            marks = ", ".join(marks_in(node.payload)) if unwarned else ""
            edits = browser.key_of("edit")
            rest = f"; its text still says {marks}, {edits} edits it" if marks else ""
            return f"{self._titled(chosen)} is a {label} now{rest}"

        self._write("marking the node", work, chosen.place)

    def join(self) -> None:
        """Ask which of the nodes that say nearly the same goes, and merge it into this one."""
        if (chosen := self._writable_node()) is None:
            return
        screen, kept = self._screen, chosen.node
        tree, display = screen.bank.tree(chosen.tree), self._display(chosen)
        near = {node.id[:8]: (score, node) for score, node in similar_nodes(tree, kept)}
        if not near:
            screen.browser.notes.notify("no other node of this tree is similar to it")
            return
        titles = display.titles([kept, *(node for _, node in near.values())])
        choices = {
            name: f"{score:.2f}  {title}\n{one_line(node.text, 400)}"
            for (name, (score, node)), title in zip(near.items(), titles[1:], strict=True)
        }

        path, hint = screen.home.path, self._undo_hint

        def work(answer: FormAnswer, _: Progress) -> BankChange:
            other = answer["other"]
            editing.join(Bank.open(path), chosen.tree, kept, near[other][1])
            said = dict(zip(near, titles[1:], strict=True))[other]
            return BankChange(path, f"merged “{said}” into “{titles[0]}”; {hint}", chosen.place)

        line = FormLine(
            "other", "It is removed, and its children move below this one", choices=choices
        )
        title = f"Which node says the same as “{titles[0]}”?"
        screen.browser.forms.ask_to("merging the nodes", title, [line], work)

    def move(self) -> None:
        """Chooses first the node, then the new parent."""
        if (chosen := self._writable_node()) is None:
            return
        if self.moving is not None and self.moving.tree == chosen.tree:
            self._move(self.moving, chosen.node)
            return
        self._mark(chosen)
        key = self._screen.browser.key_of
        self._screen.browser.notes.notify(
            f"go to its new parent and press {key('move')}, or {key('make_root')} to make it "
            f"a root; {key('step_back')} cancels"
        )

    def make_root(self) -> None:
        """Make the node that is being moved, or the one under the cursor, a root."""
        if chosen := self._writable_node():
            self._move(self.moving or chosen, None)

    def leave_move(self) -> bool:
        """End a move without moving. Returns whether there was one."""
        if self.moving is None:
            return False
        self._mark(None)
        return True

    def _mark(self, chosen: ChosenNode | None) -> None:
        self.moving = chosen
        self._show_move(chosen)

    def _move(self, moved: ChosenNode, parent: Node | None) -> None:
        self._mark(None)

        def work(bank: Bank) -> str:
            change = editing.move(bank, moved.tree, moved.node, parent)
            where = (
                f"below {self._titled(ChosenNode(moved.tree, parent))}" if parent else "to the top"
            )
            return f"moved {counted(len(change.nodes), 'node')} {where}"

        self._write("moving", work, moved.place)

    # Deleting and undoing

    def delete(self) -> None:
        """Show what would be deleted, and ask."""
        if (chosen := self._writable_node()) is None:
            return
        tree, path, hint = chosen.tree, self._screen.home.path, self._undo_hint
        bank, display = self._screen.bank, self._display(chosen)

        def plan(_: Progress) -> WorkPlan:
            nodes = editing.subtree(bank.tree(tree), chosen.node.id)
            parent = nodes[0].parent

            def work(_: Progress) -> BankChange:
                summary = f"{_delete(Bank.open(path), tree, nodes)}; {hint}"
                return BankChange(path, summary, (tree, parent) if parent else None)

            number = counted(len(nodes), "node")
            question = f"Delete {number} of the {display.title} of {one_line(path.name, 40)}?"
            return WorkPlan("deleting", question, subtree_preview(nodes, display), work)

        self._screen.browser.work.start("reading the subtree", plan)

    def undo(self, verb: Literal["undo", "redo"] = "undo") -> None:
        """Show the last change by hand, or the last that was undone, and ask whether to."""
        if self._screen.writable():
            path = self._screen.home.path
            self._screen.browser.work.start(f"{verb}ing", lambda _: plan_undo(path, verb))

    @property
    def _undo_hint(self) -> str:
        return f"{self._screen.browser.key_of('undo')} undoes it"


def _delete(bank: Bank, tree: str, nodes: Sequence[Node]) -> str:
    """Delete a node and all below it, if that is still what was shown."""
    root, *_ = nodes
    now = editing.subtree(bank.tree(tree), root.id)
    if {node.id for node in now} != {node.id for node in nodes}:
        raise BankError(
            "the nodes below it have changed; nothing was deleted",
            source=root.id,
            hint="look at it again, then delete it",
        )
    return f"deleted {counted(len(editing.delete(bank, tree, root).nodes), 'node')}"
