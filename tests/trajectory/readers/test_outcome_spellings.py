"""Every way in which logs spell success, in every format that has a place for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers import test_alfworld, test_rollout
from tests.trajectory.readers.agent_logs import INSPECT, LANGFUSE, LANGSMITH
from tests.trajectory.readers.samples import only, readings
from tests.trajectory.readers.test_benchmarks import records_of

Value = object
# Spelling: success, reward.
SPELLINGS: dict[str, tuple[Value, bool | None, float | None]] = {
    "true": (True, True, None),
    "false": (False, False, None),
    "written true": ("true", True, None),
    "written False": ("False", False, None),
    "one": (1, True, 1.0),
    "nought": (0, False, 0.0),
    "correct": ("C", True, None),
    "incorrect": ("I", False, None),
    "most": (0.75, False, 0.75),
    "written one": ("1.0", True, 1.0),
    "spoilt": (-100, False, 0.0),
    "a sum of floats": (0.9999999999, True, 0.9999999999),
    "null": (None, None, None),
    "prose": ("I believe that I succeeded.", None, None),
    "another scale": (85, None, None),
    "not a number": (float("nan"), None, None),
}


def put(*path: str | int) -> Callable[[object, Value], None]:
    """Puts a value into a record at a place."""
    *way, last = path

    def into(record: object, value: Value) -> None:
        for key in way:
            record = record[key]  # type: ignore[index]
        record[last] = value  # type: ignore[index]

    return into


def _rollout(record: object, value: Value) -> None:
    put("success")(record, value)
    put("reward")(record, None)
    put("stop_reason")(record, None)


def _agentboard(record: object, value: Value) -> None:
    put("is_done")(record, value)
    put("progress_rate")(record, None)


def _langsmith(record: object, value: Value) -> None:
    put("feedback_stats")(record, {"correctness": {"avg": value}})


def _inspect(record: object, value: Value) -> None:
    put("samples")(record, record["samples"][:1])  # type: ignore[index]
    put("samples", 0, "scores")(record, {"match": {"value": value}})


WRAPPED = {"name": "a-1", "result": True, "traj": test_alfworld.EPISODE}
OF_INTERCODE = records_of("intercode")[0]["0"]  # type: ignore[index]
CHAT = ({"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Search[x]"})
EVENTS = (
    {"id": 0, "action": "message", "source": "user", "args": {"content": "Fix it."}},
    {"id": 1, "action": "run", "source": "agent", "args": {"command": "ls"}},
)
PLACES: dict[str, tuple[object, Callable[[object, Value], None]]] = {
    "rollout": (test_rollout.RECORD, _rollout),
    "alfworld-wrapper": (WRAPPED, put("result")),
    "openai-chat": (records_of("openai-chat")[0], put("resolved")),
    "sharegpt": (records_of("sharegpt")[0][0], put("reward")),  # type: ignore[index]
    "webshop-human": (records_of("webshop-human"), put(-1, "reward")),
    "intercode": ({"0": OF_INTERCODE}, put("0", "summary", "max_reward")),
    "tau-bench": (records_of("tau-bench")[0][0], put("reward")),  # type: ignore[index]
    "tau2-bench": (records_of("tau2-bench")[0], put("simulations", 0, "reward_info", "reward")),
    "toolbench": (records_of("toolbench")[0], put("win")),
    "agentboard": (records_of("agentboard")[0], _agentboard),
    "agent-data-protocol": (
        records_of("agent-data-protocol")[0][0],  # type: ignore[index]
        put("details", "reward"),
    ),
    "inspect-ai": (INSPECT, _inspect),
    "langfuse": (
        LANGFUSE,
        lambda record, value: put("trace", "scores")(
            record, [{"name": "success", "value": value, "source": "API"}]
        ),
    ),
    "langsmith": (LANGSMITH[1], _langsmith),
}
UNSCORED: dict[str, dict[str, object]] = {
    "rollout": {**test_rollout.RECORD, "success": None, "final_score": None, "reward": None},
    "agentboard": {**records_of("agentboard")[0], "is_done": None, "progress_rate": None},  # type: ignore[dict-item]
    "fireact": {"0": {"traj": [*CHAT], "em": None, "reward": None}},
    "openhands": {"history": [*EVENTS], "test_result": {"report": {}}},
}
# The wrapper's number 0 says that the log was cut, not that the task failed.
EXCEPTIONS: dict[tuple[str, str], Outcome] = {("alfworld-wrapper", "nought"): Outcome()}
# Where a value that says nothing is told as the reason.
TELLING = {
    "rollout": "success",
    "alfworld-wrapper": "result",
    "openai-chat": "resolved",
    "sharegpt": "reward",
    "webshop-human": "reward",
    "intercode": "max_reward",
    "tau-bench": "reward",
    "tau2-bench": "reward",
    "toolbench": "win",
    "agentboard": "is_done",
    "agent-data-protocol": "reward",
    "inspect-ai": "match",
    "langfuse": "success",
    "langsmith": "correctness",
}


def read(tmp_path: Path, *records: object, **options: Any) -> Trajectory:
    text = "\n".join(map(json.dumps, records))
    return only(readings(tmp_path, text, **options))


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_how_success_is_spelt(tmp_path: Path, name: str, spelling: str) -> None:
    value, success, reward = SPELLINGS[spelling]
    sample, place = PLACES[name]
    record = copy.deepcopy(sample)
    place(record, value)
    if name == "langsmith":
        record = [LANGSMITH[0], record]
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, record if isinstance(record, list) else [record])))
    found = [each for each in read_logs([path]) if isinstance(each, Trajectory)]
    known = success is not None
    expected = Outcome(success, reward, "stated") if known else Outcome()
    if name == "toolbench" and known:  # whose flag says no more than this
        expected = replace(expected, reason="`win`, which says whether an answer was given")
    if value is not None and not known:
        expected = Outcome(reason=f"`{TELLING[name]}` says {value}, neither a verdict nor a reward")
    assert {each.source.format for each in found} == {name}
    assert [each.outcome for each in found] == [EXCEPTIONS.get((name, spelling), expected)]


@pytest.mark.parametrize(("verdict", "reward"), [(0, 0.9), (1, 0.5), ("1", 0.5)])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("rollout", ("success", "reward")),
        ("agentboard", ("is_done", "progress_rate")),
        ("openai-chat", ("resolved", "reward")),
    ],
)
def test_a_verdict_in_numbers_beside_a_reward(
    tmp_path: Path, name: str, keys: tuple[str, str], verdict: object, reward: float
) -> None:
    record = copy.deepcopy(PLACES[name][0])
    for key, value in zip(keys, (verdict, reward), strict=True):
        put(key)(record, value)
    found = read(tmp_path, record)
    assert found.source.format == name
    assert (found.outcome.success, found.outcome.reward) == (verdict in (1, "1"), reward)


@pytest.mark.parametrize(("verdict", "reward"), [(False, 1.0), (0, 1), (True, 0), ("yes", "0.0")])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("rollout", ("success", "reward")),
        ("agentboard", ("is_done", "progress_rate")),
        ("openai-chat", ("resolved", "reward")),
        ("agent-data-protocol", ("success", "score")),
    ],
)
def test_a_verdict_that_its_reward_contradicts(
    tmp_path: Path, name: str, keys: tuple[str, str], verdict: object, reward: object
) -> None:
    record = copy.deepcopy(PLACES[name][0])
    within = ("details",) if name == "agent-data-protocol" else ()
    if within:
        put("details")(record, {})
    if "reward" in keys and name == "rollout":
        put("final_score")(record, None)
    for key, value in zip(keys, (verdict, reward), strict=True):
        put(*within, key)(record, value)
    found = read(tmp_path, record)
    assert found.source.format == name
    said = ("true" if verdict in (True, "yes") else "false", f"{float(str(reward)):g}")
    told = ", ".join(f"{key} {word}" for key, word in zip(keys, said, strict=True))
    assert found.outcome == Outcome(reason=f"the log contradicts itself: {told}")


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"em": True, "f1": 1.0, "reward": True}, Outcome(True, 1.0, "stated")),
        ({"em": False, "f1": 1.0, "reward": False}, Outcome(False, 1.0, "stated")),
        ({"em": False, "f1": 0.4, "reward": 0}, Outcome(False, 0.4, "stated")),
        ({"em": True, "f1": 0}, Outcome(reason="the log contradicts itself: em true, f1 0")),
        (
            {"em": False, "reward": True},
            Outcome(reason="the log contradicts itself: em false, reward true"),
        ),
        ({"em": None, "reward": 0.5}, Outcome(False, 0.5, "stated")),
    ],
)
def test_an_overlap_is_no_match(tmp_path: Path, entry: dict[str, object], outcome: Outcome) -> None:
    told = "Question: Who?\nThought 1: I look.\nAction 1: Search[x]\nObservation 1: y\n"
    found = read(tmp_path, {"0": {"traj": told} | entry}, format="fireact")
    assert found.outcome == outcome


@pytest.mark.parametrize(("reward", "success"), [(0.79, False), (0.8, True), (1.0, True)])
@pytest.mark.parametrize("name", ["tau-bench", "intercode", "webshop-human"])
def test_where_a_reward_counts_as_success(
    tmp_path: Path, name: str, reward: float, success: bool
) -> None:
    sample, place = PLACES[name]
    record = copy.deepcopy(sample)
    place(record, reward)
    found = read(tmp_path, *(record if isinstance(record, list) else [record]), success_at=0.8)
    assert found.outcome == Outcome(success, reward, "stated")


SILENT = ["swe-agent", "mini-swe-agent", "openhands-sdk", "claude-code", "codex", "openclaw"]
SILENT += ["gemini-cli", "specstory", "aider", "atif", "letta"]


@pytest.mark.parametrize("name", SILENT)
def test_a_format_without_a_verdict_has_none_whatever_its_texts_say(
    tmp_path: Path, name: str
) -> None:
    from tests.trajectory.readers.agent_logs import SAMPLES as AGENTS

    for file, data in AGENTS[name]:
        path = tmp_path / file
        path.write_bytes(data.replace(b"Fixed.", b"All tests passed, resolved: true, reward 1.0"))
        found = [each for each in read_logs([path]) if isinstance(each, Trajectory)]
        assert found
        assert all(each.outcome == Outcome() for each in found)


@pytest.mark.parametrize("value", ["I believe so.", 85])
@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("rollout", ("reward",)),
        ("agentboard", ("progress_rate",)),
        ("fireact", ("0", "em")),
        ("fireact", ("0", "reward")),
        ("openhands", ("test_result", "report", "resolved")),
    ],
)
def test_a_lone_score_that_says_nothing_is_told(
    tmp_path: Path, name: str, way: tuple[str, ...], value: object
) -> None:
    record = copy.deepcopy(UNSCORED[name])
    put(*way)(record, value)
    found = read(tmp_path, record)
    assert found.source.format == name
    told = f"`{way[-1]}` says {value}, neither a verdict nor a reward"
    assert found.outcome == Outcome(reason=told)


@pytest.mark.parametrize("score", ["I believe so.", "101", 1000])
def test_a_score_of_scienceworld_that_says_nothing_is_told(tmp_path: Path, score: object) -> None:
    row = {"observation": "A kitchen.", "userInput": "look", "score": score, "isCompleted": False}
    found = read(tmp_path, [{**row, "taskDescription": "Boil water."}] * 2)
    told = f"`score` says {score}, neither a verdict nor a reward"
    assert found.outcome == Outcome(reason=told)


def test_a_score_of_webshop_on_another_scale_is_told(tmp_path: Path) -> None:
    text = (
        "Action: reset[]\nObservation: Instruction: buy a mug\nAction: click[Buy Now]\n"
        "Observation: Your score (min 0.0, max 1.0): 7.5\n"
    )
    found = only(readings(tmp_path, text, format="webshop"))
    assert found.outcome == Outcome(reason="`Your score` says 7.5, neither a verdict nor a reward")
