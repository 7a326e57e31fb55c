"""Recall of real work, by any method: the facts of episodes, counted together (`memory.work`).

Where no plug-in knows a bank's domain, the rules write for a program what a person would not read.
So an agent is shown the facts of the episodes that a method recalled, and beside them only what a
model or a person wrote (`with_context`). The nodes of DeltaMem's task tree keep these facts
themselves, and a whole bank answers (`recall_tasks`): the living nodes nearest to the task and the
youngest ones are read, so that a recall does not grow with the bank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.lexical import terms
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.procedure import put_together
from deltamem_tui.memory.recall_result import (
    CollectionRecall,
    Query,
    RecallResult,
    answer_of,
    compose,
    fenced,
)
from deltamem_tui.memory.vectors.search import Candidate, ranked, scan_of, weighting_of
from deltamem_tui.memory.work import advice
from deltamem_tui.memory.work.acts import head_of
from deltamem_tui.memory.work.counting import Experience, Lesson
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work.texts import WorkFact, from_text, is_worded, project_of, task_text
from deltamem_tui.text import one_line

WORK = "work"
"""The rule of what is recalled by its facts."""
_BUDGET = 300  # tokens of a context: lists of real work could go on for ever
_MOST = 32  # episodes that speak
_NEAREST = 256  # nodes that speak, and so many of the youngest
_YOUNGEST = 744
_FACTS = 500  # of a node; the rules write fewer
_TRAPS = 2
_SAME_ERROR = 0.6  # the share of a known error's words that another has, if they are one
_TRAP = "Trap: "

_lessons: WeakKeyDictionary[Tree, dict[int, Lesson | None]] = WeakKeyDictionary()

Entries = Callable[[Sequence[Node]], list[str]]
"""How a method says what nodes hold."""


def with_context(
    bank: Bank,
    query: Query,
    found: Mapping[str, CollectionRecall | None],
    embedder: Embedder,
    entries: Entries,
    sources: Iterable[str] = (),
) -> RecallResult:
    """Return the answers of a bank's collections with their context.

    `sources` are episodes that speak beside those that the recalled nodes come from.
    """
    domain = bank.manifest.domain
    nodes = [chain[-1] for answer in found.values() if answer for chain in answer.chains]
    if domain_for(domain) is not GENERAL:
        return RecallResult(found, compose(domain, entries(nodes), query.folders))
    written = [node for node in nodes if node.origin.extractor != "rules"]
    told = entries(written) if written else []
    room = _BUDGET * advice.CHARS - len(compose(domain, [*told, "-"], query.folders))
    behind = dict.fromkeys([*sources, *(each for node in nodes for each in node.origin.episodes)])
    lessons = [each for name in [*behind][:_MOST] if (each := _told(bank, name))] if nodes else []
    lines, task = list[str](), task_text(query.task)
    if lessons:
        tasks = embedder.embed_passages([each.task for each in lessons])
        similarities = (tasks @ embedder.embed_queries([task])[0]).tolist()
        lines = advice.advice(Experience(task, lessons, similarities), max(room, 0)).lines
    told = told or ([] if lines else entries(nodes))
    facts = [fenced("\n".join(lines))] if lines else []
    return RecallResult(found, compose(domain, [*told, *facts], query.folders))


def _told(bank: Bank, name: str) -> Lesson | None:
    """Return what an episode of a bank says; None if the bank does not have it."""
    episode = stored_episode(bank, name)
    if episode is None:
        return None
    solved = bool(episode.outcome.success)
    return Lesson(name, task_text(episode.task), tuple(facts_of(episode)), solved)


def recall_tasks(
    bank: Bank, query: Query, text: str, penalty: float, embedder: Embedder, room: int
) -> tuple[CollectionRecall, list[str]]:
    """Return what the nodes of the task tree say together of a query's task, and that in lines.

    `text` is the task as trees are asked, `penalty` is taken off the similarity of failures, and
    `room` is in characters.
    """
    import numpy as np

    tree, weighting, asked = bank.tree("task"), weighting_of(bank), task_text(text)
    vector = embedder.embed_queries([asked])[0]
    others = ranked(tree, vector, weighting, penalty, query.count)
    pool: Iterable[int] = tree.rows
    if len(tree.rows) > _NEAREST + _YOUNGEST:
        nearest = (row for row, *_ in scan_of(tree, weighting).best(vector, 0.0, _NEAREST))
        pool = sorted({*nearest, *tree.rows[-_YOUNGEST:].tolist()})
    known = _once(dict(_lessons_at(tree, pool)))
    rows = np.array(list(known), dtype=np.intp)
    similarities = (tree.embeddings[rows] @ vector).astype(np.float64).tolist()
    project = project_of(query.environment)
    told = advice.advice(Experience(asked, list(known.values()), similarities, project), room)
    recalled = []
    for at in told.quoted:
        node, similarity = tree.node_at(int(rows[at])), round(similarities[at], DECIMALS)
        own = penalty if node.label == "failure" else 0.0
        score = round(similarity - own, DECIMALS)
        recalled.append(Candidate(node, similarity, own, score, WORK))
    return answer_of(tree, text, recalled, others, count=query.count, rule=WORK), told.lines


def _lessons_at(tree: Tree, rows: Iterable[int]) -> Iterator[tuple[int, Lesson]]:
    """Yield what the nodes of some rows say, each read once."""
    known = _lessons.setdefault(tree, {})
    for row in map(int, rows):
        if row not in known:
            known[row] = _lesson(tree, tree.node_at(row))
        if (lesson := known[row]) is not None:
            yield row, lesson


def _lesson(tree: Tree, node: Node) -> Lesson | None:
    """Return what a node says; None for one that was fused of others, which speak themselves."""
    if node.origin.nodes:
        return None
    title, _, task = node.payload["activation_condition"].partition("\n")
    text = node.payload["execution_procedure"]
    if "\n+ " in text or text.startswith("Without step"):  # edits of the steps above it
        text = put_together(tree.chain(node.id))
    lines = (line.strip() for line in text.splitlines())
    # What a person wrote has no facts: all of it is a way.
    facts = (from_text(text) or [WorkFact("did", line) for line in lines if line])[:_FACTS]
    done = one_line(node.payload["termination_condition"])
    facts += [WorkFact("did", f"Done when: {done}")] if done else []
    solved, episodes = node.label == "success", tuple(node.origin.episodes)
    own = task or title
    return Lesson(node.id, own, tuple(facts), solved, is_worded(text), episodes, task and title)


def _once(lessons: Mapping[int, Lesson]) -> dict[int, Lesson]:
    """Leave out what two merged banks learnt of the same episodes; what was put in words stays."""
    kept: dict[tuple[str, ...], int] = {}
    for row, lesson in lessons.items():
        source = lesson.episodes or (lesson.key,)
        if source not in kept or (lesson.worded and not lessons[kept[source]].worded):
            kept[source] = row
    return {row: lessons[row] for row in kept.values()}


def digest(
    bank: Bank, tokens: int, folders: Sequence[Path] | None = None, project: str = ""
) -> str:
    """Return what any task of a project needs, as a text for an agent; empty if it is unknown."""
    room = room_for_lines(bank, tokens, folders)
    lines = digest_lines(bank, room // advice.CHARS, project)
    return composed(bank, lines, (), room, folders)


def digest_lines(bank: Bank, tokens: int, project: str = "") -> list[str]:
    """Return what any task of a project needs, a line each; none if that is not known.

    If a project is asked for, what was learnt in others is left out.
    """
    lessons = _youngest(bank)
    if project:
        own = [each for each in lessons if project in each.projects]
        lessons = own if any(each.projects for each in lessons) else lessons
    known = Experience("", lessons, [0.0] * len(lessons))
    return advice.digest(known, tokens * advice.CHARS)


def mended(bank: Bank, call: str, error: str) -> list[tuple[Node, str]]:
    """Return what a bank knows of a failed call: the best two nodes with a line each.

    `call` is a command line, or a tool's name with its arguments; `error` is what came back. A
    failure is the same if its call has the same program or tool, and its error most of the same
    words. No vectors are read.
    """
    head, words = head_of(call), set(terms(error))
    ranked: dict[str, tuple[float, str]] = {}
    for lesson in _youngest(bank):
        for kind, value in lesson.facts:
            what, _, rest = value.partition(" → ")
            wrong, _, worked = rest.partition(" ⇒ ")
            if kind not in ("fix", "error") or head_of(what) != head:
                continue
            known = set(terms(wrong))
            share = len(known & words) / (len(known) or 1)
            line = f"{advice.WENT_WRONG}{one_line(what, 170)} → {one_line(wrong, 140)}"
            line += f"; then worked: {one_line(worked, 170)}" if worked else ""
            if share >= _SAME_ERROR:
                rank = share + 0.1 * bool(worked) + 0.1 * (what == call)
                ranked[line] = max(ranked.get(line, (0.0, "")), (rank, lesson.key))
    best = sorted(ranked.items(), key=lambda each: -each[1][0])
    return [(bank.tree("task").node(key), line) for line, (_, key) in best[:2]]


def _youngest(bank: Bank) -> list[Lesson]:
    """Return what the youngest nodes say; nothing in a bank that is not read as real work."""
    if "task" not in bank.trees or domain_for(bank.manifest.domain) is not GENERAL:
        return []
    tree = bank.tree("task")
    return [each for _, each in _lessons_at(tree, tree.rows[-_NEAREST - _YOUNGEST :])]


def composed(
    bank: Bank,
    lines: Sequence[str],
    known: Sequence[str],
    room: int,
    folders: Sequence[Path] | None,
) -> str:
    """Return the context of some lines, with traps that they may step into.

    What is `known` of the scene has these, a line each.
    """
    if not lines:
        return ""
    said, left = "\n".join(lines), room - sum(len(line) + 1 for line in lines)
    found = [line for text in known for line in text.splitlines() if line.startswith(_TRAP)]
    traps = {line.removeprefix(_TRAP).partition(" ⇒ ")[0]: line for line in found}
    near = [
        trap
        for what, trap in traps.items()
        if what not in said and (re.split(r"\s|(?<=\()", what)[0] or "\n\n") in said
    ]
    for trap in near[:_TRAPS]:
        if len(trap) + 1 < left:
            lines = [*lines[:-1], trap, lines[-1]]
            left -= len(trap) + 1
    return compose(bank.manifest.domain, [fenced("\n".join(lines))], folders)


def room_for_lines(bank: Bank, budget: int, folders: Sequence[Path] | None) -> int:
    """Return how many characters of a budget in tokens are left beside fence and header."""
    return budget * advice.CHARS - len(compose(bank.manifest.domain, ["-"], folders))
