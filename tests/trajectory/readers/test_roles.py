from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.chat import spoken
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import is_message, role_of, speaker, tell_message
from tests.trajectory.readers.log_files import Json, lines, readings


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (("system", "developer", "SystemMessage"), "system"),
        (("user", "human", "HumanMessage", "USER"), "user"),
        (("assistant", "ai", "agent", "gpt", "model", "bot", "AIMessage", "Assistant"), "agent"),
        (("tool", "function", "toolResult", "tool_result", "ToolMessage", "observation"), "tool"),
        (("environment", "function_response", "tool_response", "ipython"), "tool"),
        (("critic", "", "bashExecution", None, 3), None),
    ],
)
def test_both_ways_into_a_conversation_know_the_same_names(
    names: tuple[object, ...], role: str | None
) -> None:
    for name in names:
        assert speaker(name) == role
        message = {"role": name, "content": "words"}
        assert role_of(message) == role
        if role:
            assert spoken(message)["role"] == role


@pytest.mark.parametrize("message", [{"role": "critic", "content": "x"}, {"content": "x"}, {}, 3])
def test_words_of_nobody_are_refused_either_way(message: object) -> None:
    with pytest.raises(RecordError, match=r"unknown role critic|without a role"):
        tell_message(Conversation(), message)
    with pytest.raises(RecordError, match=r"unknown role critic|without a role"):
        spoken(message)


USER, DID = {"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}
CRITIC = {"role": "critic", "content": "Bad."}


def _codex(*messages: Json) -> bytes:
    return lines(
        *(
            {"type": "response_item", "payload": {"type": "message", **message}}
            for message in messages
        )
    )


def _atif(*messages: Json) -> bytes:
    words = {"assistant": "agent"}
    steps = [
        {"source": words.get(str(each["role"]), each["role"]), "message": each["content"]}
        for each in messages
    ]
    return lines({"schema_version": "ATIF-v1.4", "steps": steps})


def _swe_agent(*messages: Json) -> bytes:
    return lines({"history": [{"action": "", "thought": "", **each} for each in messages]})


def _mini_swe_agent(*messages: Json) -> bytes:
    return lines({"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": messages})


def _inspect(*messages: Json) -> bytes:
    sample = {"id": 1, "input": "Fix it.", "messages": messages}
    return lines({"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]})


def _langfuse(*messages: Json) -> bytes:
    facts = {"id": "o", "type": "GENERATION", "startTime": "1", "output": None}
    return lines({"trace": {"id": "t"}, "observations": [{**facts, "input": messages}]})


@pytest.mark.parametrize(
    "write",
    [_codex, _atif, _swe_agent, _mini_swe_agent, _inspect, _langfuse],
    ids=lambda write: write.__name__,
)
def test_a_stranger_in_any_format(tmp_path: Path, write: Callable[..., bytes]) -> None:
    (found,) = readings(tmp_path, write(USER, DID))
    assert isinstance(found, Trajectory)
    (told,) = readings(tmp_path, write(USER, DID, CRITIC))
    assert isinstance(told, RecordError)
    assert told.message == "a message of unknown role critic"
    assert told.position


@pytest.mark.parametrize("source", ["environment", "hook"])
def test_what_the_program_says_in_between_is_heard_and_not_said(
    tmp_path: Path, source: str
) -> None:
    spoken_by = (("user", "Fix it."), ("agent", "Done."), (source, "It fails."), ("agent", "Now."))
    new = [
        {"kind": "MessageEvent", "source": who, "llm_message": {"content": text}}
        for who, text in spoken_by
    ]
    old = [
        {"id": number, "source": who, "action": "message", "args": {"content": text}}
        for number, (who, text) in enumerate(spoken_by)
    ]
    for log in (new, old):
        (found,) = readings(tmp_path, lines(*log))
        assert isinstance(found, Trajectory)
        assert found.steps == (Step("Done.", "It fails."), Step("Now."))


def test_items_of_a_response_have_a_kind_in_place_of_a_role() -> None:
    conversation = Conversation()
    conversation.user("Fix it.")
    call = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}
    for item in (
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Where?"}]},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "here"},
        {"type": "item_reference", "id": "x"},
    ):
        tell_message(conversation, item)
    (step,) = conversation.episode().steps
    assert (step.thought, step.action, step.observation) == ("Where?", "look()", "here")


def test_a_message_of_an_unknown_role_is_a_message_and_not_passed_over() -> None:
    assert is_message({"role": "critic", "content": "x"})
    assert not is_message({"role": "critic"})
    assert not is_message({"content": "x"})


@pytest.mark.parametrize("names", [["langchain", "ChatMessage"], ["langchain", "HumanMessage"]])
def test_a_serialised_message_of_langchain_says_who_speaks(names: list[str]) -> None:
    conversation = Conversation()
    tell_message(conversation, {"id": names, "kwargs": {"role": "user", "content": "Fix it."}})
    assert conversation.task == "Fix it."
