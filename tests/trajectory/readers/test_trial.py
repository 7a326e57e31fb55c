"""What each reader would make of a log, without importing it."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.readers.reading import try_readers
from tests.trajectory.readers.log_files import lines

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
    odd = {"sessionId": "s", "uuid": "x", "type": "odd"}
    path.write_bytes(lines({**SAID, "uuid": "u1"}, odd, odd, {**DID, "uuid": "a1"}))
    trial = next(try_readers(Log("log.jsonl", path)))
    assert (trial.episodes, trial.rejected) == (1, 2)
    assert trial.first_rejection is not None
    assert trial.first_rejection.position == "line 2"
