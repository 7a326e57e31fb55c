"""`deltamem search`: nodes by how well they fit a text."""

from __future__ import annotations

from typing import Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result

Text = Annotated[str, typer.Argument(metavar="TEXT", help="A goal, a scene, or any text.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most N nodes a tree.")]


def run(
    context: typer.Context,
    bank: options.Bank,
    text: Text,
    tree: options.TreeChoice = None,
    limit: Limit = 10,
) -> Result:
    """Find the nodes that score best for a text, in one tree or both."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.cli.recall import candidate_record
    from deltamem_tui.errors import UsageError
    from deltamem_tui.memory.engine import search
    from deltamem_tui.memory.methods import display_of, is_shown, key_label
    from deltamem_tui.text import one_line

    if not text.strip():
        raise UsageError("the text is empty", hint="say what to look for")
    opened = Bank.open(Invocation.of(context).bank(bank))
    names = [name for name in options.tree_names(opened, tree) if tree or is_shown(opened, name)]
    answers = search(opened, text, names, limit)

    def view(page: Page) -> None:
        heads = dict.fromkeys(key_label(opened, answer.collection) for answer in answers)
        page.table(
            ("tree", "node", "score", "label", " / ".join(heads)),
            [
                (
                    answer.collection,
                    candidate.node.id[:8],
                    candidate.score,
                    candidate.node.label,
                    one_line(display_of(opened, answer.collection).of_title(candidate.node), 100),
                )
                for answer in answers
                for candidate in answer.candidates
            ],
            headed=True,
        )

    records = [
        candidate_record(opened.tree(answer.collection), candidate, answer.threshold)
        for answer in answers
        for candidate in answer.candidates
    ]
    return Result("search", {"nodes": records}, view=view)
