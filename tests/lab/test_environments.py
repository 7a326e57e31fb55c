"""Environments by name and file; the simulators where they are, one line where one is missing."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.lab import environment as environments
from deltamem_tui.lab.environment import environment_named
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.places import GENERATED

HOUSE = Path(__file__).with_name("house.py")


@pytest.fixture
def every_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if everything that can be imported were installed."""
    monkeypatch.setattr(environments, "find_spec", lambda _: object())


def unpacked(folder: Path, *games: str, solvable: str = "true") -> Path:
    for each in games:
        file = folder / "alfworld_games" / each / "game.tw-pddl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{{"solvable": {solvable}}}')
    return folder


def test_a_missing_simulator_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "find_spec", lambda _: None)
    environments.simulator.cache_clear()
    with pytest.raises(UsageError, match=r"scienceworld .*deltamem-tui\[scienceworld\]"):
        environment_named("scienceworld").games("dev")
    with pytest.raises(UsageError, match=r"alfworld and textworld .*deltamem-tui\[alfworld\]"):
        environment_named("alfworld", games=tmp_path).games("dev")


@pytest.mark.usefixtures("every_module")
def test_a_missing_java_and_missing_games_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    environments.simulator.cache_clear()
    with pytest.raises(UsageError, match="Java"):
        environment_named("scienceworld").games("dev")
    with pytest.raises(UsageError, match="--games-from"):
        environment_named("alfworld", games=tmp_path).games("dev")


@pytest.mark.usefixtures("every_module")
def test_games_are_found_below_a_folder(tmp_path: Path) -> None:
    names = [f"valid_seen/heat-Mug-None-Cabinet-{at}/trial_T{at}" for at in range(5)]
    skipped = "valid_seen/heat-MugSliced-None-Cabinet-9/trial_T9"
    alfworld = environment_named("alfworld", games=unpacked(tmp_path, *names, skipped))
    games = alfworld.games("dev")
    assert sorted(each.name for each in games) == names
    assert {each.kind for each in games} == {"heat"}
    unpacked(tmp_path, *names, solvable="true ")  # other files have other digests
    others = alfworld.games("dev")
    assert [each.name for each in others] == [each.name for each in games]
    assert not {each.digest for each in others} & {each.digest for each in games}
    with pytest.raises(UsageError, match="test"):
        alfworld.games("test")


@pytest.mark.parametrize(
    ("environment", "facts", "game"),
    [
        ("scienceworld", {"task_type": "boil", "variation": "12"}, "boil/12"),
        ("scienceworld", {"game": "boil/12"}, "boil/12"),
        ("scienceworld", {"task_type": "boil"}, ""),
        ("alfworld", {"game": "valid_seen/heat-Mug-None-A-1/trial_T1_2"}, None),
        ("alfworld", {"id": "json_2.1.1/valid_seen/heat-Mug-None-A-1/trial_T1_2"}, None),
        ("alfworld", {"id": "env_7"}, ""),
    ],
)
def test_the_game_of_an_episode_is_named_as_games_are(
    environment: str, facts: dict[str, str], game: str | None
) -> None:
    wanted = "valid_seen/heat-Mug-None-A-1/trial_T1_2" if game is None else game
    assert environment_named(environment).game_of(Trajectory("a task", metadata=facts)) == wanted


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the sample episodes are not here")
def test_the_game_of_every_sample_episode_is_known() -> None:
    for log in GENERATED.glob("*.jsonl"):
        environment = environment_named(log.name.partition("_")[0])
        episodes = [each for each in read_logs(log) if isinstance(each, Trajectory)]
        assert len(episodes) > 100
        assert all(environment.game_of(each) for each in episodes)


def test_an_environment_plugs_in_by_its_file() -> None:
    house = environment_named(f"{HOUSE}:HouseEnvironment")
    game = house.load(house.games("dev")[0])
    assert game.start().task == "put a mug in cabinet."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "AttributeError"),
        ("World =", "SyntaxError"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("class World:\n    name = 'x'", "it lacks domain, limit"),
        ("def World():\n    raise ValueError('not\\ntoday')", "ValueError: not today"),
    ],
)
def test_a_file_that_is_no_environment_is_told_in_one_line(
    text: str, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "world.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=told) as caught:
        environment_named(f"{file}:World")
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_what_is_no_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one of alfworld"):
        environment_named("alfwrld")
    with pytest.raises(UsageError, match="no such file"):
        environment_named(f"{tmp_path}/none.py:World")
    with pytest.raises(UsageError, match="--games-from"):
        environment_named("scienceworld", games=tmp_path)


@pytest.mark.skipif(
    find_spec("scienceworld") is None or shutil.which("java") is None,
    reason="ScienceWorld is not installed",
)
def test_a_variation_begins_anew_each_time() -> None:
    environments.simulator.cache_clear()
    environment = environment_named("scienceworld")
    game = environment.load(environment.games("dev")[0])
    first = game.start()
    game.step("look around")
    assert game.start() == first
    assert game.step("no such command").score == 0
