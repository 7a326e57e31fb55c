"""What is kept of a run, whatever byte the power failed at."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.lab.runs.course_folder import RESULTS, CourseFolder, results_in
from deltamem_tui.lab.runs.game_result import GameResult
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.effort import examples
from tests.lab.arcade import LOG

__all__ = ["no_waiting_for_the_disk"]

KEPT = [GameResult(f"ä{number}", "red", 1, 0.5, False, 3, 0, 0, 0, None) for number in range(3)]


@examples(30, one_folder=True)
@example(153)  # before the end of the first line
@given(st.integers(0, 600))
def test_what_was_kept_before_a_cut_stays_and_more_can_follow(tmp_path: Path, cut: int) -> None:
    path = tmp_path / RESULTS
    path.unlink(missing_ok=True)
    folder = CourseFolder(tmp_path)
    for each in KEPT:
        folder.keep_result(each)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    left = whole[:cut].count(b"\n")
    assert [*results_in(tmp_path).values()] == KEPT[:left]
    torn = CourseFolder(tmp_path)
    for each in KEPT[left:]:
        torn.keep_result(each)
    assert path.read_bytes() == whole


def test_an_episode_without_its_result_is_still_to_be_finished(tmp_path: Path) -> None:
    folder = CourseFolder(tmp_path)
    facts = {"trial": "1"} | dict.fromkeys(
        ("memory_tokens", "agent_calls", "agent_tokens", "agent_cost"), "0"
    )
    episodes = [each.with_facts(metadata={**each.metadata, **facts}) for each in LOG]
    for each in episodes:
        folder.keep_episode(each)
    first = episodes[0].metadata["game"]
    folder.keep_result(GameResult(first, "red", 1, 1.0, True, 1, 0, 0, 0, 0.0))
    again = CourseFolder(tmp_path)
    assert [*again.played.values()] == episodes[1:]
    assert [*again.episodes()] == episodes
