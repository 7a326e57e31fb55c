"""The structure of steps: read where a log states it, kept in a bank's lines, bounded, cleaned."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers import Notice, from_record, read_logs, to_line, to_record
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.declared import declared_reader
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.validation import admitted, checked
from tests.trajectory.readers.samples import lines, only, records

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


def claude(kind: str, *blocks: dict[str, object]) -> dict[str, object]:
    message = {"role": kind, "content": [*blocks]}
    return {"type": kind, "sessionId": "s", "message": message}


def test_a_claude_code_session_states_tools_errors_and_speakers(tmp_path: Path) -> None:
    call: dict[str, object] = {
        "type": "tool_use",
        "id": "a",
        "name": "Bash",
        "input": {"command": "pytest -q"},
    }
    result = {"type": "tool_result", "tool_use_id": "a", "content": "1 failed", "is_error": True}
    found = read_typed(
        tmp_path,
        lines(
            claude("user", {"type": "text", "text": "Mend it."}),
            claude("assistant", call),
            claude("user", result, {"type": "text", "text": "Use -x."}),
            claude("assistant", {"type": "text", "text": "Done."}),
            claude("user", {"type": "text", "text": "Now document it."}),
            claude("assistant", {"type": "text", "text": "It is."}),
        ),
    )
    ran, done, said = found.steps
    assert (ran.tool, ran.arguments, ran.kind) == ("Bash", {"command": "pytest -q"}, "call")
    assert (ran.status, ran.speaker, ran.user_words) == ("error", "tool", "Use -x.")
    assert ran.without_user_words().observation == "error: 1 failed"
    assert (done.kind, done.speaker, done.user_words) == ("message", "user", "Now document it.")
    assert done.without_user_words() == Step("Done.", kind="message")
    assert (said.speaker, said.status, said.user_words) == (None, None, "")


@pytest.mark.parametrize(("code", "status"), [(0, "ok"), (2, "error"), (None, None)])
def test_a_codex_exit_code_is_a_status(tmp_path: Path, code: int | None, status: str) -> None:
    log = records("codex")
    for each in log:
        payload = each["payload"]
        assert isinstance(payload, dict)
        if payload.get("type") == "function_call_output":
            metadata = {} if code is None else {"exit_code": code}
            payload["output"] = orjson.dumps({"output": "text", "metadata": metadata}).decode()
    ran = next(each for each in read_typed(tmp_path, lines(*log)).steps if each.kind == "call")
    assert (ran.status, ran.speaker) == (status, "tool")


def test_text_in_which_nothing_is_stated_has_no_structure(tmp_path: Path) -> None:
    log = b'{"task": "Fix.", "steps": [{"action": "Bash(ls)", "observation": "error: none"}]}'
    assert read_typed(tmp_path, log).steps == (Step("Bash(ls)", "error: none"),)


def test_a_line_keeps_the_structure_and_without_it_its_old_bytes() -> None:
    episode = of(PYTEST, Step("ls"))
    assert from_record(to_record(episode)).steps == episode.steps
    assert from_record(orjson.loads(to_line(episode))).steps == episode.steps
    bare = of(Step("pytest -q", "1 failed"))
    assert bare.id == of(PYTEST).id
    assert orjson.loads(to_line(bare))["steps"] == [
        {"action": "pytest -q", "observation": "1 failed"}
    ]


def test_a_field_that_others_use_otherwise_is_left_out_and_told(tmp_path: Path) -> None:
    step = {"action": "ls", "tool": {"name": "x"}, "status": "completed", "arguments": "a"}
    (tmp_path / "log.jsonl").write_bytes(lines({"task": "Fix.", "steps": [step]}))
    episode, *told = read_logs(tmp_path / "log.jsonl")
    assert isinstance(episode, Trajectory)
    assert episode.steps == (Step("ls"),)
    names = [str(each).partition("`")[2].partition("`")[0] for each in told]
    assert names == ["steps[].tool", "steps[].status", "steps[].arguments"]


def test_arguments_are_bounded() -> None:
    long = "word " * 1_000
    found = admitted(of(Step("a", arguments={"text": long, "n": 10**30, "deep": [[[[[1]]]]]})))
    (step,) = found.steps
    assert step.arguments is not None
    assert step.arguments["text"].endswith("word …")
    assert len(step.arguments["text"]) <= 1_002
    assert step.arguments["n"] == str(10**30)
    assert step.arguments["deep"] == [[["[[1]]"]]]
    assert admitted(found) == found
    many = {f"k{number}": "word " * 100 for number in range(90)}
    assert admitted(of(Step("a", arguments=many))).steps == (Step("a"),)


def test_a_secret_in_an_argument_is_taken_out() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    step = Step("run(…)", tool="run", arguments={"env": {"TOKEN": key}, "list": [f"use {key}"]})
    cleaned, counts = redact(admitted(of(step)))
    assert key not in str(cleaned.steps)
    assert counts.total >= 1
    assert cleaned.steps[0].tool == "run"


def test_control_characters_in_an_argument_are_cleaned() -> None:
    (step,) = admitted(of(Step("a", tool="r\x1b[31m", arguments={"k\x00": "v\x1b[0m"}))).steps
    assert "\x1b" not in f"{step.tool}{step.arguments}"
    assert "\x00" not in f"{step.arguments}"


@pytest.mark.parametrize(
    "wrong", [{"status": "fine"}, {"arguments": [1]}, {"tool": 1}, {"speaker": "agent"}]
)
def test_a_step_of_other_types_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RecordError):
        checked(of(Step("a", **wrong)))  # type: ignore[arg-type]


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
