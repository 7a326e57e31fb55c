"""The exploring agent does what the task names, after what a memory says, and never waits."""

from __future__ import annotations

from deltamem_tui.lab.agent import Playthrough
from deltamem_tui.lab.agents.explorer import ExploringAgent, exploring_agent
from deltamem_tui.lab.environment import Observation, Start
from tests.lab.house import House

PLACES: dict[str, tuple[str, ...]] = {
    "countertop 1": ("plate 1",),
    "fridge 1": ("mug 1",),
    "microwave 1": (),
    "cabinet 1": (),
}
HINT = "1. go to fridge 1\n2. take mug 1 from fridge 1"


class OpenHouse(House):
    """A house that says where one can go, too."""

    def start(self) -> Start:
        begun = super().start()
        return Start(begun.task, begun.scene, self._offered())

    def step(self, action: str) -> Observation:
        seen = super().step(action)
        return Observation(seen.text, seen.score, seen.done, self._offered())

    def _offered(self) -> tuple[str, ...]:
        ways = [f"go to {place}" for place in self.places if place != self.here]
        return ("look", "inventory", *ways, *self.commands())


def played(
    task: str, *, hot: bool = False, memory: str = "", domain: str = "alfworld"
) -> Playthrough:
    def reached(house: House) -> bool:
        return house.lies["mug 1"] == "cabinet 1" and (not hot or "mug 1" in house.hot)

    game = Playthrough(OpenHouse(task, PLACES, reached), 12)
    exploring_agent(domain).play(game, memory)
    return game


def test_what_the_task_names_is_done_in_time() -> None:
    game = played("put a mug in cabinet.")
    assert game.score == 1
    assert [each.action for each in game.steps][-1] == "move mug 1 to cabinet 1"


def test_what_has_to_be_known_is_not_found_out() -> None:
    game = played("put a hot mug in cabinet.", hot=True)
    assert (game.score, len(game.steps)) == (0, 12)
    assert not {"look", "inventory"} & {each.action for each in game.steps}


def test_the_memory_goes_first() -> None:
    game = played("put a mug in cabinet.", memory=HINT)
    assert [each.action for each in game.steps] == [
        "go to fridge 1",
        "take mug 1 from fridge 1",
        "go to cabinet 1",
        "move mug 1 to cabinet 1",
    ]


def test_where_no_commands_are_known_no_text_is_read() -> None:
    task = "put a mug in cabinet."
    assert played(task, memory=HINT, domain="own").steps == played(task, domain="own").steps


def test_the_same_game_is_played_the_same_again() -> None:
    assert played("put a hot mug in cabinet.").steps == played("put a hot mug in cabinet.").steps


def test_a_game_that_offers_nothing_is_left() -> None:
    game = Playthrough(House("put a mug in cabinet.", PLACES, lambda _: False), 12)
    ExploringAgent().play(game, "")
    assert game.steps == []
