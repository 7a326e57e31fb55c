"""A user's changes to a bank's trees.

Each change is one commit by a handle of its own: an action of the screen, the question it may
need, a job that calls `memory.editing`. On a frozen bank it is refused before anything is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankError, DeltaMemError, UsageError
from deltamem_tui.memory import editing
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.writers.failure_markers import marks_in
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import BankChange, Progress, Retry, WorkPlan
from deltamem_tui.tui.jobs.outcomes import undo_last
from deltamem_tui.tui.models.nodes import subtree_preview
from deltamem_tui.tui.screens.base import BankScreen


def write_document(payload: Mapping[str, str], collection: Collection, display: Display) -> str:
    """Return the document: what the node says, under headings that none of its lines can be."""
    rule = _rule(payload.values())
    return "\n".join(
        f"{rule} {_heading(name)} ({_about(name, collection, display)})\n"
        f"{clean(payload[name]).strip()}\n"
        for name in collection.fields
    )


def _about(name: str, collection: Collection, display: Display) -> str:
    """Return what a field says of a node, and what is to be known when it is edited."""
    facts = [display.label(name).lower()]
    facts += ["this text is embedded"] if name == collection.key else []
    facts += ["may be empty"] if name in display.optional else []
    return "; ".join(facts)


def _heading(field: str) -> str:
    return field.replace("_", " ")


def _rule(texts: Iterable[str]) -> str:
    """Equals signs, more than any line of the texts begins with."""
    runs = (len(found) for text in texts for found in re.findall(r"(?m)^=+", text))
    return "=" * max(max(runs, default=0) + 1, 4)


def read_document(document: str, collection: Collection) -> dict[str, str]:
    """Return what the document says now."""
    first = re.match(r"\s*(=+) ", document)
    rule = first.group(1) if first else "===="
    starts, ends = list[int](), list[int]()
    for field in collection.fields:
        heading = re.compile(rf"(?m)^{rule} {re.escape(_heading(field))}.*$")
        found = heading.search(document, ends[-1] if ends else 0)
        if not found:
            raise UsageError(
                f"the heading of the {_heading(field)} is missing: nothing was changed",
                hint=f"keep the {len(collection.fields)} lines that begin with {rule}",
            )
        starts.append(found.start())
        ends.append(found.end())
    parts = zip(ends, [*starts[1:], len(document)], strict=True)
    texts = (clean(document[begin:end]).strip() for begin, end in parts)
    return dict(zip(collection.fields, texts, strict=True))


_SIMILAR = 8
_LEAST_SIMILARITY = 0.5


@dataclass(frozen=True, slots=True)
class SimilarNode:
    """A node, and how similar another one's embedded text is to its own."""

    node: Node
    similarity: float


def similar_nodes(tree: Tree, node: Node) -> list[SimilarNode]:
    """Return the nodes whose embedded text is most like a node's, without those above it."""
    if not tree.snapshot.table.dimensions:
        return []
    rows, here = tree.rows, tree.row(node.id)
    scores = tree.embeddings[rows] @ tree.embeddings[here]
    above = {each.id for each in tree.chain(node.id)}
    best = (-scores).argsort(kind="stable")[: _SIMILAR + len(above)].tolist()
    found = [SimilarNode(tree.node_at(int(rows[at])), float(scores[at])) for at in best]
    near = (each for each in found if each.similarity >= _LEAST_SIMILARITY)
    return [each for each in near if each.node.id not in above][:_SIMILAR]


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
        edits, hint = self._screen.browser.session.edits, self._undo_hint

        def write(bank: Bank) -> str:
            summary = work(bank)
            edits.note(bank)
            return f"{summary}; {hint}"

        self._screen.change(name, write, place)

    def _shape(self, chosen: ChosenNode) -> tuple[Collection, Display]:
        """Return what a node consists of, and how that is shown."""
        bank = self._screen.bank
        return bank.collections[chosen.tree], display_of(bank, chosen.tree)

    # The texts

    def edit(self, *, outside: bool = False) -> None:
        """Edit the node's texts, or go on with what could not be saved."""
        from deltamem_tui.tui.widgets.dialogs import DraftDialog

        screen, chosen = self._screen, self._writable_node()
        if not chosen or not screen.browser.work.is_free():  # what one types could not be written
            return
        before = self._document(chosen, chosen.node.payload)
        draft = screen.home.drafts.get(chosen.place)
        if draft is None or draft == before:
            self._edit_text(chosen, before, outside=outside)
            return

        def answered(goes_on: bool | None) -> None:
            if goes_on is not None:
                text = draft if goes_on else before
                screen.call_later(self._edit_text, chosen, text, outside=outside)

        screen.app.push_screen(DraftDialog(draft, before), answered)

    def _document(self, chosen: ChosenNode, texts: Mapping[str, str]) -> str:
        """Return the texts of a node as one, as an editor and a draft have them."""
        return write_document(texts, *self._shape(chosen))

    def _edit_text(self, chosen: ChosenNode, document: str, *, outside: bool) -> None:
        from deltamem_tui.tui.widgets.dialogs import EditFieldsDialog

        drafts, (collection, display) = self._screen.home.drafts, self._shape(chosen)
        texts: Mapping[str, str] = {}
        try:
            texts = read_document(document, collection)
        except DeltaMemError:  # a draft whose headings were spoilt: only an editor mends it
            outside = True
        if outside:
            self._screen.browser.texts.edit(
                document,
                lambda after: self._edited(chosen, after),
                lambda after: drafts.update({chosen.place: after}),
            )
            return

        def answered(after: Mapping[str, str] | None) -> None:
            if after is not None:
                self._edited(chosen, self._document(chosen, after))

        labels = {name: _about(name, collection, display) for name in collection.fields}
        self._screen.app.push_screen(EditFieldsDialog(labels, texts), answered)

    def _edited(self, chosen: ChosenNode, after: str) -> None:
        """Keep the text as a draft until it is written."""
        drafts, browser = self._screen.home.drafts, self._screen.browser
        if after == self._document(chosen, chosen.node.payload):
            drafts.pop(chosen.place, None)
            browser.notes.notify("nothing was changed")
            return
        drafts[chosen.place] = after
        kept = f"your text is kept, {browser.key_of('edit')} offers it again"
        try:
            texts = read_document(after, self._shape(chosen)[0])
            payload = method_of(self._screen.bank).cleaned(chosen.tree, texts)
        except DeltaMemError as error:
            browser.notes.report(_telling(error, kept))
            return
        self._write_text(chosen, payload, kept)

    def _write_text(self, chosen: ChosenNode, payload: Mapping[str, str], kept: str) -> None:
        drafts = self._screen.home.drafts

        def work(bank: Bank) -> str:
            try:
                editing.edit(bank, chosen.tree, chosen.node, payload)
            except DeltaMemError as error:
                raise _telling(error, kept) from error
            drafts.pop(chosen.place, None)
            return f"edited {chosen.node.id}"

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
            unwarned = self._shape(chosen)[1].warning and label == "success"
            marks = ", ".join(marks_in(node.payload)) if unwarned else ""
            edits = browser.key_of("edit")
            rest = f"; its text still says {marks}, {edits} edits it" if marks else ""
            return f"{node.id} is a {label} now{rest}"

        self._write("marking the node", work, chosen.place)

    def join(self) -> None:
        """Ask which of the nodes that say nearly the same goes, and merge it into this one."""
        if (chosen := self._writable_node()) is None:
            return
        screen, kept = self._screen, chosen.node
        tree, display = screen.bank.tree(chosen.tree), self._shape(chosen)[1]
        near = {each.node.id: each for each in similar_nodes(tree, kept)}
        if not near:
            screen.browser.notes.notify("no other node of this tree is similar to it")
            return
        choices = {
            name: f"{each.similarity:.2f}  {one_line(display.of_title(each.node), 60)}\n"
            f"{one_line(each.node.text, 400)}"
            for name, each in near.items()
        }

        def begin(answer: FormAnswer, retry: Retry) -> None:
            gone = near[answer["other"]].node

            def work(bank: Bank) -> str:
                editing.join(bank, chosen.tree, kept, gone)
                return f"merged {gone.id} into {kept.id}"

            retry.forget()
            self._write("merging the nodes", work, chosen.place)

        line = FormLine("other", "It goes; what is below it moves below this one", choices=choices)
        title = f"Which node says the same as {one_line(display.of_title(kept), 50)}?"
        screen.browser.forms.ask(title, [line], begin)

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
            where = f"below {parent.id}" if parent else "among the roots"
            return f"moved {counted(len(change.nodes), 'node')} {where}"

        self._write("moving", work, moved.place)

    # Deleting and undoing

    def delete(self) -> None:
        """Show what would be deleted, and ask."""
        screen, chosen = self._screen, self._writable_node()
        if not chosen or not screen.browser.work.is_free():  # else the answer would do nothing
            return
        tree, node_id = chosen.place
        shown, position = screen.bank.tree(chosen.tree), screen.browser.attention.position()

        edits, hint, path = screen.browser.session.edits, self._undo_hint, screen.home.path

        def offer(nodes: Sequence[Node]) -> None:
            if screen.home.is_closed:
                return
            parent = nodes[0].parent

            def work(_: Progress) -> BankChange:
                bank = Bank.open(path)
                summary = f"{_delete(bank, tree, nodes)}; {hint}"
                edits.note(bank)
                return BankChange(path, summary, (tree, parent) if parent else None)

            display = display_of(screen.bank, chosen.tree)
            question = f"Delete {counted(len(nodes), 'node')} of the {display.title}?"
            preview = subtree_preview(shown, nodes, display)
            plan = WorkPlan("deleting", question, preview, work, position=position)
            later = f"{one_line(path.name, 40)}: {question}"
            screen.browser.work.offer(replace(plan, later=later))

        look_up(screen, "reading the subtree", lambda _: editing.subtree(shown, node_id), offer)

    def undo(self, *, again: bool = False) -> None:
        """Undo the last change by hand, or make the change again that was undone last."""
        if self._screen.writable():
            path, edits = self._screen.home.path, self._screen.browser.session.edits
            name = "redoing" if again else "undoing"
            self._screen.browser.work.start(name, lambda _: undo_last(path, edits, again=again))

    @property
    def _undo_hint(self) -> str:
        return f"{self._screen.browser.key_of('undo')} undoes it"


def _delete(bank: Bank, tree: str, nodes: Sequence[Node]) -> str:
    """Delete a node and all below it, if that is still what was shown."""
    root, *_ = nodes
    now = editing.subtree(bank.tree(tree), root.id)
    if {node.id for node in now} != {node.id for node in nodes}:
        raise BankError(
            "there are other nodes below it by now; nothing was deleted",
            source=root.id,
            hint="look at it again before you delete it",
        )
    return f"deleted {counted(len(editing.delete(bank, tree, root).nodes), 'node')}"


def _telling(error: DeltaMemError, fact: str) -> DeltaMemError:
    """Return the error with one more fact; its hint stays a remedy, if it is one."""
    return type(error)(
        f"{error.message}; {fact}", source=error.source, position=error.position, hint=error.hint
    )
