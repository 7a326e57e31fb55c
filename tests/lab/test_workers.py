"""Games in worker processes: as in this one, whatever the simulators do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deltamem_tui.errors import GameError, UsageError
from deltamem_tui.lab.agents.rules import RulesAgent
from deltamem_tui.lab.contestants import Contestant, RawMemory
from deltamem_tui.lab.environment import GameInfo, environment_named
from deltamem_tui.lab.grounds import GameGround, Playthrough
from deltamem_tui.lab.plan import ModelCost
from deltamem_tui.lab.workers import Workers
from tests.places import ROOT

HOUSE = f"{Path(__file__).with_name('house.py')}:HouseEnvironment"
UNRULY = f"{Path(__file__).with_name('unruly.py')}:Unruly"
ONE = GameInfo("one", "dev")


@pytest.fixture
def unruly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    monkeypatch.setenv("UNRULY", str(tmp_path))
    with Workers(UNRULY) as workers:
        yield workers


def test_games_are_played_as_in_one_process_by_several_threads() -> None:
    text = "take mug 1 from fridge 1\nput mug 1 in cabinet 1"
    agent = RulesAgent("alfworld")
    environment = environment_named(HOUSE)
    with Workers(HOUSE, 2) as workers:

        def played(info: GameInfo) -> Playthrough:
            with workers.playing(info) as game:
                play = Playthrough(game, 20)
                agent.play(play, text)
            return play

        games = [*workers.games("dev"), *workers.games("train")]
        with ThreadPoolExecutor(4) as threads:
            plays = list(threads.map(played, games))
    assert games == [*environment.games("dev"), *environment.games("train")]
    for info, play in zip(games, plays, strict=True):
        alone = Playthrough(environment.load(info), 20)
        agent.play(alone, text)
        assert (play.start, play.steps, play.last) == (alone.start, alone.steps, alone.last)
    assert [play.best for play in plays].count(1.0) == 2


class Reckless:
    """Takes the actions that it is told, one after the other."""

    name = "reckless"

    def __init__(self, *actions: str) -> None:
        self.actions = actions

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        for each in self.actions:
            game.act(each)
        return ModelCost()


def test_a_game_whose_process_dies_is_played_once_more(
    unruly: Workers, capfd: pytest.CaptureFixture[str]
) -> None:
    assert [each.name for each in unruly.games("dev")] == ["one", "two"]
    ground = GameGround(unruly, Reckless("look", "die once", "look"), 10, "generic")
    result, episode = ground.trial(ONE, Contestant("nothing", "nothing"), RawMemory(None))
    assert [step.observation for step in episode.steps][-1] == "look die once look"
    assert (result.measures["score"], episode.environment) == (0.3, "a scene")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("die", "failed: SystemExit: the last words"),
        ("die once", "failed: its process ended"),
        ("fail", "failed: ConnectionError: no answer from Java"),
        ("nonsense", "breaks its protocol"),
        ("boast", "breaks its protocol: .*1.0.*score"),
    ],
)
def test_what_cannot_be_mended_is_told_in_one_line(unruly: Workers, action: str, told: str) -> None:
    with unruly.playing(ONE) as game:
        game.start()
        with pytest.raises(GameError, match=told) as caught:
            game.step(action)
    assert "\n" not in str(caught.value)
    with unruly.playing(ONE) as game:  # the next game has a process
        assert game.start().task == "a task"


def test_what_the_environment_refuses_is_refused(unruly: Workers) -> None:
    with (
        pytest.raises(UsageError, match=r"no such game .*one or two"),
        unruly.playing(GameInfo("none", "dev")),
    ):
        pass


def test_who_does_not_answer_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNRULY", str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with Workers(UNRULY, patience=5) as workers, workers.playing(ONE) as game:
        game.start()
        with pytest.raises(GameError, match="no answer within 5 s"):
            game.step("hang")
        os.set_blocking(reader, True)
        with os.fdopen(reader, "rb") as pipe:
            assert pipe.read() == b"hangs\n"  # and it is at its end: the process is gone


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_program(tmp_path: Path, how: signal.Signals) -> None:
    program = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
from deltamem_tui.lab.workers import Workers
from deltamem_tui.lab.environment import GameInfo
with Workers({UNRULY!r}) as workers, workers.playing(GameInfo("one", "dev")) as game:
    game.start()
    game.step("hang")
"""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "UNRULY": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        with (tmp_path / "pipe").open("rb") as pipe:  # open as long as the game's process is there
            assert pipe.readline() == b"hangs\n"
            running.send_signal(how)
            assert pipe.read() == b""
        out, _ = running.communicate()
    assert out == b""
    assert running.returncode == -how
