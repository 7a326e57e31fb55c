"""Commands about episodes and logs: listed, judged by a person, and the formats of logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.logs import Logs
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result, View
from deltamem_tui.errors import DeltaMemError, LogFormatError, TrajectoryError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.trajectory.logs.log import Log
    from deltamem_tui.trajectory.readers import Reader
    from deltamem_tui.trajectory.readers.reading import Trial


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


_COLUMNS = (
    *("file", "", "format", "sure", "episodes", "steps", "success", "failure", "unknown"),
    *("rejected", "first"),
)
_SHOWN_REASONS = 3  # of each log


def formats(
    context: typer.Context,  # noqa: ARG001 - a command's first parameter
    format: options.Format = None,  # noqa: A002 - the word that people type
) -> Result:
    """List the formats of logs that can be read."""
    from deltamem_tui.trajectory.readers import reader_named, readers

    found = readers() if format is None else (reader_named(format),)
    rows = [(reader.name, reader.description) for reader in found]
    data = [{"name": name, "description": description} for name, description in rows]
    view: View = lambda page: page.table(("format", "description"), rows)  # noqa: E731
    return Result("formats", {"formats": data}, view=view)


def try_(context: typer.Context, logs: Logs, format: options.Format = None) -> Result:  # noqa: A002
    """Show what each format would make of logs; nothing is imported.

    Only formats that claim the log are tried, and the one that you name with --format, which may
    be a file that you are just writing.
    """
    from deltamem_tui.trajectory.logs.sources import find_logs
    from deltamem_tui.trajectory.readers import reader_named

    named = reader_named(format) if format else None
    files = [found.log for found in find_logs(logs)]
    tried: list[tuple[str, str | None, list[Trial]]] = []
    errors: list[DeltaMemError] = []
    with Invocation.of(context).output.progress("trying", len(files)) as advance:
        for log in files:
            try:
                tried.append((log.name, *_attempt(log, named, errors)))
            except TrajectoryError as error:  # it cannot even be opened
                errors.append(error)
            advance()

    def view(page: Page) -> None:
        page.table(_COLUMNS, [row for each in tried for row in _rows(*each)])

    data = [
        {"source": source, "format": chosen, "trials": [_record(trial) for trial in trials]}
        for source, chosen, trials in tried
    ]
    done = sum(chosen is not None for _, chosen, _ in tried)
    notes = ["→ is how `deltamem import` reads it"] if done else []
    notes += [note for each in tried for note in _reasons(*each)]
    return Result(
        "formats", {"logs": data}, errors, Result.verdict(done, errors), view=view, notes=notes
    )


def _attempt(
    log: Log, named: Reader | None, errors: list[DeltaMemError]
) -> tuple[str | None, list[Trial]]:
    """Return the format that an import would choose, and what all that claim the log make of it."""
    from deltamem_tui.trajectory.readers.reading import try_readers
    from deltamem_tui.trajectory.readers.registry import reader_of

    chosen = named
    if chosen is None:
        try:
            chosen = reader_of(log)
        except LogFormatError as error:
            errors.append(error)
    return chosen.name if chosen else None, list(try_readers(log, named))


def _reasons(source: str, chosen: str | None, trials: list[Trial]) -> Iterator[str]:
    """Yield why outcomes are unknown, as an import would read the log."""
    from deltamem_tui.memory.reports.imports import reason_notes

    for trial in trials:
        if trial.format == chosen:
            yield from (f"{source}: {note}" for note in reason_notes(trial.reasons, _SHOWN_REASONS))


def _rows(source: str, chosen: str | None, trials: list[Trial]) -> list[tuple[str | int, ...]]:
    return [
        (
            source,
            "→" if trial.format == chosen else "",
            trial.format,
            f"{trial.sureness:.2f}",
            trial.episodes,
            trial.steps,
            trial.successes,
            trial.failures,
            trial.unknown,
            trial.rejected,
            one_line(trial.first_task or str(trial.first_rejection or ""), 60),
        )
        for trial in trials
    ]


def _record(trial: Trial) -> dict[str, Any]:
    from deltamem_tui.memory.reports.imports import reasons_record

    refused = trial.first_rejection
    return {
        "format": trial.format,
        "sureness": trial.sureness,
        "episodes": trial.episodes,
        "steps": trial.steps,
        "successes": trial.successes,
        "failures": trial.failures,
        "unknown": trial.unknown,
        "reasons": reasons_record(trial.reasons),
        "rejected": trial.rejected,
        "first_task": trial.first_task or None,
        "first_rejection": None
        if refused is None
        else {"message": refused.message, "position": refused.position},
    }
