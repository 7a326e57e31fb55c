"""What reports quote of logs holds no secret, also where only the beginning of it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.readers.reading import read_logs, try_readers
from deltamem_tui.trajectory.readers.registry import READERS
from deltamem_tui.trajectory.secrets.redaction import QUOTED, quoted

KEY = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5"
STEP = {"action": "look", "observation": "a room"}


def test_a_secret_is_taken_out_before_the_text_is_cut() -> None:
    assert quoted(f"it is {KEY}", 24) == "it is [redacted: github…"
    assert quoted("a plain\n word", 40) == "a plain word"
    assert quoted("x" * (QUOTED + 10), 5) == "xxxx…"


LOGS = {
    "a name": json.dumps({"task": "t", "steps": [STEP], "metadata": {KEY: 1}}),
    "words before a record": f"the key is {KEY} " + json.dumps({"task": "t", "steps": [STEP]}),
    "words in place of a record": json.dumps({"task": "t", "steps": [STEP]}) + f"\n{KEY} is it\n",
    "a role": json.dumps({"messages": [{"role": "user", "content": "hi"}, {"role": KEY}]}),
    "text": f"only {KEY} and words",
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_no_refusal_shows_one_whoever_reads_the_log(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    refused = 0
    for reader in READERS:
        try:
            told = list(read_logs(path, format=reader.name))
        except TrajectoryError as error:
            told = [RecordError(str(error))]
        said = [str(each) for each in told if isinstance(each, RecordError)]
        refused += len(said)
        assert KEY[:12] not in "\n".join(said)
    assert refused


def test_a_trial_shows_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"task": f"my key {KEY}", "steps": [STEP]}))
    (trial,) = try_readers(Log("log.jsonl", path))
    assert trial.first_task == "my key [redacted: github token]"
