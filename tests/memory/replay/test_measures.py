"""The measures agree with their definitions, read slowly, on random recordings."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.replay.measures import MEASURES, Replayed, measured, standing
from deltamem_tui.memory.replay.recording import MemoryRecord
from deltamem_tui.memory.replay.result import _lives
from tests.memory.replay.histories import replays, truths


def is_wrong(replayed: Replayed, record: MemoryRecord) -> bool:
    learnt_as, ended = replayed.recording.learnt_as, replayed.truth.successes
    return any(learnt_as[at] is (not ended[at]) for at in record.sources)


def by_definition(replayed: Replayed, twin: Replayed) -> dict[str, float | None]:
    """Every measure, a loop each, in fractions."""
    recording, truth = replayed.recording, replayed.truth
    episodes = range(len(truth.kinds))

    def shown(place: int, of: Replayed = replayed, *, first: bool = False) -> list[MemoryRecord]:
        found = of.recording.recalled[place]
        records = [of.recording.records[e.record] for e in found if e.first or not first]
        return [each for each in records if each.sources]

    def same(place: int, record: MemoryRecord) -> bool:
        kind = truth.kinds[place]
        return bool(kind) and any(truth.kinds[at] == kind for at in record.sources)

    def askable(place: int) -> bool:
        earlier = [truth.kinds[at] for at in range(place) if truth.successes[at]]
        return truth.kinds[place] != "" and truth.kinds[place] in earlier

    def share(holding: list[bool] | list[Fraction]) -> float | None:
        return float(Fraction(sum(holding)) / len(holding)) if holding else None

    def success(record: MemoryRecord) -> Fraction:
        return Fraction(sum(truth.successes[at] for at in record.sources), len(record.sources))

    def regrets(place: int) -> bool:
        best = [e for e in shown(place, twin) if same(place, e) and not is_wrong(twin, e)]
        if not best or any(same(place, each) for each in shown(place)):
            return False
        there = [each.node for each in recording.records if each.stood_at(place)]
        return best[0].node not in there

    asked = [place for place in episodes if askable(place)]
    every = [(place, each) for place in episodes for each in shown(place)]
    first = [(place, each) for place in episodes for each in shown(place, first=True)]
    stored = [
        each for at in episodes for each in recording.records if each.sources and each.stood_at(at)
    ]
    return {
        "coverage": share([bool(recording.recalled[place]) for place in episodes]),
        "same_kind": share([any(same(at, each) for each in shown(at)) for at in asked]),
        "same_kind_first": share(
            [any(same(at, each) for each in shown(at, first=True)) for at in asked]
        ),
        "same_kind_share": share([same(place, each) for place, each in every]),
        "precision": share([not is_wrong(replayed, each) for _, each in every]),
        "store_precision": share([not is_wrong(replayed, each) for each in stored]),
        "source_success": share([success(each) for _, each in every]),
        "source_success_first": share([success(each) for _, each in first]),
        "exposure": share(
            [any(is_wrong(replayed, each) for each in shown(at, first=True)) for at in episodes]
        ),
        "regret": share([regrets(place) for place in episodes]),
    }


@given(st.data())
def test_every_measure_is_what_its_definition_says(data: st.DataObject) -> None:
    truth = data.draw(truths())
    replayed, twin = data.draw(replays(truth)), data.draw(replays(truth))
    found = measured(replayed, twin)
    assert [*found] == [*MEASURES]
    for name, value in by_definition(replayed, twin).items():
        assert found[name].value == (value if value is None else pytest.approx(value)), name


@given(st.data())
def test_what_stands_is_counted_at_every_place(data: st.DataObject) -> None:
    recording = data.draw(replays(data.draw(truths()))).recording
    tokens = [float(each.tokens) for each in recording.records]
    for place, total in enumerate(standing(recording, tokens)):
        assert total == sum(each.tokens for each in recording.records if each.stood_at(place))
    births, deletions, rebirths = _lives(recording.records)
    left = sum(each.end is None for each in recording.records)
    assert births + rebirths - deletions == left
