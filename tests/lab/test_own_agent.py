"""The agent that is an object of the user's own, and what it may do wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agents.own import OwnAgent
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from tests.lab.house import HouseEnvironment

PLAYS = """
from deltamem_tui.lab.plan import ModelCost

class Mine:
    def play(self, game, memory):
        assert memory == "it is in the fridge" and game.limit == 30
        for action in ("go to fridge 1", "open fridge 1", "take mug 1 from fridge 1"):
            game.act(action, "on")
        game.act("go to cabinet 1")
        assert "move mug 1 to cabinet 1" in game.last.commands and not game.over
        game.act("move mug 1 to cabinet 1")
        return ModelCost(4, 40, 1.0)
"""


def played(tmp_path: Path, text: str) -> tuple[Playthrough, ModelCost]:
    file = tmp_path / "agent of mine.py"
    file.write_text(text)
    house = HouseEnvironment()
    game = Playthrough(house.load(house.games("dev")[0]), 30)
    return game, OwnAgent(f"{file}:Mine").play(game, "it is in the fridge")


def test_an_object_plays(tmp_path: Path) -> None:
    game, cost = played(tmp_path, PLAYS)
    assert (game.best, len(game.steps), game.steps[0].thought) == (1, 5, "on")
    assert cost == ModelCost(4, 40, 1.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Mine: pass", "it lacks play"),
        ("class Mine:\n def play(self, game, memory): game.act(7)", "the agent failed: TypeError"),
        ("class Mine:\n def play(*_): raise SystemExit(3)", "the agent failed: SystemExit: 3"),
        ("raise SystemExit(3)", "cannot make an agent of 'Mine': SystemExit: 3"),
        (
            "class Mine:\n def play(*_): raise ValueError('no\\n\\x1b[31m key')",
            "the agent failed: ValueError: no key",
        ),
    ],
)
def test_an_object_that_misbehaves_is_told_in_one_line(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        played(tmp_path, text)
    assert not {"\n", "\x1b"} & {*str(caught.value)}
