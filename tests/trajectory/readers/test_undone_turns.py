"""What a user typed to the program, and turns that were taken back: no part of the episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Step
from deltamem_tui.trajectory.readers.coding import is_command
from tests.trajectory.readers.log_files import (
    Json,
    episode,
    episodes,
    lines,
    notices,
    readings,
    refusals,
)
from tests.trajectory.readers.session_logs import codex_event, codex_item

META: Json = {"type": "session_meta", "payload": {"id": "s"}}


def turn(text: str, command: str, call_id: str, *, events: bool = True) -> list[Json]:
    """What the user says, one call, and its result."""
    said = [
        codex_item(type="message", role="user", content=[{"type": "input_text", "text": text}]),
        codex_event(type="user_message", message=text),
    ]
    return [
        *said[: 1 + events],
        codex_item(
            type="function_call",
            name="shell",
            arguments=f'{{"command": "{command}"}}',
            call_id=call_id,
        ),
        codex_item(type="function_call_output", call_id=call_id, output="ok"),
    ]


def back(turns: object) -> Json:
    return codex_event(type="thread_rolled_back", num_turns=turns)


@pytest.mark.parametrize("events", [True, False])
def test_codex_turns_that_were_rolled_back_are_left_out_and_told(
    tmp_path: Path, events: bool
) -> None:
    first, wrong, worse, right = (
        turn(text, command, text, events=events)
        for text, command in (("One.", "ls"), ("Two.", "rm x"), ("Three.", "rm y"), ("Go.", "mv"))
    )
    found = readings(tmp_path, lines(META, *first, *wrong, *worse, back(2), *right))
    (kept,) = episodes(found)
    assert kept.task == "One."
    assert kept.steps == (Step("ls", "ok\n\nGo."), Step("mv", "ok"))
    (told,) = notices(found)
    assert "6 messages are left out: the conversation went back" in told.message
    assert told.position == f"line {1 + len(first) + 1 + events}"
    assert refusals(found) == []


def test_codex_rolled_back_to_its_beginning_begins_anew(tmp_path: Path) -> None:
    found = readings(tmp_path, lines(META, *turn("A", "ls", "1"), back(9), *turn("B", "mv", "2")))
    (kept,) = episodes(found)
    assert (kept.task, [step.action for step in kept.steps]) == ("B", ["mv"])
    assert len(notices(found)) == 1


@pytest.mark.parametrize("turns", [0, -1, None, "1", True])
def test_codex_a_rollback_of_no_turns_takes_nothing(tmp_path: Path, turns: object) -> None:
    found = readings(tmp_path, lines(META, *turn("A", "ls", "1"), back(turns)))
    (kept,) = episodes(found)
    assert [step.action for step in kept.steps] == ["ls"]
    assert notices(found) == []


def test_codex_shell_of_the_service_is_its_command_alone(tmp_path: Path) -> None:
    action: Json = {
        "type": "exec",
        "command": ["git", "rev-parse", "HEAD"],
        "timeout_ms": None,
        "working_directory": "/r",
        "env": {},
        "user": None,
    }
    call = codex_item(type="local_shell_call", call_id="c", status="completed", action=action)
    answer = codex_item(type="function_call_output", call_id="c", output="abc")
    said = codex_event(type="user_message", message="Which commit?")
    assert episode(tmp_path, lines(META, said, call, answer)).steps == (
        Step("git rev-parse HEAD", "abc"),
    )


def gemini(*messages: Json) -> bytes:
    return lines({"sessionId": "g", "messages": list(messages)})


def user(text: str) -> Json:
    return {"type": "user", "content": text}


CALL: Json = {
    "type": "gemini",
    "content": "",
    "toolCalls": [{"id": "c", "name": "ls", "args": {}, "result": []}],
}


@pytest.mark.parametrize("command", ["/help", "/chat save before", "?", "/my:own"])
def test_gemini_commands_are_no_task(tmp_path: Path, command: str) -> None:
    assert episode(tmp_path, gemini(user(command), user("Rename foo."), CALL)).task == "Rename foo."


def test_gemini_commands_between_steps_are_no_observation(tmp_path: Path) -> None:
    found = episode(tmp_path, gemini(user("Rename foo."), CALL, user("/stats"), user("Go on.")))
    assert found.steps == (Step("ls()", "Go on."),)


def test_gemini_a_command_that_sets_the_agent_to_work_is_the_task(tmp_path: Path) -> None:
    assert episode(tmp_path, gemini(user("/init"), CALL)).task == "/init"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("/help", True),
        (" /chat resume a ", True),
        ("?", True),
        ("/etc/hosts is wrong", False),
        ("/tmp is full", False),
        ("/chat does not answer\nSee why.", False),
        ("Fix /help", False),
        ("", False),
    ],
)
def test_what_a_command_is(text: str, is_one: bool) -> None:
    assert is_command(text) is is_one
