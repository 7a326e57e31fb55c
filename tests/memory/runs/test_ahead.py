"""Questions go out ahead of their turn; only an answer to the right one is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from msgspec import structs

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.errors import BudgetError, ConfigurationError, CredentialsError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.deltamem.collections import COLLECTIONS, Payload
from deltamem_tui.memory.runs.ahead import Ahead, StoppedError
from deltamem_tui.memory.writers.extraction import AskingExtractor, Call, Extraction
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.support import EchoExtractor, episode

SECONDS = 20.0
COST = Usage(1, 0, 10, 4, 0.5)
FIRST, SECOND, THIRD = (episode((1, 0, 0), action=f"act {number}") for number in range(3))


def first_of(take: Callable[[], list[Call]]) -> Call:
    """The one call that another thread is about to be done with."""
    for _ in range(int(SECONDS / 0.01)):
        if calls := take():
            (call,) = calls
            return call
        time.sleep(0.01)
    raise AssertionError("it never came")


def node(text: str) -> Node:
    return born("task", None, "success", Payload(text, f"how {text}"), Origin())


@dataclass
class Model:
    """Says back the prompt; a test decides when, and what goes wrong."""

    name: str = "model"
    usage: Usage = field(default_factory=Usage)
    asked: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    ended: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    trouble: Callable[[str], None] = lambda _prompt: None

    def prompt(self, tree: str, trajectory: Trajectory | None, chain: Sequence[Node]) -> str | None:
        known = " ".join(each.payload["execution_procedure"] for each in chain)
        if trajectory is None:
            return f"{tree}: fuse {known}"
        if trajectory.steps[0].action == "nothing":
            return None
        if trajectory.steps[0].action == "wrong":
            raise ConfigurationError("the prompt is wrong")
        return f"{tree}: {trajectory.steps[0].action} {known}"

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        return self._said(self.prompt(tree, trajectory, chain) or "nothing")

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        return self._said(self.prompt(tree, None, chain) or "")

    def take_unanswered(self) -> list[Call]:
        return []

    def on_payment(self, told: Callable[[Usage], object]) -> Callable[[], None]:
        return lambda: None

    def end_questions(self) -> None:
        self.ended += 1

    def _said(self, prompt: str) -> Extraction:
        self.asked.append(prompt)
        self.arrived.release()
        if prompt in self.held:
            assert self.gate.wait(SECONDS)
        self.trouble(prompt)
        return Extraction(Payload("when", prompt), "said", model="m", usage=COST, attempts=1)


@pytest.fixture
def model() -> Model:
    return Model()


def trusted(model: Model, most: int = 4) -> Ahead:
    """After its first answer."""
    ahead = Ahead(model, most)
    ahead.extract("task", episode((9, 9, 9), action="warm up"), ())
    model.asked.clear()
    assert model.arrived.acquire(timeout=SECONDS)
    return ahead


def said(extraction: Extraction) -> str:
    assert extraction.payload is not None
    return extraction.payload["execution_procedure"]


def test_a_model_is_asked_and_the_rules_are_not() -> None:
    assert isinstance(Model(), AskingExtractor)
    assert not isinstance(EchoExtractor(), AskingExtractor)


def test_an_answer_that_came_ahead_is_used(model: Model) -> None:
    ahead = trusted(model)
    ahead.look(1, "task", FIRST, ())
    ahead.look(1, "task", FIRST, ())
    assert said(ahead.extract("task", FIRST, ())) == "task: act 0 "
    assert model.asked == ["task: act 0 "]


def test_a_chain_that_changed_is_asked_about_anew_each_tree_for_itself(model: Model) -> None:
    ahead = trusted(model)
    ahead.look(1, "task", FIRST, ())
    ahead.look(1, "env", FIRST, ())
    for _ in range(2):
        assert model.arrived.acquire(timeout=SECONDS)
    chain = (node("new"),)
    assert said(ahead.extract("task", FIRST, chain)) == "task: act 0 how new"
    assert said(ahead.extract("env", FIRST, ())) == "env: act 0 "
    assert sorted(model.asked) == ["env: act 0 ", "task: act 0 ", "task: act 0 how new"]


def test_a_mark_on_the_chain_that_no_prompt_shows_changes_nothing(model: Model) -> None:
    ahead = trusted(model)
    chain = (node("old"),)
    ahead.look(1, "task", FIRST, chain)
    marked = (structs.replace(chain[0], consolidated=True, revision=1),)
    assert said(ahead.extract("task", FIRST, marked)) == "task: act 0 how old"
    assert len(model.asked) == 1


def test_nothing_goes_ahead_before_the_first_answer_nor_with_one_at_a_time(model: Model) -> None:
    ahead = Ahead(model, 4)
    ahead.look(1, "task", FIRST, ())
    alone = trusted(model, most=1)
    alone.look(1, "task", FIRST, ())
    assert said(alone.extract("task", SECOND, ())) == "task: act 1 "
    assert model.asked == ["task: act 1 "]


def test_what_nobody_has_begun_is_taken_back_for_nothing(model: Model) -> None:
    ahead = trusted(model, most=2)
    model.held = {"task: act 0 ", "task: act 1 "}
    ahead.look(1, "task", FIRST, ())
    ahead.look(2, "task", SECOND, ())
    for _ in range(2):
        assert model.arrived.acquire(timeout=SECONDS)
    ahead.look(3, "task", THIRD, ())
    ahead.look(3, "task", THIRD, (node("new"),))
    model.gate.set()
    assert said(ahead.extract("task", THIRD, (node("new"),))) == "task: act 2 how new"
    assert "task: act 2 " not in model.asked


def test_no_tree_of_an_episode_is_asked_ahead_for_ever(model: Model) -> None:
    ahead = trusted(model)
    for number in range(6):
        before = len(model.asked)
        ahead.look(1, "task", FIRST, (node(str(number)),))
        if number < 2:
            assert model.arrived.acquire(timeout=SECONDS)
            assert len(model.asked) == before + 1
    assert said(ahead.extract("task", FIRST, (node("5"),))) == "task: act 0 how 5"
    assert len(model.asked) == 3


def test_one_prompt_of_two_episodes_is_sent_ahead_once(model: Model) -> None:
    ahead = trusted(model)
    twin = replace(FIRST, environment="elsewhere")
    ahead.look(1, "task", FIRST, ())
    ahead.look(2, "task", twin, ())
    assert said(ahead.extract("task", FIRST, ())) == "task: act 0 "
    assert len(model.asked) == 1
    ahead.extract("task", twin, ())
    assert len(model.asked) == 2


def test_what_would_not_be_sent_is_neither_sent_ahead_nor_waited_for(model: Model) -> None:
    ahead = trusted(model)
    empty = episode((1, 0, 0), action="nothing")
    ahead.look(1, "task", empty, ())
    assert model.asked == []
    assert said(ahead.extract("task", empty, ())) == "nothing"


def test_what_is_wrong_with_a_question_shows_at_its_turn(model: Model) -> None:
    ahead = trusted(model)
    wrong = episode((1, 0, 0), action="wrong")
    ahead.look(1, "task", wrong, ())
    with pytest.raises(ConfigurationError):
        ahead.extract("task", wrong, ())


def test_money_that_was_set_aside_for_others_may_be_free_at_the_turn(model: Model) -> None:
    ahead = trusted(model)
    left = [BudgetError("too little left")]

    def trouble(_prompt: str) -> None:
        if left:
            raise left.pop()

    model.trouble = trouble
    ahead.look(1, "task", FIRST, ())
    assert said(ahead.extract("task", FIRST, ())) == "task: act 0 "
    assert len(model.asked) == 2


def test_after_a_failure_that_lasts_nothing_goes_ahead(model: Model) -> None:
    ahead = trusted(model)

    def trouble(_prompt: str) -> None:
        raise CredentialsError("no key")

    model.trouble = trouble
    ahead.look(1, "task", FIRST, ())
    with pytest.raises(CredentialsError):
        ahead.extract("task", FIRST, ())
    ahead.look(2, "task", SECOND, ())
    assert model.asked == ["task: act 0 "]


def test_who_waits_can_stop(model: Model) -> None:
    stop = threading.Event()
    ahead = Ahead(model, 1, stop.is_set)
    model.held = {"task: act 0 "}
    stop.set()
    with pytest.raises(StoppedError):
        ahead.extract("task", FIRST, ())
    ahead.close()
    model.gate.set()


def test_a_fusion_is_asked_ahead_like_an_extraction(model: Model) -> None:
    ahead = trusted(model)
    chain = (node("a"), node("b"))
    ahead.look(1, "task", None, chain)
    assert said(ahead.fuse("task", chain)) == "task: fuse how a how b"
    assert len(model.asked) == 1


def test_what_an_episode_left_is_forgotten(model: Model) -> None:
    ahead = trusted(model)
    ahead.look(1, "task", FIRST, ())
    ahead.extract("task", FIRST, ())
    ahead.forget(FIRST.id)
    assert not any(source == FIRST.id for source, *_ in ahead._asked)


def test_what_nobody_will_use_is_told_once_it_is_answered(model: Model) -> None:
    model.held = {"env: act 0 "}
    ahead = trusted(model)
    for tree in COLLECTIONS:
        ahead.look(1, tree, FIRST, ())
        assert model.arrived.acquire(timeout=SECONDS)
    ahead.extract("task", FIRST, (node("new"),))
    assert ahead.take_unused() == []
    ahead.forget(FIRST.id)
    thrown_away = first_of(ahead.take_unused)
    assert (thrown_away.tree, thrown_away.usage) == ("task", COST)
    assert model.ended == 0
    ahead.close(grace=0.01)
    assert model.ended == 1
    assert (ahead.take_unused(), ahead.on_their_way) == ([], 1)
    model.gate.set()
    ahead.close(grace=SECONDS)
    assert [call.tree for call in ahead.take_unused()] == ["env"]
    assert ahead.on_their_way == 0


def test_a_fusion_that_failed_in_one_turn_is_asked_for_anew_in_another(model: Model) -> None:
    ahead = trusted(model)
    chain = (node("a"), node("b"))
    for _ in range(2):
        ahead.fuse("task", chain)
        ahead.forget(FIRST.id)
    assert model.asked == ["task: fuse how a how b"] * 2
