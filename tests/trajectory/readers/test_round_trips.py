"""Episodes written out in other formats come back as they were, as far as the formats go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.text import clean
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import undisputed
from deltamem_tui.trajectory.readers import detect, read_logs
from tests.effort import examples
from tests.trajectory.readers.writers import WRITERS

# Text formats have no way to write a line that looks like one of their marks.
LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp"))
PLAIN_LETTERS = st.characters(
    codec="utf-8", categories=("L", "N"), include_characters=" .,'\"()=/-"
)


def texts(plain: bool) -> st.SearchStrategy[str]:
    letters = PLAIN_LETTERS if plain else LETTERS | st.sampled_from('\n"\\{}[]<>')
    return st.text(letters, max_size=25).map(clean).map(str.strip)


def episodes(plain: bool) -> st.SearchStrategy[Trajectory]:
    maybe = texts(plain)
    named = maybe.filter(bool)
    rewards = st.floats(0, 1, allow_subnormal=False)
    steps = st.builds(
        Step, action=named, observation=maybe, thought=maybe, reward=st.none() | rewards
    )
    verdicts = st.builds(
        Outcome, st.booleans(), st.none() | rewards.filter(lambda x: x < 0.999), st.just("stated")
    ).filter(lambda outcome: undisputed(outcome) is outcome)
    return st.builds(
        Trajectory,
        task=named,
        environment=maybe,
        steps=st.lists(steps, min_size=1, max_size=4).map(tuple),
        outcome=st.just(Outcome()) | st.just(Outcome(True, 1.0, "stated")) | verdicts,
        agent=st.sampled_from(["", "model-a"]),
    )


PLAIN = [
    Trajectory(
        "put a mug on the desk",
        "You are in a room. You see a desk 1.",
        (
            Step("go to shelf 1", "You see a mug 1.", "Where is it", 0.5),
            Step("take mug 1"),
            Step("看一看", "桌子", "气"),
        ),
        Outcome(True, 1.0, "stated"),
        agent="model-a",
    ),
    Trajectory("open it", "", (Step("push", "It is stuck."),), Outcome(False, 0.25, "stated")),
    Trajectory("open it", "", (Step("push", "It is stuck."), Step("pull"))),
]


@pytest.mark.parametrize("name", WRITERS)
@examples(20, one_folder=True)
@given(st.data())
def test_what_is_written_is_read_back(tmp_path: Path, name: str, data: st.DataObject) -> None:
    writer = WRITERS[name]
    check(tmp_path, name, data.draw(st.lists(episodes(writer.plain), min_size=1, max_size=3)))


@pytest.mark.parametrize("name", WRITERS)
def test_a_plain_log_is_told_from_all_others_and_read_back(tmp_path: Path, name: str) -> None:
    path = check(tmp_path, name, PLAIN)
    surest, *others = detect(Log("log", path))
    assert surest.reader.name == name
    assert all(surest.sureness - each.sureness > 0.05 for each in others)


def check(tmp_path: Path, name: str, written: Sequence[Trajectory]) -> Path:
    path = tmp_path / "log"
    writer = WRITERS[name]
    path.write_bytes(writer.write(written))
    found = list(read_logs([path]))
    # Where in the log each begins is for other tests.
    places = [each.source for each in found if isinstance(each, Trajectory)]
    assert {(place.file, place.format) for place in places} == {("log", name)}
    assert found == [
        replace(writer.keeps(each, number), source=place)
        for number, (each, place) in enumerate(zip(written, places, strict=True))
    ]
    return path


def test_there_are_ten_of_them() -> None:
    assert len(WRITERS) >= 10
