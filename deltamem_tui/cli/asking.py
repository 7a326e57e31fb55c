"""Commands that ask a bank: recall, search, and the browser where there is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import to_builtins

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import Result, table
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.tree import Tree
    from deltamem_tui.memory.recall_result import CollectionRecall
    from deltamem_tui.memory.vectors.search import Candidate


_RUNNERS_UP = 10
_NEAREST = 3


def recall(
    invocation: Invocation,
    bank: options.Bank,
    task: Annotated[str, argument("TASK", "The goal, as the agent gets it; - for stdin.")],
    env: Annotated[str, option("--env", "TEXT", "The scene, or the folder of the project.")] = "",
    explain: Annotated[bool, flag("--explain", "Show the runners-up and their scores.")] = False,
    receipt: Annotated[
        Path | None, option("--receipt", "FILE", "Append what was recalled.")
    ] = None,
    episode: Annotated[str, option("--episode", "NAME", "The episode's id in its log.")] = "",
) -> Result:
    """Recall what a bank knows about a task, as text for an agent's prompt."""
    from deltamem_tui.memory.engine import recall
    from deltamem_tui.memory.episodes.credit import append_receipt
    from deltamem_tui.memory.method import is_shown

    if episode and receipt is None:
        raise UsageError("--episode names the episode of a receipt", hint="add --receipt FILE")
    if task == "-":
        task = sys.stdin.read()
    if not task.strip():
        raise UsageError("the task is empty", hint="say what the agent is to do")
    folders = invocation.settings().prompt_folders()
    opened = invocation.open(bank)
    found = recall(opened, task, env, candidates=_RUNNERS_UP, folders=folders)
    if receipt and found.receipt:
        append_receipt(receipt, found.receipt, episode)
    answers = found.collections

    def view(page: Page) -> None:
        for answer in answers.values() if explain else ():
            if answer is not None and is_shown(opened, answer.collection):
                _explained(page, opened, answer)
        if found.context:
            page.text(found.context)

    nothing = "" if found.context else _nothing(opened, answers.values())
    data: dict[str, Any] = {"context": found.context, "why_nothing": nothing or None}
    for name, answer in answers.items():
        data[str(name)] = _answer_record(opened.tree(name), answer, explain=explain)
    data["receipt"] = to_builtins(found.receipt)
    return Result("recall", data, view=view, notes=[nothing] if nothing else [])


def _explained(page: Page, bank: Bank, answer: CollectionRecall) -> None:
    """Show each rule's matches and near misses with what their scores are made of."""
    from deltamem_tui.memory.method import display_of, key_label, method_of

    display, rules = display_of(bank, answer.collection), method_of(bank).rules
    threshold = f", threshold {limit:g}" if (limit := _limit(answer)) is not None else ""
    said = rules.get(answer.rule) if answer.candidates else None
    how = f", by {answer.rule}: {said}" if said else ""
    page.text(f"{display.title}{threshold}{how}", style="bold")
    if not answer.candidates:
        page.text("  nothing is known of this")
        return
    for rule in dict.fromkeys(each.rule for each in answer.candidates):
        if rule in rules and rule != answer.rule:
            page.text(f"  by {rule}: {rules[rule]}")
    rows: list[tuple[Cell, ...]] = []
    for each in answer.candidates:
        mark = "match" if each.rule == answer.rule else f"by {each.rule}"
        penalty = [each.penalty] * display.layered
        row: tuple[Cell, ...] = (each.node.id[:8], each.similarity, *penalty, each.score)
        title = display.of_title(each.node)
        rows.append((mark if answer.matches(each) else "", *row, title))
    penalty_column = ["penalty"] * display.layered
    columns = ("", "node", "similarity", *penalty_column, "score")
    page.table((*columns, key_label(bank, answer.collection)), rows)


def _nothing(bank: Bank, answers: Iterable[CollectionRecall | None]) -> str:
    """Return why there is no context."""
    if not any(map(len, bank.trees.values())):
        first = "" if bank.episodes.waiting() else f"`deltamem import {bank.name} LOG…`, then "
        first = first or "each episode needs an outcome (`deltamem episode outcome`), then "
        return f"nothing is learnt yet: {first}`deltamem extract {bank.name} --extractor rules`"
    reasons = [_why_unmatched(bank, answer) for answer in answers if answer is not None]
    return "nothing matches: " + "; ".join(reasons or ["nothing was asked"])


def _why_unmatched(bank: Bank, answer: CollectionRecall) -> str:
    """Return how far the best is below the threshold, and what the nearest roots are for."""
    from deltamem_tui.memory.method import display_of

    display, tree = display_of(bank, answer.collection), bank.tree(answer.collection)
    if not answer.candidates:
        compared = " has enough in common with it" if tree.rows.size else ""
        return f"nothing in the {display.title}{compared}"
    roots = [tree.chain(each.node.id)[0] for each in answer.candidates if each.score > 0]
    nearest = list(dict.fromkeys(display.of_title(root) for root in roots))
    told = f" (nearest: {' | '.join(nearest[:_NEAREST])})" if nearest else ""
    best = answer.candidates[0].score
    limit = _limit(answer)
    below = f", below {limit:g}" if limit is not None else ", which is not near enough"
    return f"the best of the {display.title} scores {best:.3f}{below}{told}"


def _limit(answer: CollectionRecall) -> float | None:
    """Return the threshold of an answer; None where none applies."""
    return answer.threshold if answer.threshold > -1 else None


def candidate_record(tree: Tree, candidate: Candidate, threshold: float | None) -> dict[str, Any]:
    """Return a node and how well it fits a query, as `search` and `recall --explain` list it."""
    from deltamem_tui.memory.transfer.plain import node_record

    return {
        "node": node_record(tree, candidate.node),
        "similarity": candidate.similarity,
        "penalty": candidate.penalty,
        "score": candidate.score,
        "threshold": threshold,
    }


def _answer_record(
    tree: Tree, answer: CollectionRecall | None, *, explain: bool
) -> dict[str, Any] | None:
    """Return the answer of one tree; None if nothing matched, unless `explain` asks why."""
    from deltamem_tui.memory.transfer.plain import node_record

    if answer is None or not (answer.chain or explain):
        return None
    match = answer.match
    record: dict[str, Any] = {
        "match": match.node.id if match else None,
        "score": match.score if match else None,
        "rule": answer.rule,
        "chain": [node_record(tree, node) for node in answer.chain],
    }
    if explain:
        record |= {"query": answer.query, "threshold": _limit(answer)}
        record["candidates"] = [
            candidate_record(tree, each, _limit(answer))
            | {"recalled": answer.matches(each), "rule": each.rule}
            for each in answer.candidates
        ]
    return record


def search(
    invocation: Invocation,
    bank: options.Bank,
    text: Annotated[str, argument("TEXT", "A goal, a scene, or any text.")],
    tree: options.TreeChoice = None,
    limit: Annotated[int, option("--limit", "N", "At most N nodes a tree.", min=1)] = 10,
) -> Result:
    """Find the nodes that score best for a text, in one tree or both."""
    from deltamem_tui.memory.engine import search
    from deltamem_tui.memory.method import display_of, is_shown, key_label

    if not text.strip():
        raise UsageError("the text is empty", hint="say what to look for")
    opened = invocation.open(bank)
    chosen = options.tree_name(opened, tree)
    names = [chosen] if chosen else [name for name in opened.trees if is_shown(opened, name)]
    records, rows = [], []
    answers = search(opened, text, names, limit)
    for answer in answers:
        name, found = answer.collection, opened.tree(answer.collection)
        for each in answer.candidates:
            records.append(candidate_record(found, each, _limit(answer)))
            title = display_of(opened, name).of_title(each.node)
            rows.append((name, each.node.id[:8], each.score, each.node.label, title))
    heads = dict.fromkeys(key_label(opened, answer.collection) for answer in answers)
    view = table(("tree", "node", "score", "label", " / ".join(heads)), rows)
    return Result("search", {"nodes": records}, view=view)


def browse(invocation: Invocation, bank: options.MaybeBank = None) -> Result:
    """Browse banks in the terminal: look, ask, repair.

    With a terminal the browser opens before this command is read.
    """
    if bank is not None:
        invocation.bank(bank)
    notes = ["the browser needs a terminal; `deltamem --help` lists the commands"]
    return Result("browse", {}, notes=notes)
