from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading
from tests.trajectory.readers.samples import episodes, only, readings

SCENE = "You are in the middle of a room. You see a desk 1, and a shelf 1."
EPISODE = f"""{SCENE}
Your task is to: put some mug on desk.
> think: First I need
 a mug.
OK.
> go to shelf 1
On the shelf 1, you see a mug 2.

It is dark.
> Think: There it is.
> ActionPath: Start->Goto(shelf 1)
> Think: I take it.
> take mug 2 from shelf 1
You pick up the mug 2 from the shelf 1.
"""
EPISODE = EPISODE.replace("need\n a mug", "need a mug")
STEPS = (
    Step("go to shelf 1", "On the shelf 1, you see a mug 2.\n\nIt is dark.", "First I need a mug."),
    Step(
        "take mug 2 from shelf 1",
        "You pick up the mug 2 from the shelf 1.",
        "There it is.\nActionPath: Start->Goto(shelf 1)\nI take it.",
    ),
)


def read(path: Path, content: str | object) -> list[Reading]:
    path.write_bytes(content.encode() if isinstance(content, str) else orjson.dumps(content))
    return list(read_logs([path]))


def test_one_episode(tmp_path: Path) -> None:
    assert only(read(tmp_path / "log.txt", EPISODE)) == Trajectory(
        task="put some mug on desk.",
        environment=SCENE,
        steps=STEPS,
        source=LogSource("log.txt", "line 1", "react"),
        domain="alfworld",
    )


def test_a_prompt_without_a_blank_and_a_nod_in_small_letters(tmp_path: Path) -> None:
    text = EPISODE.replace("> ", ">").replace("OK.", "Ok.").replace("Start->Goto", "Start->Goto")
    assert only(read(tmp_path / "log.txt", text)).steps == STEPS


def test_another_game_in_the_same_dialect_is_of_its_own_domain(tmp_path: Path) -> None:
    room = "This room is called the kitchen. In it, you see: a stove."
    found = only(read(tmp_path / "log.txt", EPISODE.replace(SCENE, room)))
    assert (found.environment, found.domain) == (room, "scienceworld")


@pytest.mark.parametrize("between", ["", "\n", "\n-= Welcome to TextWorld, ALFRED! =-\n\n"])
def test_episodes_one_after_another(tmp_path: Path, between: str) -> None:
    found = read(tmp_path / "log.txt", EPISODE + between + EPISODE.replace("mug", "cup"))
    first, second = found
    assert isinstance(first, Trajectory)
    assert isinstance(second, Trajectory)
    assert first.steps == STEPS
    assert second.task == "put some cup on desk."
    assert second.environment == SCENE


def test_a_second_look_is_no_second_scene(tmp_path: Path) -> None:
    look = "> look\nYou are in the middle of a room. You see nothing.\n"
    steps = only(read(tmp_path / "log.txt", EPISODE + look)).steps
    assert steps[-1] == Step("look", "You are in the middle of a room. You see nothing.")


def test_a_trial_log(tmp_path: Path) -> None:
    prompt = "Interact with a household to solve a task. Here are two examples.\n"
    example = EPISODE.replace("mug", "plate")
    blocks = "".join(
        f"\n#####\n\nEnvironment #{number}:\n{prompt}{example}{example}"
        f"Here is the task:\n{EPISODE}\nSTATUS: {word}\n\n#####\n"
        for number, word in enumerate(["OK", "FAIL"])
    )
    found = read(tmp_path / "trial.log", blocks + "\nSUCCESS: 1\nFAIL: 1\n")
    trajectories = episodes(found)
    assert [item.outcome for item in trajectories] == [
        Outcome(True, source="stated"),
        Outcome(False, source="stated"),
    ]
    assert [item.steps for item in trajectories] == [STEPS, STEPS]
    assert [item.environment for item in trajectories] == [SCENE, SCENE]
    assert [item.metadata for item in trajectories] == [{"id": "env_0"}, {"id": "env_1"}]
    lines = blocks.splitlines()
    starts = [index + 2 for index, line in enumerate(lines) if line == "Here is the task:"]
    assert [item.source.position for item in trajectories] == [f"line {n}" for n in starts]
    assert len(found) == 2


PROMPT = "Interact with a household to solve a task. Here are two examples.\n"
EXAMPLE = EPISODE.replace("mug", "plate")


@pytest.mark.parametrize("intro", [PROMPT, "Interact with a household.\n", ""])
@pytest.mark.parametrize("examples", [0, 2])
def test_prompts_one_after_another_with_nothing_between(
    tmp_path: Path, intro: str, examples: int
) -> None:
    prompt = intro + EXAMPLE * examples + "Here is the task:\n"
    text = "".join(prompt + EPISODE.replace("mug", name) + "\n" for name in ("mug", "cup", "pan"))
    found = read(tmp_path / "log.txt", text)
    assert [item.task for item in episodes(found)] == [
        f"put some {name} on desk." for name in ("mug", "cup", "pan")
    ]
    assert len(found) == 3
    assert all(len(item.steps) == len(STEPS) for item in episodes(found))


def test_a_verdict_ends_an_episode_also_without_a_rule(tmp_path: Path) -> None:
    text = "".join(f"{EPISODE}\nSTATUS: {word}\n" for word in ("OK", "FAIL"))
    found = read(tmp_path / "log.txt", text)
    assert [item.outcome.success for item in episodes(found)] == [True, False]
    assert len(found) == 2


def test_an_episode_before_another_ones_verdict_is_told(tmp_path: Path) -> None:
    text = f"{EXAMPLE}{EPISODE}\nSTATUS: OK\n"
    told, found = read(tmp_path / "log.txt", text)
    assert isinstance(told, RecordError)
    assert "an episode without a STATUS line" in told.message
    assert isinstance(found, Trajectory)
    assert found.task == "put some mug on desk."
    (only_one,) = read(tmp_path / "log.txt", PROMPT + text)
    assert only_one.task == found.task if isinstance(only_one, Trajectory) else False


def test_prose_is_never_an_outcome(tmp_path: Path) -> None:
    text = EPISODE + "> think: Task completed! Success: True, STATUS: OK\nOK.\n"
    assert only(read(tmp_path / "log.txt", text)).outcome == Outcome()


def test_a_trial_without_a_task_is_told(tmp_path: Path) -> None:
    text = f"#####\nEnvironment #0:\n> look\nSTATUS: OK\n#####\n{EPISODE}"
    refused, good = read(tmp_path / "log.txt", text)
    assert isinstance(refused, RecordError)
    assert "Your task is to" in str(refused)
    assert isinstance(good, Trajectory)


def test_texts_in_a_json_object(tmp_path: Path) -> None:
    first, second = read(tmp_path / "prompts.json", {"react_0": EPISODE, "react_1": EPISODE})
    assert isinstance(first, Trajectory)
    assert isinstance(second, Trajectory)
    assert (first.steps, first.metadata) == (STEPS, {"id": "react_0"})
    assert second.source.position == "line 1, key react_1"


@pytest.mark.parametrize(
    ("result", "success"), [(True, True), (False, False), ("True", True), (0, None), (None, None)]
)
def test_the_wrapper(tmp_path: Path, result: object, success: bool | None) -> None:
    name = "pick_and_place_simple-Mug-None-Desk-308/trial_1"
    record = {"name": name, "result": result, "traj": EPISODE}
    trajectory = only(read(tmp_path / "wrapped.jsonl", record))
    assert trajectory.source.format == "alfworld-wrapper"
    assert trajectory.steps == STEPS
    assert trajectory.outcome.success is success
    assert trajectory.metadata["id"] == name
    assert trajectory.metadata["task_type"] == "pick_and_place_simple"
    assert ("cut" in trajectory.metadata) == (result == 0 and result is not False)


@pytest.mark.parametrize("tail", ["> Think: Now I find a hot cup (\n", "> go to cabi"])
def test_a_log_cut_in_a_sentence_loses_the_sentence(tmp_path: Path, tail: str) -> None:
    record = {"name": "x", "result": 0, "traj": EPISODE + tail}
    assert only(read(tmp_path / "wrapped.jsonl", record)).steps == STEPS


def test_a_last_action_that_nobody_answered_is_kept(tmp_path: Path) -> None:
    steps = only(read(tmp_path / "log.txt", EPISODE + "> stop\n")).steps
    assert steps == (*STEPS, Step("stop"))


def test_numbered_acts_with_a_running_count(tmp_path: Path) -> None:
    log = """pick_and_place_simple-Mug-None-Desk-308/trial_T1
pick_and_place put
You are in a room. You see a desk 1.
Your task is to: put a mug on the desk.
Act 1: think: Where is it?
Obs 1: OK.
Act 2: go to desk 1
Obs 2: On the desk 1, you see a mug 1.
1 r True rs [1, 0] cnts [1, 0] sum(rs)/sum(cnts) 1.0
------------

look_at_obj/trial_T2
You are in a hall.
Your task is to: look at a pen.
Act 1: look
Obs 1: You see nothing.
2 r 0 rs [1, 0] cnts [1, 1] sum(rs)/sum(cnts) 0.5
------------
"""
    first, second = readings(tmp_path, log, "log.txt")
    assert isinstance(first, Trajectory)
    assert isinstance(second, Trajectory)
    assert (first.environment, first.outcome.success) == (
        "You are in a room. You see a desk 1.",
        True,
    )
    assert first.steps == (Step("go to desk 1", "On the desk 1, you see a mug 1.", "Where is it?"),)
    assert (second.environment, second.outcome.success) == ("You are in a hall.", False)
    assert second.steps == (Step("look", "You see nothing."),)
