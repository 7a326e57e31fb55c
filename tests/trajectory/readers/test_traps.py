"""Every format against every trap: what logs hold that has made programs stumble.

The table is made, not written: a trap does something to a log, and the same to what was read
from it before. So each cell states task, steps, outcome and provenance exactly; what they are
without the trap is for the tests of each format to say. A trap that only one format knows is
in that format's own tests.
"""

from __future__ import annotations

import codecs
import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import detect, read_logs, readers, to_line
from deltamem_tui.trajectory.readers.reader import Reading
from tests.trajectory.readers import test_alfworld, test_rollout
from tests.trajectory.readers.agent_logs import SAMPLES as AGENTS
from tests.trajectory.readers.benchmark_samples import SAMPLES as BENCHMARKS
from tests.trajectory.readers.samples import PIXELS, episodes, readings, refusals

NATIVE = Trajectory(
    "boil water",
    "A kitchen.",
    (Step("look", "a stove", "Where?"), Step("wait", "It boils.")),
    Outcome(True, 1.0, "stated"),
)
OWN: dict[str, list[tuple[str, bytes]]] = {
    "native": [("log.jsonl", to_line(NATIVE))],
    "rollout": [("log.jsonl", json.dumps(test_rollout.RECORD).encode())],
    "react": [("log.txt", test_alfworld.EPISODE.encode())],
    "alfworld-wrapper": [
        (
            "log.jsonl",
            json.dumps({"name": "a-1", "result": True, "traj": test_alfworld.EPISODE}).encode(),
        )
    ],
}
LOGS = OWN | AGENTS | {name: [("log", each.data)] for name, each in BENCHMARKS.items()}
# Words that an episode keeps of each sample; of an observation, where all samples have one.
MARKS = {
    "native": "It boils.",
    "gateway": "a.py",
    "cursor": "It passes.",
    "claude-agent-events": "a.py b.py",
    "swe-agent-web": "TypeError",
    "moatless": "Found in a.py.",
    "tooleval": "It left Rome.",
    "miniwob": "Click Ok.",
    "debug-gym": "total = 0",
    "intercode-human": "('city',)",
    "rollout": "You see a mug 1.",
    "react": "It is dark.",
    "alfworld-wrapper": "It is dark.",
    "swe-agent": "no command found",
    "mini-swe-agent": "<returncode>0</returncode>",
    "openhands": "a.py",
    "openhands-sdk": "no command given",
    "claude-code": "x = 1",
    "codex": "Plan updated",
    "openclaw": "x = 1",
    "gemini-cli": "a.py",
    "specstory": "Thanks.",
    "aider": "They pass.",
    "atif": "x = 1",
    "inspect-ai": "a.py",
    "langfuse": "a.py",
    "langsmith": "a.py",
    "otel": "Fixed.",
    "letta": "Fix it.",
    "openai-chat": "an atlas",
    "anthropic": "no such file",
    "sharegpt": "1815",
    "webshop": "Invalid action!",
    "webshop-human": "a grey sofa",
    "scienceworld-history": "It is open.",
    "scienceworld-recording": "You have the cat.",
    "reflexion": "A book of maps.",
    "intercode": "a b",
    "fireact": "Ada drew it.",
    "tau-bench": "cancelled",
    "tau2-bench": "cancelled",
    "agentbench": "The output of the OS:",
    "toolbench": "none",
    "mind2web": "[button] Book -> CLICK",
    "agentboard": "It is stuck.",
    "agent-data-protocol": "40 seats",
}
Case = tuple[str, str, bytes]
ALL_CASES: list[Case] = [(name, file, data) for name, logs in LOGS.items() for file, data in logs]
CASES = [case for case in ALL_CASES if not case[2].startswith(b"PK")]


def table(cases: list[Case]) -> pytest.MarkDecorator:
    ids = [f"{name}-{file}" for name, file, _ in cases]
    return pytest.mark.parametrize(("name", "file", "data"), cases, ids=ids)


def test_no_format_is_left_out() -> None:
    assert set(LOGS) == set(MARKS) == {reader.name for reader in readers()}


def read(path: Path, data: bytes) -> list[Reading]:
    path.write_bytes(data)
    return list(read_logs([path]))


@table(ALL_CASES)
def test_a_sample_is_of_its_own_format_only(
    tmp_path: Path, name: str, file: str, data: bytes
) -> None:
    (tmp_path / file).write_bytes(data)
    surest, *others = detect(Log(file, tmp_path / file))
    assert surest.reader.name == name
    # Of conversations that others wrap, the plainest reader is less sure; no other reader is.
    clearly = 0.05 if name in BENCHMARKS else 0.2
    assert all(surest.sureness - claim.sureness > clearly for claim in others)


WRAPPINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bom": lambda data: codecs.BOM_UTF8 + data,
    "bom in gzip": lambda data: gzip.compress(codecs.BOM_UTF8 + data),
    "utf-16": lambda data: codecs.BOM_UTF16_LE + data.decode().encode("utf-16-le"),
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
}


@table(CASES)
@pytest.mark.parametrize("wrap", WRAPPINGS)
def test_a_lying_name_and_wrapping_change_nothing(
    tmp_path: Path, name: str, file: str, data: bytes, wrap: str
) -> None:
    plain = read(tmp_path / file, data)
    wrapped = read(tmp_path / "log.csv", WRAPPINGS[wrap](data))
    assert len(wrapped) == len(plain)
    assert list(map(without_file, episodes(wrapped))) == list(map(without_file, episodes(plain)))


def without_file(episode: Trajectory) -> Trajectory:
    """An episode without the name of its file, which may be the issue's id."""
    by_file = episode.source.format in ("swe-agent", "mini-swe-agent")
    metadata = {} if by_file else episode.metadata
    return replace(episode, source=replace(episode.source, file=""), metadata=metadata)


# What may stand in a text.


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something in a text of a log, and what an episode holds in its place."""

    written: Callable[[str], str]
    kept: Callable[[str], str]


ODDITIES = {
    "colours": Oddity(lambda text: f"\x1b[1;31m{text}\x1b[0m", str),
    "a window title": Oddity(lambda text: f"{text}\x1b]0;title\x07", str),
    "a carriage return": Oddity("{}\r100%".format, "{}\n100%".format),
    "chinese": Oddity("请 {} 气".format, "请 {} 气".format),
    "a picture": Oddity(f"{{}} {PIXELS} seen".format, "{} [image] seen".format),
    "two megabytes": Oddity(
        lambda text: text + " 长" * 1_000_000, lambda text: text + " 长" * 1_000_000
    ),
    "a bell": Oddity("{}\x07\x08.".format, "{}.".format),
}


@pytest.mark.one_in(3)
@table(CASES)
@pytest.mark.parametrize("oddity", ODDITIES)
def test_odd_texts(tmp_path: Path, name: str, file: str, data: bytes, oddity: str) -> None:
    mark, odd = MARKS[name], ODDITIES[oddity]
    plain = episodes(read(tmp_path / file, data))
    changed = data_with(data, mark, odd.written(mark))
    assert changed != data
    expected = [with_text(each, mark, odd.kept(mark)) for each in plain]
    assert expected != plain or odd.kept(mark) == mark
    assert episodes(read(tmp_path / file, changed)) == expected


def data_with(data: bytes, old: str, new: str) -> bytes:
    """A log with other words in its texts: in those of its JSON, or in its own."""
    text = data.decode()
    if text.lstrip()[:1] not in ("{", "["):
        return text.replace(old, new).encode()
    return b"\n".join(
        json.dumps(value_with(value, old, new), indent=indent, ensure_ascii=False).encode()
        for value, indent in values_in(text)
    )


def values_in(text: str) -> Iterator[tuple[object, int | None]]:
    """The JSON values of a log, and how each is indented."""
    at = 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        value, length = json.JSONDecoder().raw_decode(rest)
        at += length
        indented = re.match(r".\n( +)", rest[:length])
        yield value, len(indented[1]) if indented else None


def value_with(value: object, old: str, new: str) -> object:
    if isinstance(value, str):
        return text_with(value, old, new)
    if isinstance(value, list):
        return [value_with(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: value_with(each, old, new) for key, each in value.items()}
    return value


def text_with(text: str, old: str, new: str) -> str:
    """Other words in a text; JSON inside the text stays JSON."""
    if text[:1] in ('"', "[", "{") and old in text:
        try:
            return json.dumps(value_with(json.loads(text), old, new))
        except ValueError:
            pass
    return text.replace(old, new)


def with_text(episode: Trajectory, old: str, new: str) -> Trajectory:
    return replace(
        episode,
        task=episode.task.replace(old, new),
        environment=episode.environment.replace(old, new),
        steps=tuple(
            replace(
                step,
                action=step.action.replace(old, new),
                observation=step.observation.replace(old, new),
                thought=step.thought.replace(old, new),
            )
            for step in episode.steps
        ),
    )


# An observation that is empty: what an environment says that has nothing to say.

# One whole observation of each sample; of the others, their marks are one.
ANSWERS = {
    "react": "You pick up the mug 2 from the shelf 1.",
    "alfworld-wrapper": "You pick up the mug 2 from the shelf 1.",
    "mini-swe-agent": "Give exactly one action.",
    "otel": "seen 1",
    "letta": '{"status": "OK"}',
    "reflexion": "Answer is INCORRECT",
    "agentbench": "The output of the OS:\na",
}
OTHER_ANSWERS = {"y.traj.json": "<returncode>0</returncode>", "otlp.json": "a.py"}
# Of these formats, no observation can be taken away, and why.
WITHOUT_ANSWERS = {
    "aider": "what a user says next is the answer; the last step of the sample has none",
    "mind2web": "it has no observations",
    "webshop-human": "the observation is the page's own address",
    "cursor": "what tools answer is not in the log",
    "miniwob": "what the page shows is not text",
}
# These have a place for the observation alone, and what stands there is it.
VERBATIM = {"native", "rollout", "intercode", "intercode-human", "debug-gym", "agentboard"}
VERBATIM |= {"moatless"}


def answer_in(name: str, file: str) -> str:
    return OTHER_ANSWERS.get(file) or ANSWERS.get(name) or MARKS[name]


@table([case for case in CASES if case[0] not in WITHOUT_ANSWERS])
@pytest.mark.parametrize("nothing", ["", " "], ids=["empty", "blank"])
def test_empty_observations(
    tmp_path: Path, name: str, file: str, data: bytes, nothing: str
) -> None:
    answer = answer_in(name, file)
    plain = episodes(read(tmp_path / file, data))
    kept = nothing if name in VERBATIM else ""
    expected = [with_answer(each, answer, kept) for each in plain]
    assert expected != plain
    changed = data_without(data, answer, nothing)
    assert changed != data
    assert episodes(read(tmp_path / file, changed)) == expected


@table([case for case in CASES if case[0] in ("aider", "mind2web")])
def test_a_step_without_an_observation_is_a_step(
    tmp_path: Path, name: str, file: str, data: bytes
) -> None:
    for each in episodes(read(tmp_path / file, data)):
        assert each.steps[-1].observation == ""


def with_answer(episode: Trajectory, answer: str, kept: str) -> Trajectory:
    """The same steps in the same order, with something else in the place of one observation.

    One that the log marks as an error stays an error, if only by the word.
    """
    changed = {answer: kept, f"error: {answer}": "error"}
    return replace(
        episode,
        steps=tuple(
            replace(step, observation=changed.get(step.observation, step.observation))
            for step in episode.steps
        ),
    )


def data_without(data: bytes, answer: str, nothing: str) -> bytes:
    """A log with nothing where an answer is.

    That is a text by itself, or what follows the mark of an observation, or lines of a text.
    """
    text = data.decode()
    if text.lstrip()[:1] not in ("{", "["):
        return text.replace(answer, nothing).encode()

    def emptied(value: object) -> object:
        if isinstance(value, list):
            return [emptied(each) for each in value]
        if isinstance(value, dict):
            return {key: emptied(each) for key, each in value.items()}
        if not isinstance(value, str) or answer not in value:
            return value
        head, _, tail = value.partition(answer)
        if not tail.strip() and (not head.strip() or head.endswith(("Observation: ", "> "))):
            return f"{head}{nothing}{tail}"
        try:
            return json.dumps(emptied(json.loads(value)))
        except ValueError:
            return value.replace(f"\n{answer}", f"\n{nothing}")

    return b"\n".join(
        json.dumps(emptied(value), indent=indent, ensure_ascii=False).encode()
        for value, indent in values_in(text)
    )


# What may be wrong with the file.


def is_json(data: bytes) -> bool:
    return data[:1] in (b"{", b"[")


def is_lines(data: bytes) -> bool:
    return data[:1] == b"{" and all(map(is_json, data.splitlines()))


NEWLINE = b"\n"
JSON_CASES = [case for case in CASES if is_json(case[2])]
LINE_CASES = [case for case in CASES if is_lines(case[2])]


@table(JSON_CASES)
def test_a_value_at_the_end_that_is_cut(tmp_path: Path, name: str, file: str, data: bytes) -> None:
    plain = read(tmp_path / file, data)
    before = data.rstrip()
    before = before[:-1] + b"," if before[:1] == b"[" else before
    found = read(tmp_path / file, before + b'\n{"messages": [{"role": "user", "cont')
    assert episodes(found) == episodes(plain)
    (told,) = (each for each in refusals(found) if "middle of a value" in each.message)
    assert told.source == file
    end = f"line {before.count(NEWLINE) + 2}" if is_lines(data) else "record "
    assert str(told.position).startswith(end)
    assert len(refusals(found)) == len(refusals(plain)) + 1


@pytest.mark.parametrize("broken", [b"{'task': None}", b'{"task": "bro', b"Traceback:", b"nul"])
@table(LINE_CASES)
def test_a_first_line_that_is_no_json(
    tmp_path: Path, name: str, file: str, data: bytes, broken: bytes
) -> None:
    plain = read(tmp_path / file, data)
    found = read(tmp_path / file, broken + b"\n" + data)
    assert episodes(found) == [one_line_on(each) for each in episodes(plain)]
    assert "line 1" in {each.position for each in refusals(found)}
    assert len(refusals(found)) == len(refusals(plain)) + 1


def one_line_on(episode: Trajectory) -> Trajectory:
    position = re.sub(
        r"\bline (\d+)", lambda found: f"line {int(found[1]) + 1}", episode.source.position
    )
    return replace(episode, source=replace(episode.source, position=position))


@table([case for case in JSON_CASES if case[2][:1] == b"{"])
def test_bytes_before_the_first_brace(tmp_path: Path, name: str, file: str, data: bytes) -> None:
    plain = read(tmp_path / file, data)
    found = read(tmp_path / file, b"\x01\x02 log: " + data)
    assert episodes(found) == episodes(plain)
    (told,) = (each for each in refusals(found) if "that are not JSON objects" in each.message)
    assert told.source == file


TEXT_CASES = [case for case in CASES if not is_json(case[2])]


@table(TEXT_CASES)
def test_bytes_in_a_text_that_are_no_utf_8(
    tmp_path: Path, name: str, file: str, data: bytes
) -> None:
    found = read(tmp_path / file, data + b"\n\xff\n")
    (told,) = (each for each in refusals(found) if "not valid UTF-8" in each.message)
    assert (told.source, told.position) == (file, f"line {data.count(NEWLINE) + 2}")


@table(TEXT_CASES)
def test_a_text_without_an_end_is_held_up_to_a_limit(
    tmp_path: Path, name: str, file: str, data: bytes
) -> None:
    limits = LogLimits(record_bytes=6_000)
    text = data.rstrip() + (b"\n" + b"x" * 99) * 90
    *_, told = readings(tmp_path, text, file, format=name, limits=limits)
    assert isinstance(told, RecordError)
    assert "of more than 5.86 KB" in told.message
    assert str(told.position).startswith("line ")


@table(CASES)
def test_the_same_log_twice_is_the_same_episodes(
    tmp_path: Path, name: str, file: str, data: bytes
) -> None:
    first, again = (episodes(read(tmp_path / file, data)) for _ in range(2))
    assert first == again
    assert first
    assert all(each.source.file == file and each.source.format == name for each in first)


def test_what_was_pickled_stays_packed(tmp_path: Path) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    (tmp_path / "log.pkl").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "old.pkl").write_bytes(pickle.dumps(Trap(), protocol=0))
    found = list(read_logs([tmp_path]))
    assert [each.source for each in refusals(found)] == ["log.pkl", "old.pkl"]
    assert not (tmp_path / "sprung").exists()
