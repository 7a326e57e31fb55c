"""Episodes: imported from logs, and learnt from by rules, or by a model after an estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import NOTHING_STATED, Configuration, StatedNumbers
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.forms import FormAnswer, about
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.llm.client import Client
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.writers.model import ModelExtractor
    from deltamem_tui.memory.writers.writer import Writer
    from deltamem_tui.trajectory.model import Trajectory

_PREVIEWED = 200
_PREVIEWED_TASKS = 3
_ENDS = {True: "succeeded", False: "failed", None: "of unknown outcome"}


def preview_logs(
    log: str, log_format: str, stopped: Callable[[], bool], domain: str = ""
) -> list[str]:
    """Return what the beginning of some logs is understood as. Nothing is written."""
    from deltamem_tui.errors import RecordError
    from deltamem_tui.trajectory.model import Trajectory
    from deltamem_tui.trajectory.readers.reading import read_logs

    if not log:
        return []
    found: list[Trajectory] = []
    problems = 0
    for item in islice(read_logs([log], format=log_format or None), _PREVIEWED):
        if stopped():
            return []
        if isinstance(item, Trajectory):
            found.append(item)
        problems += isinstance(item, RecordError)
    more = "at least " if len(found) + problems >= _PREVIEWED else ""
    if not found:
        return [f"no episode; {counted(problems, 'record')} could not be read"]
    ends = Counter(_ENDS[each.outcome.success] for each in found)
    outcomes = ", ".join(f"{count} {end}" for end, count in ends.most_common())
    formats = ", ".join(sorted({each.source.format for each in found if each.source.format}))
    lines = [f"{formats or 'episodes'}: {more}{counted(len(found), 'episode')} ({outcomes})"]
    if problems:
        lines.append(f"{counted(problems, 'record')} could not be read")
    others = sorted({each.domain for each in found if each.domain} - {domain}) if domain else []
    if others:
        lines.append(
            f"! from {', '.join(one_line(each, 40) for each in others)}; "
            f"the bank's domain is {domain}"
        )
    tasks = dict.fromkeys(one_line(each.task[:400], 70) for each in found)
    return lines + [f"· {task}" for task in islice(tasks, _PREVIEWED_TASKS)]


def preview_learning(path: Path) -> list[str]:
    """Return how many of the episodes that wait can be learnt."""
    from deltamem_tui.memory.runs.learning import candidates

    bank = Bank.open(path)
    ready = len(candidates(bank).episodes)
    left = len(bank.episodes.waiting()) - ready
    rest = f"; {counted(left, 'episode has', 'episodes have')} no outcome yet" if left else ""
    return [f"{counted(ready, 'episode')} to learn from{rest}"]


NAME = "learning"
LEAST_NODES = 20
"""Of fewer nodes it says nothing that most are roots."""

_MOST_REQUESTS = 256


# Importing


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> BankChange:
    """Import the episodes of logs into the bank at `path`, their secrets taken out."""
    from deltamem_tui.memory.episodes.import_report import view_import
    from deltamem_tui.memory.episodes.importer import import_of

    job = import_of(Bank.open(path), [log], format=log_format or None, listed=False)
    job.run(
        advance=lambda count: progress.advance(count, job.progress.total, "bytes read"),
        stopped=lambda: progress.stopped,
    )
    return BankChange(path, view_import(job.report).summary)


# Learning


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which language model shall distil, as a user wants it."""

    model: str
    max_cost: float | None = None
    concurrency: int = 1
    address: str = ""
    folders: Sequence[Path] = ()  # where its prompts are looked up
    stated: StatedNumbers = NOTHING_STATED

    @classmethod
    def of(cls, settings: Configuration, answer: FormAnswer) -> ModelChoice:
        """Return the choice as it was typed; what is left empty is as usual."""
        from deltamem_tui.llm.client import check_address

        dollars = answer["max_cost"].lstrip("$").replace(",", ".") or "inf"
        with about("max_cost"):
            most = _number(dollars, "dollars", 0)
        with about("concurrency"):
            width = _number(answer["concurrency"] or "1", "requests at a time", 1)
        with about("address"):
            check_address(answer["address"])
        limit, requests = most if most < inf else None, int(min(width, _MOST_REQUESTS))
        folders, stated = settings.prompt_folders(), settings.with_flags(model=answer["model"])
        return cls(answer["model"], limit, requests, answer["address"], folders, stated.stated())


def _number(text: str, what: str, least: int) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise UsageError(f"{one_line(text, 40)!r} is not a number of {what}") from error
    if not number >= least:  # also NaN
        raise UsageError(f"the number of {what} must be at least {least}")
    return number


def extract_by_rules(path: Path, progress: Progress) -> BankChange:
    """Learn by rules from the waiting episodes of the bank at `path`, one commit each."""
    from deltamem_tui.memory.method import RulesExtractor
    from deltamem_tui.memory.runs.learning import candidates

    bank = Bank.open(path)
    return _learn(bank, RulesExtractor(), candidates(bank).episodes, progress)


def plan_by_model(path: Path, choice: ModelChoice, progress: Progress) -> Outcome:
    """Find out what a model will be asked, and what that takes. Nothing is sent."""
    from deltamem_tui.memory.runs.learning import candidates
    from deltamem_tui.memory.runs.questions import estimate_learning
    from deltamem_tui.memory.vectors.search import embedder_of

    bank = Bank.open(path)
    episodes = candidates(bank).episodes
    if not episodes:
        return Info("no episode with a known outcome is waiting")
    extractor = _extractor(bank, choice, progress, asks=False)
    usage = estimate_learning(
        bank,
        episodes,
        extractor,
        embedder_of(bank),
        advance=lambda: progress.advance(1, len(episodes)),
        stopped=lambda: progress.stopped,
    )
    progress.go_on()
    ids = [episode.id for episode in episodes]
    count = f"{counted(len(episodes), 'episode')} of {one_line(bank.name, 40)}"
    question = f"Ask {one_line(choice.model, 60)} about {count}?"
    return estimate_plan(
        NAME, question, usage, choice, partial(extract_by_model, path, choice, ids)
    )


def extract_by_model(
    path: Path, choice: ModelChoice, ids: Collection[str], progress: Progress
) -> Outcome:
    """Learn by a model from these episodes, which the user agreed to pay for, and no others."""
    from deltamem_tui.memory.runs.learning import candidates

    bank = Bank.open(path)
    episodes = [episode for episode in candidates(bank).episodes if episode.id in set(ids)]
    if not episodes:
        return Info("these episodes no longer wait; nothing was sent")
    extractor = _extractor(bank, choice, progress, asks=True)
    return _learn(bank, extractor, episodes, progress, choice.concurrency)


def client_of(choice: ModelChoice, progress: Progress, *, asks: bool) -> Client:
    """Return what asks the chosen model; with `asks` unset nothing is sent."""
    from deltamem_tui.llm.client import open_client

    return open_client(
        choice.model,
        notify=progress.notify,
        address=choice.address or None,
        max_cost=choice.max_cost,
        asks=asks,
        stated=choice.stated,
    )


def _extractor(
    bank: Bank, choice: ModelChoice, progress: Progress, *, asks: bool
) -> ModelExtractor:
    """Return the extractor that asks the chosen model, checked before anything is asked."""
    from deltamem_tui.memory.writers.model import ModelExtractor

    client = client_of(choice, progress, asks=asks)
    manifest = bank.manifest
    extractor = ModelExtractor(client, manifest.domain, choice.folders, method=manifest.method)
    extractor.check()
    return extractor


def estimate_plan(
    name: str,
    question: str,
    usage: Usage,
    choice: ModelChoice,
    then: Callable[[Progress], Outcome],
) -> WorkPlan:
    """Return the question whether a model is to be asked, with what that will take."""
    from deltamem_tui.memory.reports.view import usage_facts

    most = "no limit" if choice.max_cost is None else f"never more than ${choice.max_cost:.4f}"
    lines = (
        f"{counted(usage.calls, 'call')}, {counted(choice.concurrency, 'request')} at a time",
        f"{usage.cached:,} answers are cached and cost nothing",
        f"{usage.prompt_tokens:,} tokens to send, {usage.completion_tokens:,} in reply",
        f"cost {usage_facts(usage)['cost']}; {most}",
    )
    shown = Section("An estimate; nothing was sent yet", "\n".join(lines))
    return WorkPlan(name, question, [shown], then, can_stop=True, kind="estimate")


def _learn(
    bank: Bank,
    extractor: Writer,
    episodes: Sequence[Trajectory],
    progress: Progress,
    concurrency: int = 1,
) -> BankChange:
    """Learn, showing how far it is and what it cost; the report covers calls in flight, too."""
    from deltamem_tui.memory.reports.view import cost_text
    from deltamem_tui.memory.runs.learning import learn_episodes, view_learning

    progress.advance(0, len(episodes))

    def show(usage: Usage) -> None:
        asked = usage.calls + usage.cached
        progress.advance(1, len(episodes), cost_text(usage) if asked else "")

    found = learn_episodes(
        bank,
        extractor,
        episodes,
        concurrency=concurrency,
        advance=show,
        stopped=lambda: progress.stopped,
    )
    waiting = len(bank.episodes.waiting())
    summary = view_learning(found, episodes=len(episodes), waiting=waiting).summary
    warning = mostly_roots(Bank.open(bank.path))
    if warning:
        summary = f"{warning}; the report says what to do. {summary}"
    return BankChange(bank.path, summary, warning=bool(warning))


def is_counted(bank: Bank) -> bool:
    """Return whether a bank is recalled by counted facts, whatever was added to what."""
    from deltamem_tui.memory.domain import GENERAL, domain_for

    return domain_for(bank.manifest.domain) is GENERAL


def mostly_roots(bank: Bank) -> str:
    """Return a warning if little of what was learnt found something to add to; else nothing."""
    from deltamem_tui.memory.method import display_of

    if is_counted(bank):
        return ""
    trees = [tree for name, tree in bank.trees.items() if display_of(bank, name).layered]
    nodes = sum(len(tree) for tree in trees)
    roots = sum(int((tree.snapshot.index["depth"][tree.rows] == 1).sum()) for tree in trees)
    if nodes < LEAST_NODES or 2 * roots <= nodes:
        return ""
    return f"{roots:,} of {nodes:,} nodes are roots: little resembled what was known"
