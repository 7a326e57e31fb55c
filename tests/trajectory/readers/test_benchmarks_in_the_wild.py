"""Logs that others published, counted. They are read where they lie and never copied here."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading
from tests.places import PUBLISHED

PROTOCOL = "zhu-yiqi+agent-data-protocol/datasets"
SCIENCEWORLD = "allenai+ScienceWorld/python-api"
INTERCODE = "princeton-nlp+intercode/data/results/bash"
TOOLBENCH = "OpenBMB+ToolBench/data_example/answer/G1_answer"
AGENTBENCH = "THUDM+AgentBench/src/server/tasks/alfworld/prompts"
SHOPPERS = "WooooDyy+AgentGym/agentenv-webshop/webshop/all_trajs"

# A pattern below the samples: its format, then how many episodes of its files together are a
# success, a failure, and of unknown outcome.
COUNTS: dict[str, tuple[str, int, int, int]] = {
    "ysymyth+ReAct/WebShop.ipynb": ("webshop", 179, 281, 40),
    f"{SHOPPERS}/*.jsonl": ("webshop-human", 1, 4, 0),
    f"{SCIENCEWORLD}/recordings/*.json": ("scienceworld-recording", 5, 0, 0),
    f"{SCIENCEWORLD}/saves/*.json": ("scienceworld-history", 2, 0, 0),
    "noahshinn+reflexion/hotpotqa_runs/**/*.txt": ("reflexion", 223, 275, 0),
    f"{INTERCODE}/gpt-3.5/*.json": ("intercode", 13, 47, 0),
    f"{INTERCODE}/gpt-4/*.json": ("intercode", 50, 63, 0),
    "sierra-research+tau-bench/historical_trajectories/*.json": ("tau-bench", 15, 33, 0),
    f"{TOOLBENCH}/*.json": ("toolbench", 4, 1, 0),
    "hiyouga+LLaMA-Factory/data/*.json": ("sharegpt", 0, 0, 300),
    f"{PROTOCOL}/agenttuning_*/sample_raw.json": ("sharegpt", 0, 0, 15),
    f"{PROTOCOL}/agenttuning_*/sample_sft.json": ("sharegpt", 0, 0, 5),
    f"{PROTOCOL}/codeactinstruct/sample_raw.json": ("sharegpt", 0, 0, 5),
    f"{PROTOCOL}/eto/sample_raw.json": ("sharegpt", 2, 1, 0),
    f"{PROTOCOL}/swe-smith/sample_raw.json": ("openai-chat", 5, 0, 0),
    f"{PROTOCOL}/toucan_1_5m/sample_raw.json": ("openai-chat", 0, 0, 1),
    f"{PROTOCOL}/nebius*/sample_raw.json": ("openai-chat", 5, 0, 0),
    f"{AGENTBENCH}/alfworld_multiturn_react.json": ("openai-chat", 0, 0, 6),
    f"{PROTOCOL}/*/sample_std.json": ("agent-data-protocol", 0, 0, 37),
}
# Files beside them that are no logs of episodes.
REFUSED = [
    "ysymyth+ReAct/prompts/fever.json",
    "ysymyth+ReAct/prompts/prompts_naive.json",
    "noahshinn+reflexion/**/env_results_trial_*.json",
    "sierra-research+tau-bench/few_shot_data/*.jsonl",
    f"{AGENTBENCH}/alfworld_multiturn.json",
    f"{PROTOCOL}/android_in_the_wild/sample_raw.json",
    f"{PROTOCOL}/webarena_successful/sample_raw.json",
]


def files(pattern: str) -> list[Path]:
    if not PUBLISHED.exists():
        pytest.skip("the sample data are not here")
    return sorted(PUBLISHED.glob(pattern))


@cache
def read(path: Path) -> list[Reading]:
    return list(read_logs([path]))


@pytest.mark.parametrize("pattern", COUNTS)
def test_what_is_in_them(pattern: str) -> None:
    name, successes, failures, unknown = COUNTS[pattern]
    found = [item for path in files(pattern) for item in read(path)]
    assert [str(item) for item in found if isinstance(item, RecordError)] == []
    episodes = [item for item in found if isinstance(item, Trajectory)]
    assert {item.source.format for item in episodes} == {name}
    counts = Counter(item.outcome.success for item in episodes)
    assert (counts[True], counts[False], counts[None]) == (successes, failures, unknown)
    assert all(item.outcome.known == (item.outcome.source == "stated") for item in episodes)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_log_is_refused_with_a_hint(pattern: str) -> None:
    for path in files(pattern):
        with pytest.raises(LogFormatError, match=r"no reader knows .*name the format"):
            read_logs([path])


def test_the_trials_of_a_question_share_its_name() -> None:
    (path,) = files("noahshinn+reflexion/hotpotqa_runs/**/*.txt")
    episodes = [item for item in read(path) if isinstance(item, Trajectory)]
    assert len({item.metadata["task_id"] for item in episodes}) == 100
    assert Counter(item.metadata["trial"] for item in episodes) == {
        "1": 100,
        "2": 99,
        "3": 100,
        "4": 100,
        "5": 99,
    }
    assert not any("attempted" in item.task or "Reflection" in item.task for item in episodes)


def test_recordings_named_failure_that_end_well() -> None:
    for path in files(f"{SCIENCEWORLD}/recordings/*failure*.json"):
        (found,) = read(path)
        assert isinstance(found, Trajectory)
        assert (found.outcome.success, found.outcome.reward) == (True, 1.0)
