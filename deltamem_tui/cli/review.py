"""`deltamem review`: the episodes that a person should look at, and their verdicts."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page, is_terminal
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted

Blind = Annotated[
    bool, typer.Option("--blind", help="Hide what log and judge say until your verdict.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="What the random 5 % is drawn by.")]


def run(context: typer.Context, bank: options.Bank, blind: Blind = False, seed: Seed = 0) -> Result:
    """Say of the most doubtful episodes how they ended, one key each.

    First where log and judge disagree, then successes that only a judge saw and that wait to be
    learnt, sources of nodes of little use, what lies around an error, and a random 5 %. Each
    verdict is a commit. With --json, or in a pipe, the queue is listed: `deltamem outcome` takes
    the verdicts.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.review import error_notes, review_of, why

    invocation = Invocation.of(context)
    talks = not invocation.options.json and is_terminal(sys.stdin) and is_terminal(sys.stdout)
    opened = Bank.open(invocation.writable_bank(bank) if talks else invocation.bank(bank))
    if talks:
        from deltamem_tui.cli.review_session import ReviewSession

        opened.require_writable()
        session = ReviewSession(opened, seed, Page(sys.stdout), typer.getchar, blind=blind)
        given, found = session.run(), session.review
        done = [f"{counted(given, 'verdict')} given"]
    else:
        found, done = review_of(opened, seed), []

    def view(page: Page) -> None:
        rows = [
            (each.episode, "" if blind else why(each), "learnt" if learnt else "waits", each.kind)
            for each in found.items
            for learnt in (found.facts[each.episode].learnt,)
        ]
        page.table(("episode", "why", "state", "kind"), rows)

    left = f"{counted(len(found.items), 'episode')} in the queue"
    notes = [*done, left, *error_notes(found)]
    return Result("review", found.record(blind=blind), view=None if talks else view, notes=notes)
