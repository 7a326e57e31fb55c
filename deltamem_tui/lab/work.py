"""Work to come: would a memory of earlier episodes have pointed to what later ones needed?

An episode's needs are its own facts: files, folders, verifying commands, tools, commands, flags
and tables. What its task names, or no learnt episode ever touched, does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.lab.contestants import (
    BankMemory,
    Contestant,
    Memory,
    baseline,
)
from deltamem_tui.lab.plan import TrialResult
from deltamem_tui.lab.result import Measure, measured
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.vectors.search import EmbeddingCache
from deltamem_tui.memory.work.advice import CHARS
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work.paths import paths_in
from deltamem_tui.text import distinct
from deltamem_tui.trajectory.model import Trajectory, scene_of

MEASURES: Mapping[str, str] = {
    "files": "mean share of edited files, read files, folders and checks that the text names",
    "edited": "edited files named",
    "read": "read files named",
    "folders": "folders of edited files named",
    "checks": "verifying commands named",
    "first_ten": "edited files among the first ten files named",
    "terms": "F1 of tools, commands, flags and tables",
    "answered": "questions that got any text",
    "tokens": "tokens of the text, four characters each",
}
"""The measures and their meaning, in the order in which they are shown."""

_FILES = ("edited", "read", "folders", "checks")
_FIRST = 10

Recall = Callable[[str, str], str]
"""A memory: the text for a task and a scene."""


Needs = Mapping[str, Sequence[str]]
"""Items that an episode touched: by kind of need, each in the order of its first use."""


def needs_of(episode: Trajectory) -> Needs:
    """Return what an episode needed, as its own steps show it."""
    found: dict[str, list[str]] = {}
    for fact in facts_of(episode):
        found.setdefault(fact.kind, []).append(fact.value)
    edited = found.get("edit", [])
    folders = distinct(str(PurePosixPath(each).parent) for each in edited)
    terms = [*found.get("tool", ()), *found.get("table", ()), *found.get("clause", ())]
    terms += [term for line in found.get("run", ()) for term in _command_terms(line)]
    return {
        "edited": edited,
        "read": [each for each in found.get("read", ()) if each not in edited],
        "folders": [each for each in folders if each != "."],
        "checks": found.get("check", []),
        "terms": distinct(terms),
    }


def _command_terms(line: str) -> list[str]:
    """Return a command's head, and each of its flags with the head: `grep`, `grep -r`."""
    head, *rest = line.split()
    return [head, *(f"{head} {word}" for word in rest if word.startswith("-"))]


class WorkQuestions:
    """Held-out episodes, and what a memory of the learnt ones could know of their tasks."""

    def __init__(self, learnt: Iterable[Trajectory], asked: Iterable[Trajectory]) -> None:
        needs = [needs_of(each) for each in learnt]
        self.counts = {
            name: dict(Counter(need for each in needs for need in each[name]).most_common())
            for name in (*_FILES, "terms")
        }
        self._asked = [(each, needs_of(each)) for each in asked]

    def answers(
        self, recall: Recall, budget: int, advance: Callable[[], object] = lambda: None
    ) -> list[TrialResult]:
        """Ask a memory each task, and measure its text, cut to a budget of tokens."""
        results = []
        for episode, needs in self._asked:
            advance()
            text = recall(episode.task, scene_of(episode))[: budget * CHARS]
            measures = self._measures(text, episode, needs)
            results.append(TrialResult(episode.id, "", measures))
        return results

    def _measures(self, text: str, episode: Trajectory, needs: Needs) -> dict[str, float]:
        task = episode.task
        named, in_task = paths_in(text), paths_in(task)
        wanted = {
            name: [
                need
                for need in some
                if need in self.counts[name] and not _says(task, in_task, name, need)
            ]
            for name, some in needs.items()
        }
        found = {
            name: sum(_says(text, named, name, need) for need in wanted[name]) / len(wanted[name])
            for name in _FILES
            if wanted[name]
        }
        if found:
            found = {"files": sum(found.values()) / len(found), **found}
        if wanted["edited"]:
            first = [each for each in named if not _any_same(each, in_task)][:_FIRST]
            met = sum(_any_same(need, first) for need in wanted["edited"])
            found["first_ten"] = met / len(wanted["edited"])
        if wanted["terms"] and episode.outcome.success is not False:
            shown = [
                term
                for term in self.counts["terms"]
                if _says(text, named, "terms", term) and not _says(task, in_task, "terms", term)
            ]
            right = len({*shown} & {*wanted["terms"]})
            found["terms"] = 2 * right / (len(shown) + len(wanted["terms"]))
        found["answered"] = float(bool(text.strip()))
        found["tokens"] = len(text) / CHARS
        return found


def _says(text: str, files: Sequence[str], name: str, need: str) -> bool:
    """Return whether a text, which names some files, says a need of a kind."""
    if name in ("edited", "read"):
        return _any_same(need, files)
    if name == "folders":
        inside = any(f"/{each}".rpartition("/")[0].endswith(f"/{need}") for each in files)
        return inside or re.search(rf"(?<![\w/.-]){re.escape(need)}/(?!\w)", text) is not None
    if name == "checks":
        return need in text
    head, _, flag = need.partition(" -")
    command = rf"(?<![\w-]){re.escape(head)}(?![\w-])"
    if flag:
        command += rf"[^|;&\n]*\s-{re.escape(flag)}(?![\w-])"
    return re.search(command, text, re.IGNORECASE) is not None


def _any_same(path: str, others: Iterable[str]) -> bool:
    """Return whether a path names the same file as one of the others, which may be longer."""
    return any(
        path == each or path.endswith(f"/{each}") or each.endswith(f"/{path}") for each in others
    )


def most_frequent(questions: WorkQuestions) -> Recall:
    """Return the memory that names what most episodes needed, whatever the task is."""
    parts = (
        ("Edited", "edited", 10),
        ("Checked with", "checks", 5),
        ("Read", "read", 15),
        ("Used", "terms", 20),
    )
    lines = [
        f"{label}: {', '.join([*counts][:most])}"
        for label, name, most in parts
        if (counts := questions.counts[name])
    ]
    return lambda task, scene: "\n".join(lines)  # noqa: ARG005


def compared(
    learnt: Sequence[Trajectory],
    asked: Sequence[Trajectory],
    contestants: Sequence[Contestant],
    embedder: Embedder,
    folder: Path,
    *,
    domain: str,
    budget: int,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[dict[str, dict[str, Measure]], Mapping[str, int]]:
    """Return the measures of methods that learn by rules and of three baselines, and how many
    questions each measure has.

    The differences are those from the first contestant.
    """
    questions, shared = WorkQuestions(learnt, asked), EmbeddingCache(embedder)

    def going_on() -> None:
        advance()
        if stopped():
            raise KeyboardInterrupt

    memories: dict[str, Recall] = {}
    for number, each in enumerate(contestants):
        settings = each.settings(domain, embedder.card.model)
        place = folder / str(number)
        bank = create_bank(
            place, embedder=shared, domain=domain, method=each.method, parameters=settings
        )
        memory = BankMemory(bank, shared, RulesExtractor(), each.admitted)
        for episode in learnt:
            going_on()
            memory.learn(episode)
        memories[each.name] = partial(_text_of, memory)
    memories["most frequent"] = most_frequent(questions)
    memories["nearest success"] = partial(_text_of, baseline("raw", domain, shared, learnt))
    memories["nothing"] = partial(_text_of, baseline("nothing", domain, shared, ()))
    answers = {
        name: questions.answers(recall, budget, going_on) for name, recall in memories.items()
    }
    first = answers[contestants[0].name]
    found = {name: measured(results, first) for name, results in answers.items()}
    shown = {
        name: {key: some[key] for key in MEASURES if key in some} for name, some in found.items()
    }
    return shown, Counter(name for each in first for name in each.measures)


def _text_of(memory: Memory, task: str, scene: str) -> str:
    return memory.recall(task, scene).text
