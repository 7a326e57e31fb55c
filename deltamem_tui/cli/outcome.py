"""`deltamem outcome`: a person's verdict on how an episode ended."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from msgspec import to_builtins

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result

Episode = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE",
        help="An episode's id, or enough of its beginning; `last` is the one imported last.",
    ),
]
Word = Annotated[
    Literal["success", "failure", "unclear"] | None,
    typer.Argument(
        metavar="[success|failure|unclear]",
        help="How it ended, or that you cannot tell; shown only, if not given.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before learnt nodes are marked.")]


def run(
    context: typer.Context,
    bank: options.Bank,
    episode: Episode,
    word: Word = None,
    yes: Yes = False,
) -> Result:
    """Say how an episode ended, or see who said what.

    Your verdict counts more than the log's, and that more than a judge model's; all are kept.
    `unclear` lets the others count again. The credit of what the episode was shown moves with it,
    in one commit. If the episode was learnt as having ended otherwise, its nodes are marked with
    the new outcome and it waits: the next `extract` replaces them. That is asked before.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.outcomes import (
        find_episode,
        give_outcomes,
        known_episode,
        overturned_by,
        verdicts_on,
    )

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.writable_bank(bank) if word else invocation.bank(bank))
    found = find_episode(opened, episode)
    known, notes = known_episode(opened, found), []
    if word:
        success = _ENDINGS[word]
        marked = overturned_by(opened, [found], success=success)
        if marked and marked.episodes and not yes:
            invocation.confirm(f"mark as {word}? {marked.text}")
        known = give_outcomes(opened, [found], success=success, expected=marked)[0]
        notes = [marked.text] if marked else []
    shown = len({(e.collection, e.node) for each in known.receipts for e in each.entries})

    def view(page: Page) -> None:
        page.facts({"episode": known.id, "task": known.task, "recalled nodes": shown})
        rows = [
            (each.source, {True: "success", False: "failure", None: ""}[each.success], each.reason)
            for each in verdicts_on(known)
        ]
        page.table(("source", "outcome", "reason"), rows, headed=True)

    words = [to_builtins(each) for each in verdicts_on(known)]
    data = {"id": known.id, "task": known.task, "words": words, "shown_nodes": shown}
    return Result("outcome", data, view=view, notes=notes)


_ENDINGS = {"success": True, "failure": False, "unclear": None}
