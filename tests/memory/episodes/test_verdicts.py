"""Every source's word on an episode is kept; the weightiest counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome, take_back_outcome
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.episodes.verdicts import with_word, with_words_of, words_on
from deltamem_tui.memory.runs.judging import take_judgement
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.memory.writers.model.judge import Judgement
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_record

EPISODE = Trajectory("heat the egg", "a kitchen", (Step("look", "A stove."),))
RANK: tuple[OutcomeSource, ...] = ("user", "stated", "judge")
WORDS = st.lists(st.builds(Outcome, st.booleans(), st.none(), st.sampled_from(RANK)), max_size=6)


@given(WORDS)
def test_the_last_word_of_each_source_is_kept_and_the_weightiest_counts(
    words: list[Outcome],
) -> None:
    found = EPISODE
    for word in words:
        found = with_word(found, word)
    last = {word.source: word for word in words}
    assert words_on(found) == tuple(last[source] for source in RANK if source in last)
    assert found.id == EPISODE.id
    assert from_record(to_record(found)) == found
    assert with_words_of(EPISODE.with_outcome(found.outcome), found) == found


def test_a_reward_that_is_no_verdict_counts_for_less() -> None:
    paid, judged = Outcome(None, 0.5, "stated"), Outcome(False, None, "judge")
    assert words_on(with_word(EPISODE.with_outcome(paid), judged)) == (judged, paid)


def test_two_verdicts_of_one_source_are_refused() -> None:
    record = to_record(EPISODE) | {"verdicts": [{"success": True, "source": "judge"}] * 2}
    with pytest.raises(RecordError, match="two verdicts"):
        from_record(record)
    later = to_record(EPISODE) | {"verdicts": [{"success": True, "source": "judge", "who": "m"}]}
    assert from_record(later).verdicts == (Outcome(True, None, "judge"),)


def test_judge_log_and_person_are_all_remembered(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, [EPISODE])

    def words() -> tuple[Outcome, ...]:
        found = episode(bank, EPISODE.id)
        assert found is not None
        return words_on(found)

    judged, stated = Outcome(True, None, "judge", "It is warm."), Outcome(False, 0.0, "stated")
    call = Call("judge", None, "m", "", Usage())
    take_judgement(bank, EPISODE.id, Judgement(judged, call))
    assert words() == (judged,)
    take_in(bank, [EPISODE.with_outcome(stated)])
    assert words() == (stated, judged)
    user = Outcome(True, None, "user")
    give_outcome(bank, EPISODE.id, success=True)
    assert words() == (user, stated, judged)
    assert take_back_outcome(bank, EPISODE.id).outcome == stated
    assert words() == (stated, judged)
    learn(bank, EPISODE.with_outcome(user))
    assert words() == (user, stated, judged)
