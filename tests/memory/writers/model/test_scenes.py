"""A run draws the scenes that its logs do not have: in order, once, and without a new identity."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import CredentialsError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import NoBudget, Price, Usage
from deltamem_tui.memory.deltamem.recall import questions_of
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.scenes import MODEL, PROMPT, SCENE, goal_of, lacks_scene, scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode, episodes, waiting
from deltamem_tui.memory.methods import change_settings
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.runs.estimate import estimate_learning
from deltamem_tui.memory.runs.learning import LearningRun, Refusal
from deltamem_tui.memory.settings import replaced
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.views.history import history
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.llm.server import ModelServer, Reply, Request, serving
from tests.llm.support import MODEL as NAME
from tests.llm.support import client
from tests.memory.support import extract
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated, told_together
from tests.memory.writers.model.learning import (
    bank_with,
    learnt_files,
    lessons_of,
    payments,
    run_over,
    told,
)
from tests.places import DOCS

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


def test_the_bill_has_the_drawing_with_what_was_drawn(server: ModelServer, tmp_path: Path) -> None:
    (log,) = told_together(generated(1))
    bank = bank_with(tmp_path / "bank", [log])
    _, run = run_over(bank, server, draw=True, price=PRICE)
    detail = dict(told(bank))["draw"]
    assert detail["trajectory"] == log.id
    assert detail["scene"] == generated(1)[0].environment
    (call,) = detail["calls"]
    assert (call["purpose"], call["tree"], call["model"]) == ("draw", "env", NAME)
    kept = episode(bank, log.id)
    assert kept is not None
    assert call["prompt"] == kept.metadata[PROMPT]
    paid = payments(bank)[0]
    assert (paid["purpose"], paid["episode"], paid["prompt"]) == ("draw", log.id, call["prompt"])
    assert paid["prompt_tokens"] == len(server.requests[0].prompt.split())
    assert run.usage == run.used == history(bank).usage
    assert run.usage.calls == len(server.requests) == 3


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


def test_a_refused_key_shows_by_one_call_whatever_the_concurrency(
    server: ModelServer, tmp_path: Path
) -> None:
    server.replies = lambda _request: Reply(status=401)
    bank = bank_with(tmp_path / "bank", told_together(generated(9)))
    before = learnt_files(bank), told(bank)
    with pytest.raises(CredentialsError):
        run_over(bank, server, concurrency=8, draw=True)
    assert len(server.requests) == 1
    assert (learnt_files(bank), told(bank)) == before


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


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_that_is_stopped_keeps_what_was_drawn_and_asks_for_nothing_twice(
    server: ModelServer, tmp_path: Path, concurrency: int
) -> None:
    cache = ResponseCache(tmp_path / "cache")
    logs = told_together(generated(8))
    bank = bank_with(tmp_path / "bank", logs)
    run_over(
        bank,
        server,
        concurrency,
        draw=True,
        cache=cache,
        stopped=lambda: len(server.requests) > 7,
    )
    assert 0 < bank.episodes.learnt() < 8
    asked = {request.prompt for request in server.requests}
    assert history(bank).usage.calls == len(server.requests)
    server.script()
    server.replies = sensible.reply
    run_over(bank, server, concurrency, draw=True, cache=cache)
    assert bank.episodes.waiting() == []
    assert not asked & {request.prompt for request in server.requests}
    alone = bank_with(tmp_path / "alone", logs)
    run_over(alone, server, draw=True)
    assert learnt_files(bank) == learnt_files(alone)


def test_a_scene_that_another_run_drew_meanwhile_is_taken(
    server: ModelServer, tmp_path: Path
) -> None:
    logs = told_together(generated(4))
    bank = bank_with(tmp_path / "bank", logs)
    other = Bank.open(bank.path)
    reached, go_on = threading.Event(), threading.Event()

    def replies(request: Request) -> Reply:
        if "instruction" not in sensible.Asked(request.prompt).parts and not reached.is_set():
            reached.set()
            return replace(sensible.reply(request), after=go_on)
        return sensible.reply(request)

    server.replies = replies
    mine = threading.Thread(target=run_over, args=(bank, server), kwargs={"draw": True})
    mine.start()
    assert reached.wait(60.0)
    extractor = ModelExtractor(client(server))
    with LearningRun(other, extractor, draw_scenes=True) as run:
        list(run.learn(list(waiting(other))[1:]))
    go_on.set()
    mine.join(60.0)
    found = Bank.open(bank.path)
    assert found.episodes.waiting() == []
    assert len(of_scenes(server)) == 4
    assert purposes(found).count("draw") == 4
    assert verify(found) == []


def test_a_tree_that_is_switched_off_needs_no_scene(server: ModelServer, tmp_path: Path) -> None:
    bank = bank_with(tmp_path / "bank", told_together(generated(2)))
    change_settings(bank, "test", lambda now: replaced(now, "env.enabled", False))
    _, run = run_over(bank, server, draw=True)
    assert (of_scenes(server), run.scenes_drawn) == ([], 0)


def test_who_says_later_how_it_ended_takes_no_scene_away(
    server: ModelServer, tmp_path: Path
) -> None:
    (log,) = told_together(generated(1))
    judged = log.with_outcome(Outcome(True, None, "judge"))
    bank = bank_with(tmp_path / "bank", [judged])
    server.replies = lambda request: (
        sensible.reply(request) if len(server.requests) == 1 else Reply("no use")
    )
    run_over(bank, server, draw=True)
    (drawn,) = waiting(bank)
    assert take_in(bank, [log]).count("updated") == 1
    (updated,) = waiting(bank)
    assert updated.outcome == log.outcome
    assert updated.metadata == drawn.metadata
    assert scene_of(updated) == generated(1)[0].environment


def test_rules_and_thresholds_know_a_drawn_scene_too(server: ModelServer, tmp_path: Path) -> None:
    (log,) = generated(1)
    bank = bank_with(tmp_path / "bank", told_together([log]))
    run_over(bank, server, draw=True)
    (drawn,) = episodes(bank)
    assert questions_of(drawn)["env"] == log.environment
    by_rules = extract(RulesExtractor(), "env", drawn, ())
    assert by_rules == extract(RulesExtractor(), "env", structs.replace(log, task=drawn.task), ())


def estimated(bank: Bank, server: ModelServer, **more: Any) -> Usage:
    extractor = ModelExtractor(client(server, budget=NoBudget(), price=PRICE, **more))
    return estimate_learning(bank, waiting(bank), extractor, embedder_of(bank), draw_scenes=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["short", "long", "alfworld", "scienceworld"])
def test_a_dry_run_counts_the_drawings_and_comes_near(
    server: ModelServer, tmp_path: Path, kind: str
) -> None:
    server.tokens = client(server).count
    server.template = 7
    if kind in {"short", "long"}:
        logs = told_together(generated(16))
    else:
        sample = read_logs([DOCS / "sample" / f"{kind}.jsonl.gz"])
        logs = told_together(islice((each for each in sample if isinstance(each, Trajectory)), 12))
    if kind == "long":
        notes = "The cabinets are made of oak. " * 12
        logs = [structs.replace(each, task=f"{notes}{each.task}") for each in logs]
    bank = bank_with(tmp_path / "bank", logs)
    before = learnt_files(bank)
    cache = ResponseCache(tmp_path / "cache")
    estimate = estimated(bank, server, cache=cache)
    assert server.requests == []
    assert learnt_files(bank) == before
    _, run = run_over(bank, server, concurrency=4, draw=True, price=PRICE, cache=cache)
    assert estimate.prompt_tokens == pytest.approx(run.used.prompt_tokens, rel=0.15)
    assert estimate.calls == pytest.approx(run.used.calls, rel=0.15)
    again = bank_with(tmp_path / "again", logs)
    answers = run.used.calls + run.used.cached
    assert estimated(again, server, cache=cache) == Usage(cached=answers)
    assert payments(again) == []


def test_an_unkept_episode_learnt_through_a_run_brings_its_scene(
    server: ModelServer, tmp_path: Path
) -> None:
    (log,) = told_together(generated(1))
    bank = bank_with(tmp_path / "bank", [])
    extractor = ModelExtractor(client(server))
    with LearningRun(bank, extractor, draw_scenes=True) as run:
        (lesson,) = run.learn([log])
    assert isinstance(lesson, LearnResult)
    kept = episode(bank, log.id)
    assert isinstance(kept, Trajectory)
    assert scene_of(kept) == generated(1)[0].environment
    assert history(bank).usage == run.usage


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
