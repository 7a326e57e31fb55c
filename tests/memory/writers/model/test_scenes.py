"""A run draws the scenes that its logs do not have: in order, once, and without a new identity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import Price
from deltamem_tui.memory.deltamem.recall import questions_of
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.scenes import MODEL, PROMPT, SCENE, goal_of, lacks_scene, scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode, episodes, waiting
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.runs.learning import Refusal
from deltamem_tui.memory.views.history import history
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.server import ModelServer, Reply, Request, serving
from tests.llm.support import MODEL as NAME
from tests.memory.support import extract
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated, told_together
from tests.memory.writers.model.learning import (
    bank_with,
    learnt_files,
    lessons_of,
    run_over,
    told,
)

PRICE = Price(1e-6, 2e-6)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server of the test's own, answering sensibly: a run may leave calls behind."""
    with serving() as server:
        server.replies = sensible.reply
        yield server


def of_scenes(server: ModelServer) -> list[Request]:
    """The requests that asked for a scene."""
    return [each for each in server.requests if "instruction" in sensible.Asked(each.prompt).parts]


def purposes(bank: Bank) -> list[str]:
    return [event for event, _ in told(bank) if event not in {"init", "import"}]


def test_the_env_tree_learns_what_it_could_not_ask_before(
    server: ModelServer, tmp_path: Path
) -> None:
    logs = generated(6)
    alike = told_together(logs)
    without = bank_with(tmp_path / "without", alike)
    run_over(without, server)
    assert of_scenes(server) == []
    assert len(without.tree("env")) == 0
    bank = bank_with(tmp_path / "bank", alike)
    server.script()
    server.replies = sensible.reply
    outcomes, run = run_over(bank, server, draw=True)
    assert [each.trajectory for each in lessons_of(outcomes)] == [each.id for each in alike]
    assert run.scenes_drawn == 6
    assert len(bank.tree("env")) > 0
    digest = prompts.digest(prompts.find("alfworld", "environment"))
    for each, log in zip(episodes(bank), logs, strict=True):
        assert each.environment == ""
        assert scene_of(each) == log.environment
        assert (each.metadata[MODEL], each.metadata[PROMPT]) == (NAME, digest)
    assert verify(bank) == []
    # Each extraction shows the scene, and the env tree is asked with it and not with the goal.
    first = next(each for each in server.requests if each not in of_scenes(server))
    assert sensible.Asked(first.prompt).parts["environment"] == logs[0].environment
    node = next(iter(bank.tree("env")))
    assert logs[0].task not in node.payload["activation_condition"]


def test_the_episode_stays_the_one_it_was(server: ModelServer, tmp_path: Path) -> None:
    (log,) = told_together(generated(1))
    bank = bank_with(tmp_path / "bank", [log])
    run_over(bank, server, draw=True)
    kept = episode(bank, log.id)
    assert kept is not None
    assert kept.id == log.id
    facts = {SCENE, MODEL, PROMPT}
    assert facts <= kept.metadata.keys()
    assert structs.replace(kept, metadata={}) == structs.replace(log, metadata={})
    assert {node.origin.trajectory for tree in bank.trees.values() for node in tree} == {log.id}
    assert take_in(bank, [log]).count("duplicate") == 1
    assert purposes(bank) == ["draw", "learn"]


def test_a_scene_of_the_log_is_never_replaced(server: ModelServer, tmp_path: Path) -> None:
    stated, mixed = generated(1)[0], told_together(generated(2))[1]
    bank = bank_with(tmp_path / "bank", [stated, mixed])
    _, run = run_over(bank, server, draw=True)
    assert run.scenes_drawn == len(of_scenes(server)) == 1
    kept = episode(bank, stated.id)
    assert kept == stated
    forged = structs.replace(stated, metadata={SCENE: "a cave"})
    assert scene_of(forged) == stated.environment
    assert not lacks_scene(forged)


def test_that_there_is_none_is_kept_too(server: ModelServer, tmp_path: Path) -> None:
    (log,) = generated(1)
    bank = bank_with(tmp_path / "bank", [structs.replace(log, environment="")])
    server.replies = lambda request: (
        sensible.reply(request) if len(server.requests) == 1 else Reply("no use")
    )
    outcomes, _ = run_over(bank, server, draw=True)
    assert isinstance(outcomes[0], Refusal)
    kept = next(waiting(bank))
    assert kept.metadata[SCENE] == ""
    assert not lacks_scene(kept)
    server.script()
    server.replies = sensible.reply
    (lesson,), run = run_over(bank, server, draw=True)
    assert isinstance(lesson, LearnResult)
    assert lesson.trees["env"].decision == "unasked"
    assert (run.scenes_drawn, len(of_scenes(server))) == (0, 0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cached", [True, False])
def test_side_by_side_is_what_one_after_another_would_be(
    server: ModelServer, tmp_path: Path, cached: bool
) -> None:
    logs = [
        each if number % 3 else told_together([each])[0]
        for number, each in enumerate(generated(24))
    ]
    # The same instruction twice: with a cache, the second one is not paid for.
    last = logs[21]
    logs.append(structs.replace(last, steps=(last.steps[0], *last.steps)))
    files, bills, sent = [], [], []
    for concurrency in (1, 8):
        server.script()
        server.replies = lambda request: sensible.reply(
            request, delay=0.02 if server.most_in_flight >= 3 else 0.1
        )
        if concurrency == 1:
            server.replies = sensible.reply
        bank = bank_with(tmp_path / f"bank{concurrency}", logs)
        cache = ResponseCache(tmp_path / f"cache{concurrency}") if cached else None
        _, run = run_over(bank, server, concurrency, draw=True, cache=cache)
        assert server.most_in_flight <= concurrency
        assert history(bank).usage == run.usage
        files.append(learnt_files(bank))
        bills.append(run.used)
        sent.append(len(of_scenes(server)))
        assert verify(bank) == []
    assert server.most_in_flight >= 3
    assert files[0] == files[1]
    assert bills[0] == bills[1]
    assert sent == [8 if cached else 9] * 2


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_episode_whose_scene_cannot_be_drawn_waits_with_its_reason(
    server: ModelServer, tmp_path: Path, concurrency: int
) -> None:
    logs = told_together(generated(5))

    def replies(request: Request) -> Reply:
        stubborn = logs[2].task == sensible.Asked(request.prompt).parts.get("instruction")
        return Reply("I would rather not.") if stubborn else sensible.reply(request)

    server.replies = replies
    bank = bank_with(tmp_path / "bank", logs)
    outcomes, run = run_over(bank, server, concurrency, draw=True)
    (refusal,) = [each for each in outcomes if isinstance(each, Refusal)]
    assert outcomes.index(refusal) == 2
    (call,) = refusal.calls
    assert (call.purpose, call.attempts) == ("draw", 3)
    (refused,) = history(bank).refused
    assert (refused.trajectory, "no usable answer in 3" in refused.reason) == (logs[2].id, True)
    assert history(bank).usage == run.usage
    server.replies = sensible.reply
    again, _ = run_over(bank, server, concurrency, draw=True)
    assert len(lessons_of(again)) == 1
    assert history(bank).refused == ()


def test_rules_and_thresholds_know_a_drawn_scene_too(server: ModelServer, tmp_path: Path) -> None:
    (log,) = generated(1)
    bank = bank_with(tmp_path / "bank", told_together([log]))
    run_over(bank, server, draw=True)
    (drawn,) = episodes(bank)
    assert questions_of(drawn)["env"] == log.environment
    by_rules = extract(RulesExtractor(), "env", drawn, ())
    assert by_rules == extract(RulesExtractor(), "env", structs.replace(log, task=drawn.task), ())


@pytest.mark.parametrize(
    ("scene", "goal"),
    [
        ("You are in a hall.", "Find a key! It is dark."),
        ("You are in\na hall.", "Find a key! It is dark."),
        ("You are in a hall.\nIt is dark.", "Find a key!"),
        ("a cave", "You are in a hall. Find a key! It is dark."),
        ("", "You are in a hall. Find a key! It is dark."),
        (
            "You are in a hall. Find a key! It is dark.",
            "You are in a hall. Find a key! It is dark.",
        ),
    ],
)
def test_the_goal_is_what_is_left_of_the_task(scene: str, goal: str) -> None:
    task = "You are in  a hall.\nFind a key! It is dark."
    found = goal_of(Trajectory(task, metadata={SCENE: scene}))
    assert " ".join(found.split()) == goal
