"""What a user asks first is the task, in every chat; what a data set begins with is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.trajectory.readers.openings import NO_OPENING, FirstWords, common_opening
from tests.trajectory.readers.samples import Json, dumped, episodes, lines, only, readings
from tests.trajectory.readers.writers import CHATS

Write = Callable[[list[Json]], bytes]

HEADS = [
    *("ok", "OK", "Okay", "Sure", "sure thing", "Yes", "yes", "Understood", "I understand"),
    *("Got it", "Alright", "Of course", "Certainly", "Absolutely", "No problem", "Right", "Fine"),
    *("Hello", "Will do", "OK. I'll follow your instructions and try my best to solve the task"),
]
TAILS = ["", ".", "!", "…", ", which Python version?", ". Where is it?", ", go ahead."]
TAILS += [", let me look.", " - please go on.", ": one thing first."]
REPLIES = [f"{head}{tail}" for head in HEADS for tail in TAILS]
REQUEST, ANSWER = "Fix the failing test.", "3.12"


def said(reply: str) -> list[Json]:
    """A conversation in which the agent says something before it does anything."""
    texts = [REQUEST, reply, ANSWER, "Fixed it."]
    roles = ["user", "assistant"] * 2
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]


Message = Callable[[str, str], Json]


def each(message: Message, user: str, agent: str, messages: list[Json]) -> list[Json]:
    """The messages as a format has them, by its words for the two who speak."""
    return [
        message(user if said["role"] == "user" else agent, str(said["content"]))
        for said in messages
    ]


def line_by_line(message: Message, user: str, agent: str, *first: Json) -> Write:
    return lambda messages: lines(*first, *each(message, user, agent, messages))


def in_a_list(
    key: str, message: Message, user: str, agent: str, around: Json | None = None
) -> Write:
    return lambda messages: dumped({**(around or {}), key: each(message, user, agent, messages)})


def chat(record: Callable[[Sequence[Json]], Json]) -> Write:
    return lambda messages: dumped(record(messages))


def as_text(begin: str, user: str, agent: str) -> Write:
    def write(messages: list[Json]) -> bytes:
        turns = each(lambda who, text: {"turn": f"{who}{text}"}, user, agent, messages)
        return "\n\n".join([begin, *(str(turn["turn"]) for turn in turns)]).encode()

    return write


def plain(role: str, text: str) -> Json:
    return {"role": role, "content": text}


def shared_gpt(role: str, text: str) -> Json:
    return {"from": role, "value": text}


def protocol(kind: str, text: str) -> Json:
    return {"class_": kind, "source": "user", "content": text}


def atif(source: str, text: str) -> Json:
    return {"source": source, "message": text}


def claude(role: str, text: str) -> Json:
    return {"type": role, "sessionId": "s", "message": plain(role, text)}


def codex(role: str, text: str) -> Json:
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    message = {"type": "message", "role": role, "content": content}
    return {"timestamp": "x", "type": "response_item", "payload": message}


def openclaw(role: str, text: str) -> Json:
    return {"type": "message", "message": plain(role, text)}


def gemini(kind: str, text: str) -> Json:
    return {"type": kind, "content": text}


def cursor(role: str, text: str) -> Json:
    return {"role": role, "message": {"content": [{"type": "text", "text": text}]}}


def agent_events(kind: str, text: str) -> Json:
    return {"type": kind, "content": [{"type": "text", "text": text}]}


def openhands(source: str, text: str) -> Json:
    return {"source": source, "action": "message", "args": {"content": text}}


def openhands_sdk(source: str, text: str) -> Json:
    return {"kind": "MessageEvent", "source": source, "llm_message": plain(source, text)}


def agent_file(messages: list[Json]) -> bytes:
    agent = {"name": "a", "agent_type": "x", "messages": messages}
    return dumped({"agents": [agent], "tools": []})


META: Json = {"timestamp": "x", "type": "session_meta", "payload": {"id": "s"}}
WRITTEN: dict[str, Write] = {
    **{name: chat(record) for name, record in CHATS.items()},
    "anthropic": in_a_list("messages", plain, "user", "assistant"),
    "sharegpt": in_a_list("conversations", shared_gpt, "human", "gpt"),
    "agent-data-protocol": in_a_list("content", protocol, "text_observation", "message_action"),
    "mini-swe-agent": in_a_list("messages", plain, "user", "assistant", {"info": {}}),
    "letta": agent_file,
    "atif": in_a_list("steps", atif, "user", "agent", {"schema_version": "ATIF-v1.5"}),
    "claude-code": line_by_line(claude, "user", "assistant"),
    "codex": line_by_line(codex, "user", "assistant", META),
    "openclaw": line_by_line(openclaw, "user", "assistant", {"type": "session", "id": "s"}),
    "gemini-cli": in_a_list("messages", gemini, "user", "gemini", {"sessionId": "s"}),
    "cursor": line_by_line(cursor, "user", "assistant"),
    "claude-agent-events": line_by_line(agent_events, "user.message", "agent.message"),
    "openhands": line_by_line(openhands, "user", "agent"),
    "openhands-sdk": line_by_line(openhands_sdk, "user", "agent"),
    "specstory": as_text("<!-- SpecStory -->", "_**User (2026)**_\n\n", "_**Agent (2026)**_\n\n"),
    "aider": as_text("# aider chat started at 2026-01-01 00:00:00", "#### ", ""),
}


@pytest.mark.parametrize(("shift", "name"), enumerate(WRITTEN))
def test_the_task_is_what_the_user_asks_first(tmp_path: Path, shift: int, name: str) -> None:
    """Each format has every head and every tail; all formats together, every pair of them."""
    assert len(WRITTEN) >= len(TAILS)
    for reply in [f"{head}{TAILS[(at + shift) % len(TAILS)]}" for at, head in enumerate(HEADS)]:
        found = only(readings(tmp_path, WRITTEN[name](said(reply)), "log", format=name))
        assert found.task == REQUEST, reply
        if name != "toolbench":  # whose later user is the search, and no person
            heard = [text for step in found.steps for text in (step.action, step.observation)]
            assert heard[:3] == [reply, ANSWER, "Fixed it."], reply


ONE_A_RECORD = ("openai-chat", "anthropic", "sharegpt", "agent-data-protocol", "agentbench")


def log_of(name: str, *chats: list[Json]) -> bytes:
    return b"\n".join(WRITTEN[name](chat) for chat in chats)


@pytest.mark.parametrize("name", ONE_A_RECORD)
def test_so_it_is_where_many_ask_the_same(tmp_path: Path, name: str) -> None:
    found = episodes(readings(tmp_path, log_of(name, *map(said, REPLIES)), "log", format=name))
    assert [one.task for one in found] == [REQUEST] * len(REPLIES)
    assert [one.steps[0].action for one in found] == REPLIES


def briefed(task: str, reply: str = "Ok.") -> list[Json]:
    chat = said(reply)
    chat[0] = {"role": "user", "content": "Answer by SQL.\nOne statement a turn."}
    chat[2] = {"role": "user", "content": task}
    return chat


QUESTIONS = ["How many books?", "Who wrote most?", "Which is the oldest?"]


@pytest.mark.parametrize("name", ONE_A_RECORD)
def test_a_fixed_pair_at_the_head_of_every_record_is_a_briefing(tmp_path: Path, name: str) -> None:
    log = log_of(name, *map(briefed, QUESTIONS))
    found = episodes(readings(tmp_path, log, "log", format=name))
    assert [one.task for one in found] == QUESTIONS
    assert {one.environment for one in found} == {"Answer by SQL.\nOne statement a turn."}
    assert all([step.action for step in one.steps] == ["Fixed it."] for one in found)


@pytest.mark.parametrize(
    "chats",
    [
        [briefed("How many books?")],
        [briefed("How many books?"), briefed("Who wrote most?"), said("Ok.")],
        [briefed("How many books?"), briefed("Who wrote most?", "OK")],
        [briefed(question, "Sure, on which?") for question in QUESTIONS],
        [briefed("3.12") for _ in QUESTIONS],
    ],
    ids=["alone", "another request", "another reply", "asked back", "told the same"],
)
def test_where_there_is_doubt_it_is_the_task(tmp_path: Path, chats: list[list[Json]]) -> None:
    found = episodes(readings(tmp_path, log_of("sharegpt", *chats), "log", format="sharegpt"))
    assert [one.task for one in found] == [chat[0]["content"] for chat in chats]
    assert [one.steps[0].observation for one in found] == [chat[2]["content"] for chat in chats]


@pytest.mark.parametrize("name", ["openai-chat", "tau-bench"])
def test_trials_that_begin_alike_have_their_task(tmp_path: Path, name: str) -> None:
    runs = [json.loads(WRITTEN[name](briefed(question))) for question in QUESTIONS]
    trials = [{**run, "trial": number} for number, run in enumerate(runs)]
    found = episodes(readings(tmp_path, lines(*trials), "log", format=name))
    assert {one.task for one in found} == {"Answer by SQL.\nOne statement a turn."}


RULES = "\n".join(f"Rule {number}: never guess, and say what you did." for number in range(12))


def asked(text: str) -> list[Json]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "42"}]


@pytest.mark.parametrize("name", ONE_A_RECORD)
def test_the_same_template_around_every_task_is_none_of_it(tmp_path: Path, name: str) -> None:
    chats = [asked(f"{RULES}\n\n{task}\n\nAnswer in one word.") for task in QUESTIONS]
    found = episodes(readings(tmp_path, log_of(name, *chats), "log", format=name))
    assert [one.task for one in found] == QUESTIONS
    assert {one.environment for one in found} == {f"{RULES}\n\n\n\nAnswer in one word."}


@pytest.mark.parametrize(
    "texts",
    [
        [f"{RULES}\n{task}" for task in QUESTIONS[:2]],
        [f"Be brief.\n{task}" for task in QUESTIONS],
        [f"{RULES}\n", f"{RULES}\nWho wrote most?", f"{RULES}\nWho?"],
    ],
    ids=["two records", "few words", "nothing but it"],
)
def test_few_records_or_words_are_no_template(tmp_path: Path, texts: list[str]) -> None:
    chats = log_of("openai-chat", *map(asked, texts))
    found = episodes(readings(tmp_path, chats, "log", format="openai-chat"))
    assert [one.task for one in found] == [text.strip() for text in texts]


LETTERS = st.text("ab\n", max_size=6)


@given(LETTERS, st.lists(LETTERS, min_size=3, max_size=5, unique=True), LETTERS)
def test_a_task_is_found_again_in_its_template(
    before: str, tasks: Sequence[str], after: str
) -> None:
    before, after = f"{RULES}\n{before}", f"{after}\n{RULES}"
    texts = [f"{before}<{task}>{after}" for task in tasks]
    found = common_opening(FirstWords(text, "", "") for text in texts)
    for text in texts:
        inner = found.unwrapped(text)
        assert inner
        assert "".join([found.before, inner, found.after]).split() == text.split()
    assert NO_OPENING.unwrapped(texts[0]) == ""
