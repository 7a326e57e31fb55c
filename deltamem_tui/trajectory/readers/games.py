"""ALFWorld: ReAct text, and runs of its wrapper. ScienceWorld: histories and recordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record, TextLine, located
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import number, stated, stated_under, verdict_of
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    all_entries,
    each_entry,
    each_record,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import Session, line_blocks, sessions, stray
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    required_text,
)
from deltamem_tui.trajectory.readers.tasks import GOAL_LINE, domain_of, scene_of
from deltamem_tui.trajectory.secrets.redaction import quoted

# Some logs have no blank between the prompt and what the agent wrote; others number both sides.
_PROMPT = re.compile(r">(?: |(?=[A-Za-z]))|Act \d{1,4}: ?", re.ASCII)
_ANSWER = re.compile(r"Obs \d{1,4}: ?", re.ASCII)
# A thought, or a planning trace that some agents write beside it; no game ever sees either.
_THOUGHT = re.compile(
    r"(?:think|thought)\s*:\s*(?P<text>.*)|(?P<plan>ActionPath\s*:.*)", re.IGNORECASE | re.DOTALL
)
# What games answer to a thought: they were told to say OK, or do not know the word.
_ANSWERS_TO_THOUGHT = frozenset({"", "ok.", "ok", "nothing happens."})
_SCENE_START = re.compile(r"^\s*(?:-= Welcome|You are in )")
# How the prompts of the known agents begin, before their examples.
_PROMPT_START = re.compile(r"^Interact with a household\b|^Here (?:is|are) [\w ]{0,20}examples?\b")
_TASK_MARK = re.compile(r"^Here is the task[:.]?\s*$", re.IGNORECASE)
# What the machine says when it ends a run in the middle of it.
_BREAKS_OFF = re.compile(r"^(?:slurmstepd|srun): |^Traceback \(most recent call last\):")
_SEPARATOR = re.compile(r"^(?:#{5,}|-{10,})\s*$")
_HEADER = re.compile(r"^\s*Environment #(?P<number>\d+):?\s*$")
# The one of trial logs, and the running count of a notebook: `3 r True rs [1, 0] cnts [2, 1]`.
_FOOTER = re.compile(
    r"^\s*STATUS:\s*(?P<word>OK|FAIL)\s*$|^\d{1,6} r (?P<won>\w{1,5}) rs\b", re.ASCII
)


def _episodes_in(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the episodes of a text, each with the index of its first line."""
    marks = [index for index, line in enumerate(lines) if _TASK_MARK.match(line)]
    if not marks:
        yield from _parted(lines, 0, len(lines))
    for begin, end in pairwise([*marks, len(lines)]):
        prompt = next((i for i in range(begin + 1, end) if _PROMPT_START.match(lines[i])), end)
        found = list(_parted(lines, begin + 1, prompt))
        yield from found if prompt < end or end == len(lines) else found[:1]


def _parted(lines: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, Sequence[str]]]:
    goals = [index for index in range(begin, end) if GOAL_LINE.match(lines[index])]
    if not goals:
        return
    has_scene = any(map(_SCENE_START.match, lines[begin : goals[0]]))
    starts = [_start_before(lines, begin - 1, goals[0]) if has_scene else begin]
    starts += [_start_before(lines, before, goal) for before, goal in pairwise(goals)]
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        yield start, lines[start:stop]


def _start_before(lines: Sequence[str], previous: int, goal: int) -> int:
    """Return where the scene of the episode begins whose goal is on line `goal`."""
    last_action = previous
    for index in range(max(previous, 0), goal):
        if _PROMPT.match(lines[index]):
            last_action = index
    gap = range(last_action + 1, goal)
    if scenes := [index for index in gap if _SCENE_START.match(lines[index])]:
        banner = scenes[-1] - 1
        while banner > last_action and not lines[banner].strip():
            banner -= 1
        return banner if banner in scenes else scenes[-1]
    return next((index + 1 for index in reversed(gap) if not lines[index].strip()), goal)


def _parse_episode(lines: Sequence[str], *, cut: bool = False) -> Trajectory:
    goal = next(index for index, line in enumerate(lines) if GOAL_LINE.match(line))
    found = GOAL_LINE.match(lines[goal])
    after = range(goal + 1, len(lines))
    first = next((index for index in after if _PROMPT.match(lines[index])), len(lines))
    scene = "\n".join([*lines[:goal], *lines[goal + 1 : first]])
    return Trajectory(
        task=found["goal"].strip() if found else "",
        environment=scene_of(scene),
        steps=tuple(_steps(_turns(lines[first:]), cut=cut)),
        domain=domain_of(scene) or "alfworld",
    )


def _turns(lines: Sequence[str]) -> list[tuple[str, str]]:
    turns: list[tuple[str, list[str]]] = []
    for line in lines:
        if _BREAKS_OFF.match(line):
            break
        if prompt := _PROMPT.match(line):
            turns.append((line[prompt.end() :].strip(), []))
        else:
            turns[-1][1].append(_ANSWER.sub("", line, count=1) if _ANSWER.match(line) else line)
    return [(written, "\n".join(answer).strip()) for written, answer in turns]


def _steps(turns: list[tuple[str, str]], *, cut: bool) -> Iterator[Step]:
    if cut and turns and not turns[-1][1]:
        turns = turns[:-1]
    thoughts: list[str] = []
    for written, answer in turns:
        thought = _THOUGHT.fullmatch(written)
        if thought and answer.lower() in _ANSWERS_TO_THOUGHT:
            thoughts.append(thought["plan"] or thought["text"].strip())
        elif written:
            yield Step(written, answer, "\n".join(thoughts))
            thoughts = []


def _read(log: Log) -> Iterator[Reading]:
    if log.is_text:
        what, hint = "text without a ##### line", "split the file between episodes"
        # Some logs have nothing but verdicts between episodes.
        for block in line_blocks(log, what, begins=_SEPARATOR.match, ends=_FOOTER.match, hint=hint):
            yield from [block] if isinstance(block, RecordError) else _block_episodes(block, log)
        return
    for item in log.records():
        yield from [item] if isinstance(item, RecordError) else _named_texts(item, log)


def _block_episodes(block: list[TextLine], log: Log) -> Iterator[Reading]:
    header = next(filter(None, (_HEADER.match(line.text) for line in block)), None)
    footer = next(filter(None, (_FOOTER.match(line.text) for line in block)), None)
    marks = (_SEPARATOR, _HEADER, _FOOTER)
    body = [line for line in block if not any(mark.match(line.text) for mark in marks)]
    lines = [line.text for line in body]
    found = list(_episodes_in(lines))
    if not found and (header or footer or any(map(_PROMPT.match, lines))):
        reason = "an episode without a line that begins with `Your task is to`"
        yield RecordError(reason, source=log.name, position=(body or block)[0].position)
    if footer:  # one verdict is about one episode
        if not any(map(_PROMPT_START.match, lines)):
            yield from (_without_verdict(body[start].position) for start, _ in found[:-1])
        found = found[-1:]
    outcome = verdict_of(footer["word"] or footer["won"]) if footer else Outcome()
    metadata = {"id": f"env_{header['number']}"} if header else {}
    for start, part in found:
        trajectory = replace(_parse_episode(part), outcome=outcome, metadata=metadata)
        yield _placed(trajectory, body[start].position)


def _without_verdict(position: str) -> RecordError:
    return RecordError(
        "an episode without a STATUS line, before one that has it",
        position=position,
        hint="put a ##### line between them, or leave it out if it is an example",
    )


def _named_texts(record: Record, log: Log) -> Iterator[Reading]:
    """Episodes of a JSON object whose values are ReAct text, as collections of examples are."""
    for name, text in as_mapping(record.value).items():
        position = f"{record.position}, key {quoted(name, 80)}"
        found = list(_episodes_in(text.splitlines())) if isinstance(text, str) else []
        if not found:
            reason = RecordError("no ReAct text with a `Your task is to` line")
            yield located(reason, log.name, position)
        for _, part in found:
            yield _placed(replace(_parse_episode(part), metadata={"id": name}), position)


def _placed(trajectory: Trajectory, position: str) -> Trajectory:
    return replace(trajectory, source=LogSource(position=position, format="react"))


def _looks_like_react(text: object) -> bool:
    lines = text.splitlines() if isinstance(text, str) else []
    return any(map(GOAL_LINE.match, lines)) and any(map(_PROMPT.match, lines))


def _react_claims(preview: Preview) -> float:
    if preview.layout == "text":
        return 0.9 * _looks_like_react(preview.head)
    values = [value for record in preview.records for value in as_mapping(record).values()]
    if not values or len(preview.records) > 1:
        return 0.0
    return 0.8 * sum(map(_looks_like_react, values)) / len(values)


def _wrapped_episode(value: object) -> Trajectory:
    record = as_mapping(value)
    found = list(_episodes_in(required_text(record, "traj").splitlines()))
    if not found:
        raise RecordError("no line that begins with `Your task is to` under `traj`")
    result, name = record.get("result"), as_text(record.get("name"))
    is_cut = type(result) is int and result == 0
    # The game's name begins with its kind: `pick_and_place_simple-Mug-None-Desk-308/trial_…`.
    kind, dash, _ = name.partition("-")
    facts = {"id": name, "task_type": kind if dash else "", "cut": "true" if is_cut else ""}
    # Whatever comes before the last goal is an example that was shown to the agent.
    return replace(
        _parse_episode(found[-1][1], cut=is_cut),
        outcome=Outcome() if is_cut else stated_under(record, "result"),
        metadata=facts,
    )


def _is_wrapper(value: object) -> bool:
    record = as_mapping(value)
    text = record.get("traj")
    if not isinstance(text, str) or "result" not in record:
        return False
    return any(map(GOAL_LINE.match, text.splitlines()))


# Some keys were misspelt for a while, and the logs of that time are still about.
_TASK_KEYS = ("taskDescription", "taslDescription", "taskDesc", "taskName")
_ACTION_KEYS = ("action", "userInput", "input")
_DONE_KEYS = ("isCompleted", "isCompeted")
# Old versions repeat what they understood before they answer.
_ECHO = re.compile(r"\AInput: Successfully parsed input into [^\n]*\n[ \t]*\n\([^\n)]*\):\n")
# The simulator looks around by itself before anybody acts.
_OPENING = "look around"
_LEAVING = frozenset({"exit", "quit"})


def _first(row: Json, keys: tuple[str, ...]) -> object:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _steps_of(rows: Iterable[Json]) -> list[Step]:
    steps = []
    for index, row in enumerate(rows, 1):
        action = _first(row, _ACTION_KEYS)
        if action is None:
            raise RecordError(f"row {index} has no action")
        seen = _ECHO.sub("", as_text(row.get("observation"))).strip()
        steps.append(Step(as_text(action).strip(), seen))
    return steps


def _is_done(row: Json) -> bool:
    return stated(_first(row, _DONE_KEYS)).success is True


def _episode(about: Json, rows: Sequence[Json], environment: str, steps: list[Step]) -> Trajectory:
    return Trajectory(
        task=as_text(_first(about, _TASK_KEYS)).strip(),
        environment=environment,
        steps=tuple(steps),
        outcome=_outcome(rows),
        domain="scienceworld",
        metadata={
            "task_type": as_text(about.get("taskName")),
            "variation": as_text(about.get("variationIdx")),
        },
    )


def _outcome(rows: Sequence[Json]) -> Outcome:
    """Return the last score. It goes to 1, or in points to 100: the whole episode shows which."""
    written = [row["score"] for row in rows if row.get("score") is not None]
    scored = [each for each in written if number(each) is not None]
    scores = [number(each) or 0.0 for each in scored]
    if not scores:
        return stated_under({"score": written[-1] if written else None}, "score")
    in_points = max(map(abs, scores)) > 1
    whole = all(as_text(each).strip().removeprefix("-").isdecimal() for each in scored)
    if not in_points and scores[-1] == 1 and whole and not _is_done(rows[-1]):
        return Outcome(reason="a score of 1, which may be all or one point of a hundred")
    return stated_under({"score": scored[-1]}, "score", best=100.0 if in_points else 1.0)


def _history(_: Conversation, name: str, value: object) -> Trajectory:
    run = as_mapping(value)
    # Run histories are wrapped once more, in what the program that ran them writes beside.
    about = as_mapping(run.get("history")) or run
    rows = [*map(as_mapping, required_list(about, "history"))]
    steps = _steps_of(rows)
    opened = len(steps) > 1 and steps[0].action == _OPENING
    found = _episode(about, rows, steps[0].observation if opened else "", steps[opened:])
    return found.with_facts(metadata={"id": name, **found.metadata})


def _is_history(value: object) -> bool:
    """Return True if a value is a task with rows of actions, bare as in saved games or wrapped."""
    about = as_mapping(value)
    about = as_mapping(about.get("history")) or about
    rows = as_list(about.get("history"))
    named = bool(about.keys() & {"taskDescription", "taskDesc"})
    return named and bool(rows) and bool(as_mapping(rows[0]).keys() & {"action", "input"})


def _history_claims(preview: Preview) -> float:
    return 0.95 * max(share(preview, _is_history), share(preview, all_entries(_is_history)))


@dataclass(slots=True)
class _Recording(Session):
    """The rows of one game, and the last of it that came, even behind a gap."""

    rows: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=dict)

    def begins_another(self, value: object) -> bool:
        row = as_mapping(value)
        if not _is_of_a_game(row):
            return False
        facts = zip(_facts(self.last), _facts(row), strict=True)
        if any(one != other for one, other in facts if one and other):
            return True
        moves = [number(each.get("consoleMoveCount")) for each in (self.last, row)]
        if None not in moves and moves[1] < moves[0]:  # type: ignore[operator]
            return True
        return _is_done(self.last) and not _is_done(row)

    def take(self, value: object) -> None:
        if not _is_of_a_game(as_mapping(value)):
            raise stray("not a game record")
        self.leave_out(value)
        self.rows.append(self.last)

    def leave_out(self, value: object) -> None:
        self.last = as_mapping(value)

    def episode(self, _: Conversation) -> Trajectory:
        typed = _steps_of(self.rows)
        # An input is answered in the row after it.
        steps = [Step(one.action, after.observation) for one, after in pairwise(typed)]
        is_done, last = _is_done(self.rows[-1]), typed[-1].action
        # What was typed when all was over had no effect.
        if not is_done and last.lower() not in _LEAVING:
            steps.append(Step(last))
        found = _episode(self.rows[0], self.rows, typed[0].observation, steps)
        if self.breaks_off and not is_done:  # the last score is not the final one
            return found.with_outcome(Outcome(reason="the recording breaks off"))
        return found


def _facts(row: Json) -> tuple[str, ...]:
    keys = (_TASK_KEYS[:-1], ("taskName",), ("variationIdx",))
    return tuple(as_text(_first(row, each)).strip() for each in keys)


def _is_of_a_game(row: Json) -> bool:
    return not row.keys().isdisjoint(("userInput", "observation"))


READERS = (
    Reader(
        name="react",
        description="ReAct text on ALFWorld: `Your task is to`, `> action`, trials with STATUS",
        claims=_react_claims,
        read=_read,
    ),
    json_reader(
        name="alfworld-wrapper",
        description="ReAct text on ALFWorld in JSONL: name, result and traj",
        is_own=_is_wrapper,
        read=each_record(_wrapped_episode),
    ),
    Reader(
        name="scienceworld-history",
        description="ScienceWorld run histories and saved games: taskDescription and history",
        claims=_history_claims,
        read=each_entry(_history, _is_history),
    ),
    json_reader(
        name="scienceworld-recording",
        description="ScienceWorld recordings: rows of observation, userInput and score",
        is_own=lambda value: {"userInput", "observation", "score"} <= as_mapping(value).keys(),
        read=sessions(_Recording),
    ),
)
