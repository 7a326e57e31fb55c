"""Recall for hooks: little of it, only where a node is near, and not twice in a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import to_builtins

from deltamem_tui import paths
from deltamem_tui.agents.sessions import SessionFile
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.recall_result import compose, fenced
from deltamem_tui.memory.work.texts import project_of
from deltamem_tui.memory.work_context import digest, mended
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.readers.coding import workspace
from deltamem_tui.trajectory.receipt import ShownNode, made
from deltamem_tui.trajectory.validation import FENCE

_banks: dict[str, Bank] = {}
_MOST_RECEIPTS = 90  # an episode has at most 100
DIGEST_TOKENS = 160  # of four characters, which are up to 200 by a model's own count of paths
_MOST_TEXTS = 20


def _opened(path: str) -> Bank:
    """Open a bank as it is now; one that was opened before is read on from there."""
    try:
        _banks[path].refresh()
    except (KeyError, DeltaMemError):
        _banks[path] = Bank.open(Path(path))
    return _banks[path]


def prompt_context(
    session: SessionFile, prompt: str, folder: str, characters: int, tokens: int
) -> tuple[SessionFile, str]:
    """Recall for a prompt and a working folder, if that has a node that the session has not."""
    from deltamem_tui.memory import engine

    bank, scene = _opened(session.bank), workspace(directory=folder)
    found = engine.recall(bank, prompt, scene, folders=paths.prompt_folders())
    new = [each for each in found.shown if _name(each) not in session.given]
    # Without a near node the text is what any task of the bank gets: noise at each prompt.
    text = fitted(found.context, characters, tokens) if new else ""
    return _with(replace(session, task=prompt), bank, new if text else [], text, scene), text


def failures_for(
    session: SessionFile, call: str, error: str, characters: int, tokens: int
) -> tuple[SessionFile, str]:
    """Return what a bank knows of a failed tool call: how it failed before, what worked then."""
    bank = _opened(session.bank)
    found = mended(bank, call, error)
    lines = [fenced("\n".join(line for _, line in found))]
    composed = compose(bank.manifest.domain, lines, paths.prompt_folders()) if found else ""
    text = fitted(composed, characters, tokens)
    if not text or text in session.texts:
        return session, ""
    nodes = {node.id: node for node, _ in found}
    shown = [ShownNode("task", id_, 1, 1.0, node.revision) for id_, node in nodes.items()]
    return _with(session, bank, shown, text), text


def digest_for(session: SessionFile, folder: str, tokens: int) -> tuple[SessionFile, str]:
    """Return what any task in a folder needs, for the start of a session."""
    bank = _opened(session.bank)
    room, project = min(tokens, DIGEST_TOKENS), project_of(workspace(directory=folder))
    text = digest(bank, room, paths.prompt_folders(), project)
    return replace(session, texts=(*session.texts, text)) if text else session, text


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


def _with(
    session: SessionFile, bank: Bank, shown: Sequence[ShownNode], text: str, scene: str = ""
) -> SessionFile:
    """Add what a session was given now. A first recall counts also if it showed nothing."""
    if not text and session.receipts:
        return session
    receipts = session.receipts
    if len(receipts) < _MOST_RECEIPTS:
        when = bank.commit.sequence
        receipt = made(bank.manifest.counts_as, when, shown, session.task, scene)
        receipts = (*receipts, to_builtins(receipt))
    return replace(
        session,
        given=(*session.given, *map(_name, shown)),
        texts=(*session.texts, *filter(None, [text]))[-_MOST_TEXTS:],
        receipts=receipts,
    )
