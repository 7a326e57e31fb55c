"""Rows that cannot be read: what stands after them is never taken for an answer before them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.model import Outcome, Step
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.spans import ModelCall, ToolCall, trace_episode
from tests.trajectory.readers.benchmark_samples import WEBSHOP_HUMAN
from tests.trajectory.readers.samples import (
    Json,
    dumped,
    episode,
    episodes,
    lines,
    readings,
    refusals,
)

EITHER = Outcome(reason="a score of 1, which may be all or one point of a hundred")


def recording(*scores: float, done: bool = False) -> list[bytes]:
    rows = [
        {"observation": f"saw {n}", "userInput": f"do {n}", "score": score, "taskDescription": "t",
         "isCompleted": done and n == len(scores)}
        for n, score in enumerate(scores, 1)
    ]  # fmt: skip
    return [dumped(row) for row in rows]


def test_a_recording_ends_at_a_row_that_is_broken(tmp_path: Path) -> None:
    first, second, third, fourth, fifth = recording(0, 0.1, 0.2, 0.5, 1.0)
    broken = b'{"observation": "saw 3", "userInput": tru}'
    log = b"\n".join([first, second, broken, fourth, fifth])
    found = readings(tmp_path, log)
    (episode,) = episodes(found)
    assert episode.steps == (Step("do 1", "saw 2"), Step("do 2"))
    assert episode.outcome == Outcome(reason="the recording breaks off")
    assert [remark.position for remark in refusals(found)] == ["line 3", "line 4"]
    assert third not in log


def test_a_recording_cut_after_all_was_done_keeps_its_score(tmp_path: Path) -> None:
    log = b"\n".join([*recording(0, 0.5, 1.0, done=True), b'{"observation": "sa'])
    (episode,) = episodes(readings(tmp_path, log))
    assert episode.outcome == Outcome(True, 1.0, "stated")


def test_a_visit_ends_at_a_page_that_is_broken(tmp_path: Path) -> None:
    pages = WEBSHOP_HUMAN.data.splitlines()
    whole = WEBSHOP_HUMAN.episodes[0]
    found = readings(tmp_path, b"\n".join([*pages[:4], pages[4][:-20], *pages[5:], *pages]))
    first, *_ = episodes(found)
    assert first.steps == whole.steps[:2]
    assert first.outcome == Outcome()
    told = [refusal.position for refusal in refusals(found)]
    assert told[:2] == ["line 5", "line 6"]


def test_a_page_whose_address_is_none_has_no_tab(tmp_path: Path) -> None:
    data = WEBSHOP_HUMAN.data.replace(b"x/2/Features", b"x/2/]Features").replace(b"//", b"//[", 7)
    (found,) = episodes(readings(tmp_path, data))
    assert len(found.steps) == len(WEBSHOP_HUMAN.episodes[0].steps)


@pytest.mark.parametrize(
    ("scores", "done", "outcome"),
    [
        (["0", "1"], "false", EITHER),
        (["0", "1"], "true", Outcome(True, 1.0, "stated")),
        (["0.0", "1.0"], "false", Outcome(True, 1.0, "stated")),
        (["0.5", "1"], "false", Outcome(True, 1.0, "stated")),
        ([0, 1], "false", EITHER),
        ([0.0, 1.0], "false", Outcome(True, 1.0, "stated")),
        (["1", "3"], "false", Outcome(False, 0.03, "stated")),
        (["1", "0"], "false", Outcome(False, 0.0, "stated")),
        (["3", "1"], "false", Outcome(False, 0.01, "stated")),
    ],
)  # fmt: skip
def test_one_point_is_not_the_whole(
    tmp_path: Path, scores: list[object], done: str, outcome: Outcome
) -> None:
    rows = [
        {"action": f"do {n}", "observation": "o", "score": score, "isCompleted": "false"}
        for n, score in enumerate(scores)
    ]
    rows[-1]["isCompleted"] = done
    history = {"taskDescription": "boil", "taskName": "b", "variationIdx": 0, "history": rows}
    (found,) = episodes(readings(tmp_path, dumped({"0": {"history": history}})))
    assert found.outcome == outcome


@pytest.mark.parametrize("row", ["observation", "userInput", "lookAround"])
def test_a_recording_is_bounded_in_length(tmp_path: Path, row: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(
        b"\n".join(
            dumped({**orjson.loads(line), row: "x" * 200}) for line in recording(*[0.0] * 50)
        )
    )
    (told,) = read_logs([path], limits=LogLimits(session_bytes=30_000))
    assert isinstance(told, RecordError)
    assert "more than 29.3 KB of records that belong together" in told.message
    assert told.position


def test_recordings_put_together_are_cut_where_a_game_ends(tmp_path: Path) -> None:
    finished = recording(0, 1.0, done=True)
    first, second = episodes(readings(tmp_path, b"\n".join([*finished, *finished])))
    assert first.steps == second.steps == (Step("do 1", "saw 2"),)
    assert (first.source.position, second.source.position) == ("line 1", "line 3")
    assert first.outcome == second.outcome == Outcome(True, 1.0, "stated")


@pytest.mark.parametrize("fact", ["taskDescription", "taslDescription", "taskName", "variationIdx"])
def test_recordings_of_different_games_are_different(tmp_path: Path, fact: str) -> None:
    rows = []
    for name in ("6", "7"):
        for row in map(orjson.loads, recording(0, 0.5)):
            del row["taskDescription"]
            rows.append(dumped({"taskName": "boil", **row, fact: name}))
    first, second = episodes(readings(tmp_path, b"\n".join(rows)))
    assert [step.action for step in first.steps] == ["do 1", "do 2"]
    assert [step.action for step in second.steps] == ["do 1", "do 2"]


def test_a_game_begun_anew_counts_its_moves_anew(tmp_path: Path) -> None:
    rows = [
        dumped({**orjson.loads(row), "consoleMoveCount": count})
        for count, row in zip([0, 1, 2, 0, 1], [*recording(0, 0, 0), *recording(0, 0)], strict=True)
    ]
    assert [len(found.steps) for found in episodes(readings(tmp_path, b"\n".join(rows)))] == [3, 2]


def test_behind_a_gap_the_next_recording_is_read(tmp_path: Path) -> None:
    first, second, third = recording(0, 0.1, 0.2, done=True)
    log = [first, second[:-9], third, *recording(0, 1.0, done=True)]
    found = readings(tmp_path, b"\n".join(log))
    cut, whole = episodes(found)
    assert cut.outcome == Outcome(reason="the recording breaks off")
    assert whole.steps == (Step("do 1", "saw 2"),)
    assert whole.outcome == Outcome(True, 1.0, "stated")
    assert [remark.position for remark in refusals(found)] == ["line 2", "line 3"]


TALK = (("user", "fix"), ("assistant", "A?"), ("user", "B"), ("assistant", "C?"), ("user", "D"))
TOLD_BEFORE = {2: [("A?", "")], 3: [("A?", "B")], 4: [("A?", "B"), ("C?", "")]}
TOLD: dict[str, Callable[[str, str], object]] = {
    "claude-code": lambda who, text: {
        "type": who, "sessionId": "s", "message": {"role": who, "content": text}
    },
    "openclaw": lambda who, text: {"type": "message", "message": {"role": who, "content": text}},
    "codex": lambda who, text: {
        "type": "response_item",
        "payload": {"type": "message", "role": who, "content": [{"type": "text", "text": text}]},
    },
    "gemini-cli": lambda who, text: {
        "type": "user" if who == "user" else "gemini", "content": text
    },
    "openai-chat": lambda who, text: {"role": who, "content": text},
    "sharegpt": lambda who, text: {"from": "human" if who == "user" else "gpt", "value": text},
    "anthropic": lambda who, text: {"role": who, "content": [{"type": "text", "text": text}]},
    "openhands": lambda who, text: {
        "action": "message", "source": "user" if who == "user" else "agent",
        "args": {"content": text},
    },
    "openhands-sdk": lambda who, text: {
        "kind": "MessageEvent", "source": "user" if who == "user" else "agent",
        "llm_message": {"role": who, "content": [{"type": "text", "text": text}]},
    },
    "mini-swe-agent": lambda who, text: {"role": who, "content": text},
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("layout", ["lines", "array"])
@pytest.mark.parametrize("gap", TOLD_BEFORE)
def test_a_session_ends_at_a_message_that_is_broken(
    tmp_path: Path, name: str, layout: str, gap: int
) -> None:
    records = [dumped(TOLD[name](who, text)) for who, text in (*TALK, ("assistant", "E."))]
    whole = read_as(tmp_path, name, records, layout)
    (untouched,) = episodes(whole)
    assert [step.action for step in untouched.steps] == ["A?", "C?", "E."]
    records[gap] = records[gap].replace(b":", b" ", 1)
    found = read_as(tmp_path, name, records, layout)
    (cut,) = episodes(found)
    assert [(step.action, step.observation) for step in cut.steps] == TOLD_BEFORE[gap]
    word = "line" if layout == "lines" else "record"
    told = [(refusal.position, "left out" in refusal.message) for refusal in refusals(found)]
    assert told == [(f"{word} {gap + 1}", False), (f"{word} {gap + 2}", True)]


def read_as(tmp_path: Path, name: str, records: list[bytes], layout: str) -> list[Reading]:
    path = tmp_path / "log"
    path.write_bytes(
        b"\n".join(records) if layout == "lines" else b"[" + b",\n".join(records) + b"]"
    )
    return list(read_logs([path], format=name))


@pytest.mark.parametrize("name", TOLD)
def test_noise_before_a_record_on_its_line_is_no_gap(tmp_path: Path, name: str) -> None:
    records = [dumped(TOLD[name](who, text)) for who, text in TALK]
    records[2] = b"12:00 INFO " + records[2]
    found = read_as(tmp_path, name, records, "lines")
    (whole,) = episodes(found)
    assert [step.observation for step in whole.steps] == ["B", "D"]
    assert [remark.position for remark in refusals(found)] == ["line 3"]


@pytest.mark.parametrize("name", TOLD)
def test_what_is_broken_before_or_behind_a_session_takes_nothing_from_it(
    tmp_path: Path, name: str
) -> None:
    records = [dumped(TOLD[name](who, text)) for who, text in TALK]
    found = read_as(tmp_path, name, [b'{"type" 1}', *records, b'{"type" 1}'], "lines")
    (whole,) = episodes(found)
    assert [step.observation for step in whole.steps] == ["B", "D"]
    assert [remark.position for remark in refusals(found)] == ["line 1", "line 7"]


def test_only_the_conversations_that_go_on_behind_a_gap_end_there(tmp_path: Path) -> None:
    def helper(name: str, who: str, text: str) -> bytes:
        message = {"role": who, "content": text}
        return dumped(
            {
                "type": who,
                "sessionId": "s",
                "isSidechain": True,
                "agentId": name,
                "message": message,
            }
        )

    log = [
        helper("a", "user", "one"), helper("a", "assistant", "did one"),
        helper("b", "user", "two"), helper("b", "assistant", "did two"),
        b'{"type" "user"}',
        helper("b", "user", "And?"), helper("c", "user", "three"), helper("b", "assistant", "No."),
        helper("c", "assistant", "did three"),
    ]  # fmt: skip
    found = read_as(tmp_path, "claude-code", log, "lines")
    assert [(each.task, each.steps) for each in episodes(found)] == [
        (task, (Step(f"did {task}"),)) for task in ("one", "two", "three")
    ]
    assert [remark.position for remark in refusals(found)] == ["line 5", "line 6"]


@pytest.mark.parametrize("name", ["openai-chat", "sharegpt", "anthropic"])
@pytest.mark.parametrize("position", [0, 2, 5])
def test_a_chat_in_which_somebody_unknown_speaks_is_refused(
    tmp_path: Path, name: str, position: int
) -> None:
    records = [dumped(TOLD[name](who, text)) for who, text in TALK]
    stranger = {"role": "critic", "content": "Bad.", "from": "critic", "value": "Bad."}
    records.insert(position, dumped(stranger))
    (told,) = read_as(tmp_path, name, records, "lines")
    assert isinstance(told, RecordError)
    assert "a message of unknown role critic" in told.message


def langsmith(given: Json, answer: str) -> bytes:
    call = {"name": "search", "args": given, "id": "q"}
    kwargs = {"content": "", "tool_calls": [call]}
    user = {"type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "Book it."}}
    ai = {"type": "constructor", "id": ["AIMessage"], "kwargs": kwargs}
    common = {"trace_id": "t", "parent_run_id": "t"}
    return lines(
        {"id": "t", "run_type": "chain", "name": "agent", "trace_id": "t", "inputs": {},
         "dotted_order": "1"},
        {**common, "id": "a", "run_type": "llm", "name": "llm", "dotted_order": "1.1",
         "inputs": {"messages": [[user]]},
         "outputs": {"generations": [[{"text": "", "message": ai}]]}},
        {**common, "id": "b", "run_type": "tool", "name": "search", "dotted_order": "1.2",
         "inputs": {"input": str(given)}, "outputs": {"output": answer}},
    )  # fmt: skip


def langfuse(given: Json, answer: str) -> bytes:
    call = {"id": "z", "function": {"name": "search", "arguments": json.dumps(given)}}
    told = {"role": "assistant", "content": None, "tool_calls": [call]}
    return lines(
        {
            "trace": {"id": "l", "input": "Book it."},
            "observations": [
                {"id": "3", "type": "TOOL", "name": "search", "startTime": "3", "input": given,
                 "output": answer},
                {"id": "2", "type": "GENERATION", "startTime": "2", "output": told,
                 "input": [{"role": "user", "content": "Book it."}]},
            ],
        }
    )  # fmt: skip


def openinference(given: Json, answer: str) -> bytes:
    out = "llm.output_messages.0.message"
    call = f"{out}.tool_calls.0.tool_call"
    common = {"context": {"trace_id": "t"}, "parent_id": "a"}
    return lines(
        {"name": "agent", "context": {"trace_id": "t"}, "parent_id": None, "start_time": "1",
         "attributes": {"openinference.span.kind": "AGENT", "input.value": "Book it."}},
        {**common, "name": "llm", "start_time": "2", "attributes": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Book it.",
            f"{out}.role": "assistant", f"{call}.id": "q", f"{call}.function.name": "search",
            f"{call}.function.arguments": json.dumps(given)}},
        {**common, "name": "search", "start_time": "3", "attributes": {
            "openinference.span.kind": "TOOL", "tool.name": "search",
            "input.value": json.dumps(given), "output.value": answer}},
    )  # fmt: skip


@pytest.mark.parametrize("write", [langsmith, langfuse, openinference])
def test_an_answer_that_only_the_tools_span_holds(
    tmp_path: Path, write: Callable[[Json, str], bytes]
) -> None:
    found = episode(tmp_path, write({"q": "flight"}, "LH123"))
    assert found.task == "Book it."
    assert found.steps == (Step('search(q="flight")', "LH123"),)


def call(name: str, call_id: str, **given: object) -> Json:
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(given)}}


def answers(
    told: list[Json], *runs: ToolCall, before: tuple[tuple[Json, str], ...] = ()
) -> list[str]:
    """The observations of a trace whose model first made the calls `before`, and then `told`."""
    asked: list[Json] = [{"role": "user", "content": "Book it."}]
    for made, answer in before:
        asked.append({"role": "assistant", "content": "", "tool_calls": [made]})
        asked.append({"role": "tool", "tool_call_id": made["id"], "content": answer})
    last = ModelCall(asked, [{"role": "assistant", "content": "", "tool_calls": told}])
    return [step.observation for step in trace_episode(Conversation(), [last], runs).steps]


def test_calls_made_at_once_are_told_apart_by_their_arguments() -> None:
    told = [call("look", "1", at="a"), call("look", "2", at="b")]
    runs = ToolCall("look", {"at": "b"}, "B"), ToolCall("look", "{'at': 'a'}", "A")
    assert answers(told, *runs) == ["A", "B"]


def test_the_same_call_made_again_has_the_later_answer() -> None:
    runs = ToolCall("look", {}, "old"), ToolCall("look", {}, "new")
    assert answers([call("look", "2")], *runs, before=((call("look", "1"), "old"),)) == [
        "old",
        "new",
    ]


def test_a_call_that_never_ran_has_no_answer_of_an_earlier_one() -> None:
    run = ToolCall("look", {"at": "a"}, "A")
    for made in (call("look", "2", at="a"), call("look", "2", at="b"), call("go", "2", at="a")):
        assert answers([made], run, before=((call("look", "1", at="a"), "A"),)) == ["A", ""]


def test_arguments_written_in_another_way_do_only_for_a_call_that_is_alone() -> None:
    odd = [ToolCall("look", "at a", "A"), ToolCall("look", "at b", "B")]
    assert answers([call("look", "1", at="a")], odd[0]) == ["A"]
    assert answers([call("look", "1", at="a"), call("look", "2", at="b")], *odd) == ["", ""]


def test_a_tool_that_failed_says_so() -> None:
    failed = ToolCall("look", {}, "no light", failed=True)
    assert answers([call("look", "1")], failed) == ["error: no light"]


def test_arguments_as_python_shows_them_are_never_run() -> None:
    hostile = "{'a': __import__('os').abort()}", "{'" + "[" * 9_000, "{'a': " * 1_600
    for given in hostile:
        assert answers([call("look", "1", a="b")], ToolCall("look", given, "A")) == ["A"]
