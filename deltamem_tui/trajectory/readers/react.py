"""ReAct text on ALFWorld: loose episodes, trial logs parted by `#####`, or texts in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Line, Preview, Record
from deltamem_tui.trajectory.model import LogSource, Outcome, Trajectory
from deltamem_tui.trajectory.notice import located
from deltamem_tui.trajectory.outcomes import stated
from deltamem_tui.trajectory.readers.react_text import (
    announces,
    episodes_in,
    is_action,
    is_goal,
    parse_episode,
)
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.readers.size_guard import Held
from deltamem_tui.trajectory.secrets.quoting import quoted

_SEPARATOR = re.compile(r"^#{5,}\s*$")
_HEADER = re.compile(r"^\s*Environment #(?P<number>\d+):?\s*$")
_FOOTER = re.compile(r"^\s*STATUS:\s*(?P<word>OK|FAIL)\s*$")


def _read(log: Log) -> Iterator[Reading]:
    if log.is_text:
        for block in _blocks(log):
            yield from [block] if isinstance(block, RecordError) else _block_episodes(block, log)
        return
    for item in log.records():
        yield from [item] if isinstance(item, RecordError) else _named_texts(item, log)


def _blocks(log: Log) -> Iterator[list[Line] | RecordError]:
    """The lines between separators, or up to a verdict.

    What holds no episode is not held in memory for long.
    """
    block: list[Line] = []
    held = Held("text without a ##### line", log.limits, hint="split the file between episodes")
    for item in log.lines():
        if isinstance(item, RecordError):
            yield item
        elif _SEPARATOR.match(item.text):
            yield block
            block = []
            held.clear()
        else:
            held.add(len(item.text), item.position)
            block.append(item)
            if _FOOTER.match(item.text):  # some logs have nothing else between episodes
                yield block
                block = []
                held.clear()
    yield block


def _block_episodes(block: list[Line], log: Log) -> Iterator[Reading]:
    lines = [line.text for line in block]
    header = next(filter(None, map(_HEADER.match, lines)), None)
    footer = next((i for i, line in enumerate(lines) if _FOOTER.match(line)), None)
    body = [line for line in lines[:footer] if not _HEADER.match(line)]
    # Dropping the header moves what follows up by a line; numbers are those of the file.
    places = [line.position for line in block[:footer] if not _HEADER.match(line.text)]
    found = list(episodes_in(body))
    if not found and (header or footer is not None or any(map(is_action, body))):
        yield RecordError(
            "an episode without a line that begins with `Your task is to`",
            source=log.name,
            position=block[0].position,
        )
    if len(found) > 1 and footer is not None:  # one verdict is about one episode
        *before, last = found
        found = [last]
        if not any(map(announces, body)):
            yield from (_without_verdict(places[start]) for start, _ in before)
    for start, part in found:
        trajectory = _with_footer(parse_episode(part), lines, footer)
        if header:
            trajectory = replace(trajectory, metadata={"id": f"env_{header['number']}"})
        yield _placed(trajectory, places[start])


def _without_verdict(position: str) -> RecordError:
    return RecordError(
        "an episode without a STATUS line, before one that has it",
        position=position,
        hint="put a ##### line between them, or leave it out if it is an example",
    )


def _with_footer(trajectory: Trajectory, lines: list[str], footer: int | None) -> Trajectory:
    match = _FOOTER.match(lines[footer]) if footer is not None else None
    return trajectory.with_outcome(stated(match["word"]) if match else Outcome())


def _named_texts(record: Record, log: Log) -> Iterator[Reading]:
    """Episodes of a JSON object whose values are ReAct text, as collections of examples are."""
    for name, text in as_mapping(record.value).items():
        position = f"{record.position}, key {quoted(name, 80)}"
        found = list(episodes_in(text.splitlines())) if isinstance(text, str) else []
        if not found:
            reason = RecordError("no ReAct text with a `Your task is to` line")
            yield located(reason, log.name, position)
        for _, part in found:
            yield _placed(replace(parse_episode(part), metadata={"id": name}), position)


def _placed(trajectory: Trajectory, position: str) -> Trajectory:
    return replace(trajectory, source=LogSource(position=position, format=READER.name))


def _looks_like_react(text: str) -> bool:
    lines = text.splitlines()
    return any(map(is_goal, lines)) and any(map(is_action, lines))


def _claims(preview: Preview) -> float:
    if preview.layout == "text":
        return 0.9 * _looks_like_react(preview.head)
    values = [value for record in preview.records for value in as_mapping(record).values()]
    if not values or len(preview.records) > 1:
        return 0.0
    return (
        0.8
        * sum(isinstance(text, str) and _looks_like_react(text) for text in values)
        / len(values)
    )


READER = Reader(
    name="react",
    description="ReAct text on ALFWorld: `Your task is to`, `> action`, trial logs with STATUS",
    claims=_claims,
    read=_read,
)
