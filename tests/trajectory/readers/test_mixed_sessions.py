"""Files that were put together from several sessions: each stays an episode of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trajectory.readers.log_files import Json, episodes, lines, readings, refusals


def codex(name: str, task: str) -> list[Json]:
    call = {"type": "function_call", "name": "do", "arguments": f'{{"it":"{task}"}}'}
    return [
        {"type": "session_meta", "payload": {"id": name, "cwd": f"/{name}"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": task}},
        {"type": "response_item", "payload": {**call, "call_id": "c"}},
        {
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c", "output": f"did {task}"},
        },
    ]


def openclaw(name: str, task: str) -> list[Json]:
    return [
        {"type": "session", "id": name, "cwd": f"/{name}"},
        {"type": "message", "id": "1", "message": {"role": "user", "content": task}},
        {"type": "message", "id": "2", "message": {"role": "assistant", "content": f"did {task}"}},
    ]


def gemini(name: str, task: str) -> list[Json]:
    return [
        {"sessionId": name, "projectHash": "h"},
        {"type": "user", "id": "1", "content": task},
        {"type": "gemini", "id": "2", "content": f"did {task}"},
    ]


def helper(name: str, task: str) -> list[Json]:
    facts = {"sessionId": "s", "isSidechain": True, "agentId": name}
    return [
        {**facts, "type": role, "uuid": f"{name} {role}", "message": {"content": text}}
        for role, text in (("user", task), ("assistant", f"did {task}"))
    ]


WRITERS = {"codex": codex, "openclaw": openclaw, "gemini-cli": gemini, "claude-code": helper}


@pytest.mark.parametrize("name", WRITERS)
def test_one_after_another(tmp_path: Path, name: str) -> None:
    write = WRITERS[name]
    found = readings(tmp_path, lines(*write("a", "one"), *write("b", "two")))
    first, second = episodes(found)
    assert len(found) == 2
    assert (first.task, first.metadata["id"]) == ("one", "a")
    assert (second.task, second.metadata["id"]) == ("two", "b")
    assert len(first.steps) == len(second.steps) == 1
    assert "two" not in first.text
    assert "one" not in second.text
    begins = len(write("a", "one")) + (2 if name == "gemini-cli" else 1)  # headers say nothing
    assert second.source.position == f"line {begins}"
    assert {item.source.format for item in (first, second)} == {name}


@pytest.mark.parametrize("name", ["codex", "openclaw", "gemini-cli"])
def test_a_header_that_comes_again_is_of_the_same_session(tmp_path: Path, name: str) -> None:
    header, *rest = WRITERS[name]("a", "one")
    (found,) = readings(tmp_path, lines(header, *rest, header))
    assert found == readings(tmp_path, lines(header, *rest))[0]


def test_a_forked_codex_session_opens_with_two_headers(tmp_path: Path) -> None:
    fork, *_ = codex("fork", "one")
    (found,) = episodes(readings(tmp_path, lines(fork, *codex("parent", "one"))))
    assert found.metadata["id"] == "fork"


def test_helpers_mixed_line_by_line(tmp_path: Path) -> None:
    mixed = [
        line for pair in zip(helper("a", "one"), helper("b", "two"), strict=True) for line in pair
    ]
    found = episodes(readings(tmp_path, lines(*mixed)))
    assert [(item.task, item.steps[0].action) for item in found] == [
        ("one", "did one"),
        ("two", "did two"),
    ]


STRAYS = {
    "codex": ({"nonsense": 1}, {"type": "event_msg"}),
    "openclaw": ({"nonsense": 1}, [1]),
    "gemini-cli": ({"nonsense": 1},),
    "claude-code": (
        {"nonsense": 1},
        {"type": "user", "sessionId": "s", "uuid": "x"},
        {"type": "assistant", "sessionId": "s", "message": "text"},
    ),
}


@pytest.mark.parametrize(("name", "stray"), [(k, stray) for k, v in STRAYS.items() for stray in v])
def test_a_line_that_is_no_part_of_the_session_is_told(
    tmp_path: Path, name: str, stray: object
) -> None:
    first, *rest = WRITERS[name]("a", "one")
    (told,) = refusals(readings(tmp_path, lines(first, stray, *rest)))
    assert told.position == "line 2"
    assert "no part of the session" in told.message
    assert told.hint


def test_what_a_user_typed_into_the_shell_is_nobodys_step(tmp_path: Path) -> None:
    header, asked, did = openclaw("a", "one")
    aside = {"role": "bashExecution", "command": "rm x", "output": "gone", "content": "rm x"}
    log = [header, asked, {"type": "message", "id": "3", "message": aside}, did]
    (found,) = episodes(readings(tmp_path, lines(*log)))
    assert [step.action for step in found.steps] == ["did one"]


def test_a_session_in_which_somebody_unknown_speaks_is_refused(tmp_path: Path) -> None:
    for role, words in (("critic", "critic"), (["critic"], '["critic"]'), ({"a": 1}, '{"a":1}')):
        said = {"type": "message", "id": "3", "message": {"role": role, "content": "Bad."}}
        (told,) = refusals(readings(tmp_path, lines(*openclaw("a", "one"), said)))
        assert f"a message of unknown role {words}" in told.message
