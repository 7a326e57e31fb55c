"""`deltamem lab work`: would a memory have pointed to what the next sessions needed?"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation, interruptible
from deltamem_tui.cli.logs import Logs, Outcome, logs_as_bank, user_outcomes_of
from deltamem_tui.cli.options import option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result, table
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.lab.result import Measure
    from deltamem_tui.trajectory.logs.sources import FoundLog

Budget = Annotated[int, option("--budget", "N", "Tokens of a text, 4 characters each.", min=10)]


def work(
    invocation: Invocation,
    logs: Logs,
    method: Annotated[
        list[str] | None, option("--method", "NAME[:PARAMETER=VALUE,…]", "Can be repeated.")
    ] = None,
    hold_out: Annotated[
        float, option("--hold-out", "SHARE", "The share held out.", min=0.01, max=0.9)
    ] = 0.25,
    budget: Budget = 300,
    outcome: Outcome = None,
    format: options.Format = None,  # noqa: A002 - the word that people type
    domain: options.Domain = None,
    embedder: options.Embedder = None,
) -> Result:
    """Measure whether a memory would have pointed to what the next sessions needed.

    Part of the log is learnt by rules; each held-out task is asked, and the text is compared with
    the files, folders, verifying commands, tools, commands, flags and tables that its episode
    went on to use. What the task names, or no learnt episode touched, does not count. Beside the
    methods: nothing, what is used most, and the nearest success as it was. A folder's logs are
    taken from the oldest to the newest. Failed episodes are not asked for tools and commands.
    """
    from msgspec import to_builtins

    from deltamem_tui.embedding.load import load
    from deltamem_tui.lab import work as lab
    from deltamem_tui.lab.contestants import contestants
    from deltamem_tui.memory.episodes.stored_episodes import episodes

    rivals = contestants(method or ["deltamem"], {})
    choices = {"format": format, "domain": domain or "", **user_outcomes_of(outcome, 1.0)}
    with interruptible() as stop:
        with logs_as_bank(invocation, _by_age(logs), stop, **choices) as (bank, report):
            found, domain = [*episodes(bank)], bank.manifest.domain
        last = max(1, round(hold_out * len(found)))
        learnt, asked = found[:-last], found[-last:]
        if not learnt:
            what = f"{len(found)} episodes cannot be split into learnt and held out"
            raise UsageError(what, hint="name more logs, or another --hold-out")
        if not any(each.outcome.known for each in learnt):
            hint = "`--outcome success` takes all as successes, `--outcome FILE` says it of each"
            raise UsageError("no episode says how it ended, so none can be learnt", hint=hint)
        loaded = load(invocation.settings(embedder=embedder).embedder)
        total = (len(rivals) + 1) * len(found)
        with (
            tempfile.TemporaryDirectory(prefix="deltamem-work-") as folder,
            invocation.output.progress("learning and asking", total) as advance,
        ):
            measures, questions = lab.compared(
                learnt,
                asked,
                rivals,
                loaded,
                Path(folder),
                domain=domain,
                budget=budget,
                advance=advance,
                stopped=stop,
            )
    columns = [each for each in lab.MEASURES if any(each in some for some in measures.values())]
    data = {
        "learnt": len(learnt),
        "asked": len(asked),
        "budget": budget,
        "questions": questions,
        "embedder": loaded.card.model,
        "memories": to_builtins(measures),
    }
    notes = [f"{len(learnt)} episodes learnt, {len(asked)} asked, {budget} tokens"]
    if unknown := sum(not each.outcome.known for each in learnt):
        notes.append(f"{unknown} episodes do not say how they ended and were not learnt")
    if "files" not in columns and "terms" not in columns:
        some = [sum(any(lab.needs_of(each).values()) for each in part) for part in (learnt, asked)]
        show = f"{some[0]} of the learnt and {some[1]} of the held-out episodes show"
        notes.append(f"nothing was found to ask about: {show} a file, a command or a tool")
    notes += [f"{each.replace('_', ' ')}: {lab.MEASURES[each]}" for each in columns]
    errors = [*report.refusals]
    status = Result.verdict(1, errors)
    view = partial(_shown, measures=measures, columns=columns, questions=questions)
    return Result("lab", data, errors, status, view=view, notes=notes)


def _shown(
    page: Page,
    measures: Mapping[str, Mapping[str, Measure]],
    columns: Sequence[str],
    questions: Mapping[str, int],
) -> None:
    from deltamem_tui.lab.result import interval, signed

    main = [each for each in ("files", "first_ten", "terms") if each in columns]

    def cell(some: Mapping[str, Measure], name: str) -> str | float | None:
        if name not in some:
            return None
        found = some[name].estimate
        return interval(found) if name in main else round(found.value or 0.0, 2)

    rows = [(name, *(cell(some, each) for each in columns)) for name, some in measures.items()]
    rows.append(("questions", *(questions[each] for each in columns)))
    table(("memory", *columns), rows)(page)
    if not main:
        return
    first, *others = measures
    page.text(f"\nless {first}, with 95 % intervals", style="bold")
    rows = [(name, *(signed(measures[name][each].difference) for each in main)) for name in others]
    table(("memory", *main), rows)(page)


def _by_age(logs: Sequence[str]) -> Sequence[str | FoundLog]:
    """Return the files of folders from the oldest to the newest; other logs as they are."""
    from deltamem_tui.trajectory.logs.sources import find_logs

    if not any(Path(each).is_dir() for each in logs):
        return logs
    return sorted(find_logs(logs), key=lambda found: found.log.path.stat().st_mtime)
