"""Runs and chats as text: what marks a turn in each style, and the events that the turns are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import verdict_of
from deltamem_tui.trajectory.readers import specstory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.events import KINDS, Event, events_episode
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    conversation_readings,
    line_blocks,
)
from deltamem_tui.trajectory.readers.shapes import as_text
from deltamem_tui.trajectory.readers.tasks import GOAL_LINE, domain_of, scene_of

Lines = Sequence[TextLine]

# What begins a turn in a transcript; more would be found in what is said.
_SPEAKERS = (
    *("user", "human", "me", "customer", "assistant", "agent", "ai", "bot", "model", "claude"),
    *("chatgpt", "tool", "tool result", "tool output", "observation", "environment", "result"),
    *("output", "thought", "thinking", "reasoning", "action", "tool call", "command", "system"),
    *("scene", "context", "task", "goal", "outcome"),
)
_KINDS = KINDS | {"result": "tool", "environment": "tool", ">": "action", "obs": "tool"}
_NAMES = "|".join(sorted(_SPEAKERS, key=len, reverse=True))
_HEADING = re.compile(
    rf"^#{{1,4}} (?:\S{{1,4}} )?(?P<who>{_NAMES})(?: \([^)]*\))?:?\s*$", re.IGNORECASE
)
_LABEL = re.compile(
    rf"^(?:\*\*)?(?P<who>{_NAMES})(?:\*\*)?:(?:\*\*)?(?:[ \t]+(?P<text>.*)|\s*)$", re.IGNORECASE
)
_RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})\s*$")
_TASK = re.compile(r"^(?P<who>Question|Claim|Task|Goal):[ \t]*(?P<text>.*)")
_PART = re.compile(
    r"^(?P<who>Thought|Action|Observation|Final Answer|Outcome)[ \t]{0,3}\d{0,4}:"
    r"[ \t]?(?P<text>.*)",
    re.IGNORECASE | re.ASCII,  # without the long s, whose lower case is not an s
)


def _turns(lines: Iterable[TextLine], mark: re.Pattern[str]) -> Iterator[Event]:
    """Yield the turns that a mark begins, as events."""
    found, said = None, list[str]()
    for line in lines:
        if begins := mark.match(line.text):
            if found:
                yield _turn(found, said)
            found, said = begins, [begins.groupdict().get("text") or ""]
        else:
            said.append(line.text)
    if found:
        yield _turn(found, said)


def _kind_of(mark: re.Match[str]) -> str:
    return _KINDS[mark["who"].lower().replace(" ", "_")]


def _turn(mark: re.Match[str], lines: list[str]) -> Event:
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    kind, text = _kind_of(mark), "\n".join(lines).strip()
    lines = text.split("\n")
    if kind == "tool" and len(lines) > 2 and text.startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1])  # what tools printed may be in a fence
    if kind == "end":
        return kind, {"verdict": text.rstrip(".").lower()}
    return kind, {"text": text, "about": mark.groupdict().get("about")}


def _said(event: Event) -> str:
    return as_text(event[1].get("text"))


def _mark_of(head: str) -> re.Pattern[str] | None:
    """Return how the turns of a transcript are marked, if a user and an agent speak in it."""
    for mark in (specstory.TURN, _HEADING, _LABEL):
        found = {_kind_of(each) for each in map(mark.match, head.splitlines()) if each}
        if {"user", "agent"} <= found:
            return mark
    return specstory.TURN if specstory.GENERATED.search(head) else None


def _read_transcript(log: Log) -> Iterator[Reading]:
    mark = _mark_of(log.preview().head)
    if mark is None:
        yield RecordError("no turns of a user and an assistant in it", source=log.name)
        return
    # Another task begins a session of its own only where the text says that it is one.
    for block in line_blocks(log, "a transcript"):
        if isinstance(block, RecordError):
            yield block
            continue
        first = next((i for i, line in enumerate(block) if mark.match(line.text)), 0)
        names = [
            found["id"] for line in block[:first] if (found := specstory.SESSION.match(line.text))
        ]
        turns = _turns(block, mark)
        if mark is specstory.TURN:
            turns = (part for turn in turns for part in _opened(turn))
        events = [("start", {"session": "".join(names[-1:])}), *_with_commands(turns)]
        yield from conversation_readings(block[first].position, events_episode, events)


def _opened(turn: Event) -> Iterator[Event]:
    """Yield a turn of an agent in parts, where thoughts and calls stand in elements."""
    kind, row = turn
    if kind != "agent":
        yield turn
        return
    about = as_text(row.get("about")).removeprefix("model ").split()
    # A date alone, or the model's name before it.
    model = about[0].rstrip(",") if about and not about[0][:4].isdigit() else ""
    yield from specstory.parts_of(_said(turn))
    yield "agent", {"text": "", "model": model}


def _with_commands(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events, with a command that opens what a tool says as an action of its own."""
    last, before = "", ""
    for kind, row in events:
        text = as_text(row.get("text"))
        shown, _, rest = text.partition("\n")
        command = shown.removeprefix("$ ").strip()
        is_said = before.endswith((f"\n{command}", f"\n{command}\n```")) or last == "action"
        if kind == "tool" and shown.startswith("$ ") and not is_said:
            yield "action", {"action": command}
            yield kind, {"text": rest}
        else:
            yield kind, row
        last, before = kind, f"\n{text}"


# The log of a search tells its prompt anew at each node: nothing says which of it was done.
_SEARCH_LOG = re.compile(
    r"^\d{4}-\d\d-\d\d[ T][\d:,.]{5,20} - [A-Z]{4,8} - "
    r"(?:PROMPT:|SAMPLED ACTION|NEW NODE|Iteration \d|\w+ at node depth)",
    re.MULTILINE | re.ASCII,
)


def _read_labelled(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "an episode", begins=_TASK.match):
        if isinstance(block, RecordError):
            yield block
        elif begins := _TASK.match(block[0].text):
            first = next((i for i, line in enumerate(block) if _PART.match(line.text)), len(block))
            asked = "\n".join([begins["text"], *(line.text for line in block[1:first])])
            events = [("user", {"text": asked.strip()}), *_turns(block[first:], _PART)]
            yield from conversation_readings(block[0].position, events_episode, events)


# ReAct on ALFWorld. To a thought the game says OK, as it was told to, or does not know the word.
_NODS = frozenset({"", "ok.", "ok", "nothing happens."})
# A thought, or a planning trace that some agents write beside it; no game ever sees either.
_THOUGHT = re.compile(
    r"(?:(?:think|thought)\s*:\s*|(?=ActionPath\s*:))(?P<text>.*)", re.IGNORECASE | re.DOTALL
)


def _played(turns: Iterable[Event]) -> Iterator[Event]:
    """Yield the turns of a game, with what it only nodded at as thoughts."""
    is_nod = False
    end: Event = ("", {})
    for event, following in pairwise([*turns, end]):
        if is_nod:
            is_nod = False
            continue
        thought = _THOUGHT.fullmatch(_said(event)) if event[0] == "action" else None
        is_answered = following[0] == "tool"
        if thought and (not is_answered or _said(following).lower() in _NODS):
            is_nod = is_answered
            yield "thought", {"text": thought["text"]}
        else:
            yield event


# Some logs have no blank between the prompt and what the agent wrote; others number both sides.
_PROMPT = re.compile(
    r"^(?P<who>>(?=[ A-Za-z])|(?:Act|Obs)(?= \d{1,4}:))(?: \d{1,4}:)? ?(?P<text>.*)", re.ASCII
)
_ACTION = re.compile(r"^(?:>[ A-Za-z]|Act \d{1,4}:)", re.ASCII)
_SCENE_START = re.compile(r"^\s*(?:-= Welcome|You are in )")
# How the prompts of the known agents begin, before their examples.
_PROMPT_START = re.compile(r"^Interact with a household\b|^Here (?:is|are) [\w ]{0,20}examples?\b")
_TASK_MARK = re.compile(r"^Here is the task[:.]?\s*$", re.IGNORECASE)
# What the machine says when it ends a run in the middle of it.
_BREAKS_OFF = re.compile(r"^(?:slurmstepd|srun): |^Traceback \(most recent call last\):")
_SEPARATOR = re.compile(r"^(?:#{5,}|-{10,})\s*$")
_HEADER = re.compile(r"^\s*Environment #(?P<number>\d+):?\s*$")
# The one of trial logs, and a running count: `3 r True rs [1, 0] cnts [2, 1]`.
_FOOTER = re.compile(
    r"^\s*STATUS:\s*(?P<word>OK|FAIL)\s*$|^\d{1,6} r (?P<won>\w{1,5}) rs\b", re.ASCII
)


def _read_react(log: Log) -> Iterator[Reading]:
    what, hint = "text without a ##### line", "split the file between episodes"
    # Some logs have nothing but verdicts between episodes.
    for block in line_blocks(log, what, begins=_SEPARATOR.match, ends=_FOOTER.match, hint=hint):
        yield from [block] if isinstance(block, RecordError) else _runs_in(block)


def _runs_in(block: Lines) -> Iterator[Reading]:
    header = next(filter(None, (_HEADER.match(line.text) for line in block)), None)
    footer = next(filter(None, (_FOOTER.match(line.text) for line in block)), None)
    marks = (_SEPARATOR, _HEADER, _FOOTER)
    body = [line for line in block if not any(mark.match(line.text) for mark in marks)]
    lines = [line.text for line in body]
    found = [body[start:stop] for start, stop in _episodes_in(lines)]
    if not found and (header or footer or any(map(_ACTION.match, lines))):
        reason = "an episode without a line that begins with `Your task is to`"
        yield RecordError(reason, position=(body or block)[0].position)
    if footer:  # one verdict is about one episode
        if not any(map(_PROMPT_START.match, lines)):
            hint = "put a ##### line between them, or leave it out if it is an example"
            for part in found[:-1]:
                reason = "an episode without a STATUS line, before one that has it"
                yield RecordError(reason, position=part[0].position, hint=hint)
        found = found[-1:]
    outcome = verdict_of(footer["word"] or footer["won"]) if footer else Outcome()
    number = f"env_{header['number']}" if header else ""
    for part in found:
        yield from conversation_readings(part[0].position, _run, part, outcome, number)


def _run(conversation: Conversation, lines: Lines, outcome: Outcome, number: str) -> Trajectory:
    goal = next(index for index, line in enumerate(lines) if GOAL_LINE.match(line.text))
    after = range(goal + 1, len(lines))
    first = next((index for index in after if _ACTION.match(lines[index].text)), len(lines))
    scene = scene_of("\n".join(line.text for line in lines[:first]))
    asked = GOAL_LINE.match(lines[goal].text)
    acts = takewhile(lambda line: not _BREAKS_OFF.match(line.text), lines[first:])
    events: list[Event] = [
        ("user", {"text": asked["goal"] if asked else ""}),
        ("system", {"text": scene}),
        *_played(_acted(_turns(acts, _PROMPT))),
    ]
    found = events_episode(conversation, events)
    domain = domain_of(scene) or "alfworld"
    return replace(found, outcome=outcome, domain=domain, metadata={"id": number})


def _acted(turns: Iterable[Event]) -> Iterator[Event]:
    """Yield turns, with what the game printed below an action as its answer."""
    for kind, row in turns:
        text = _said((kind, row))
        action, _, answer = text.partition("\n") if kind == "action" else (text, "", "")
        yield kind, {"text": action}
        if answer:
            yield "tool", {"text": answer}


def _episodes_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each episode of a text begins and ends."""
    marks = [index for index, line in enumerate(lines) if _TASK_MARK.match(line)]
    if not marks:
        yield from _parted(lines, 0, len(lines))
    for begin, end in pairwise([*marks, len(lines)]):
        prompt = next((i for i in range(begin + 1, end) if _PROMPT_START.match(lines[i])), end)
        found = list(_parted(lines, begin + 1, prompt))
        yield from found if prompt < end or end == len(lines) else found[:1]


def _parted(lines: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, int]]:
    goals = [index for index in range(begin, end) if GOAL_LINE.match(lines[index])]
    if not goals:
        return
    has_scene = any(map(_SCENE_START.match, lines[begin : goals[0]]))
    starts = [_start_before(lines, begin - 1, goals[0]) if has_scene else begin]
    starts += [_start_before(lines, before, goal) for before, goal in pairwise(goals)]
    yield from zip(starts, [*starts[1:], end], strict=True)


def _start_before(lines: Sequence[str], previous: int, goal: int) -> int:
    """Return where the scene of the episode begins whose goal is on line `goal`."""
    acts = (index for index in range(goal, previous, -1) if _ACTION.match(lines[index]))
    gap = range(next(acts, previous) + 1, goal)
    if scenes := [index for index in gap if _SCENE_START.match(lines[index])]:
        banner = scenes[-1] - 1
        while banner in gap and not lines[banner].strip():
            banner -= 1
        return banner if banner in scenes else scenes[-1]
    return next((index + 1 for index in reversed(gap) if not lines[index].strip()), goal)


# The chat history of Aider: Markdown in which the user and the program mark their lines.
_AIDER_START = re.compile(r"^# aider chat started at (?P<when>[\d: -]+)\s*$")
_USER, _TOOL = "####", ">"
_AIDER_MODEL = re.compile(r"^(?:Main model|Models?): (?P<name>\S+?)(?: with |,|$)")
_AIDER_ADDED = re.compile(r"^Added (?P<file>\S+) to the chat\.?$")
_AIDER_EDITED = re.compile(r"^Applied edit to (\S+)$", re.MULTILINE)
# Commands of the chat program that carry words to the model; the others are about the program.
_TO_THE_MODEL = re.compile(r"^/(?:ask|code|architect|context)\s+(?P<words>\S.*)", re.DOTALL)
# What the program says of itself after a reply; it is not an answer of the environment.
_SMALL_TALK = re.compile(
    r"^(?:Tokens: |Cost: |Use /help |Restored previous conversation|Aider v|Git repo: |Repo-map: )"
)


def _aider_episode(conversation: Conversation, lines: list[str]) -> Trajectory:
    files: dict[str, None] = {}
    agent = said = ""  # said: what the user waits for an answer to
    by_command = has_replied = False
    for kind, block in _aider_blocks(lines):
        text = "\n".join(block).strip()
        if kind == _USER:
            words = _aider_words(text)
            by_command = not words and not said  # else the reply is still to what was said
            if words != said:  # the program shows again what it was to hand on
                conversation.user(words)
            said = words or said
        elif kind == _TOOL:
            for line in block:
                model, added = _AIDER_MODEL.match(line), _AIDER_ADDED.match(line)
                agent = agent or (model["name"] if model else "")
                if added and not conversation.task:
                    files[added["file"]] = None
            printed = "\n".join(line for line in block if not _SMALL_TALK.match(line)).strip()
            # What a command of the user's printed is not an answer to the agent.
            if has_replied and printed and not by_command:
                for edited in dict.fromkeys(_AIDER_EDITED.findall(printed)):
                    conversation.call("edit", {"path": edited})  # as the reply told it to
                conversation.answer(printed)
        elif not by_command:
            has_replied, said = bool(conversation.task), ""
            conversation.say(text)
    scene = f"Files in the chat: {', '.join(files)}" if files else ""
    return conversation.episode(environment=scene, agent=agent)


def _aider_words(text: str) -> str:
    """Return what the user says to the model; empty for a command to the program."""
    if not text.startswith(("/", "!")):
        return text
    match = _TO_THE_MODEL.match(text)
    return match["words"] if match else ""


def _aider_blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield runs of lines of one speaker: the user, the program, or (empty) the agent."""
    block: list[str] = []
    speaker: str | None = None
    for line, kind in zip(lines, _aider_speakers(lines), strict=True):
        is_blank = not line.strip()
        if speaker is not None and (kind != speaker or (is_blank and speaker == _USER)):
            yield speaker, block
            block, speaker = [], None
        if not _AIDER_START.match(line) and not (is_blank and speaker != ""):
            speaker = kind
            block.append(line.removeprefix(kind).strip() if kind else line)
    if speaker is not None:
        yield speaker, block


def _aider_speakers(lines: list[str]) -> Iterator[str]:
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


def _read_aider(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "a chat", begins=_AIDER_START.match):
        if isinstance(block, RecordError):
            yield block
        elif any(line.text.strip() for line in block):
            texts = [line.text for line in block]
            yield from conversation_readings(block[0].position, _aider_episode, texts)


def _claims(is_own: Callable[[str], object], sureness: float) -> Callable[[Preview], float]:
    def claims(preview: Preview) -> float:
        is_text = preview.layout == "text" and not _SEARCH_LOG.search(preview.head)
        return sureness if is_text and is_own(preview.head) else 0.0

    return claims


def _is_labelled(head: str) -> bool:
    lines = head.splitlines()
    acts = any(each["who"].lower() == "action" for each in map(_PART.match, lines) if each)
    return acts and any(map(_TASK.match, lines))


def _is_react(head: str) -> bool:
    lines = head.splitlines()
    return any(map(GOAL_LINE.match, lines)) and any(map(_ACTION.match, lines))


READERS = (
    Reader(
        name="aider",
        description="Aider: markdown chat history",
        claims=_claims(lambda head: any(map(_AIDER_START.match, head.splitlines())), 0.95),
        read=_read_aider,
    ),
    Reader(
        name="react",
        description="ReAct text on ALFWorld: `Your task is to`, `> action`, trials with STATUS",
        claims=_claims(_is_react, 0.9),
        read=_read_react,
    ),
    Reader(
        name="labelled-text",
        description="Labelled text: Question, Thought, Action, Action Input, Observation, Outcome",
        claims=_claims(_is_labelled, 0.6),
        read=_read_labelled,
    ),
    Reader(
        name="transcript",
        description="Transcripts: ## User and ## Assistant, User: and Assistant:, SpecStory's",
        claims=_claims(_mark_of, 0.55),
        read=_read_transcript,
    ),
)
