"""Games in processes of their own: as in this one, whatever the simulators do."""

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
from deltamem_tui.lab.agent import Playthrough
from deltamem_tui.lab.agents.rules import RulesAgent
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.game_pool import GamePool
from deltamem_tui.lab.registry import environment_named
from tests.places import ROOT

HOUSE = f"{Path(__file__).with_name('house.py')}:HouseEnvironment"
UNRULY = f"{Path(__file__).with_name('unruly.py')}:Unruly"
ONE = GameInfo("one", "dev")


@pytest.fixture
def unruly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GamePool]:
    monkeypatch.setenv("UNRULY", str(tmp_path))
    with GamePool(UNRULY) as pool:
        yield pool


def test_games_are_played_as_in_one_process_by_several_threads() -> None:
    text = "take mug 1 from fridge 1\nput mug 1 in cabinet 1"
    agent = RulesAgent("alfworld")
    environment = environment_named(HOUSE)
    with GamePool(HOUSE, 2) as pool:

        def played(info: GameInfo) -> Playthrough:
            with pool.playing(info) as game:
                play = Playthrough(game, 20)
                agent.play(play, text)
            return play

        games = [*pool.games("dev"), *pool.games("train")]
        with ThreadPoolExecutor(4) as threads:
            plays = list(threads.map(played, games))
    assert games == [*environment.games("dev"), *environment.games("train")]
    for info, play in zip(games, plays, strict=True):
        alone = Playthrough(environment.load(info), 20)
        agent.play(alone, text)
        assert (play.start, play.steps, play.last) == (alone.start, alone.steps, alone.last)
    assert [play.score for play in plays].count(1.0) == 2


def test_a_process_that_dies_is_replaced_unnoticed(
    unruly: GamePool, capfd: pytest.CaptureFixture[str]
) -> None:
    assert [each.name for each in unruly.games("dev")] == ["one", "two"]
    with unruly.playing(ONE) as game:
        play = Playthrough(game, 10)
        assert play.start.scene == "a scene"
        for action in ("look", "die once", "look"):
            play.act(action)
    assert [step.observation for step in play.steps] == [
        "look",
        "look die once",
        "look die once look",
    ]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("die", "one: .*died twice: the last words"),
        ("fail", "died twice: ConnectionError: no answer from Java"),
        ("nonsense", "breaks its protocol"),
        ("boast", "breaks its protocol: .*1.0.*score"),
    ],
)
def test_what_cannot_be_mended_is_told_in_one_line(
    unruly: GamePool, action: str, told: str
) -> None:
    with unruly.playing(ONE) as game:
        game.start()
        with pytest.raises(GameError, match=told) as caught:
            game.step(action)
    assert "\n" not in str(caught.value)
    with unruly.playing(ONE) as game:  # the next game has a process
        assert game.start().task == "a task"


def test_what_the_environment_refuses_is_refused(unruly: GamePool) -> None:
    with (
        pytest.raises(UsageError, match=r"no such game .*one or two"),
        unruly.playing(GameInfo("none", "dev")),
    ):
        pass


def test_who_plays_when_the_pool_is_left_is_told(unruly: GamePool) -> None:
    with unruly.playing(ONE) as game:
        game.start()
        unruly.__exit__(None, None, None)
        with pytest.raises(GameError, match="ended"):
            game.step("look")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_program(tmp_path: Path, how: signal.Signals) -> None:
    program = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
from deltamem_tui.lab.game_pool import GamePool
from deltamem_tui.lab.environment import GameInfo
with GamePool({UNRULY!r}) as pool, pool.playing(GameInfo("one", "dev")) as game:
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
