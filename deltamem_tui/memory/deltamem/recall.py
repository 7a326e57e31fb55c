"""DeltaMem's recall: a question in, the chain root → match out (equations 6 and 7).

The task tree is asked with the goal, the env tree with the scene; their chains meet only in the
agent's context. The paper's rule takes the best node of all if it reaches τ (`recall = "paper"`).
By default a tree that has the question's own kind of goal answers with the success of that kind
whose names are nearest, and with what failed; the paper's rule decides where the kind is new.
Where no plug-in knows the domain, the whole task tree answers by the facts that its nodes keep
(`memory.work_context`).

Scores count to six decimals, so that equal texts score equally on every machine. Of equal scores
the shallower node matches, then the older one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.memory.deltamem.definition import DISPLAY, Parameters, TreeParameters
from deltamem_tui.memory.domain import GENERAL, Domain, domain_for, goal_of
from deltamem_tui.memory.places import TaskAtHand, known_in, where_to_look
from deltamem_tui.memory.procedure import (
    FAILED,
    Procedure,
    filled,
    names_in,
    names_open,
    numbered,
)
from deltamem_tui.memory.recall_result import (
    CollectionRecall,
    Query,
    RecallResult,
    answer_of,
    chain_entries,
    compose,
    fenced,
    within,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import (
    SAME_TEXT,
    Candidate,
    nodes_with_key,
    ranked,
    scan_of,
    weighting_of,
)
from deltamem_tui.memory.work.texts import is_signed, scene_text, task_text
from deltamem_tui.memory.work_context import composed, recall_tasks, room_for_lines
from deltamem_tui.text import ARROW, clean, key, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_CHOICES = 10
_OF_KIND = 200
_WARNINGS = 3
_TASK_WIDTH = 1000
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "inventory", "#"))


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A question to one tree.

    Attributes:
        text: The question as it was put.
        vector: The same, embedded. float32 [dimensions], of unit length.
        kind: Its trigger as the rules would write it, without and with its names, embedded.
            float32 [2, dimensions]; None if its kind is not looked for, or not understood.
        exact: Whether only what was written of this very text counts: a scene of real work.
    """

    text: str
    vector: Vector
    kind: NDArray[np.float32] | None = None
    exact: bool = False


def questions(task: str, environment: str) -> dict[str, str]:
    """Return the question to each tree; empty where there is nothing to ask."""
    return {"task": clean(task).strip(), "env": clean(environment).strip()}


def question_to(
    tree: str, text: str, numbers: TreeParameters, embedder: Embedder, domain: Domain
) -> TreeQuestion:
    """Return a question made ready for a tree; a task is read in the words of a domain."""
    import numpy as np

    if domain is GENERAL:
        text = (task_text(text) if tree == "task" else scene_text(text)) or text
    exact = domain is GENERAL and is_signed(text)
    embed = embedder.embed_passages if exact else embedder.embed_queries
    question = TreeQuestion(text, embed([text])[0], exact=exact)
    by_kind = tree == "task" and numbers.recall == "kind"
    goal = goal_of(domain, text) if by_kind else None
    if goal is None or not goal.understood:
        return question
    named = f"{goal.trigger} ({goal.variant})" if goal.variant else goal.trigger
    # One by one, as triggers are embedded: a vector's last bits depend on the texts beside it.
    kind = np.stack([embedder.embed_passages([each])[0] for each in (goal.trigger, named)])
    return replace(question, kind=kind)


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Ask the trees that are switched on and for which there is a question."""
    settings, domain = of_bank(bank, Parameters, query.settings), domain_for(bank.manifest.domain)
    texts = {
        name: text if settings[name].enabled else ""
        for name, text in questions(query.task, query.environment).items()
    }
    if is_counted(settings, domain):
        return _recall_work(bank, query, texts, settings, embedder)
    found: dict[str, CollectionRecall | None] = dict.fromkeys(texts)
    for name, text in texts.items():
        if text:
            numbers = settings[name]
            question = question_to(name, text, numbers, embedder, domain)
            tree = bank.tree(name)
            found[name] = recall_tree(tree, question, numbers, weighting_of(bank), query.count)
    entries = _entries(bank, found, texts, settings)
    return RecallResult(found, compose(bank.manifest.domain, entries, query.folders))


def is_counted(settings: Parameters, domain: Domain) -> bool:
    """Return whether a recall counts the facts of real work."""
    return domain is GENERAL and settings.task.recall == "kind"


def notes_of_scene(tree: Tree, question: TreeQuestion) -> list[Node]:
    """Return what was written of the very scene, in order of birth; none if it has no text."""
    return nodes_with_key(tree, question.text, question.vector) if question.exact else []


def recall_tree(
    tree: Tree,
    question: TreeQuestion,
    numbers: TreeParameters,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """Ask one tree: by kind where it has the question's, else by equations 6 and 7."""
    tau = numbers.tau_base
    penalty = numbers.failure_penalty
    candidates = ranked(tree, question.vector, weighting, penalty, count)
    recalled: list[Candidate] = []
    if candidates and question.kind is not None:
        recalled = _of_kind(tree, question.kind, weighting)
    is_known = bool(recalled)
    if not is_known:
        recalled = [each for each in candidates[:1] if each.score >= tau]
    if notes := notes_of_scene(tree, question):  # below its first one hang all others
        recalled = [Candidate(notes[0], 1.0, 0.0, 1.0)]
    elif question.exact:  # another scene, however alike
        recalled = [e for e in recalled if not is_signed(e.node.payload["activation_condition"])]
    nodes = (node for each in recalled for node in tree.chain(each.node.id))
    if is_known and all(each.label == "failure" for each in nodes):
        # Failures of a kind alone show no way. No two similarities are further apart than 2.
        best = ranked(tree, question.vector, weighting, 2.0, 1)
        recalled += [e for e in best if e.node.label == "success" and e.score >= tau]
    return answer_of(
        tree,
        question.text,
        recalled,
        candidates,
        count=count,
        threshold=tau,
        rule="kind" if is_known else "threshold",
        new_kind=question.kind is not None and not is_known,
    )


def _of_kind(tree: Tree, kind: NDArray[np.float32], weighting: Weighting) -> list[Candidate]:
    """Return the nearest success of a kind, then the nearest failure; none if the kind is new."""
    import numpy as np

    rows = _rows_of_kind(tree, kind, weighting)
    scores = np.round(tree.embeddings[rows] @ kind[1], DECIMALS)
    nearest: dict[bool, Candidate] = {}
    for at in np.lexsort((tree.birth[rows], tree.depth[rows], -scores)):
        failed, score = bool(tree.failure[rows[at]]), float(scores[at])
        if failed not in nearest:
            nearest[failed] = Candidate(tree.node_at(int(rows[at])), score, 0.0, score, "kind")
    return [nearest[failed] for failed in sorted(nearest)]


def _rows_of_kind(tree: Tree, kind: NDArray[np.float32], weighting: Weighting) -> NDArray[np.intp]:
    """Return the living rows of the trees that hold a node with the kind's very trigger.

    A root that was fused from a residual has the trigger with the residual's names, and is
    found by those: for other names, the chain that it was made from says the same.
    """
    import numpy as np

    same = scan_of(tree, weighting).alike(kind, SAME_TEXT)
    family = list(dict.fromkeys(tree.chain_rows(int(row))[0] for row in same))
    for row in family:
        family += map(int, tree.child_rows(row))
    rows = np.array(sorted(family), dtype=np.intp)
    return rows[~tree.dead[rows]]


def _recall_work(
    bank: Bank, query: Query, texts: Mapping[str, str], settings: Parameters, embedder: Embedder
) -> RecallResult:
    """Ask all that is known of real work, and warn of what goes wrong in its scene."""
    room = room_for_lines(bank, settings.budget, query.folders)
    task = env = None
    lines: list[str] = []
    known: list[str] = []
    if texts["task"]:
        penalty = settings.task.failure_penalty
        task, lines = recall_tasks(bank, query, texts["task"], penalty, embedder, room)
    if texts["env"]:
        tree, numbers = bank.tree("env"), settings.env
        question = question_to("env", texts["env"], numbers, embedder, GENERAL)
        env = recall_tree(tree, question, numbers, weighting_of(bank), query.count)
        notes = notes_of_scene(tree, question) or env.chain
        known = [each.payload["execution_procedure"] for each in notes]
    context = composed(bank, lines, known, room, query.folders)
    return RecallResult({"task": task, "env": env}, context)


def _entries(
    bank: Bank,
    found: Mapping[str, CollectionRecall | None],
    texts: Mapping[str, str],
    settings: Parameters,
) -> list[str]:
    """Return what both trees recalled: procedures whole, and of the rest what the budget holds."""
    domain, (answer, env) = domain_for(bank.manifest.domain), (found["task"], found["env"])
    goal, task = goal_of(domain, texts["task"]), None
    if goal.understood:
        facts = known_in(bank.tree("env")) if settings.env.enabled else []
        task = TaskAtHand(dict(goal.slots), texts["env"], facts)
    names = task.names if task else {}
    chains = answer.chains if answer else ()
    known = [Procedure.of(chain) for chain in chains]
    entries: list[str] = []
    for chain, procedure in zip(chains, known, strict=True):
        if procedure is None:
            # Two chains may begin alike.
            own = chain_entries(DISPLAY["task"], chain)
            entries += [each for each in own if each not in entries]
        elif answer and procedure.steps and chain[-1].label == "success":
            of_kind = answer.rule == "kind"
            when = one_line(answer.query, _TASK_WIDTH) if of_kind else chain[-1].title
            skill = _skill(bank.tree("task"), chain, procedure, domain, task)
            entries.append("\n".join(["### Skill", f"When: {fenced(when)}", *skill]))
    procedures = [each for each in known if each]
    aside = _failed(procedures, names)
    if chains and not (entries or aside):
        aside = ["\n\n".join(chain_entries(DISPLAY["task"], chains[0]))]
    where = where_to_look(domain.likely_places(task, procedures), names) if task else []
    if not where and env and (task is None or not (entries or aside)):
        where = chain_entries(DISPLAY["env"], env.chain)
    return within(settings.budget, entries, [*aside, *where])


def _skill(
    tree: Tree,
    chain: Sequence[Node],
    procedure: Procedure,
    domain: Domain,
    task: TaskAtHand | None,
) -> list[str]:
    """Return a chain's procedure as it goes for a task, in lines."""
    names = task.names if task else {}
    choices = _choices(tree, chain, names) if names else {}
    # A name left open may stand for two places; those of the episode say which is which.
    own = {} if choices else {**procedure.names, **names}
    usual = {slot: some[0] for slot, some in choices.items()}
    steps = tuple(filled(step, usual) for step in procedure.steps)
    if task:
        steps = tuple(domain.at_hand(replace(procedure, steps=steps), task))
    steps = tuple(filled(step, own) for step in steps)
    past = [name for slot, name in own.items() if slot not in names]
    lines = [f"Worked with: {fenced(', '.join(past))}"] if past else []
    text = "\n".join(numbered(steps))
    lines.append(f"How:\n{fenced(text)}")
    lines += [
        f"Where {fenced(first)} is not there: {fenced(', '.join(others))}."
        for first, *others in choices.values()
        if others
    ]
    return lines


def _choices(tree: Tree, chain: Sequence[Node], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, per slot that the task leaves open, what successes of a kind had, the usual first."""
    rows = [tree.row(chain[0].id)]
    for row in rows:
        rows += map(int, tree.child_rows(row)) if len(rows) < _OF_KIND else ()
    found: dict[str, Counter[str]] = {}
    for node in map(tree.node_at, rows[:_OF_KIND]):
        for slot, name in names_in(node).items() if node.label == "success" else ():
            if slot not in names:
                found.setdefault(slot, Counter())[name] += 1
    return {slot: [name for name, _ in some.most_common(_CHOICES)] for slot, some in found.items()}


def _failed(known: Sequence[Procedure], names: Mapping[str, str]) -> list[str]:
    """Return the first lines of what failed near the procedures and is not among their steps."""
    commands = {key(filled(step, names)) for each in known for step in each.steps}
    things = {word for command in commands for word in command.split()[1:]} - _SMALL
    shown = []
    for line in dict.fromkeys(filled(each, names) for text in known for each in text.warnings):
        action = key(line.removeprefix(FAILED).partition(ARROW)[0])
        near = not commands or things.intersection(action.split()[1:])
        if line.startswith(FAILED) and near and not names_open(line) and action not in commands:
            shown.append(f"- {line}")
    text = "\n".join(shown[:_WARNINGS])
    return [f"### What failed ({DISPLAY['task'].warning})\n{fenced(text)}"] if shown else []
