"""The agent that asks a model, against a server on the loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import ModelUnavailableError, PromptTooLongError
from deltamem_tui.lab.agents.react import ModelMove, ReActAgent, read_move
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.llm.answers import UnusableAnswer
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.trajectory.model import Step
from tests.lab.house import HouseEnvironment
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer, Reply
from tests.llm.support import KEY, client

__all__ = ["running", "server"]

WAY = ("go to fridge 1", "open fridge 1", "take mug 1 from fridge 1", "go to cabinet 1")
LAST = "move mug 1 to cabinet 1"


def answers(*actions: str) -> list[Reply]:
    return [Reply(f"Thought: so it goes on\nAction: {each}") for each in actions]


def game(limit: int = 30) -> Playthrough:
    house = HouseEnvironment()
    return Playthrough(house.load(house.games("dev")[0]), limit)


def test_a_game_is_played_by_questions_that_hold_all_that_was_seen(server: ModelServer) -> None:
    server.script(*answers(*WAY, LAST))
    played = game()
    agent = ReActAgent(client(server), "alfworld")
    cost = agent.play(played, "<memory>\na mug is in a fridge\n</memory>")
    assert played.best == 1
    assert [step.action for step in played.steps] == [*WAY, LAST]
    assert {step.thought for step in played.steps} == {"so it goes on"}
    assert (cost.calls, cost.cost) == (5, None)
    assert cost.tokens > 0
    first, *_, last = [request.prompt for request in server.requests]
    order = ["one action at a time", "clean fork", "a mug is in a fridge", "put a mug in cabinet."]
    places = [first.index(each) for each in order]
    assert places == sorted(places)
    assert "Action: open fridge 1\nObservation: Done." in last
    assert server.requests[0].body["temperature"] == 0


def test_the_limit_and_a_model_without_actions_end_a_game(server: ModelServer) -> None:
    server.script(*answers("look"))
    played = game(3)
    assert ReActAgent(client(server), "alfworld").play(played, "").calls == 3
    assert len(played.steps) == 3
    server.script(*answers("look"), Reply("I am not sure what to do."))
    played = game()
    assert ReActAgent(client(server), "alfworld").play(played, "").calls == 4
    assert len(played.steps) == 1
    assert "Action:" in server.requests[-1].body["messages"][-1]["content"]


def test_what_was_answered_once_is_not_paid_again_and_the_key_is_nowhere(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script(*answers(*WAY), Reply(status=500))

    def agent() -> ReActAgent:
        asked = client(server, cache=ResponseCache(tmp_path), retries=0)
        return ReActAgent(asked, "alfworld")

    with pytest.raises(ModelUnavailableError):
        agent().play(game(), "")
    server.script(*answers(LAST))
    played = game()
    assert agent().play(played, "").calls == 1  # the other four are kept
    assert (played.best, len(server.requests)) == (1, 1)
    assert agent().play(game(), "").calls == 0
    assert len(server.requests) == 1
    kept = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert len(kept) == 5
    assert not any(KEY in each for each in kept)


def test_the_oldest_observations_make_room(server: ModelServer) -> None:
    server.script(*answers("look"))
    played = game(12)
    asked = client(server, window=2_000, answer_tokens=200)
    long = "and much more " * 500
    played.steps[:] = [Step("look", long), Step("look", "seen last")]
    ReActAgent(asked, "alfworld").play(played, "")
    assert all("much more" not in request.prompt for request in server.requests)
    assert all("seen last" in request.prompt for request in server.requests)
    with pytest.raises(PromptTooLongError, match="memory"):
        ReActAgent(asked, "alfworld").play(game(), "word " * 3_000)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("Thought: hm\nAction: look", ModelMove("look", "hm")),
        (
            "<think>Action: no</think>\nAction: `look`\nObservation: x\nAction: go",
            ModelMove("look", ""),
        ),
        ("**Thought 2:** hm\n\n**Action 2:** look", ModelMove("look", "hm")),
        ("First I look.\n> action: look", ModelMove("look", "First I look.")),
        ("Thought: hm\nAction:\nlook", ModelMove("look", "hm")),
    ],
)
def test_an_action_is_found_however_it_is_written(text: str, move: ModelMove) -> None:
    assert read_move(text) == move


@pytest.mark.parametrize("text", ["", "look", "Action: ``", f"Action: {'look ' * 100}"])
def test_what_is_no_action_is_not_taken(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        read_move(text)
