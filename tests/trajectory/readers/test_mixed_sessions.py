"""Files that were put together from several sessions: each stays an episode of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.model import LogSource, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers.samples import Json, episodes, lines, only, pretty, readings, refusals
from tests.trajectory.readers.test_traps import LOGS


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
    assert second.source.position == f"line {len(write('a', 'one')) + 1}"
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
    "codex": (
        {"nonsense": 1},
        {"type": "event_msg"},
        {"type": "strange", "payload": {}},
        {"type": "response_item", "payload": {"type": "teleport_call", "name": "browse"}},
        {"type": "response_item", "payload": {"name": "browse"}},
    ),
    "openclaw": (
        {"nonsense": 1},
        [1],
        {"type": "messsage", "message": {"role": "assistant", "content": "hm"}},
    ),
    "gemini-cli": ({"nonsense": 1}, {"type": "gemnii", "content": "hm"}),
    "claude-code": (
        {"nonsense": 1},
        {"type": "user", "sessionId": "s", "uuid": "x"},
        {"type": "assistant", "sessionId": "s", "message": "text"},
        {"type": "asistant", "sessionId": "s", "message": {"content": "hm"}},
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


@pytest.mark.parametrize("name", ["codex", "openclaw", "gemini-cli"])
def test_a_header_behind_a_session_without_one_begins_another(tmp_path: Path, name: str) -> None:
    write = WRITERS[name]
    found = readings(tmp_path, lines(*write("a", "one")[1:], *write("b", "two")))
    assert [(each.task, each.metadata.get("id", "")) for each in episodes(found)] == [
        ("one", ""),
        ("two", "b"),
    ]


@pytest.mark.parametrize("name", ["codex", "openclaw", "gemini-cli"])
def test_behind_a_gap_the_next_session_is_read(tmp_path: Path, name: str) -> None:
    write = WRITERS[name]
    broken = write("a", "one")
    log = lines(*broken[:-1]) + b'{"type" 1}\n' + lines(broken[-1], *write("b", "two"))
    found = readings(tmp_path, log)
    assert [each.task for each in episodes(found)][-1] == "two"
    assert len(refusals(found)) == (2 if name == "codex" else 3)  # nothing is left of the others


@pytest.mark.parametrize("name", ["codex", "openclaw", "gemini-cli"])
def test_what_was_made_an_episode_is_not_held(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    names = [str(number) for number in range(50)]
    path.write_bytes(b"".join(lines(*WRITERS[name](each, each)) for each in names))
    one = len(lines(*WRITERS[name]("49", "49"))) + 5 * 500
    found = list(read_logs([path], limits=LogLimits(session_bytes=2 * one)))
    assert [each.task for each in episodes(found)] == names
    assert len(found) == 50


@pytest.mark.parametrize("name", ["codex", "openclaw", "gemini-cli", "claude-code"])
def test_strays_do_not_make_room(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    header, *rest = WRITERS[name]("a", "x" * 2_000)
    stray = {"nonsense": 1}
    path.write_bytes(lines(header, *[line for one in rest * 20 for line in (one, stray)]))
    found = list(read_logs([path], format=name, limits=LogLimits(session_bytes=30_000)))
    assert not episodes(found)
    assert "more than 29.3 KB of records that belong together" in refusals(found)[-1].message


@pytest.mark.parametrize("name", ["openhands", "mini-swe-agent"])
def test_runs_of_a_record_each_are_not_held(tmp_path: Path, name: str) -> None:
    record: object = {"messages": [
        {"role": "user", "content": "task"}, {"role": "assistant", "content": "x" * 1_000}
    ]}  # fmt: skip
    if name == "openhands":
        said = {"action": "message", "source": "user", "args": {"content": "task"}}
        ran = {"action": "run", "args": {"command": "x" * 1_000}}
        record = {"history": [said, ran]}
    found = readings(
        tmp_path, lines(*[record] * 50), "log", format=name, limits=LogLimits(session_bytes=4_000)
    )
    assert len(episodes(found)) == len(found) == 50


LISTS: dict[str, list[Json]] = {
    "openhands": [
        {"id": 0, "action": "message", "source": "user", "args": {"content": "task"}},
        {"id": 1, "action": "run", "source": "agent", "args": {"command": "ls"}},
        {"id": 2, "observation": "run", "content": "a.py", "cause": 1},
    ],
    "openhands-sdk": [
        {"kind": "SystemPromptEvent", "tools": []},
        {"kind": "MessageEvent", "source": "user", "llm_message": {"content": "task"}},
        {"kind": "MessageEvent", "source": "agent", "llm_message": {"content": "did it"}},
    ],
    "mini-swe-agent": [
        {"role": "system", "content": "You are a helper."},
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": "```bash\nls\n```"},
    ],
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_events_one_after_another(tmp_path: Path, name: str) -> None:
    first, second = readings(tmp_path, lines(*LISTS[name], *LISTS[name]), "log", format=name)
    assert isinstance(first, Trajectory)
    assert isinstance(second, Trajectory)
    assert first.steps == second.steps
    assert len(first.steps) == 1
    assert second.source.position == "line 4"


def test_a_line_of_the_programs_does_not_hide_the_helpers(tmp_path: Path) -> None:
    meta = {"type": "user", "isMeta": True, "sessionId": "s", "message": {"content": "Caveat"}}
    (found,) = readings(tmp_path, lines(meta, *helper("a", "one")))
    (alone,) = episodes(readings(tmp_path, lines(*helper("a", "one"))))
    assert found == replace(alone, source=LogSource("log.json", "line 2", "claude-code"))


def test_a_stranger_in_a_gemini_session_is_told(tmp_path: Path) -> None:
    messages = [*gemini("a", "one")[1:], {"type": "critic", "content": "Bad."}, {"type": "info"}]
    found = readings(tmp_path, pretty({"sessionId": "a", "projectHash": "h", "messages": messages}))
    assert [remark.position for remark in refusals(found)] == ["record 1, message 3"]
    assert [each.task for each in episodes(found)] == ["one"]


def test_calls_of_served_tools_are_steps(tmp_path: Path) -> None:
    header, asked, *_ = codex("a", "one")
    items = (
        {"type": "tool_search_call", "call_id": "c", "arguments": {"query": "maps"}},
        {"type": "tool_search_output", "call_id": "c", "output": "none"},
        {"type": "ghost_snapshot", "ghost_commit": {}},
    )
    log = [header, asked, *({"type": "response_item", "payload": item} for item in items)]
    found = only(readings(tmp_path, lines(*log)))
    assert found.steps == (Step('tool_search(query="maps")', "none"),)


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


FOREIGN: dict[str, list[Json]] = {
    **{name: write("other", "two") for name, write in WRITERS.items()},
    "openhands-sdk": LISTS["openhands-sdk"],
    "nothing known": [{"nonsense": 1}, {"type": "frobnicate", "id": "x"}],
}
OFTEN = 12  # what is looked at to tell the format is of one


def records(name: str) -> list[object]:
    """The records of a format's first sample; none if it is not JSON."""
    _, data = LOGS[name][0]
    for texts in ([data], data.splitlines()):
        try:
            found = [json.loads(text) for text in texts if text.strip()]
        except ValueError:
            continue
        return found[0] if isinstance(found[0], list) else found
    return []


def pairs() -> Iterator[tuple[str, str]]:
    for name in LOGS:
        for foreign in FOREIGN:
            if name != foreign and records(name):
                yield name, foreign


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "foreign"), pairs())
def test_each_line_of_a_foreign_part_is_told(tmp_path: Path, name: str, foreign: str) -> None:
    own = records(name) * OFTEN
    alone = readings(tmp_path, lines(*own))
    assert {each.source.format for each in episodes(alone)} == {name}
    mixed = readings(tmp_path, lines(*own, *FOREIGN[foreign]))
    assert episodes(mixed) == episodes(alone)
    new = refusals(mixed)[len(refusals(alone)) :]
    assert list(dict.fromkeys(str(each.position).partition(",")[0] for each in new)) == [
        f"line {number}" for number in range(len(own) + 1, len(own) + len(FOREIGN[foreign]) + 1)
    ]


@pytest.mark.parametrize("name", WRITERS)
def test_a_part_that_is_small_does_not_hide_what_the_log_is(tmp_path: Path, name: str) -> None:
    other = "openclaw" if name == "codex" else "codex"
    own = WRITERS[name]("a", "one") * 2
    found = readings(tmp_path, lines(WRITERS[other]("b", "two")[0], *own))
    assert {each.source.format for each in episodes(found)} == {name}
    (told,) = refusals(found)
    assert told.position == "line 1"
    assert told.hint
    assert "split the log" in told.hint
