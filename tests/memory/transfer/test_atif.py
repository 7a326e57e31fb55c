"""Episodes as ATIF: what the format asks for, and the same episode when it is read back."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.memory.transfer.plain import atif_document
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.effort import examples
from tests.trajectory.readers.samples import plain

EPISODE = Trajectory(
    "Fix it.",
    "A shell.",
    (Step("ls", "a.py", "Look."), Step("wait"), Step("done", "", "", 1.0)),
    Outcome(True, 1.0, "judge", "It works."),
    LogSource("log.jsonl", "line 1", "native"),
    "repo",
    "model-a",
    {"id": "x-1", "trial": "2"},
)
WORDS = st.text("ab {}\n>", min_size=1, max_size=12).map(str.strip).filter(bool)
STEPS = st.builds(Step, WORDS, st.just("") | WORDS, st.just("") | WORDS, st.none() | st.just(0.5))
EPISODES = st.builds(
    Trajectory,
    WORDS,
    st.just("") | WORDS,
    st.lists(STEPS, min_size=1, max_size=4).map(tuple),
    st.sampled_from([Outcome(), Outcome(False, 0.0, "stated"), EPISODE.outcome]),
)


def test_a_document_has_what_the_format_asks_for() -> None:
    document = atif_document(EPISODE)
    assert document["schema_version"] == "ATIF-v1.7"
    assert (document["session_id"], document["trajectory_id"]) == ("x-1", EPISODE.id)
    assert document["agent"] == {"name": "unknown", "version": "unknown", "model_name": "model-a"}
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == [1, 2, 3, 4, 5]
    assert [step["source"] for step in steps] == ["system", "user", "agent", "agent", "agent"]
    assert steps[2] == {
        "step_id": 3,
        "source": "agent",
        "message": "ls",
        "reasoning_content": "Look.",
        "observation": {"results": [{"content": "a.py"}]},
    }
    assert document["final_metrics"] == {"total_steps": 5}


@examples(40)
@given(EPISODES)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, episode: Trajectory
) -> None:
    path = tmp_path_factory.mktemp("atif") / "out.jsonl"
    for each in (episode, EPISODE):
        path.write_bytes(orjson.dumps(atif_document(each)))
        (found,) = read_logs([path])
        assert isinstance(found, Trajectory)
        metadata = dict(each.metadata) or {"id": each.id, "agent": "unknown"}
        source = LogSource("out.jsonl", "line 1", "atif")
        assert plain(found) == replace(each, source=source, metadata=metadata)
