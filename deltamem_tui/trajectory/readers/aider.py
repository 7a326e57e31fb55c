"""Aider: the markdown history of its chats, one after another in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Line, Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reader, Reading, placed_or_refused
from deltamem_tui.trajectory.readers.size_guard import Held

_START = re.compile(r"^# aider chat started at (?P<when>[\d: -]+)\s*$")
_USER, _TOOL = "####", ">"
_MODEL = re.compile(r"^(?:Main model|Models?): (?P<name>\S+?)(?: with |,|$)")
_ADDED = re.compile(r"^Added (?P<file>\S+) to the chat\.?$")
# Commands of the chat program that carry words to the model; the others are about the program.
_TO_THE_MODEL = re.compile(r"^/(?:ask|code|architect|context)\s+(?P<words>\S.*)", re.DOTALL)
# What the program says of itself after a reply; it is no answer of the environment.
_SMALL_TALK = re.compile(
    r"^(?:Tokens: |Cost: |Use /help |Restored previous conversation|Aider v|Git repo: |Repo-map: )"
)


def _read(log: Log) -> Iterator[Reading]:
    chat: list[Line] = []
    held = Held("a chat", log.limits)
    for item in log.lines():
        if isinstance(item, RecordError):
            yield item
            continue
        if _START.match(item.text):
            yield from _chat_reading(chat)
            chat = []
            held.clear()
        held.add(len(item.text), item.position)
        chat.append(item)
    yield from _chat_reading(chat)


def _chat_reading(chat: list[Line]) -> Iterator[Reading]:
    if not any(line.text.strip() for line in chat):
        return
    yield placed_or_refused(chat[0].position, _episode, [line.text for line in chat])


def _episode(lines: list[str]) -> Trajectory:
    conversation = Conversation()
    files: dict[str, None] = {}
    agent = ""
    by_command = False
    for kind, block in _blocks(lines):
        text = "\n".join(block).strip()
        if kind == _USER:
            words = _words(text)
            by_command = not words
            conversation.user(words)
        elif kind == _TOOL:
            for line in block:
                model, added = _MODEL.match(line), _ADDED.match(line)
                agent = agent or (model["name"] if model else "")
                if added and not conversation.has_task:
                    files[added["file"]] = None
            # What a command of the user's printed is no answer to the agent.
            if conversation.has_task and not by_command:
                said = "\n".join(line for line in block if not _SMALL_TALK.match(line)).strip()
                if said:
                    conversation.answer(said)
        elif not by_command:
            conversation.say(text)
    scene = f"Files in the chat: {', '.join(files)}" if files else ""
    return conversation.episode(environment=scene, agent=agent)


def _words(text: str) -> str:
    """What the user says to the model; empty for a command to the program."""
    if not text.startswith(("/", "!")):
        return text
    match = _TO_THE_MODEL.match(text)
    return match["words"] if match else ""


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Runs of lines of the same speaker: the user, the program, or (empty) the agent."""
    # The program ends its and the user's lines with two spaces; a quotation or a heading in
    # a reply has none. Editors strip them, so they count only where the chat has them.
    spaced = any(line.startswith(_USER) and line.endswith("  ") for line in lines)
    block: list[str] = []
    speaker: str | None = None
    for line in lines:
        kind = _speaker(line, spaced=spaced)
        if _START.match(line) or (not line.strip() and speaker != ""):
            continue
        if kind != speaker and speaker is not None:
            yield speaker, block
            block = []
        speaker = kind
        block.append(line[len(kind) :].strip() if kind else line)
    if speaker is not None:
        yield speaker, block


def _speaker(line: str, *, spaced: bool) -> str:
    if spaced and not line.endswith("  "):
        return ""
    return next(
        (mark for mark in (_USER, _TOOL) if line == mark or line.startswith(mark + " ")), ""
    )


def _claims(preview: Preview) -> float:
    if preview.layout != "text":
        return 0.0
    return 0.95 * any(map(_START.match, preview.head.splitlines()))


READER = Reader(
    name="aider",
    description="Aider: markdown chat history",
    claims=_claims,
    read=_read,
)
