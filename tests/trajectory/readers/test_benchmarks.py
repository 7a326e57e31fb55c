"""Logs of benchmarks with anything in the wrong place: refused or read, never a crash."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import LogSource, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading
from tests.effort import examples
from tests.places import PUBLISHED
from tests.trajectory.readers.benchmark_samples import SAMPLES, WEBSHOP_TEXT
from tests.trajectory.readers.samples import (
    PIXELS,
    called,
    dumped,
    episodes,
    notices,
    only,
    readings,
    refusal,
    refusals,
    sample_log,
)


def read(tmp_path: Path, data: bytes, *, name: str = "log") -> list[Reading]:
    return readings(tmp_path, data, name)


def expected(name: str) -> list[Trajectory]:
    return [
        replace(episode, source=LogSource("log", episode.source.position, name))
        for episode in SAMPLES[name].episodes
    ]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_format_is_read_exactly(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, SAMPLES[name].data)
    assert [each for each in found if not isinstance(each, Notice)] == expected(name)


def test_the_branches_of_a_search_are_told(tmp_path: Path) -> None:
    (told,) = notices(read(tmp_path, SAMPLES["toolbench"].data))
    assert (told.message, told.position) == (
        "1 node is left out: on another branch of the search",
        "line 2",
    )


def test_a_tool_that_says_nothing_is_not_given_the_next_ones_answer(tmp_path: Path) -> None:
    leaf: dict[str, object] = {"role": "assistant", "message": "Done."}
    for name, response in (("b", "seen"), ("a", "")):
        leaf = {"role": "tool", "message": {"name": name, "response": response}, "next": [leaf]}
    answer = {"answer_details": [{"role": "system", "next": [leaf]}]}
    (found,) = episodes(read(tmp_path, dumped({"1": {"query": "Go.", "answer": answer}})))
    assert found.steps == (Step("a()"), Step("b()", "seen"), Step("Done."))


JSON_LINES = ["agentbench", "openai-chat", "toolbench", "webshop-human"]


@pytest.mark.parametrize("name", JSON_LINES)
def test_json_lines_as_one_array(tmp_path: Path, name: str) -> None:
    records = [json.loads(line) for line in SAMPLES[name].data.splitlines()]
    found = read(tmp_path, dumped(records, indent=1))
    assert [replace(item, source=LogSource()) for item in episodes(found)] == [
        replace(item, source=LogSource()) for item in expected(name)
    ]


def test_webshop_inside_a_notebook(tmp_path: Path) -> None:
    cut = len(WEBSHOP_TEXT) // 3
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": WEBSHOP_TEXT[:cut].splitlines(True)},
        {"output_type": "stream", "name": "stderr", "text": "Action: reset\nwarning\n"},
        {"output_type": "stream", "name": "stdout", "text": WEBSHOP_TEXT[cut:]},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Action: reset"]},
        {"cell_type": "code", "source": ["run()"], "outputs": outputs, "metadata": {}},
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = read(tmp_path, dumped(notebook, indent=1))
    places = [f"cell 2, {item.source.position}" for item in expected("webshop")]
    assert found == [
        replace(item, source=LogSource("log", place, "webshop"))
        for item, place in zip(expected("webshop"), places, strict=True)
    ]


def test_webshop_text_without_its_beginning(tmp_path: Path) -> None:
    text = "Action: click[Buy Now]\nObservation: Your score (min 0.0, max 1.0): 1.0\n"
    refused, *found = read(tmp_path, (text + WEBSHOP_TEXT).encode())
    assert isinstance(refused, RecordError)
    assert "beginning" in refused.message
    assert len(found) == 2


CALL: dict[str, object] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [called("bash", "1", '{"command": "ls"}')],
}


class TestConversations:
    def chat(self, *messages: object, **beside: object) -> bytes:
        return dumped({"messages": list(messages), **beside})

    USER = {"role": "user", "content": "Do it."}
    DID = {"role": "assistant", "content": "I did."}

    @pytest.mark.parametrize(
        ("beside", "success", "reward"),
        [
            ({"reward": 0.75}, False, 0.75),
            ({"score": "1.0"}, True, 1.0),
            ({"resolved": "true"}, True, None),
            ({"resolved": False, "reward": 0.5}, False, 0.5),
            ({"success": 1}, True, 1.0),
            ({"success": 0}, False, 0.0),
            ({"reward": -100}, False, 0.0),
            ({"score": 85}, None, None),
            ({"correct": "C"}, True, None),
            ({"exit_status": "submitted", "verdict": "success"}, None, None),
            ({}, None, None),
        ],
    )
    def test_outcomes_are_read_and_never_guessed(
        self, tmp_path: Path, beside: dict[str, object], success: bool | None, reward: float | None
    ) -> None:
        found = only(read(tmp_path, self.chat(self.USER, self.DID, **beside)))
        assert (found.outcome.success, found.outcome.reward) == (success, reward)
        assert found.outcome.source == ("unknown" if success is None else "stated")

    def test_a_bare_list_and_a_message_a_line(self, tmp_path: Path) -> None:
        for data in (dumped([self.USER, self.DID]), dumped(self.USER, self.DID)):
            found = only(read(tmp_path, data))
            assert (found.task, [step.action for step in found.steps]) == ("Do it.", ["I did."])

    def test_conversations_under_names(self, tmp_path: Path) -> None:
        found = read(tmp_path, dumped({"a": [self.USER, self.DID], "b": [self.USER, self.DID]}))
        assert [item.metadata["id"] for item in episodes(found)] == ["a", "b"]

    def test_a_conversation_under_a_name_with_a_stranger_is_told(self, tmp_path: Path) -> None:
        critic = {"role": "critic", "content": "Bad."}
        tools = [{"name": "look"}]
        found, told = readings(
            tmp_path,
            dumped({"a": [self.USER, self.DID], "b": [self.USER, critic], "tools": tools}),
            "log",
            format="openai-chat",
        )
        assert isinstance(found, Trajectory)
        assert isinstance(told, RecordError)
        assert told.position == "line 1, key b"
        assert told.message == "a message of unknown role critic"

    def test_calls_that_repeat_the_prefix_count_once(self, tmp_path: Path) -> None:
        more = [self.USER, self.DID, {"role": "user", "content": "Again."}, self.DID]
        other = {"role": "user", "content": "Something else."}
        data = b"\n".join(
            [
                self.chat(*more[:1]),
                self.chat(*more[:2]),
                self.chat(other, self.DID),
                self.chat(*more),
                self.chat(*more[:3]),
            ]
        )
        found = read(tmp_path, data)
        assert [
            (item.task, len(item.steps), item.source.position)
            for item in found
            if isinstance(item, Trajectory)
        ] == [("Do it.", 2, "line 4"), ("Something else.", 1, "line 3")]

    def test_trials_with_outcomes_of_their_own_stay_apart(self, tmp_path: Path) -> None:
        more = [self.USER, self.DID, self.USER, self.DID]
        data = b"\n".join(
            [
                self.chat(*more[:2], task_id=1, trial=0, reward=0),
                self.chat(*more, task_id=1, trial=1, reward=1),
            ]
        )
        found = [item for item in read(tmp_path, data) if isinstance(item, Trajectory)]
        assert [item.metadata for item in found] == [
            {"task_id": "1", "trial": "0"},
            {"task_id": "1", "trial": "1"},
        ]
        assert [item.outcome.success for item in found] == [False, True]

    @pytest.mark.parametrize("role", ["ai", "agent", "gpt", "model", "assistant"])
    def test_the_agent_by_many_names(self, tmp_path: Path, role: str) -> None:
        human = {"role": "human", "content": "Do it."}
        found = only(read(tmp_path, self.chat(human, {"role": role, "content": "I did."})))
        assert [step.action for step in found.steps] == ["I did."]

    def test_a_solved_example_in_the_conversation_is_left_out(self, tmp_path: Path) -> None:
        example = "You use a shell. Now, my problem is:\n\nan example"
        anew = "Now, I will start a new problem in a new OS. My problem is:\n\nHow many?"
        turns = [
            {"from": "human", "value": example},
            {"from": "gpt", "value": "Think: Easy.\n\nAct: answer(1)"},
            {"from": "human", "value": anew},
            {"from": "gpt", "value": "Think: Count.\n\nAct: answer(2)"},
        ]
        found, told = read(tmp_path, dumped({"id": "os_1", "conversations": turns}))
        assert isinstance(found, Trajectory)
        assert str(told) == "log, line 1: 2 messages are left out: part of a solved example"
        assert (found.task, found.environment, found.domain) == (
            "How many?",
            "You use a shell.",
            "os",
        )
        assert [(step.thought, step.action) for step in found.steps] == [("Count.", "answer(2)")]

    @pytest.mark.parametrize("mark", [{"name": "example_user"}, {"is_demo": True}])
    def test_examples_that_say_so_are_left_out(
        self, tmp_path: Path, mark: dict[str, object]
    ) -> None:
        example = {"role": "user", "content": "an example", **mark}
        found, told = read(tmp_path, self.chat(example, self.USER, self.DID))
        assert isinstance(found, Trajectory)
        assert found.task == self.USER["content"]
        assert notices([told])
        assert str(told) == "log, line 1: 1 message is left out: part of a solved example"

    @pytest.mark.parametrize(
        "before",
        [
            [CALL, {"role": "tool", "tool_call_id": "1", "content": "a.py"}],
            [{"role": "assistant", "content": "Thought: Look.\nAction: ls"}],
        ],
    )
    def test_calls_before_the_task_are_told(
        self, tmp_path: Path, before: list[dict[str, object]]
    ) -> None:
        found, told = read(tmp_path, self.chat(*before, self.USER, self.DID))
        assert isinstance(found, Trajectory)
        assert len(found.steps) == 1
        assert notices([told])
        assert str(told) == "log, line 1: 1 call is left out: made before the user's task"

    def test_an_answer_before_the_task_to_a_call_that_was_lost_is_refused(
        self, tmp_path: Path
    ) -> None:
        lost = {"role": "tool", "tool_call_id": "1", "content": "a.py"}
        hello = {"role": "assistant", "content": "Hello."}
        found, told = read(tmp_path, self.chat(hello, lost, self.USER, self.DID))
        assert isinstance(found, Trajectory)
        assert isinstance(told, RecordError)
        assert "1 tool result is left out: the log holds no call before it" in str(told)

    def test_the_issue_in_a_prompt_about_procedure(self, tmp_path: Path) -> None:
        prompt = (
            "Consider <pr_description>\nFix the sum.\n</pr_description>\nYour task is to: edit x"
        )
        found = only(read(tmp_path, self.chat({"role": "user", "content": prompt}, self.DID)))
        assert found.task == "Fix the sum."

    def test_control_strings_and_empty_answers(self, tmp_path: Path) -> None:
        call = {"id": "1", "function": {"name": "bash", "arguments": {"command": "ls"}}}
        data = self.chat(
            self.USER,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "\x1b[31mred\x1b[0m 10%\r100%"},
            {"role": "assistant", "content": "", "tool_calls": [{**call, "id": "2"}]},
            {"role": "tool", "tool_call_id": "2", "content": ""},
        )
        found = only(read(tmp_path, data))
        assert [(step.action, step.observation) for step in found.steps] == [
            ("ls", "red 10%\n100%"),
            ("ls", ""),
        ]

    def test_a_record_of_two_megabytes(self, tmp_path: Path) -> None:
        long = {"role": "user", "content": f"{'日本' * 300_000} {PIXELS}"}
        found = only(read(tmp_path, self.chat(self.USER, self.DID, long)))
        assert len(found.steps[0].observation) == 600_008
        assert found.steps[0].observation.endswith(" [image]")

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            ({"messages": [{"role": "system", "content": "x"}]}, "no task"),
            ({"messages": [{"role": "user", "content": "x"}]}, "did nothing"),
            ({"messages": [{"role": "user", "content": "x"}, {"role": "oracle"}]}, "role oracle"),
            ({"messages": [7]}, "without a role"),
            ({"messages": None}, "no list of messages"),
        ],
    )
    def test_what_is_refused(self, tmp_path: Path, data: object, words: str) -> None:
        refused = refusal(readings(tmp_path, dumped(data), format="openai-chat"))
        assert words in refused.message
        assert (refused.source, refused.position) == ("log.json", "line 1")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"index": 1, "output": {"status": "unknown", "history": None}}, "log says: unknown"),
        ({"index": 1, "error": "timed out", "output": None}, "log says: timed out"),
        (
            {"task_id": 1, "reward": 0.0, "info": {"error": "rate limit"}, "traj": []},
            "log says: rate limit",
        ),
        ({"tasks": [], "simulations": [{"task_id": 1, "messages": None}]}, "runs by voice"),
        ({"win": False, "tree": {}, "answer_generation": {"query": "x"}}, "did nothing"),
        ({"id": 1, "content": [{"class_": "smell", "content": "x"}]}, "unknown class smell"),
        ({"confirmed_task": "x", "action_reprs": []}, "no steps"),
        ({"0": {"query": "x", "turn_history": {"actions": [None]}}}, "for step 1, not text"),
        ({"0": {"traj": [], "em": 1}}, "nothing under `traj`"),
    ],
)
def test_episodes_that_are_refused_say_why(
    tmp_path: Path, record: dict[str, object], words: str
) -> None:
    refused = refusal(read(tmp_path, dumped(record)))
    assert re.search(words, refused.message)
    assert str(refused.position).startswith(("line 1", "record 1"))


def test_what_was_typed_last_at_the_console_of_a_broken_recording(tmp_path: Path) -> None:
    rows = json.loads(SAMPLES["scienceworld-recording"].data)[:2]
    found = only(read(tmp_path, dumped(rows)))
    assert [step.action for step in found.steps] == ["go kitchen", "take cat"]
    assert (found.outcome.success, found.outcome.reward) == (False, 0.5)


def test_a_saved_game_of_scienceworld(tmp_path: Path) -> None:
    rows = [
        {"observation": "A kitchen.", "input": "look around", "score": 0.0, "iterations": 0},
        {"observation": "It is open.", "input": "open door", "score": 100, "iterations": 1},
    ]
    game = {"taskName": "task-1", "taskDesc": "Open the door.", "history": rows}
    found = only(read(tmp_path, dumped(game, indent=1)))
    assert (found.task, found.environment, len(found.steps)) == ("Open the door.", "A kitchen.", 1)
    assert found.outcome.reward == 1.0


JSON_SAMPLES = sorted(name for name in SAMPLES if name not in ("webshop", "reflexion"))
JUNK: list[object] = [None, True, 0, -1.5, 1e300, "", "x", "\ud800", [], [None], {}, {"type": []}]
JUNK += [[[]], {"role": {}}, "9" * 400, {"content": [{"type": "text"}]}, [1, "a"], "\x1b[2J"]


def records_of(name: str) -> list[object]:
    data = SAMPLES[name].data.decode()
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(data):
        value, at = decoder.raw_decode(data, at)
        found.append(value)
        at += 1
    return found


def places(value: object) -> Iterator[tuple[dict[str, object] | list[object], str | int]]:
    """Every place in a JSON value that could hold something else."""
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from places(value[key])
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value, index
            yield from places(value[index])


@examples(100, one_folder=True)
@given(
    st.sampled_from(JSON_SAMPLES),
    st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from([*JUNK, "gone"])), max_size=4),
)
def test_anything_in_the_wrong_place(
    tmp_path: Path, name: str, changes: list[tuple[int, object]]
) -> None:
    records = copy.deepcopy(records_of(name))
    for number, junk in changes:
        found = list(places(records))
        if not found:
            break
        holder, key = found[number % len(found)]
        if junk == "gone" and isinstance(holder, dict):
            del holder[str(key)]
        else:
            holder[key] = copy.deepcopy(junk)  # type: ignore[index]
    for item in readings(tmp_path, "\n".join(map(json.dumps, records)), "log", format=name):
        assert isinstance(item, Trajectory | RecordError | Notice)
        assert not isinstance(item, RecordError) or (item.message and item.source == "log")


@examples(30, one_folder=True)
@given(st.sampled_from(["webshop", "reflexion"]), st.data())
def test_lines_in_the_wrong_place(tmp_path: Path, name: str, data: st.DataObject) -> None:
    lines = SAMPLES[name].data.decode().splitlines()
    mixed = data.draw(st.lists(st.sampled_from(lines), max_size=30))
    for item in readings(tmp_path, "\n".join(["Action: reset", *mixed]), "log", format=name):
        assert isinstance(item, Trajectory | RecordError | Notice)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_log_cut_anywhere(tmp_path: Path, name: str) -> None:
    data = SAMPLES[name].data
    path = tmp_path / "log"
    for end in range(1, len(data), max(len(data) // 40, 1)):
        path.write_bytes(data[:end])
        for item in read_logs([path], format=name):
            assert isinstance(item, Trajectory | RecordError | Notice)


@pytest.mark.parametrize("name", JSON_SAMPLES)
def test_deep_and_large_values_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    deep = b'{"messages": ' + b'{"x": [' * 400 + b"1" + b"]}" * 400 + b"}"
    large = b'{"messages": "' + b"x" * 200_000 + b'"}'
    path.write_bytes(deep + b"\n" + large + b"\n" + SAMPLES[name].data)
    found = list(read_logs([path], format=name, limits=LogLimits(record_bytes=150_000)))
    refused = refusals(found)
    assert any("a record of more than" in item.message for item in refused)
    assert all(len(str(item)) < 300 for item in refused)


LONG = 300_000
ENDLESS = [" " * LONG + "x", "\\'" * LONG, "Instruction: [SEP] " * 20_000, "Action" + " " * LONG]
ENDLESS += ["Thought:" * 30_000, "a" * LONG, "\n" * LONG + "x", "Here is the task:" * 20_000]
ENDLESS += ["my problem is:" * 20_000, "<pr_description>" * 50_000, "\t \r…" * 30_000]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", ENDLESS, ids=range(len(ENDLESS)))
def test_no_text_makes_a_search_endless(tmp_path: Path, text: str) -> None:
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": text},
        {"role": "user", "content": text},
    ]
    talk: dict[str, object] = {
        "id": text,
        "messages": messages,
        "conversations": messages,
        "output": {"history": messages},
    }
    view: dict[str, object] = {
        "page": text,
        "url": text,
        "goal": {},
        "content": {"keywords": text, "options": text},
    }
    row: dict[str, object] = {"userInput": text, "observation": text, "score": text}
    path = tmp_path / "log"
    logs: dict[str, list[dict[str, object]]] = {
        "openai-chat": [talk],
        "sharegpt": [talk],
        "agentbench": [talk],
        "webshop-human": [view, view],
        "scienceworld-recording": [row, row],
    }
    for name, records in logs.items():
        path.write_text("\n".join(map(json.dumps, records)))
        assert list(read_logs([path], format=name))
    path.write_text(f"Action: reset\nObservation: Instruction: {text}\nAction: {text}\n{text}")
    assert list(read_logs([path], format="webshop"))
    path.write_text(f"Question: {text}\nThought 1: {text}\nAction 1: {text}\n{text}")
    assert list(read_logs([path], format="reflexion"))


PROTOCOL = "zhu-yiqi+agent-data-protocol/datasets"
SCIENCEWORLD = "allenai+ScienceWorld/python-api"
INTERCODE = "princeton-nlp+intercode/data/results/bash"
TOOLBENCH = "OpenBMB+ToolBench/data_example/answer/G1_answer"
AGENTBENCH = "THUDM+AgentBench/src/server/tasks/alfworld/prompts"
SHOPPERS = "WooooDyy+AgentGym/agentenv-webshop/webshop/all_trajs"

# A pattern below the samples: its format, then how many episodes of its files together are a
# success, a failure, and of unknown outcome.
COUNTS: dict[str, tuple[str, int, int, int]] = {
    "ysymyth+ReAct/WebShop.ipynb": ("webshop", 179, 281, 40),
    f"{SHOPPERS}/*.jsonl": ("webshop-human", 1, 4, 0),
    f"{SCIENCEWORLD}/recordings/*.json": ("scienceworld-recording", 5, 0, 0),
    f"{SCIENCEWORLD}/saves/*.json": ("scienceworld-history", 2, 0, 0),
    "noahshinn+reflexion/hotpotqa_runs/**/*.txt": ("reflexion", 223, 275, 0),
    f"{INTERCODE}/gpt-3.5/*.json": ("intercode", 13, 47, 0),
    f"{INTERCODE}/gpt-4/*.json": ("intercode", 50, 63, 0),
    "sierra-research+tau-bench/historical_trajectories/*.json": ("tau-bench", 15, 33, 0),
    f"{TOOLBENCH}/*.json": ("toolbench", 4, 1, 0),
    "hiyouga+LLaMA-Factory/data/*.json": ("sharegpt", 0, 0, 300),
    f"{PROTOCOL}/agenttuning_*/sample_raw.json": ("sharegpt", 0, 0, 15),
    f"{PROTOCOL}/agenttuning_*/sample_sft.json": ("sharegpt", 0, 0, 5),
    f"{PROTOCOL}/codeactinstruct/sample_raw.json": ("sharegpt", 0, 0, 5),
    f"{PROTOCOL}/eto/sample_raw.json": ("sharegpt", 2, 1, 0),
    f"{PROTOCOL}/swe-smith/sample_raw.json": ("openai-chat", 5, 0, 0),
    f"{PROTOCOL}/toucan_1_5m/sample_raw.json": ("openai-chat", 0, 0, 1),
    f"{PROTOCOL}/nebius*/sample_raw.json": ("openai-chat", 5, 0, 0),
    f"{AGENTBENCH}/alfworld_multiturn_react.json": ("openai-chat", 0, 0, 6),
    f"{PROTOCOL}/*/sample_std.json": ("agent-data-protocol", 0, 0, 37),
}
# Files beside them that are no logs of episodes.
REFUSED = [
    "ysymyth+ReAct/prompts/fever.json",
    "ysymyth+ReAct/prompts/prompts_naive.json",
    "noahshinn+reflexion/**/env_results_trial_*.json",
    "sierra-research+tau-bench/few_shot_data/*.jsonl",
    f"{AGENTBENCH}/alfworld_multiturn.json",
    f"{PROTOCOL}/android_in_the_wild/sample_raw.json",
    f"{PROTOCOL}/webarena_successful/sample_raw.json",
]


def files(pattern: str) -> list[Path]:
    if not PUBLISHED.exists():
        pytest.skip("the sample data are not here")
    return sorted(PUBLISHED.glob(pattern))


@cache
def wild_read(path: Path) -> list[Reading]:
    return list(read_logs([path]))


@pytest.mark.parametrize("pattern", COUNTS)
def test_what_is_in_them(pattern: str) -> None:
    name, successes, failures, unknown = COUNTS[pattern]
    found = [item for path in files(pattern) for item in wild_read(path)]
    assert [str(item) for item in found if isinstance(item, RecordError)] == []
    whole = episodes(found)
    assert {item.source.format for item in whole} == {name}
    counts = Counter(item.outcome.success for item in whole)
    assert (counts[True], counts[False], counts[None]) == (successes, failures, unknown)
    assert all(item.outcome.known == (item.outcome.source == "stated") for item in whole)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_log_is_refused_with_a_hint(pattern: str) -> None:
    for path in files(pattern):
        with pytest.raises(LogFormatError, match="no reader knows this format"):
            read_logs([path])


def test_the_trials_of_a_question_share_its_name() -> None:
    (path,) = files("noahshinn+reflexion/hotpotqa_runs/**/*.txt")
    trials = episodes(wild_read(path))
    assert len({item.metadata["task_id"] for item in trials}) == 100
    assert Counter(item.metadata["trial"] for item in trials) == {
        "1": 100,
        "2": 99,
        "3": 100,
        "4": 100,
        "5": 99,
    }
    assert not any("attempted" in item.task or "Reflection" in item.task for item in trials)


def test_recordings_named_failure_that_end_well() -> None:
    for path in files(f"{SCIENCEWORLD}/recordings/*failure*.json"):
        found = only(wild_read(path))
        assert (found.outcome.success, found.outcome.reward) == (True, 1.0)


def test_of_a_search_the_branch_reached_last_is_the_episode(tmp_path: Path) -> None:
    found, notice = readings(tmp_path, sample_log("moatless_tree.json"), "log")
    assert isinstance(found, Trajectory)
    assert found.task == "It fails."
    assert found.steps == (
        Step('FindClass(class_name="A")', "a.py", "Find it."),
        Step('Finish(finish_reason="done")', "Finished"),
    )
    assert isinstance(notice, Notice)
    assert "1 node is left out" in notice.message
