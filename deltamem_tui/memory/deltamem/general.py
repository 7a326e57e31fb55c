"""DeltaMem's recall of real work: the answer of a whole bank, and not of one chain alone.

Where no plug-in knows the domain, episodes speak by the facts that their nodes keep
(`memory.work`). The living nodes that are nearest to the task and the youngest ones are read, so
that a recall does not grow with the bank; τ decides only where an episode is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.memory import context
from deltamem_tui.memory.deltamem.definition import METHOD, TreeParameters
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import SAME_TEXT, Candidate, ranked, scan_of
from deltamem_tui.memory.work import advice
from deltamem_tui.memory.work.counting import Experience, Lesson
from deltamem_tui.memory.work.facts import WorkFact, from_text, is_worded
from deltamem_tui.memory.work.writing import is_signed, scene_text, task_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RULE = "work"
_NEAREST = 256
_YOUNGEST = 744
_TRAPS = 2
_TRAP = "Trap: "

_lessons: WeakKeyDictionary[Tree, dict[int, Lesson | None]] = WeakKeyDictionary()


def recall_task(
    bank: Bank, text: str, numbers: TreeParameters, embedder: Embedder, room: int, count: int
) -> tuple[CollectionRecall, list[str]]:
    """Return what the task tree answers, and the lines of the text."""
    tree, weighting = bank.tree("task"), weighting_of(bank)
    asked, penalty = task_text(text), numbers.failure_penalty
    vector = embedder.embed_queries([asked])[0]
    candidates = (
        [each for _, each in ranked(tree, vector, weighting, penalty, count)] if len(tree) else []
    )
    rows, lessons, similarities = _pool(tree, vector, weighting)
    told = advice.advice(Experience(asked, lessons, similarities), room)
    recalled = []
    for place in told.quoted:
        similarity = round(similarities[place], 6)
        node = tree.node_at(rows[place])
        own = penalty if node.label == "failure" else 0.0
        recalled.append(Candidate(node, similarity, own, round(similarity - own, 6), RULE))
    known = {each.node.id for each in recalled}
    others = [each for each in candidates if each.node.id not in known]
    answer = CollectionRecall(
        "task",
        text,
        numbers.tau_base,
        (*recalled, *others)[: max(count, len(recalled))],
        tuple(tree.chain(each.node.id) for each in recalled),
        rule=RULE,
    )
    return answer, told.lines


def digest(bank: Bank, tokens: int, folders: Sequence[Path] | None = None) -> str:
    """Return what any task of a bank needs, as a text for an agent; empty if that is not known."""
    room = room_for_lines(bank, tokens, folders)
    return compose(bank, digest_lines(bank, room // advice.CHARS), (), room, folders)


def digest_lines(bank: Bank, tokens: int) -> list[str]:
    """Return what any task of a bank needs, a line each; none if that is not known."""
    lessons = _youngest(bank)
    known = Experience("", lessons, [0.0] * len(lessons))
    return advice.digest(known, tokens * advice.CHARS)


def mended(bank: Bank, call: str, error: str) -> list[tuple[Node, str]]:
    """Return what a bank knows of a failed call: nodes with a line each. No vectors are read."""
    found = advice.mended(_youngest(bank), call, error)
    return [(bank.tree("task").node(key), line) for key, line in found]


def _youngest(bank: Bank) -> list[Lesson]:
    """Return what the youngest nodes say; nothing in a bank that is not read as real work."""
    is_read = bank.manifest.method == METHOD.name and domain_for(bank.manifest.domain) is GENERAL
    if not is_read:
        return []
    tree = bank.tree("task")
    return [each for _, each in _lessons_at(tree, tree.rows[-_NEAREST - _YOUNGEST :])]


def _lessons_at(tree: Tree, rows: Iterable[int]) -> Iterator[tuple[int, Lesson]]:
    """Yield what the nodes of some rows say, each read once."""
    known = _lessons.setdefault(tree, {})
    for row in map(int, rows):
        if row not in known:
            known[row] = _lesson(tree.node_at(row))
        if (lesson := known[row]) is not None:
            yield row, lesson


def _pool(
    tree: Tree, vector: NDArray[np.float32], weighting: Weighting
) -> tuple[list[int], list[Lesson], list[float]]:
    """Return the rows that are read for a question, what they say, and how similar they are to
    it.
    """
    rows: Iterable[int] = tree.rows
    if len(tree.rows) > _NEAREST + _YOUNGEST:
        nearest = (row for row, *_ in scan_of(tree, weighting).best(vector, 0.0, _NEAREST))
        rows = sorted({*nearest, *map(int, tree.rows[-_YOUNGEST:])})
    found = dict(_lessons_at(tree, rows))
    if not found:
        return [], [], []
    import numpy as np

    kept = np.array(list(found), dtype=np.intp)
    similarities = (tree.embeddings[kept] @ vector).astype(np.float64)
    return list(found), list(found.values()), [float(each) for each in similarities]


def _lesson(node: Node) -> Lesson | None:
    """Return what a node says; None for one that was fused of others, which speak for
    themselves.
    """
    if node.origin.nodes:
        return None
    task, text = node.payload["activation_condition"], node.payload["execution_procedure"]
    lines = (line.strip() for line in text.splitlines())
    # What a person wrote has no facts: all of it is a way.
    facts = from_text(text) or [WorkFact("did", line) for line in lines if line]
    return Lesson(node.id, task, tuple(facts), node.label == "success", is_worded(text))


def recall_env(
    bank: Bank, text: str, tau: float, embedder: Embedder
) -> tuple[CollectionRecall, list[str]]:
    """Return what is known of just this scene, and the traps in it as lines."""
    tree = bank.tree("env")
    node = known_scene(tree, text, embedder, weighting_of(bank))
    if node is None:
        return CollectionRecall("env", text, tau, (), rule=RULE), []
    family = [node, *tree.children(node.id)]
    lines = [line for each in family for line in each.payload["execution_procedure"].splitlines()]
    traps = {line.partition(" ⇒ ")[0]: line for line in lines if line.startswith(_TRAP)}
    found = Candidate(node, 1.0, 0.0, 1.0, RULE)
    return CollectionRecall("env", text, tau, (found,), ((node,),), rule=RULE), list(traps.values())


def by_scene(
    found: CollectionRecall, tree: Tree, scene: str, embedder: Embedder, weighting: Weighting
) -> CollectionRecall:
    """Return what was found for a scene by its likeness, or by its digest where such a root has
    one.
    """
    if (node := known_scene(tree, scene, embedder, weighting)) is not None:
        return replace(found, chains=((node,),))
    if found.chain and is_signed(found.chain[0].payload["activation_condition"]):
        return replace(found, chains=())  # it is another scene
    return found


def known_scene(tree: Tree, scene: str, embedder: Embedder, weighting: Weighting) -> Node | None:
    """Return the root of just this scene, which is found by its digest; None if it is new."""
    signed = scene_text(scene)
    if not signed or not len(tree):
        return None
    vector = embedder.embed_passages([signed])
    for row in scan_of(tree, weighting).alike(vector, SAME_TEXT):
        node = tree.node_at(int(row))
        if node.parent is None and node.payload["activation_condition"] == signed:
            return node
    return None


def compose(
    bank: Bank,
    lines: Sequence[str],
    traps: Sequence[str],
    room: int,
    folders: Sequence[Path] | None,
) -> str:
    """Return the context of some lines, with the traps of the scene that they may step into."""
    told = "\n".join(lines)
    heads = {trap: trap.removeprefix(_TRAP).split()[:1] for trap in traps}
    own = [trap for trap, head in heads.items() if head and head[0] in told]
    left = room - len(told) - 1
    for trap in own[:_TRAPS]:
        if lines and len(trap) + 1 < left:
            lines = [*lines[:-1], trap, lines[-1]]
            left -= len(trap) + 1
    if not lines:
        return ""
    return context.compose(bank.manifest.domain, [context.fenced("\n".join(lines))], folders)


def room_for_lines(bank: Bank, budget: int, folders: Sequence[Path] | None) -> int:
    """Return how many characters of a budget in tokens are left beside fence and header."""
    return budget * advice.CHARS - len(context.compose(bank.manifest.domain, ["-"], folders))
