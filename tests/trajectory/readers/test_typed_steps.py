"""The structure of steps: read where a log states it, kept in a bank's lines, bounded, cleaned."""

from __future__ import annotations

from pathlib import Path

import orjson

from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.declared import declared_reader
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.trajectory.readers.reading import read_log, read_logs
from deltamem_tui.trajectory.validation import admitted, redact
from tests.trajectory.readers.samples import lines, only

PYTEST = Step(
    "pytest -q",
    "1 failed",
    tool="Bash",
    arguments={"command": "pytest -q"},
    kind="call",
    status="error",
    speaker="tool",
)


def of(*steps: Step) -> Trajectory:
    return Trajectory("Mend it.", steps=steps)


def read_typed(tmp_path: Path, content: bytes, name: str = "log.jsonl") -> Trajectory:
    (tmp_path / name).write_bytes(content)
    return only(each for each in read_logs(tmp_path / name) if not isinstance(each, Notice))


def test_text_in_which_nothing_is_stated_has_no_structure(tmp_path: Path) -> None:
    log = b'{"task": "Fix.", "steps": [{"action": "Bash(ls)", "observation": "error: none"}]}'
    assert read_typed(tmp_path, log).steps == (Step("Bash(ls)", "error: none"),)


def test_a_line_keeps_the_structure_and_without_it_its_old_bytes() -> None:
    episode = of(PYTEST, Step("ls"))
    assert from_record(episode.record()).steps == episode.steps
    assert from_record(orjson.loads(to_line(episode))).steps == episode.steps
    bare = of(Step("pytest -q", "1 failed"))
    assert bare.id == of(PYTEST).id
    assert orjson.loads(to_line(bare))["steps"] == [
        {"action": "pytest -q", "observation": "1 failed"}
    ]


def test_a_field_that_others_use_otherwise_is_left_out(tmp_path: Path) -> None:
    step = {"action": "ls", "tool": {"name": "x"}, "status": "completed", "arguments": "a"}
    (tmp_path / "log.jsonl").write_bytes(lines({"task": "Fix.", "steps": [step]}))
    (episode,) = read_logs(tmp_path / "log.jsonl")
    assert isinstance(episode, Trajectory)
    assert episode.steps == (Step("ls"),)


def test_arguments_are_bounded() -> None:
    long = "word " * 1_000
    found = admitted(of(Step("a", arguments={"text": long, "deep": [[[[[long]]]]]})))
    (step,) = found.steps
    assert step.arguments is not None
    assert step.arguments["text"].endswith("word …")
    assert len(step.arguments["text"]) <= 1_002
    assert step.arguments["deep"] == [[[[[step.arguments["text"]]]]]]
    assert admitted(of(Step("a", arguments={"n": 10**30}))).steps == (Step("a"),)
    assert admitted(found) == found
    many = {f"k{number}": "word " * 100 for number in range(90)}
    assert admitted(of(Step("a", arguments=many))).steps == (Step("a"),)


def test_a_secret_in_an_argument_is_taken_out() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    step = Step("run(…)", tool="run", arguments={"env": {"TOKEN": key}, "list": [f"use {key}"]})
    cleaned, counts = redact(admitted(of(step)))
    assert key not in str(cleaned.steps)
    assert counts.total() >= 1
    assert cleaned.steps[0].tool == "run"


def test_control_characters_in_an_argument_are_cleaned() -> None:
    (step,) = admitted(of(Step("a", tool="r\x1b[31m", arguments={"k\x00": "v\x1b[0m"}))).steps
    assert "\x1b" not in f"{step.tool}{step.arguments}"
    assert "\x00" not in f"{step.arguments}"


def test_a_declaration_names_tool_arguments_and_status(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'task = "goal"\nsteps = "did"\n[step]\naction = "what"\ntool = "with"\n'
        'arguments = "given"\nstatus = "ended"\n'
    )
    did = [
        {"what": "ls", "with": "sh", "given": {"a": 1}, "ended": "failed"},
        {"what": "pwd", "with": "sh", "given": None, "ended": "odd"},
    ]
    (tmp_path / "log.jsonl").write_bytes(lines({"goal": "Fix.", "did": did}))
    reader = declared_reader(tmp_path / "own.toml")
    found = only(read_log(Log("log.jsonl", tmp_path / "log.jsonl"), reader))
    assert found.steps == (
        Step("ls", tool="sh", arguments={"a": 1}, kind="call", status="error"),
        Step("pwd", tool="sh", kind="call"),
    )


def test_words_of_a_user_between_two_answers_stay_in_their_place() -> None:
    conversation = Conversation()
    conversation.user("Mend it.")
    conversation.call("Bash", {"command": "ls"}, "a")
    conversation.user("Quick!")
    conversation.answer("a.py", "a", status="ok")
    (step,) = conversation.episode().steps
    assert (step.observation, step.said, step.speaker) == ("Quick!\n\na.py", "Quick!", "tool")
