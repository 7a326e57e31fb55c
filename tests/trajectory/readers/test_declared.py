from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from msgspec.structs import replace

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.declared import declared_reader
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.readers.registry import READERS
from tests.trajectory.readers.samples import only, refusal

TOML = """
name = "harness"
description = "our own harness"
records = "runs[]"
task = "goal.text"
environment = "goal.room"
steps = "turns[?kind=='act']"
domain = "`maze`"
agent = "model"

[step]
thought = "why"
action = "call.command"
observation = "result"
reward = "points"

[outcome]
success = "solved"
reward = "score"
reason = "note"
best = 10

[metadata]
id = "name"
"""
TURN = {"kind": "act", "why": "dark", "call": {"command": "look"}, "result": "a door"}
RUN = {
    "name": "r1",
    "goal": {"text": " get out ", "room": "a cellar"},
    "model": "some-model",
    "turns": [
        {"kind": "note", "text": "begin"},
        TURN,
        {"kind": "act", "call": {"command": "open door"}, "result": None, "points": "1.5"},
    ],
    "solved": True,
    "score": 10,
    "note": "out",
}
EPISODE = Trajectory(
    task="get out",
    environment="a cellar",
    steps=(Step("look", "a door", "dark"), Step("open door", reward=1.5)),
    outcome=Outcome(True, 1.0, "stated", "out"),
    source=LogSource("log.json", "line 1", "harness"),
    domain="maze",
    agent="some-model",
    metadata={"id": "r1"},
)


def declared(tmp_path: Path, toml: str) -> Reader:
    path = tmp_path / "harness.toml"
    path.write_text(toml)
    return declared_reader(path)


def read(tmp_path: Path, reader: Reader, value: object) -> list[Reading]:
    path = tmp_path / "log.json"
    path.write_bytes(orjson.dumps(value))
    return list(read_log(Log("log.json", path), reader))


def test_a_declared_format(tmp_path: Path) -> None:
    reader = declared(tmp_path, TOML)
    assert (reader.name, reader.description) == ("harness", "our own harness")
    assert read(tmp_path, reader, {"runs": [RUN]}) == [EPISODE]


def test_several_episodes_in_a_record_are_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path, declared(tmp_path, TOML), {"runs": [RUN, {**RUN, "name": "r2"}]})
    assert found == [
        replace(EPISODE, source=LogSource("log.json", "line 1, episode 1", "harness")),
        replace(
            EPISODE,
            source=LogSource("log.json", "line 1, episode 2", "harness"),
            metadata={"id": "r2"},
        ),
    ]


def test_it_claims_what_it_can_read_less_surely_than_others(tmp_path: Path) -> None:
    reader = declared(tmp_path, TOML)
    path = tmp_path / "log.json"
    path.write_bytes(orjson.dumps({"runs": [RUN]}))
    sureness = reader.claims(Log("x", path).preview())
    assert 0 < sureness < 0.5
    path.write_bytes(orjson.dumps({"task": "x"}))
    assert reader.claims(Log("x", path).preview()) == 0.0
    path.write_text("no JSON")
    assert reader.claims(Log("x", path).preview()) == 0.0
    assert reader.name not in {other.name for other in READERS}


@pytest.mark.parametrize(
    ("value", "success", "reward"),
    [
        ({"solved": "yes", "score": None}, True, None),
        ({"solved": False, "score": 4}, False, 0.4),
        ({"solved": 1, "score": 4}, True, 0.4),
        ({"solved": "0", "score": 9}, False, 0.9),
        ({"solved": "0", "score": 10}, None, None),
        ({"solved": True, "score": 0}, None, None),
        ({"solved": 1, "score": None}, True, 1.0),
        ({"solved": None, "score": "-3"}, False, 0.0),
        ({"solved": 10, "score": None}, True, 1.0),
        ({"solved": None, "score": None}, None, None),
        ({"solved": "perhaps", "score": None}, None, None),
        ({"solved": None, "score": 11}, None, None),
    ],
)
def test_outcomes(
    tmp_path: Path, value: dict[str, object], success: bool | None, reward: float | None
) -> None:
    found, *_ = read(tmp_path, declared(tmp_path, TOML), {"runs": [{**RUN, **value}]})
    assert isinstance(found, Trajectory)
    assert (found.outcome.success, found.outcome.reward) == (success, reward)
    is_silent = success is None and value == {"solved": None, "score": None}
    assert bool(found.outcome.reason) != is_silent


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"x": 1}, "`records` gave nothing where a list was expected"),
        ({"runs": [{**RUN, "goal": {"text": 3}}]}, "`task` gave '3' where text was expected"),
        ({"runs": [{**RUN, "turns": None}]}, "`steps` gave nothing where a list was expected"),
        (
            {"runs": [{**RUN, "turns": [{"kind": "act", "call": {"command": ["x", "y"]}}]}]},
            "`step.action` gave a list of 2 for step 1, not text",
        ),
        (
            {"runs": [{**RUN, "turns": [{**TURN, "points": "many"}]}]},
            "`step.reward` gave 'many' for step 1, no number",
        ),
    ],
)
def test_what_the_expressions_gave_is_told(tmp_path: Path, record: object, words: str) -> None:
    told = refusal(read(tmp_path, declared(tmp_path, TOML), record))
    assert words in f"{told} "
    assert told.position == "line 1"


def test_the_functions_and_messages_of_a_declaration(tmp_path: Path) -> None:
    own = 'own = "chats"\nrecords = "entries(chats)"\n'
    reader = declared(tmp_path, own + 'messages = "value.said"\nfault = "value.why"')
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}]
    found, told = read(tmp_path, reader, {"chats": {"a": {"said": said}, "b": {"why": "lost"}}})
    assert isinstance(found, Trajectory)
    assert (found.task, found.steps) == ("go", (Step("gone", kind="message"),))
    assert found.source.position == "line 1, key a"
    assert isinstance(told, RecordError)
    assert "the log says: lost" in told.message
    assert reader.claims(Log("log.json", tmp_path / "log.json").preview()) > 0.9

    toml = 'task = "scene(q)"\nenvironment = "facts({place: at, none: x})"\n'
    step = 'steps = "rows({a: a, b: b})"\n[step]\naction = "call(\'sh\', a)"\nobservation = "b"'
    record = {"q": "go\nYour task is to: x", "at": "here", "a": [{"cmd": "ls"}, 1], "b": ["c"]}
    (episode, *_) = read(tmp_path, declared(tmp_path, toml + step), record)
    assert isinstance(episode, Trajectory)
    assert (episode.task, episode.environment) == ("go", "place: here")
    assert episode.steps == (Step("ls", "c"), Step("sh(1)"))


def test_one_that_is_no_episode_among_several_is_refused_alone(tmp_path: Path) -> None:
    bad = {**RUN, "goal": {}}
    first, told, third = read(tmp_path, declared(tmp_path, TOML), {"runs": [RUN, bad, RUN]})
    assert isinstance(told, RecordError)
    assert told.position == "line 1, episode 2"
    assert told.message == "`task` gave nothing where text was expected"
    assert isinstance(first, Trajectory)
    assert isinstance(third, Trajectory)
    assert third.source.position == "line 1, episode 3"


def test_records_that_own_knows_as_one_list_are_one_episode(tmp_path: Path) -> None:
    own = 'own = "every(@, &from)"\nmessages = "[].{role: from, content: words}"\n'
    reader = declared(tmp_path, own + 'outcome = "[-1]"')
    said = [{"from": "user", "words": "go"}, {"from": "agent", "words": "gone", "success": True}]
    found = only(read(tmp_path, reader, said))
    assert (found.task, found.steps) == ("go", (Step("gone", kind="message"),))
    assert found.outcome == Outcome(success=True, source="stated")


def test_sessions_put_together_come_apart_and_strange_records_are_told(tmp_path: Path) -> None:
    own = 'own = "[?from]"\nbegins = "id"\nforeign = "[?!from]"\n'
    reader = declared(tmp_path, own + 'messages = "[?from].{role: from, content: words}"')
    said = [{"id": "a", "from": "user", "words": "go"}, {"from": "agent", "words": "gone"}]
    again = [{"id": "b", "from": "user", "words": "come"}, {"from": "agent", "words": "here"}]
    found = read(tmp_path, reader, said + again)
    assert [each.task for each in found if isinstance(each, Trajectory)] == ["go", "come"]
    assert len(found) == 2
    *_, told = read(tmp_path, reader, [*said, {"type": "x"}])
    assert "1 line is left out: of the unknown kind x" in str(told)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("task = ", "not TOML: Invalid value"),
        ('steps = "a"\n[steps]\naction = "a"', "not TOML: "),
        ('tusk = "q"', "unknown field `tusk`"),
        ('[step]\nactoin = "a"', "unknown field `actoin` - at `$.step`"),
        ('[step]\naction = "a"', "no `task`"),
        ('task = "q"', "no `step.action`"),
        ('task = "q"\nstep = "a"', "Expected `object`, got `str` - at `$.step`"),
        ('task = "q["\nsteps = "s"\n[step]\naction = "a"', "task: not a path expression: "),
        ('task = 3\n[step]\naction = "a"', "Expected `str`, got `int` - at `$.task`"),
        ('task = "q"\nsteps = "s"\n[step]\naction = "a"\n[outcome]\nbest = 0', "> 0"),
        ('messages = "m"\n[tables.a]\nwithin = "b"\nby = "c"', "wrong `tables`"),
        ('messages = "m"\n[tables.a]\n[tables.b]\nwithin = "c"\nby = "d"', "wrong `tables`"),
        ('messages = "m"\n[tables.a]\n[tables.b]\nwithin = "a"', "wrong `tables`"),
    ],
)
def test_faults_of_the_declaration(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        declared(tmp_path, toml)
    assert words in str(caught.value)
    assert str(caught.value).startswith("harness.toml")
    assert "\n" not in str(caught.value)


def test_a_declaration_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml: cannot be read"):
        declared_reader(tmp_path / "none.toml")
