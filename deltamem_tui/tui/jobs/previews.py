"""What forms show before anything is done: how a log is understood, what learning begins with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line

_PREVIEWED = 200
_PREVIEWED_TASKS = 3
_ENDS = {True: "succeeded", False: "failed", None: "of unknown outcome"}


def preview_logs(log: str, log_format: str, stopped: Callable[[], bool]) -> list[str]:
    """What the beginning of some logs is understood as. Nothing is written.

    Args:
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        stopped: Asked now and then whether the answer is still wanted.

    Raises:
        TrajectoryError: No reader takes the log.
        UsageError: The format is unknown.
    """
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
    tasks = dict.fromkeys(one_line(each.task[:400], 70) for each in found)
    return lines + [f"· {task}" for task in islice(tasks, _PREVIEWED_TASKS)]


def preview_learning(path: Path) -> list[str]:
    """What learning begins with: the episodes that wait, and the thresholds it would take.

    Raises:
        BankError: The bank cannot be opened.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
    """
    from deltamem_tui.memory.methods import display_of, method_of
    from deltamem_tui.memory.rules_extractor import RulesExtractor
    from deltamem_tui.memory.runs.learning import candidates
    from deltamem_tui.memory.vectors.embedder import embedder_of

    bank = Bank.open(path)
    ready, waiting = len(candidates(bank).episodes), len(bank.episodes.waiting())
    lines = [f"{counted(ready, 'episode')} to learn from"]
    if waiting > ready:
        lines[0] += f"; {waiting - ready:,} more wait until their outcome is known"
    method = method_of(bank)
    if not method.has_thresholds:
        return lines
    writer = RulesExtractor().of_method(method)
    for each in method.first_thresholds(bank, writer, embedder_of(bank)):
        title = display_of(bank, each.tree).title
        lines.append(
            f"threshold of the {title}: {each.proposed:g}, proposed from "
            f"{counted(each.questions, 'different question')} (the preset is {each.current:g})"
        )
    if len(lines) == 1:
        lines.append("the thresholds stay as the bank has them")
    return lines
