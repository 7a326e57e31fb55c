"""Recall for hooks: little of it, only where a node is near, and not twice in a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import to_builtins

from deltamem_tui import paths
from deltamem_tui.agents.sessions import SessionFile
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory import engine
from deltamem_tui.memory.context import chain_entries, compose
from deltamem_tui.memory.deltamem.general import RULE
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.recalled_text import FENCE
from deltamem_tui.trajectory.receipt import ShownNode, made
from deltamem_tui.trajectory.workspace import workspace

_MOST_RECEIPTS = 90  # an episode has at most 100
_MOST_FAILURES = 2
_MOST_TEXTS = 20
_LONGEST_TASK = 2_000


def prompt_context(
    session: SessionFile, prompt: str, folder: str, characters: int, tokens: int
) -> tuple[SessionFile, str]:
    """Recall for a prompt and a working folder; nodes that the session has already are left out."""
    bank, scene = Bank.open(Path(session.bank)), workspace(directory=folder)
    found = engine.recall(bank, prompt, scene, folders=paths.prompt_folders())
    new = [each for each in found.shown if _name(each) not in session.given]
    # Without a near node the text is what any task of the bank gets: noise at each prompt.
    text = found.context if new else ""
    counted = any(each is not None and each.rule == RULE for each in found.collections.values())
    if text and not counted and len(new) < len(found.shown):
        entries = _entries(bank, found.collections.values(), new)
        text = compose(bank.manifest.domain, entries, paths.prompt_folders())
    text = fitted(text, characters, tokens)
    kept = replace(session, task=prompt[:_LONGEST_TASK])
    return _with(kept, bank, new if text else [], text, prompt, scene), text


def failures_for(
    session: SessionFile, failure: str, characters: int, tokens: int
) -> tuple[SessionFile, str]:
    """Return the failures that a bank knows for a failed tool call, or for the task at hand."""
    bank = Bank.open(Path(session.bank))
    shown: dict[str, ShownNode] = {}
    entries: list[str] = []
    for answer, chain in _failures(bank, (failure, session.task), session.given):
        display = display_of(bank, answer.collection)
        for node, entry in zip(chain, chain_entries(display, chain), strict=True):
            score = answer.candidates[0].score
            each = ShownNode(answer.collection, node.id, 1, score, node.revision)
            if _name(each) not in session.given and _name(each) not in shown:
                shown[_name(each)] = each
                entries.append(entry)
    composed = compose(bank.manifest.domain, entries, paths.prompt_folders())
    text = fitted(composed, characters, tokens)
    return _with(session, bank, list(shown.values()), text, session.task, ""), text


def fitted(text: str, characters: int, tokens: int) -> str:
    """Cut a fenced text to limits: whole lines of it, and the fence."""
    if len(text) <= characters and count_tokens(text) <= tokens:
        return text
    end = f"\n…\n\n</{FENCE}>"
    kept: list[str] = []
    room, words = characters - len(end), tokens - count_tokens(end)
    for line in text.splitlines():
        room, words = room - len(line) - 1, words - count_tokens(line)
        if room < 0 or words < 0:
            break
        kept.append(line)
    return "\n".join(kept) + end if len(kept) > 1 else ""


def _name(shown: ShownNode) -> str:
    return f"{shown.collection}/{shown.node}"


def _entries(
    bank: Bank, answers: Iterable[CollectionRecall | None], new: Sequence[ShownNode]
) -> Iterator[str]:
    """Yield the entries of the nodes that are new, in the order of their chains."""
    names = {_name(each) for each in new}
    for answer in answers:
        if answer is None or not is_shown(bank, answer.collection):
            continue
        display = display_of(bank, answer.collection)
        for chain in answer.chains:
            for node, entry in zip(chain, chain_entries(display, chain), strict=True):
                name = f"{answer.collection}/{node.id}"
                if name in names:
                    names.remove(name)
                    yield entry


def _failures(
    bank: Bank, texts: Sequence[str], given: Sequence[str]
) -> Iterator[tuple[CollectionRecall, tuple[Node, ...]]]:
    """Yield the nearest nodes above the threshold that failures wrote, with their chains."""
    names = [name for name in bank.trees if is_shown(bank, name)]
    found: dict[str, tuple[CollectionRecall, tuple[Node, ...]]] = {}
    for text in filter(None, texts):
        for answer in engine.search(bank, text, names, 10):
            for each in answer.candidates:
                known = f"{answer.collection}/{each.node.id}"
                near = each.score >= answer.threshold
                if near and each.node.label == "failure" and known not in given:
                    chain = bank.chain(answer.collection, each.node.id)
                    found.setdefault(known, (answer, chain))
    yield from list(found.values())[:_MOST_FAILURES]


def _with(
    session: SessionFile,
    bank: Bank,
    shown: Sequence[ShownNode],
    text: str,
    task: str,
    scene: str,
) -> SessionFile:
    """Add what a session was given now. A first recall counts also if it showed nothing."""
    if not text and session.receipts:
        return session
    receipts = session.receipts
    if len(receipts) < _MOST_RECEIPTS:
        receipt = made(bank.manifest.counts_as, bank.commit.sequence, shown, task, scene)
        receipts = (*receipts, to_builtins(receipt))
    return replace(
        session,
        given=(*session.given, *map(_name, shown)),
        texts=(*session.texts, *filter(None, [text]))[-_MOST_TEXTS:],
        receipts=receipts,
    )
