"""Random recordings with the truth about their episodes: what any policy might have done."""

from __future__ import annotations

from hypothesis import strategies as st

from deltamem_tui.memory.replay.episodes import Truth
from deltamem_tui.memory.replay.measures import Replayed
from deltamem_tui.memory.replay.recording import MemoryRecord, RecalledRecord, Recording

KINDS = ("", "heat", "cool")


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    episodes = draw(st.integers(1, 8))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=episodes, max_size=episodes))
    successes = draw(st.lists(st.booleans(), min_size=episodes, max_size=episodes))
    return Truth(kinds, successes)


@st.composite
def replays(draw: st.DrawFn, truth: Truth) -> Replayed:
    """What some contestant may have kept and recalled; its nodes are a to e."""
    episodes = len(truth.kinds)
    records = []
    for node in draw(st.lists(st.sampled_from("abcde"), max_size=6, unique=True)):
        begin = draw(st.integers(0, episodes - 1))
        while True:
            end = draw(st.none() | st.integers(begin, episodes - 1))
            sources = draw(st.sets(st.integers(0, episodes - 1), max_size=2))
            tokens = draw(st.integers(0, 9))
            success = draw(st.booleans())
            records.append(
                MemoryRecord(node, "task", success, tuple(sorted(sources)), tokens, begin, end)
            )
            if end is None or end == episodes - 1 or draw(st.booleans()):
                break
            begin = draw(st.integers(end, episodes - 1))
    recalled = []
    for place in range(episodes):
        there = [number for number, each in enumerate(records) if each.stood_at(place)]
        shown = draw(st.lists(st.sampled_from(there), max_size=3, unique=True)) if there else []
        firsts = draw(st.integers(1, 2))
        recalled.append(
            tuple(RecalledRecord(each, at < firsts, 0.5) for at, each in enumerate(shown))
        )
    words = st.lists(st.none() | st.booleans(), min_size=episodes, max_size=episodes)
    recording = Recording(tuple(records), tuple(recalled), (0,) * episodes, tuple(draw(words)))
    return Replayed(recording, truth)
