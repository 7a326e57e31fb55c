"""Commands about episodes: listed, judged by a person, reviewed."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted, one_line

Waiting = Annotated[bool, flag("--waiting", "Only those that are not learnt yet.")]

_OUTCOMES = {True: "success", False: "failure", None: "unknown"}


def list_(context: typer.Context, bank: options.Bank, waiting: Waiting = False) -> Result:
    """List a bank's episodes: id, state, outcome and task."""
    from deltamem_tui.bank.episodes import EpisodeState
    from deltamem_tui.memory.episodes.stored_episodes import episode

    opened = Invocation.of(context).open(bank)
    found = []
    for name in opened.episodes.ids():
        learnt = opened.episodes.state(name) == EpisodeState.LEARNT
        kept = episode(opened, name)
        if kept is None or (waiting and learnt):
            continue
        found.append(
            {
                "id": name,
                "state": "learnt" if learnt else "waiting",
                "outcome": _OUTCOMES[kept.outcome.success],
                "steps": len(kept.steps),
                "task": one_line(kept.task, 200),
            }
        )

    def view(page: Page) -> None:
        columns = ("id", "state", "outcome", "steps", "task")
        page.table(columns, [[each[name] for name in columns] for each in found])

    unknown = any(each["outcome"] == "unknown" for each in found)
    hint = f"`deltamem episode outcome {bank} ID success|failure` says how an episode ended"
    return Result("episodes", {"episodes": found}, view=view, notes=[hint] if unknown else [])


EpisodeId = Annotated[
    str,
    argument(
        "EPISODE", "An episode's id, or enough of its beginning; `last` is the one imported last."
    ),
]
Word = Annotated[
    Literal["success", "failure", "unclear"] | None,
    argument(
        "[success|failure|unclear]",
        "How it ended, or that you cannot tell; shown only, if not given.",
    ),
]
_ENDINGS = {"success": True, "failure": False, "unclear": None}


def outcome(
    context: typer.Context,
    bank: options.Bank,
    episode: EpisodeId,
    word: Word = None,
    yes: options.Sure = False,
) -> Result:
    """Say how an episode ended, or see who said what.

    Your verdict counts more than the log's, and that more than a judge model's; all are kept.
    `unclear` lets the others count again. The credit of the nodes that were recalled for it moves
    with it, in one commit. If the episode was learnt as having ended otherwise, its nodes are
    marked and it waits: the next `extract` replaces them. That is asked before.
    """
    from msgspec import to_builtins

    from deltamem_tui.memory.episodes.outcomes import (
        find_episode,
        give_outcomes,
        known_episode,
        overturned_by,
        verdicts_on,
    )

    invocation = Invocation.of(context)
    opened = invocation.open(bank, write=bool(word))
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
            (each.source, "" if each.success is None else _OUTCOMES[each.success], each.reason)
            for each in verdicts_on(known)
        ]
        page.table(("source", "outcome", "reason"), rows)

    words = [to_builtins(each) for each in verdicts_on(known)]
    data = {"id": known.id, "task": known.task, "words": words, "shown_nodes": shown}
    return Result("outcome", data, view=view, notes=notes)


Blind = Annotated[bool, flag("--blind", "Hide what log and judge say.")]


def review(context: typer.Context, bank: options.Bank, blind: Blind = False) -> Result:
    """List the most doubtful episodes: `episode outcome` or the browser takes your verdicts.

    First where log and judge disagree, then waiting successes that only a judge saw, sources of
    nodes of little use, and what is around an error.
    """
    from deltamem_tui.memory.review import error_notes, review_of, why

    found = review_of(Invocation.of(context).open(bank))

    def view(page: Page) -> None:
        rows = [
            (each.episode, "" if blind else why(each), "learnt" if learnt else "waits", each.kind)
            for each in found.items
            for learnt in (found.facts[each.episode].learnt,)
        ]
        page.table(("episode", "why", "state", "kind"), rows)

    left = f"{counted(len(found.items), 'episode')} to review"
    hint = f"`deltamem episode outcome {bank} ID success|failure|unclear` gives a verdict"
    notes = [left, *([hint] if found.items else []), *error_notes(found)]
    return Result("review", found.record(blind=blind), view=view, notes=notes)
