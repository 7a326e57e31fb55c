"""Conversations that somebody went back in: only what leads to the last message was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.coding import is_command
from deltamem_tui.trajectory.readers.reader import Reading
from tests.trajectory.readers.agent_logs import codex_event, codex_item
from tests.trajectory.readers.samples import (
    Json,
    episode,
    episodes,
    lines,
    notices,
    only,
    readings,
    refusals,
)


def claude(name: str, before: str | None, content: object, **extra: object) -> Json:
    kind = "user" if name.startswith("u") else "assistant"
    message: Json = {"role": kind, "content": content}
    if kind == "assistant":
        message["id"] = extra.pop("message_id", f"msg_{name}")
    links: Json = {"uuid": name, "parentUuid": before, "sessionId": "s"}
    return {"type": kind, **links, "message": message, **extra}


def claude_note(name: str, before: str | None) -> Json:
    return {"type": "attachment", "uuid": name, "parentUuid": before, "sessionId": "s"}


def use(name: str, command: str) -> list[Json]:
    return [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}]


def result(name: str, text: str) -> list[Json]:
    return [{"type": "tool_result", "tool_use_id": name, "content": text}]


def openclaw(name: str, before: str | None, content: object, **extra: object) -> Json:
    role = "user" if name.startswith("u") else "assistant"
    message = {"role": role, "content": content, **extra}
    return {"type": "message", "id": name, "parentId": before, "message": message}


def openclaw_note(name: str, before: str | None) -> Json:
    return {"type": "custom", "id": name, "parentId": before}


HEADER: Json = {"type": "session", "id": "s", "cwd": "/w"}
WRITERS = {
    "claude-code": (claude, claude_note, []),
    "openclaw": (openclaw, openclaw_note, [HEADER]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_branch_that_was_left_is_not_done_and_told_once(tmp_path: Path, name: str) -> None:
    say, note, header = WRITERS[name]
    log = [
        *header,
        note("n0", None),
        say("u1", "n0", "Fix it."),
        say("a1", "u1", "Shall I?"),
        say("u2", "a1", "Yes, with a patch."),
        say("a2", "u2", "Patched it."),
        say("u3", "a2", "Now the tests."),
        note("n1", "a1"),
        say("u4", "n1", "Yes, anew."),
        say("a4", "u4", "Wrote it anew."),
    ]
    (found,), (told,) = _parted(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("Shall I?", "Yes, anew."), Step("Wrote it anew."))
    assert told.message.startswith("3 messages are left out")
    assert told.position == f"line {len(header) + 4}"
    assert told.hint
    assert told.source


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    "parents",
    [
        (None, None, None, None),  # nothing is said of what follows what
        (None, "lost", "lost", "lost"),  # or not in this log
        (None, "u1", "lost", "u2"),  # as after the first half was made a summary elsewhere
        (None, None, "a1", "u2"),  # or only of some
        ("a2", "u1", "a1", "u2"),  # in a circle
        ("u1", "u1", "u2", "u2"),  # itself
    ],
)
def test_where_parents_are_missing_the_order_of_the_log_counts(
    tmp_path: Path, name: str, parents: tuple[str | None, ...]
) -> None:
    say, _, header = WRITERS[name]
    said = zip(("u1", "a1", "u2", "a2"), parents, ("Fix it.", "One.", "And?", "Two."), strict=True)
    found = readings(tmp_path, lines(*header, *(say(*each) for each in said)))
    (only,) = episodes(found)
    assert len(found) == 1
    assert only.steps == (Step("One.", "And?"), Step("Two."))


Turn = tuple[str, str | None, str]
BRANCHES: dict[str, tuple[list[Turn], str, list[Step], int, int]] = {
    "left twice and gone back to": (
        [("u1", None, "Fix it."), ("a1", "u1", "One."), ("a2", "u1", "Two."),
         ("u2", "a1", "Go on with one."), ("a3", "u2", "Went on.")],
        "Fix it.", [Step("One.", "Go on with one."), Step("Went on.")], 1, 3,
    ),
    "the first prompt tried anew": (
        [("u1", None, "Fix it."), ("a1", "u1", "Fixed the wrong one."),
         ("u2", None, "Fix  it.\n"), ("a2", "u2", "Fixed it.")],
        "Fix  it.", [Step("Fixed it.")], 2, 1,
    ),
    "the first prompt tried anew and gone back to": (
        [("u1", None, "Fix it."), ("a1", "u1", "Which one?"), ("u2", None, "Fix it."),
         ("a2", "u2", "Nothing to fix here."), ("u3", "a1", "The one in b.py."),
         ("a3", "u3", "Fixed it.")],
        "Fix it.", [Step("Which one?", "The one in b.py."), Step("Fixed it.")], 2, 3,
    ),
    "a prompt without an answer before it was tried anew": (
        [("u1", None, "Fix it."), ("u2", None, "Fix the parser."), ("a2", "u2", "Fixed it.")],
        "Fix the parser.", [Step("Fixed it.")], 1, 1,
    ),
    "the same prompt again at the end takes no work away": (
        [("u1", None, "Fix it."), ("a1", "u1", "Fixed it."), ("u2", None, "Fix it.")],
        "Fix it.", [Step("Fixed it.")], 1, 3,
    ),
    "another prompt at the end is what came back": (
        [("u1", None, "Fix it."), ("a1", "u1", "Fixed it."), ("u2", None, "Thanks.")],
        "Fix it.", [Step("Fixed it.", "Thanks.")], 0, 0,
    ),
    "prompts in other words that led to work are one task after another": (
        [("u1", None, "Fix it."), ("a1", "u1", "Did 1."), ("u2", None, "Test it."),
         ("a2", "u2", "Did 2."), ("u3", None, "Fix it."), ("a3", "u3", "Did 3.")],
        "Fix it.", [Step("Did 1.", "Test it."), Step("Did 2.", "Fix it."), Step("Did 3.")], 0, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("turns", "task", "steps", "left", "first"), BRANCHES.values(), ids=BRANCHES
)
def test_what_leads_to_the_last_message_was_done(
    tmp_path: Path,
    name: str,
    turns: list[Turn],
    task: str,
    steps: list[Step],
    left: int,
    first: int,
) -> None:
    say, _, header = WRITERS[name]
    log = lines(*header, *(say(*turn) for turn in turns))
    (found,), told = _parted(readings(tmp_path, log))
    assert (found.task, list(found.steps)) == (task, steps)
    places = [(int(each.message.split()[0]), each.position) for each in told]
    assert places == ([(left, f"line {len(header) + first}")] if left else [])


def test_what_answers_a_call_is_no_prompt_tried_anew(tmp_path: Path) -> None:
    words: Json = {"type": "text", "text": "Fix it."}
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", use("t1", "ls")),
        claude("u2", None, [*result("t1", ""), words]),
        claude("a2", "u2", "Fixed it."),
    ]
    found = only(readings(tmp_path, lines(*log)))
    assert [step.action for step in found.steps] == ["ls", "Fixed it."]


BOUNDARY: Json = {
    "type": "system",
    "subtype": "compact_boundary",
    "uuid": "n1",
    "parentUuid": None,
    "logicalParentUuid": "a1",
    "sessionId": "s",
}


@pytest.mark.parametrize(
    "summary",
    [
        [BOUNDARY, claude("u8", "n1", "So far: …", isCompactSummary=True)],
        [claude("u8", None, "So far: …", isCompactSummary=True)],
        [claude("u8", None, "This session is being continued from a previous conversation: …")],
    ],
)
def test_a_session_goes_on_after_its_beginning_was_made_a_summary(
    tmp_path: Path, summary: list[Json]
) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", "One."),
        *summary,
        claude("u2", "u8", "And?"),
        claude("a2", "u2", "Two."),
    ]
    found = only(readings(tmp_path, lines(*log)))
    assert (found.task, found.steps) == ("Fix it.", (Step("One.", "And?"), Step("Two.")))


def test_commands_before_the_first_prompt_are_no_prompt_tried_anew(tmp_path: Path) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", "One."),
        claude("u2", None, "<command-name>/model</command-name>"),
        claude("u3", "u2", "And?"),
        claude("a3", "u3", "Two."),
    ]
    found = only(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("One.", "And?"), Step("Two."))


def test_sub_agents_of_a_session_are_left_out_and_told(tmp_path: Path) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("u8", None, "Search.", isSidechain=True),
        claude("a8", "u8", "Searched.", isSidechain=True),
        claude("u9", None, "Look.", isSidechain=True, agentId="h"),
        claude("a1", "u1", "Fixed it."),
    ]
    (found,), (told,) = _parted(readings(tmp_path, lines(*log)))
    assert (found.task, found.steps) == ("Fix it.", (Step("Fixed it."),))
    assert told.message == "3 messages of sub-agents are left out: their work is not the session's"
    assert told.position == "line 2"


def test_sub_agents_without_a_name_are_no_prompts_tried_anew(tmp_path: Path) -> None:
    log = [
        claude("u1", None, "Search.", isSidechain=True),
        claude("a1", "u1", "Searched.", isSidechain=True),
        claude("u2", None, "Look.", isSidechain=True),
        claude("a2", "u2", "Looked.", isSidechain=True),
    ]
    found = only(readings(tmp_path, lines(*log)))
    assert [step.action for step in found.steps] == ["Searched.", "Looked."]


@pytest.mark.parametrize("last", ["both", "first", "second"])
def test_results_of_calls_made_at_once_are_branches_of_one_turn(tmp_path: Path, last: str) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", use("t1", "ls"), message_id="m"),
        claude("u2", "a1", result("t1", "a.py")),
        claude("a2", "a1", use("t2", "pwd"), message_id="m"),
        claude("u3", "a2", result("t2", "/w")),
    ]
    if last != "both":
        log.append(claude("a3", "u2" if last == "first" else "u3", "Done."))
    found = only(readings(tmp_path, lines(*log)))
    assert found.steps[:2] == (Step("ls", "a.py"), Step("pwd", "/w"))


def test_a_result_that_came_twice_counts_where_the_work_went_on(tmp_path: Path) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", use("t1", "ls")),
        claude("u2", "a1", result("t1", "interrupted")),
        claude("u3", "a1", result("t1", "a.py")),
        claude("a2", "u3", "Done."),
    ]
    (found,), (told,) = _parted(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("ls", "a.py"), Step("Done."))
    assert told.position == "line 3"


def test_results_of_openclaw_calls_that_all_follow_the_call(tmp_path: Path) -> None:
    calls = [
        {"type": "toolCall", "id": name, "name": "exec", "arguments": {"command": command}}
        for name, command in (("t1", "ls"), ("t2", "pwd"))
    ]
    log = [
        HEADER,
        openclaw("u1", None, "Fix it."),
        openclaw("a1", "u1", calls),
        openclaw("r1", "a1", "a.py", role="toolResult", toolCallId="t1"),
        openclaw("r2", "a1", "/w", role="toolResult", toolCallId="t2"),
        openclaw("a2", "r2", "Done."),
    ]
    found = only(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("ls", "a.py"), Step("pwd", "/w"), Step("Done."))


def test_a_sub_agent_is_no_branch(tmp_path: Path) -> None:
    log = [
        claude("u1", None, "Fix it."),
        claude("a1", "u1", use("t1", "ls")),
        claude("u8", "a1", "Search.", isSidechain=True),
        claude("a8", "u8", "Searched.", isSidechain=True),
        claude("u2", "a1", result("t1", "a.py")),
        claude("u9", "a8", "Not mine.", isSidechain=True),
    ]
    (found,), (told,) = _parted(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("ls", "a.py"),)
    assert told.message.startswith("3 messages of sub-agents are left out")


def test_a_sub_agents_own_branches(tmp_path: Path) -> None:
    facts: Json = {"isSidechain": True, "agentId": "h"}
    log = [
        claude("u1", None, "Search.", **facts),
        claude("a1", "u1", "Lost.", **facts),
        claude("a2", "u1", "Found.", **facts),
    ]
    (found,), (told,) = _parted(readings(tmp_path, lines(*log)))
    assert found.steps == (Step("Found."),)
    assert told.position == "line 2"


def _parted(found: list[Reading]) -> tuple[list[Trajectory], list[Notice]]:
    return episodes(found), notices(found)


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


def test_gemini_calls_before_the_task_are_reported(tmp_path: Path) -> None:
    found = readings(tmp_path, gemini(CALL, user("Rename foo."), CALL))
    (kept,), (left,) = _parted(found)
    assert (kept.task, len(kept.steps)) == ("Rename foo.", 1)
    assert (left.position, "1 call" in left.message) == ("line 1", True)


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
