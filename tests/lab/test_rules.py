"""The agents without a model carry out what a text says, or explore, in worlds of their own."""

from __future__ import annotations

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agents.rules import RulesAgent
from deltamem_tui.lab.environment import Game, Observation, Start
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from tests.lab.house import House, Rooms


def play(domain: str, game: Game, text: str, limit: int = 30) -> Playthrough:
    played = Playthrough(game, limit)
    assert RulesAgent(domain).play(played, text) == ModelCost()
    return played


def kitchen(task: str = "put a mug in cabinet.", *, closed: tuple[str, ...] = ()) -> House:
    places = {
        "countertop 1": ("plate 1",),
        "fridge 1": ("mug 1",),
        "microwave 1": (),
        "cabinet 1": (),
    }
    return House(task, places, lambda house: house.lies["mug 1"] == "cabinet 1", closed=closed)


PUT_MUG = "1. take mug 1 from fridge 1\n2. put mug 1 in cabinet 1"


@pytest.mark.parametrize(
    "text",
    [
        PUT_MUG,
        "> take mug 1 from fridge 1\nYou pick up the mug.\n> move mug 1 to cabinet 1\nYou put it.",
        "- `take mug 1 from fridge 1`\n- `put mug 1 in/on cabinet 1`",
        "Action 1: take mug 1 from fridge 1 → You pick it up.\nAction 2: move mug 1 to cabinet 1",
        "When: put a mug in cabinet\n1. take [object] from fridge\n2. put [object] in [place]",
    ],
    ids=["numbered", "as it was", "bulleted", "answered", "with slots"],
)
def test_commands_are_read_however_the_text_lists_them(text: str) -> None:
    game = kitchen()
    assert play("alfworld", game, text).best == 1
    assert game.did == [
        "go to fridge 1",
        "take mug 1 from fridge 1",
        "go to cabinet 1",
        "move mug 1 to cabinet 1",
    ]


def test_names_of_a_past_task_stand_for_the_present_ones() -> None:
    game = kitchen()
    past = "Task: put some egg in drawer\n> take egg 2 from fridge 3\n> move egg 2 to drawer 4"
    assert play("alfworld", game, past).best == 1


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1. take mug from shelf\n2. put mug in cabinet", "countertop 1"),
        ("1. take mug from shelf\n2. put mug in cabinet\nmug: fridge 4, shelf 1", "fridge 1"),
    ],
    ids=["everywhere", "where such things were seen"],
)
def test_what_is_not_there_is_searched(text: str, first: str) -> None:
    game = kitchen()
    assert play("alfworld", game, text).best == 1
    assert game.did[0] == f"go to {first}"


def test_two_objects_are_brought_and_what_was_put_is_not_taken_again() -> None:
    game = House(
        "find two mug and put them in cabinet.",
        {"countertop 1": ("mug 1", "mug 2"), "cabinet 1": ()},
        lambda house: {house.lies["mug 1"], house.lies["mug 2"]} == {"cabinet 1"},
    )
    twice = "take mug from countertop\nput mug in cabinet\n" * 2
    assert play("alfworld", game, twice).best == 1
    assert game.did.count("take mug 1 from countertop 1") == 1


@pytest.mark.parametrize(
    "warning",
    [
        "[FAILED] take plate 1 from countertop 1",
        "never take plate 1 from countertop 1",
        "### What failed: a warning\n- take plate 1 from countertop 1",
    ],
)
def test_what_a_warning_covers_is_left_alone(warning: str) -> None:
    game = kitchen()
    played = play("alfworld", game, warning)
    assert (played.best, played.steps, game.did) == (0, [], [])


def test_nothing_is_done_without_a_text_or_beyond_the_limit() -> None:
    game = kitchen()
    assert play("alfworld", game, "").best == 0
    assert game.did == []
    rooms = Rooms("focus on the wire", "never")
    played = play("scienceworld", rooms, "look around\n" * 100)
    assert len(rooms.did) == len(played.steps) == 30


def test_scienceworlds_agent_walks_by_itself_and_opens_doors_on_the_way() -> None:
    game = Rooms("boil water.", "focus on water", closed=("kitchen",))
    text = "1. open door to bathroom\n2. go to bathroom\n3. activate [device]\n4. focus on water"
    assert play("scienceworld", game, text).best == 1
    assert game.did == [
        "go to kitchen",
        "open door to kitchen",
        "go to kitchen",
        "go to bathroom",
        "focus on water",
    ]


def test_scienceworlds_agent_takes_what_the_text_has_in_the_place_of_a_thing() -> None:
    game = Rooms("boil water.", "pour tap water", absent=("lake", "sea"))
    text = "1. focus on lake\n2. pour lake\n3. look\nWhere lake is not there: sea, tap water, ice."
    assert play("scienceworld", game, text).best == 1
    assert game.did == [
        "focus on lake",
        "focus on sea",
        "focus on tap water",
        "pour tap water",
    ]


def test_a_domain_without_a_player_is_refused() -> None:
    with pytest.raises(UsageError, match="webshop"):
        RulesAgent("webshop")


PLACES: dict[str, tuple[str, ...]] = {
    "countertop 1": ("plate 1",),
    "fridge 1": ("mug 1",),
    "microwave 1": (),
    "cabinet 1": (),
}


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


def explored(
    task: str, *, hot: bool = False, memory: str = "", domain: str = "alfworld"
) -> list[str]:
    def reached(house: House) -> bool:
        return house.lies["mug 1"] == "cabinet 1" and (not hot or "mug 1" in house.hot)

    game = Playthrough(OpenHouse(task, PLACES, reached), 12)
    RulesAgent(domain, explores=True).play(game, memory)
    assert game.best == (not hot)
    return [each.action for each in game.steps]


def test_an_explorer_does_in_time_what_the_task_names_and_finds_out_nothing() -> None:
    task, hot = "put a mug in cabinet.", "put a hot mug in cabinet."
    assert explored(task)[-1] == "move mug 1 to cabinet 1"
    actions = explored(hot, hot=True)
    assert len(actions) == 12
    assert not {"look", "inventory"} & {*actions}
    assert actions == explored(hot, hot=True)
    game = Playthrough(House(task, PLACES, lambda _: False), 12)
    RulesAgent("own", explores=True).play(game, "")  # a game that offers nothing
    assert game.steps == []


def test_an_explorer_follows_the_memory_first_where_it_knows_the_commands() -> None:
    task, memory = "put a mug in cabinet.", "1. go to fridge 1\n2. take mug 1 from fridge 1"
    assert explored(task, memory=memory) == [
        "go to fridge 1",
        "take mug 1 from fridge 1",
        "go to cabinet 1",
        "move mug 1 to cabinet 1",
    ]
    assert explored(task, memory=memory, domain="own") == explored(task, domain="own")
