"""Episodes without an outcome, judged by a model after an estimate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Outcome as Word
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.jobs.episodes import ModelChoice, estimate_text
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.runs.judging import JudgingReport
    from deltamem_tui.memory.writers.model import Judge

NAME = "judging"
_LOOKED_AT = 1_000
"""Each is read from the disk; what is offered should not take longer than what is shown."""


def to_judge(bank: Bank, ids: Collection[str]) -> list[str]:
    """Return those of some episodes that wait without an outcome, in order of import."""
    from deltamem_tui.memory.runs.judging import without_outcome

    shown = frozenset(ids)
    return [each for each in without_outcome(bank) if each in shown]


def may_be_judged(bank: Bank, ids: Sequence[str], stopped: Callable[[], bool]) -> bool:
    """Return whether any of some episodes may wait without an outcome.

    It may where there are very many, or one is damaged: judging says which, if it is asked for.
    """
    waiting = frozenset(bank.episodes.waiting())
    some = [each for each in ids if each in waiting]
    try:
        for each in some[:_LOOKED_AT]:
            if stopped() or ((found := episode(bank, each)) and not found.outcome.known):
                return True
    except BankCorruptError:
        return True
    return len(some) > _LOOKED_AT


def plan_judging(
    path: Path,
    choice: ModelChoice,
    configuration: Configuration,
    ids: Sequence[str],
    progress: Progress,
) -> Outcome:
    """Find out what judging some episodes of the bank at `path` takes. Nothing is sent.

    Raises:
        LanguageModelError: The model cannot be asked.
        ConfigurationError: The prompt cannot be used.
        WorkStoppedError: It was cancelled.
    """
    from deltamem_tui.memory.runs.judging import estimate_judging

    bank = Bank.open(path)
    unjudged = to_judge(bank, ids)
    if not unjudged:
        return Info("no episode that is shown waits for an outcome; a judge only fills a gap")

    def advance() -> None:
        progress.advance(1, len(unjudged))
        progress.go_on()

    judge = _judge(bank, choice, configuration, progress, asks=False)
    usage = estimate_judging(bank, judge, unjudged, advance).usage
    count = f"{counted(len(unjudged), 'episode')} of {one_line(bank.name, 40)}"
    return WorkPlan(
        NAME,
        f"Ask {one_line(choice.model, 60)} how {count} ended?",
        [
            Section("An estimate; nothing was sent yet", estimate_text(usage, choice)),
            Section("What a judge's word is worth", _worth(bank)),
        ],
        lambda at_work: judge_by_model(path, choice, configuration, unjudged, at_work),
        can_stop=True,
        kind="estimate",
    )


def _worth(bank: Bank) -> str:
    """Return whether the bank learns from what a judge says."""
    from deltamem_tui.memory.methods import settings_of
    from deltamem_tui.memory.policies.admission import admitted_by

    admission = settings_of(bank).admission
    learns = admitted_by(admission, Word(True, None, "judge"))
    admits = "is learnt from" if learns else "is not learnt from until you confirm it"
    return f"It gives way to the log's and to yours, and {admits} (admission {admission})."


def judge_by_model(
    path: Path,
    choice: ModelChoice,
    configuration: Configuration,
    ids: Sequence[str],
    progress: Progress,
) -> Outcome:
    """Let a model judge episodes of the bank at `path`, one commit each.

    Args:
        path: The bank.
        choice: The model, and what it may take.
        configuration: The user's settings.
        ids: The episodes that the user agreed to pay for; those that have an outcome by now are
            left out.
        progress: Notified of how far it is, and asked whether to stop.

    Raises:
        LanguageModelError: The model cannot be asked, and none was judged.
        BankError: The bank cannot be opened or written.
    """
    from deltamem_tui.memory.reports.view import cost_text
    from deltamem_tui.memory.runs.judging import judge_episodes

    bank = Bank.open(path)
    unjudged = to_judge(bank, ids)
    if not unjudged:
        return Info("these episodes have an outcome by now; nothing was sent")
    judge = _judge(bank, choice, configuration, progress, asks=True)
    progress.advance(0, len(unjudged))
    found = judge_episodes(
        bank,
        judge,
        unjudged,
        concurrency=choice.concurrency,
        advance=lambda: progress.advance(1, len(unjudged), cost_text(judge.usage)),
        stopped=lambda: progress.stopped,
    )
    if found.errors and not found.judged:
        raise found.errors[-1]
    summary = _summary(found) + ("; cancelled" if progress.stopped else "")
    return BankChange(path, summary, warning=bool(found.errors))


def _summary(found: JudgingReport) -> str:
    from deltamem_tui.memory.reports.view import cost_text

    successes = sum(each.word.success is True for each in found.judged)
    text = (
        f"judged {counted(len(found.judged), 'episode')} for {cost_text(found.usage)}: "
        f"{counted(successes, 'success', 'successes')}, "
        f"{counted(len(found.judged) - successes, 'failure')}"
    )
    if found.errors:
        text += f"; {counted(len(found.errors), 'error')}: {found.errors[0].message}"
    if found.in_flight:
        text += f"; {counted(found.in_flight, 'call')} without an answer may be paid for"
    return text


def _judge(
    bank: Bank, choice: ModelChoice, configuration: Configuration, progress: Progress, *, asks: bool
) -> Judge:
    """Return the judge that asks the chosen model, checked as far as that is possible unasked."""
    from deltamem_tui.llm.client import open_client
    from deltamem_tui.memory.writers.model import Judge

    client = open_client(
        choice.model,
        notify=progress.notify,
        address=choice.address or None,
        max_cost=choice.max_cost,
        asks=asks,
    )
    return Judge(client, bank.manifest.domain, configuration.prompt_folders())
