"""Commands about episodes and logs: listed, judged by a person, and the formats of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.logs import Logs, waiting_notes
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result, table
from deltamem_tui.errors import DeltaMemError, LogFormatError, TrajectoryError, UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.trajectory.readers.reading import Trial


_OUTCOMES = {True: "success", False: "failure", None: "unknown"}
_ENDED = _OUTCOMES | {None: ""}


def list_(
    invocation: Invocation,
    bank: options.Bank,
    waiting: Annotated[bool, flag("--waiting", "Only those that are not learnt yet.")] = False,
) -> Result:
    """List a bank's episodes: id, state, outcome and task."""
    from deltamem_tui.bank.episodes import EpisodeState
    from deltamem_tui.memory.episodes.stored_episodes import episode

    opened = invocation.open(bank)
    found = []
    for name in opened.episodes.ids():
        learnt = opened.episodes.state(name) == EpisodeState.LEARNT
        kept = episode(opened, name)
        if kept and not (waiting and learnt):
            found.append(
                {
                    "id": name,
                    "state": "learnt" if learnt else "waiting",
                    "outcome": _OUTCOMES[kept.outcome.success],
                    "steps": len(kept.steps),
                    "task": one_line(kept.task, 200),
                }
            )
    unknown = any(each["outcome"] == "unknown" for each in found)
    hint = f"`deltamem episode outcome {bank} ID… success|failure` says how an episode ended"
    view = table(("id", "state", "outcome", "steps", "task"), found)
    return Result("episodes", {"episodes": found}, view=view, notes=[hint] if unknown else [])


_ENDINGS = {"success": True, "failure": False, "unclear": None}
_SAID = "EPISODE... [success|failure|unclear]"


def outcome(
    invocation: Invocation,
    bank: options.Bank,
    episodes: Annotated[list[str], argument(_SAID, "Ids or their beginnings, or `last`.")],
    yes: options.Sure = False,
) -> Result:
    """Say how episodes ended, or see who said what.

    Your verdict counts more than the log's, and that more than a judge model's; all are kept.
    `unclear` lets the others count again. The credit of the nodes that were recalled for them moves
    along, in one commit. If an episode was learnt with another outcome, you are asked first: then
    its nodes are marked, and the next `extract` replaces them.
    """
    from msgspec import to_builtins

    from deltamem_tui.memory.episodes import outcomes

    word = episodes[-1] if episodes[-1] in _ENDINGS else ""
    opened = invocation.open(bank, write=bool(word))
    given = episodes[:-1] if word else episodes
    if not given:
        raise UsageError("missing argument 'EPISODE...'", hint="`deltamem episode list BANK`")
    found = [*dict.fromkeys(_find_episode(opened, each) for each in given)]
    known, notes = [outcomes.known_episode(opened, each) for each in found], []
    if word:
        success = _ENDINGS[word]
        marked = outcomes.overturned_by(opened, found, success=success)
        if marked and marked.episodes and not yes:
            invocation.confirm(f"mark as {word}? {marked.text}")
        known = outcomes.give_outcomes(opened, found, success=success)
        notes = [marked.text] if marked else []
    data: list[dict[str, Any]] = [
        {
            "id": each.id,
            "task": each.task,
            "words": [to_builtins(verdict) for verdict in outcomes.verdicts_on(each)],
            "shown_nodes": len({(e.collection, e.node) for r in each.receipts for e in r.entries}),
        }
        for each in known
    ]

    def view(page: Page) -> None:
        for each, record in zip(known, data, strict=True):
            nodes = record["shown_nodes"]
            page.facts({"episode": each.id, "task": each.task, "recalled nodes": nodes})
            said = outcomes.verdicts_on(each)
            rows = [(verdict.source, _ENDED[verdict.success], verdict.reason) for verdict in said]
            page.table(("source", "outcome", "reason"), rows)

    record = data[0] if len(data) == 1 else {"episodes": data}
    return Result("outcome", record, view=view, notes=notes)


def _find_episode(bank: Bank, prefix: str) -> str:
    """Return the id of the one episode that begins with `prefix`, as a person types it.

    `last` is the one that was imported last.

    Raises:
        TrajectoryError: There is none, or more than one.
    """
    if prefix == "last" and len(bank.episodes):
        return bank.episodes.ids()[-1]
    found = [each for each in bank.episodes.ids() if each.startswith(prefix)] if prefix else []
    if len(found) == 1:
        return found[0]
    raise TrajectoryError(
        f"{len(found):,} episodes begin with {one_line(prefix, 40)!r}"
        if found
        else f"no episode has the id {one_line(prefix, 40)!r}",
        source=str(bank.path),
        hint="type more of the id" if found else "`deltamem episode list BANK` lists them",
    )


def review(invocation: Invocation, bank: options.Bank) -> Result:
    """List the most doubtful episodes: `episode outcome` or the browser takes your verdicts.

    First where log and judge disagree, then waiting successes that only a judge saw.
    """
    from deltamem_tui.memory.review import review_queue

    opened = invocation.open(bank)
    found = review_queue(opened)
    rows = [(each.episode, each.why, "learnt" if each.learnt else "waits") for each in found]
    left = f"{counted(len(found), 'episode')} to review"
    hint = f"`deltamem episode outcome {bank} ID success|failure|unclear` gives a verdict"
    waiting = [*waiting_notes(opened, bank)]
    left += "; these have no outcome yet:" if waiting else ""
    notes = [left, *waiting, *([hint] if found else [])]
    view = table(("episode", "why", "state"), rows)
    return Result("review", {"queue": found}, view=view, notes=notes)


_COUNTS = ("episodes", "steps", "successes", "failures", "unknown", "rejected")
_COLUMNS = ("file", "", "format", "sure", *_COUNTS, "first")
_SHOWN_REASONS = 3  # of each log


def formats() -> Result:
    """List the formats of logs that can be read."""
    from deltamem_tui.trajectory.readers.registry import READERS

    data = [{"name": reader.name, "description": reader.description} for reader in READERS]
    view = table(("format", "description"), [tuple(each.values()) for each in data])
    return Result("formats", {"formats": data}, view=view)


def try_(invocation: Invocation, logs: Logs, format: options.Format = None) -> Result:  # noqa: A002
    """Show what each format would make of logs; nothing is imported.

    Tries the formats that recognise the log, and the one that you name with --format, such as a
    declaration that you are writing.
    """
    from deltamem_tui.memory.episodes.import_report import reason_notes
    from deltamem_tui.trajectory.logs.sources import find_logs
    from deltamem_tui.trajectory.readers.reading import Trial, try_readers
    from deltamem_tui.trajectory.readers.registry import reader_named, reader_of

    named = reader_named(format) if format else None
    files = [found.log for found in find_logs(logs)]
    errors, data, rows, notes = list[DeltaMemError](), [], [], list[object]()
    with invocation.output.progress("trying", len(files)) as advance:
        for log in files:
            chosen, trials = named.name if named else None, list[Trial]()
            try:
                trials += try_readers(log, named)
                chosen = chosen or reader_of(log).name  # as an import does
            except LogFormatError as error:
                errors.append(error)
            except TrajectoryError as error:  # it cannot even be opened
                errors.append(error)
                continue
            finally:
                advance()
            records = [_record(each) for each in trials]
            data.append({"source": log.name, "format": chosen, "trials": records})
            for trial in trials:
                mark = "→" if trial.format == chosen else ""
                counts = (getattr(trial, name) for name in _COUNTS)
                first = one_line(trial.first_task or str(trial.first_rejection or ""), 60)
                sure = f"{trial.sureness:.2f}"
                rows.append((log.name, mark, trial.format, sure, *counts, first))
                if mark:
                    reasons = reason_notes(trial.reasons, _SHOWN_REASONS)
                    notes += [f"{log.name}: {each}" for each in reasons]
    done = sum(each["format"] is not None for each in data)
    status = Result.verdict(done, errors)
    if done:
        notes.insert(0, "→ is how `deltamem import` reads it")
    view = table(_COLUMNS, rows)
    return Result("formats", {"logs": data}, errors, status, view=view, notes=notes)


def _record(trial: Trial) -> dict[str, Any]:
    from deltamem_tui.memory.episodes.import_report import reasons_record

    refused = trial.first_rejection
    first = refused and {"message": refused.message, "position": refused.position}
    return {
        "format": trial.format,
        "sureness": trial.sureness,
        **{name: getattr(trial, name) for name in _COUNTS},
        "reasons": reasons_record(trial.reasons),
        "first_task": trial.first_task or None,
        "first_rejection": first,
    }
