"""Verdicts on one episode, or on all that are shown, by the user or by a model; and undo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.undo import version
from deltamem_tui.memory import editing
from deltamem_tui.memory.episodes.outcomes import give_outcomes, known_episode, overturned_by
from deltamem_tui.memory.method import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.jobs.episodes import ModelChoice, client_of, estimate_plan
from deltamem_tui.tui.models.sections import Section, local_time

if TYPE_CHECKING:
    from deltamem_tui.memory.runs.judging import JudgingReport
    from deltamem_tui.memory.writers.model import Judge

_SHOWN = 5


def plan_undo(path: Path, verb: Literal["undo", "redo"]) -> WorkPlan:
    """Say what the last change by hand to the bank at `path` was, and ask whether to undo it."""
    bank, again = Bank.open(path), verb == "redo"
    last = commit = editing.undoable(bank)
    if again:
        last, commit = editing.redoable(bank) or (None, None)
    if last is None or commit is None:
        raise editing.nothing_left(bank, verb)

    def work(_: Progress) -> BankChange:
        now = Bank.open(path)
        change = editing.redo(now, last) if again else editing.undo(now, commit)
        living = next((each.id for each in change.nodes if not each.deleted), None)
        summary = f"{verb}ne: {commit.event} of {counted(len(change.nodes), 'node')}"
        return BankChange(path, summary, (change.tree, living) if living else None)

    question = f"{verb.capitalize()} this {commit.event} in {one_line(bank.name, 40)}?"
    return WorkPlan(f"{verb}ing", question, [_changed(bank, commit, again=again)], work)


def _changed(bank: Bank, commit: Commit, *, again: bool) -> Section:
    """List the nodes that an undo or a redo changes, and what becomes of each."""
    tree_name, nodes = editing.recorded(bank, commit)
    tree, display = bank.tree(tree_name), display_of(bank, tree_name)
    lines = []
    for node_id, revision in islice(nodes.items(), _SHOWN):
        then, _ = version(tree, node_id, revision, commit, redone=again)
        now = tree.node(node_id) if tree.find(node_id) == [node_id] else None
        lines.append(f"{_becomes(now, then)}: {display.of_title((then.deleted and now) or then)}")
    lines += [f"… and {len(nodes) - _SHOWN:,} more"] if len(nodes) > _SHOWN else []
    number = counted(len(nodes), "node")
    title = f"{local_time(commit.time)}  {commit.event} of {number} of the {display.title}"
    return Section(title.strip(), "\n".join(lines))


def _becomes(now: Node | None, then: Node) -> str:
    if now is None or then.deleted:
        return "deleted" if then.deleted else "comes back"
    if now.label != then.label:
        return f"is a {then.label} again"
    return "moves back" if now.parent != then.parent else "text restored"


_ENDS = {
    True: ("a success", "successes"),
    False: ("a failure", "failures"),
    None: ("unclear", "unclear"),
}


def plan_verdict(
    path: Path,
    ids: Sequence[str],
    progress: Progress,
    *,
    success: bool | None,
    shown_by: str = "",
    then: str | Callable[[Progress], BankChange] = "",
) -> WorkPlan | BankChange:
    """Write how episodes ended, or ask first if that changes what was said or learnt.

    `success` is None if the user cannot tell; `shown_by` is the filter that shows them, and
    `then` says, or does, what comes next.
    """
    bank = Bank.open(path)
    known = [known_episode(bank, each) for each in ids]
    found = overturned_by(bank, ids, success=success)
    many = len(ids) != 1
    whose = counted(len(ids), "episode") if many else one_line(known[0].task, 60)
    end = _ENDS[success][many]

    def give(at_work: Progress) -> BankChange:
        give_outcomes(Bank.open(path), ids, success=success)
        marked = f"; {found.text}" if found else ""
        said = f"marked {whose} as {end}" if many else f"marked as {end}: {whose}"
        if isinstance(then, str):
            return BankChange(path, said + marked + then)
        done = then(at_work)
        return replace(done, summary=f"{said}{marked}; {done.summary}")

    otherwise = sum(each.outcome.success is (not success) for each in known)
    gaps_alone = found is None and not any(each.outcome.known for each in known)
    if gaps_alone if many else found is None or not found.episodes:
        return give(progress)
    unsaid = sum(not each.outcome.known for each in known)
    facts = f"{unsaid:,} had no outcome\n{otherwise:,} had the opposite outcome"
    shown = f"{one_line(shown_by, 60)} shows {whose}" if shown_by else whose
    name = one_line(bank.name, 40)
    return WorkPlan(
        "writing the outcome",
        f"Mark {counted(len(ids), 'episode')} of {name} as {end}?",
        [
            Section(shown, facts),
            Section("In the bank", found.text if found else "no node is marked", quiet=not found),
        ],
        give,
    )


# By a model


def to_judge(bank: Bank, ids: Collection[str]) -> list[str]:
    """Return those of some episodes that wait without an outcome, in order of import."""
    from deltamem_tui.memory.runs.judging import without_outcome

    shown = frozenset(ids)
    return [each for each in without_outcome(bank) if each in shown]


def plan_judging(
    path: Path, ids: Sequence[str], choice: ModelChoice, progress: Progress
) -> Outcome:
    """Find out what judging some episodes of the bank at `path` takes. Nothing is sent."""
    from deltamem_tui.memory.runs.judging import estimate_judging

    bank = Bank.open(path)
    unjudged = to_judge(bank, ids)
    if not unjudged:
        return Info("every episode in the list has an outcome already; there is nothing to judge")

    def advance() -> None:
        progress.advance(1, len(unjudged))
        progress.go_on()

    judge = _judge(bank, choice, progress, asks=False)
    usage = estimate_judging(bank, judge, unjudged, advance).usage
    count = f"{counted(len(unjudged), 'episode')} of {one_line(bank.name, 40)}"
    question = f"Ask {one_line(choice.model, 60)} how {count} ended?"
    then = partial(judge_by_model, path, choice, unjudged)
    return estimate_plan("judging", question, usage, choice, then)


def judge_by_model(
    path: Path, choice: ModelChoice, ids: Sequence[str], progress: Progress
) -> Outcome:
    """Let a model judge these episodes, as far as they have no outcome, one commit each."""
    from deltamem_tui.memory.reports.view import cost_text
    from deltamem_tui.memory.runs.judging import judge_episodes

    bank = Bank.open(path)
    unjudged = to_judge(bank, ids)
    if not unjudged:
        return Info("these episodes have an outcome by now; nothing was sent")
    judge = _judge(bank, choice, progress, asks=True)
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
    return BankChange(path, _judged(found), warning=bool(found.errors))


def _judged(found: JudgingReport) -> str:
    from deltamem_tui.memory.reports.view import cost_text

    successes = sum(episode.outcome.success is True for episode, _ in found.judged)
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


def _judge(bank: Bank, choice: ModelChoice, progress: Progress, *, asks: bool) -> Judge:
    """Return the judge that asks the chosen model, checked as far as that is possible unasked."""
    from deltamem_tui.memory.writers.model import Judge

    client = client_of(choice, progress, asks=asks)
    return Judge(client, bank.manifest.domain, choice.folders)
