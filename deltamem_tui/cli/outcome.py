"""`deltamem outcome`: a person's word on how an episode ended."""

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
Undo = Annotated[bool, typer.Option("--undo", help="Take back what you said last.")]


def run(
    context: typer.Context,
    bank: options.Bank,
    episode: Episode,
    word: Word = None,
    undo: Undo = False,
) -> Result:
    """Say how an episode ended, take that back, or see who said what.

    Your word counts more than the log's, and that more than a judge model's; all are kept. The
    credit of what the episode was shown moves with it, in one commit. If the episode was learnt
    as having ended otherwise, what it taught is taken back in the same commit, and it waits to be
    learnt anew; --undo brings all of it back.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import UsageError
    from deltamem_tui.memory.episodes.outcomes import (
        find_episode,
        give_outcome,
        known_episode,
        take_back_outcome,
    )
    from deltamem_tui.memory.episodes.verdicts import words_on

    if word and undo:
        raise UsageError("--undo takes an outcome back, and gives none")
    invocation = Invocation.of(context)
    writes = word or undo
    opened = Bank.open(invocation.writable_bank(bank) if writes else invocation.bank(bank))
    found = find_episode(opened, episode)
    learnt = opened.episodes.learnt()
    if undo:
        known = take_back_outcome(opened, found)
    elif word:
        known = give_outcome(opened, found, success=_ENDINGS[word])
    else:
        known = known_episode(opened, found)
    words = [to_builtins(each) for each in words_on(known)]
    shown = len({(e.collection, e.node) for each in known.receipts for e in each.entries})

    def view(page: Page) -> None:
        page.facts({"episode": known.id, "task": known.task, "shown nodes": shown})
        rows = [
            (each.source, {True: "success", False: "failure", None: ""}[each.success], each.reason)
            for each in words_on(known)
        ]
        page.table(("source", "outcome", "reason"), rows, headed=True)

    data = {"id": known.id, "task": known.task, "words": words, "shown_nodes": shown}
    notes = []
    if opened.episodes.learnt() < learnt:
        notes.append("what it taught was taken back, and it waits to be learnt anew")
    return Result("outcome", data, view=view, notes=notes)


_ENDINGS = {"success": True, "failure": False, "unclear": None}
