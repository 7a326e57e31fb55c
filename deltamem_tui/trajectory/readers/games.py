"""The games of ReAct as text: ALFWorld, and WebShop that ends with a score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import stated_under, verdict_of
from deltamem_tui.trajectory.readers.handwritten import SEARCH_LOG, labelled_parts
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.sessions import line_blocks
from deltamem_tui.trajectory.readers.tasks import GOAL_LINE, domain_of, scene_of

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


def _parse_episode(lines: Sequence[str]) -> Trajectory:
    goal = next(index for index, line in enumerate(lines) if GOAL_LINE.match(line))
    found = GOAL_LINE.match(lines[goal])
    after = range(goal + 1, len(lines))
    first = next((index for index in after if _PROMPT.match(lines[index])), len(lines))
    scene = "\n".join([*lines[:goal], *lines[goal + 1 : first]])
    return Trajectory(
        task=found["goal"].strip() if found else "",
        environment=scene_of(scene),
        steps=tuple(_steps(_turns(lines[first:]))),
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


def _steps(turns: list[tuple[str, str]]) -> Iterator[Step]:
    thoughts: list[str] = []
    for written, answer in turns:
        thought = _THOUGHT.fullmatch(written)
        if thought and answer.lower() in _ANSWERS_TO_THOUGHT:
            thoughts.append(thought["plan"] or thought["text"].strip())
        elif written:
            yield Step(written, answer, "\n".join(thoughts))
            thoughts = []


def _read(log: Log) -> Iterator[Reading]:
    what, hint = "text without a ##### line", "split the file between episodes"
    # Some logs have nothing but verdicts between episodes.
    for block in line_blocks(log, what, begins=_SEPARATOR.match, ends=_FOOTER.match, hint=hint):
        yield from [block] if isinstance(block, RecordError) else _block_episodes(block, log)


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


def _placed(trajectory: Trajectory, position: str) -> Trajectory:
    return replace(trajectory, source=LogSource(position=position, format="react"))


def _looks_like_react(text: str) -> bool:
    lines = text.splitlines()
    return any(map(GOAL_LINE.match, lines)) and any(map(_PROMPT.match, lines))


def _react_claims(preview: Preview) -> float:
    return 0.9 * (preview.layout == "text" and _looks_like_react(preview.head))


_WEBSHOP_ACTION = re.compile(r"^Action:[ \t]*", re.MULTILINE)
_RESET = re.compile(r"^Action:[ \t]*reset\b", re.MULTILINE)
_PAGE_ACTION = re.compile(r"^Action:[ \t]*(?:search|click|think)\[", re.MULTILINE)
_WEBSHOP_THOUGHT = re.compile(r"think\[(?P<text>.*)\]?", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):[ \t]*(?P<score>-?[\d.]+)")
_INSTRUCTION = re.compile(r"Instruction:\s*(?P<goal>.+?)(?:\n|\[SEP\]|\[Search\]|\Z)", re.DOTALL)
# Between episodes the program that ran them prints its running means and a rule.
_BETWEEN = re.compile(r"^(?:-{10,}|\d+(?: [\d.]+){3})[ \t]*$")


def _read_webshop(log: Log) -> Iterator[Reading]:
    number = ""  # is printed before an episode, as the last line of the block before
    for block in line_blocks(log, "an episode", begins=_RESET.match):
        if isinstance(block, RecordError):
            yield block
            continue
        yield from _text_episode(block, number)
        last = next((line.text.strip() for line in reversed(block) if line.text.strip()), "")
        number = last if last.isdecimal() else ""


def _text_episode(block: list[TextLine], number: str) -> Iterator[Reading]:
    position, texts = block[0].position, [line.text for line in block]
    begin = next((index for index, text in enumerate(texts) if _WEBSHOP_ACTION.match(text)), None)
    if begin is None:
        return
    if not _RESET.match(texts[0]):
        reason = "actions whose beginning, with the task, is not in the log"
        yield RecordError(reason, position=position)
        return
    parts = labelled_parts(takewhile(lambda text: not _BETWEEN.match(text), texts))
    steps = _text_steps(parts)
    page, *done = steps
    goal = _INSTRUCTION.search(page.observation)
    if goal is None:
        yield RecordError("no `Instruction:` on the first page", position=position)
        return
    scores = [found["score"] for step in steps if (found := _SCORE.search(step.observation))]
    yield Trajectory(
        task=goal["goal"].strip(),
        steps=tuple(done),
        outcome=stated_under({"Your score": scores[-1]}, "Your score") if scores else Outcome(),
        source=LogSource(position=position),
        domain="webshop",
        metadata={"id": number} if number else {},
    )


def _text_steps(parts: Iterator[tuple[str, str]]) -> list[Step]:
    steps: list[Step] = []
    thoughts: list[str] = []
    thinks = False
    for kind, text in parts:
        if kind == "action":
            thought = _WEBSHOP_THOUGHT.fullmatch(text)
            thinks = thought is not None
            if thought:
                thoughts.append(thought["text"].removesuffix("]").strip())
            else:
                steps.append(Step(text, "", "\n".join(thoughts)))
                thoughts = []
        elif not thinks:
            last = steps.pop()
            steps.append(Step(last.action, text, last.thought))
    return steps


def _webshop_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    return 0.9 * bool(_RESET.search(preview.head) or _PAGE_ACTION.search(preview.head))


READERS = (
    Reader(
        name="react",
        description="ReAct text on ALFWorld: `Your task is to`, `> action`, trials with STATUS",
        claims=_react_claims,
        read=_read,
    ),
    Reader(
        name="webshop",
        description="WebShop as ReAct text, also in a notebook: Action, Observation, Your score",
        claims=_webshop_claims,
        read=_read_webshop,
    ),
)
