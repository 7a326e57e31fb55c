"""The chat history of Aider: Markdown in which the user and the program mark their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    conversation_readings,
    line_blocks,
)

_START = re.compile(r"^# aider chat started at (?P<when>[\d: -]+)\s*$")
_USER, _TOOL = "####", ">"
_MODEL = re.compile(r"^(?:Main model|Models?): (?P<name>\S+?)(?: with |,|$)")
_ADDED = re.compile(r"^Added (?P<file>\S+) to the chat\.?$")
# Commands of the chat program that carry words to the model; the others are about the program.
_TO_THE_MODEL = re.compile(r"^/(?:ask|code|architect|context)\s+(?P<words>\S.*)", re.DOTALL)
# What the program says of itself after a reply; it is not an answer of the environment.
_SMALL_TALK = re.compile(
    r"^(?:Tokens: |Cost: |Use /help |Restored previous conversation|Aider v|Git repo: |Repo-map: )"
)


def _episode(conversation: Conversation, lines: list[str]) -> Trajectory:
    files: dict[str, None] = {}
    agent = said = ""  # said: what the user waits for an answer to
    by_command = has_replied = False
    for kind, block in _blocks(lines):
        text = "\n".join(block).strip()
        if kind == _USER:
            words = _words(text)
            by_command = not words and not said  # else the reply is still to what was said
            if words != said:  # the program shows again what it was to hand on
                conversation.user(words)
            said = words or said
        elif kind == _TOOL:
            for line in block:
                model, added = _MODEL.match(line), _ADDED.match(line)
                agent = agent or (model["name"] if model else "")
                if added and not conversation.task:
                    files[added["file"]] = None
            printed = "\n".join(line for line in block if not _SMALL_TALK.match(line)).strip()
            # What a command of the user's printed is not an answer to the agent.
            if has_replied and printed and not by_command:
                conversation.answer(printed)
        elif not by_command:
            has_replied, said = bool(conversation.task), ""
            conversation.say(text)
    scene = f"Files in the chat: {', '.join(files)}" if files else ""
    return conversation.episode(environment=scene, agent=agent)


def _words(text: str) -> str:
    """Return what the user says to the model; empty for a command to the program."""
    if not text.startswith(("/", "!")):
        return text
    match = _TO_THE_MODEL.match(text)
    return match["words"] if match else ""


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield runs of lines of one speaker: the user, the program, or (empty) the agent."""
    block: list[str] = []
    speaker: str | None = None
    for line, kind in zip(lines, _speakers(lines), strict=True):
        is_blank = not line.strip()
        if speaker is not None and (kind != speaker or (is_blank and speaker == _USER)):
            yield speaker, block
            block, speaker = [], None
        if not _START.match(line) and not (is_blank and speaker != ""):
            speaker = kind
            block.append(line.removeprefix(kind).strip() if kind else line)
    if speaker is not None:
        yield speaker, block


def _speakers(lines: list[str]) -> Iterator[str]:
    # The program ends its and the user's lines with two spaces; a quotation or a heading in
    # a reply has none. Editors strip them, so they count only where the chat has them.
    spaced = any(line.startswith(_USER) and line.endswith("  ") for line in lines)
    before, goes_on = "", False
    for line in lines:
        mark = _TOOL if line.startswith(_TOOL) else _USER if line.startswith(_USER) else ""
        is_whole = line[len(mark) :][:1] in ("", " ") and (not spaced or line.endswith("  "))
        kind = mark if is_whole else ""
        # Of several lines at once, the program marks the first and puts the spaces behind the
        # last. A reply has a blank line before it.
        begins = spaced and before == _TOOL and line.startswith(f"{_TOOL} ")
        goes_on = not kind and (goes_on or begins)
        before = _TOOL if goes_on else kind
        yield before
        goes_on = goes_on and not line.endswith("  ")


def _claims(preview: Preview) -> float:
    found = preview.layout == "text" and any(map(_START.match, preview.head.splitlines()))
    return 0.95 * found


def _read(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "a chat", begins=_START.match):
        if isinstance(block, RecordError):
            yield block
        elif any(line.text.strip() for line in block):
            texts = [line.text for line in block]
            yield from conversation_readings(block[0].position, _episode, texts)


READER = Reader("aider", "Aider: markdown chat history", _claims, _read)
