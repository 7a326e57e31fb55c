"""What each reader would make of a log, without importing it."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltamem_tui.errors import LogFormatError, RecordError, TrajectoryError, UsageError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Notice, Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import reading, registry
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.reading import read_logs, try_readers
from deltamem_tui.trajectory.readers.registry import READERS, detect
from tests.places import SHARED
from tests.trajectory.readers.samples import (
    Json,
    claude,
    episodes,
    lines,
    notices,
    only,
    refusal,
    refusals,
)

EPISODE = Trajectory("boil water", steps=(Step("look", "a stove"),))


def test_a_folder_goes_on_past_what_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Logs")
    (tmp_path / "a.jsonl").write_bytes(to_line(EPISODE) + b"{broken\n")
    (tmp_path / "a.meta.json").write_bytes(lines({"agentType": "Explore", "tools": ["Read"]}))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(to_line(EPISODE)))
    (tmp_path / "c.bin").write_bytes(b"\x00\x01")
    (tmp_path / "d.jsonl").write_bytes(b"")
    (tmp_path / "e.json").write_bytes(lines({"turns": [{"x": 1}]}))
    found = list(read_logs([tmp_path]))
    assert [each.source for each in refusals(found)] == ["a.jsonl", "c.bin", "e.json"]
    beside = ["README.md", "a.meta.json", "d.jsonl"]
    assert [(each.source, each.message[:18]) for each in notices(found)] == [
        (name, "skipped, not a log") for name in beside
    ]
    whole = episodes(found)
    assert [(item.source.file, item.source.position) for item in whole] == [
        ("a.jsonl", "line 1"),
        ("b.json.gz", "line 1"),
    ]
    assert list(read_logs([tmp_path / "*.gz"])) == whole[1:]
    assert len(refusals(read_logs([tmp_path / "*.m*"]))) == 2  # nothing else is there


def test_a_named_file_that_no_reader_knows(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(LogFormatError, match=r"notes\.md: no reader knows .*name the format"):
        read_logs([tmp_path / "notes.md"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "JSON nested more than"),
        (b'{"task": "' + b"x" * 3_000_000 + b'"}', "a record of more than 1.91 MB"),
        (b'{"task": "boil wat', "ends in the middle of a value"),
    ],
)
def test_a_log_of_which_nothing_can_be_read_says_why(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(LogFormatError, match=words):
        read_logs([path], limits=LogLimits(record_bytes=2_000_000))


@pytest.mark.parametrize("content", ["[]", " [ \n ]\n"])
def test_a_list_without_records_says_so(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(content)
    with pytest.raises(LogFormatError, match="a list with no record in it"):
        read_logs([path])


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_log(device: str) -> None:
    if not Path(device).is_char_device():
        pytest.skip("there is no such device here")
    with pytest.raises(TrajectoryError, match="a pipe or a device, and no file"):
        read_logs([device])


def test_faults_of_the_call_are_told_before_the_first_episode(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_bytes(to_line(EPISODE))
    with pytest.raises(TrajectoryError, match="no such file"):
        read_logs([good, tmp_path / "missing.jsonl"])
    with pytest.raises(UsageError, match=r"unknown format nativ .*native, .*rollout"):
        read_logs([good], format="nativ")
    with pytest.raises(UsageError, match="not at 0"):
        read_logs([good], success_at=0)


def test_two_readers_equally_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(to_line(EPISODE))
    native = READERS[0]
    monkeypatch.setattr(registry, "READERS", (native, replace(native, name="twin")))
    with pytest.raises(LogFormatError, match="could be native or twin"):
        read_logs([path])
    assert [claim.reader.name for claim in detect(Log("x", path))] == ["native", "twin"]
    only(read_logs([path], format="twin"))


def test_a_log_without_an_episode_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("nothing to see")
    told = refusal(read_logs([tmp_path / "log.txt"], format="react"))
    assert "no episode" in str(told)


def test_what_a_reader_yields_is_checked_and_stamped(tmp_path: Path) -> None:
    def read(log: Log) -> Iterator[Reading]:
        yield Trajectory("a\x1b[0mb", steps=(Step("look"),), outcome=Outcome(None, 0.8, "stated"))
        yield Trajectory("", steps=(Step("look"),))
        yield RecordError("too odd", position="line 9")
        raise RecordError("broke off")

    path = tmp_path / "log.txt"
    path.write_text("x")
    reader = Reader("odd", "for this test", lambda preview: 1.0, read)
    good, empty, odd, broken = reading.read_log(Log("log.txt", path), reader, success_at=0.8)
    assert isinstance(good, Trajectory)
    assert (good.task, good.outcome.success) == ("ab", True)
    assert (good.source.file, good.source.format) == ("log.txt", "odd")
    assert str(empty) == "log.txt: the episode has no task"
    assert str(odd) == "log.txt, line 9: too odd"
    assert str(broken) == "log.txt: broke off"


KEYS = ["task", "steps", "action", "task_description", "traj", "result", "outcome", "success"]
KEYS += ["final_score", "env", "metadata", "x", "name", "reward"]
KEYS += ["messages", "conversations", "role", "content", "from", "value", "tool_calls", "function"]
KEYS += ["type", "id", "traj", "history", "observation", "userInput", "score", "em", "query"]
KEYS += ["turn_history", "actions", "output", "index", "tasks", "simulations", "trajectory"]
KEYS += ["is_done", "progress_rate", "answer_generation", "win", "tree", "class_", "details"]
KEYS += ["page", "url", "goal", "instruction_text", "confirmed_task", "action_reprs"]
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)
LINES = ["Your task is to: do x", "> look", "> think: hm", "OK.", "#####", "STATUS: OK", ""]
LINES += ["Action: reset", "Observation: Instruction: x", "Action: think[x]", "Your score"]
LINES += ["Question: x", "Thought 1: x", "Action 1: x[y]", "Observation 1: x", "BEGIN TRIAL 2"]
LINES += ["Environment #1:", "Here is the task:", "You are in a room", "-= Welcome to x =-", ">"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(anything, min_size=1, max_size=3))
def test_no_json_breaks_a_reader(tmp_path: Path, values: list[object]) -> None:
    import json

    path = tmp_path / "fuzz.json"
    path.write_text("\n".join(map(json.dumps, values)))
    _read_with_all(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(LINES), max_size=15).map("\n".join) | st.binary(max_size=40))
def test_no_text_breaks_a_reader(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "fuzz.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    _read_with_all(path)


def _read_with_all(path: Path) -> None:
    preview: Preview | None = None
    try:
        preview = Log("fuzz", path).preview()
    except TrajectoryError:
        return
    for reader in READERS:
        assert 0.0 <= reader.claims(preview) <= 1.0
        for found in read_logs([path], format=reader.name):
            assert isinstance(found, Trajectory | RecordError | Notice)


@pytest.mark.parametrize(
    ("name", "episodes", "distinct", "successes"),
    [
        ("scienceworld_train_variations.jsonl", 538, 535, 263),
        ("alfworld_valid_train_experts.jsonl", 139, 139, 68),
    ],
)
def test_the_generated_episodes(name: str, episodes: int, distinct: int, successes: int) -> None:
    path = SHARED / "generated" / name
    if not path.exists():
        pytest.skip("the sample data are not here")
    found = list(read_logs([path]))
    assert len(found) == episodes
    trajectories = [item for item in found if isinstance(item, Trajectory)]
    assert len(trajectories) == episodes
    assert len({item.id for item in trajectories}) == distinct
    assert sum(item.outcome.success is True for item in trajectories) == successes
    assert all(item.outcome.source == "stated" for item in trajectories)
    assert all("task is to" not in item.environment for item in trajectories)
    assert all(item.metadata["task_type"] for item in trajectories)
    solved = [item.outcome.reward == 1.0 for item in trajectories]
    assert solved == [item.outcome.success for item in trajectories]


def test_every_sample_is_read_or_refused_with_a_reason() -> None:
    if not SHARED.exists():
        pytest.skip("the sample data are not here")
    found = list(read_logs([SHARED]))
    sources = [item.source for item in episodes(found)]
    counts = Counter((source.format, Path(source.file).name) for source in sources)
    assert counts["swe-agent", "BabyEncryption.traj"] == 1
    refused = refusals(found)
    # Games and licences lie there too, which are no logs.
    reasons = {item.source: str(item) for item in refused}
    assert "xz data; unpack it first" in reasons["games/alfworld_games.tar.xz"]
    assert not [str(item) for item in refused if not item.hint and "; " not in item.message]
    told = {str(item.source) for item in found if isinstance(item, Notice)}
    named = {source.file for source in sources} | set(reasons) | told
    assert named == {
        path.relative_to(SHARED).as_posix() for path in SHARED.rglob("*") if path.is_file()
    }


SAID = {"sessionId": "s", "type": "user", "message": {"role": "user", "content": "Fix it."}}
DID = {**SAID, "type": "assistant", "message": {"role": "assistant", "content": "Fixed it."}}


def test_what_is_left_out_by_design_is_no_refusal(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    aside = {"isSidechain": True, "uuid": "h1"}
    path.write_bytes(lines({**SAID, "uuid": "u1"}, {**DID, **aside}, {**DID, "uuid": "a1"}))
    trial = next(try_readers(Log("log.jsonl", path)))
    assert (trial.format, trial.episodes, trial.steps) == ("claude-code", 1, 1)
    assert (trial.rejected, trial.first_rejection) == (0, None)


def test_a_refusal_is_counted_and_the_first_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    odd = {"sessionId": "s", "uuid": "x", "type": "user"}
    path.write_bytes(lines({**SAID, "uuid": "u1"}, odd, odd, {**DID, "uuid": "a1"}))
    trial = next(try_readers(Log("log.jsonl", path)))
    assert (trial.episodes, trial.rejected) == (1, 2)
    assert trial.first_rejection is not None
    assert trial.first_rejection.position == "line 2"


def _codex(name: str, said: list[str], origin: str = "", **about: object) -> bytes:
    """A session in which each thing that is asked is done."""
    forked = {"forked_from_id": origin} if origin else {}
    heads: list[object] = [{"id": name, **forked, **about}, *([{"id": origin}] if origin else [])]
    talk = [
        {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        for asked in said
        for role, kind, text in (
            ("user", "input_text", asked),
            ("assistant", "output_text", f"{asked}: done."),
        )
    ]
    return lines(
        *({"type": "session_meta", "payload": each} for each in heads),
        *({"type": "response_item", "payload": each} for each in talk),
    )


@pytest.mark.parametrize("is_one_file", [False, True])
@pytest.mark.parametrize(
    ("origin", "about", "tasks"),
    [
        (["Sort it"], {}, [("fork", 2)]),
        (["Sort it", "Print it"], {}, [("origin", 2), ("fork", 2)]),  # which went on by itself
        (["Sort it"], {"source": {"subagent": "review"}}, [("origin", 1), ("fork", 2)]),
    ],
)
def test_a_fork_is_no_second_episode_of_what_it_was_copied_from(
    tmp_path: Path, origin: list[str], about: Json, tasks: list[tuple[str, int]], is_one_file: bool
) -> None:
    fork = _codex("fork", ["Sort it", "Turn it"], "origin", **about)
    (tmp_path / "1.jsonl").write_bytes(_codex("origin", origin) + fork * is_one_file)
    if not is_one_file:
        (tmp_path / "2.jsonl").write_bytes(fork)
    found = list(read_logs(tmp_path))
    episodes = [each for each in found if isinstance(each, Trajectory)]
    assert {(each.metadata["id"], len(each.steps)) for each in episodes} == {*tasks}
    assert len(found) == 2, "what is left out is told"


@pytest.mark.parametrize("is_one_file", [False, True])
def test_a_branch_of_claude_code_is_no_second_episode(tmp_path: Path, is_one_file: bool) -> None:
    said = [
        claude("u1", None, "Sort it", sessionId="s1"),
        claude("a1", "u1", "Done", sessionId="s1"),
    ]
    copied = [
        {**each, "sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": each["uuid"]}}
        for each in said
    ]
    more = [claude("u2", "a1", "Turn it", sessionId="s2"), claude("a2", "u2", "OK", sessionId="s2")]
    branch = lines(*copied, *more)
    (tmp_path / "1.jsonl").write_bytes(lines(*said) + branch * is_one_file)
    if not is_one_file:
        (tmp_path / "2.jsonl").write_bytes(branch)
    told, found = sorted(read_logs(tmp_path), key=lambda each: isinstance(each, Trajectory))
    assert "goes on as its fork" in str(told)
    assert isinstance(found, Trajectory)
    assert [step.action for step in found.steps] == ["Done", "OK"]
    assert found.metadata == {"id": "s2", "forked_from": "s1"}
