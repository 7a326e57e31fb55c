"""Questions go out before their turn; only the answer to the same question is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, CredentialsError, ExtractionError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.runs.run import Asking, AskingWriter, Question, StoppedError
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, OnPayment
from deltamem_tui.memory.writers.writer import ModelWriter
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.support import EchoExtractor, episode

SECONDS = 20.0
COST = Usage(1, 0, 10, 4, 0.5)


@dataclass
class Model:
    """Says back the prompt; a test decides when, and what goes wrong."""

    name: str = "model"
    usage: Usage = field(default_factory=Usage)
    asked: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    cancelled: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    trouble: Callable[[str], None] = lambda _prompt: None
    opened: list[Asking] = field(default_factory=list)

    def asking(self, count: int = 4, stopped: Callable[[], bool] = lambda: False) -> Asking:
        self.opened.append(Asking(count, stopped))
        return self.opened[-1]

    def prompt(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> str | None:
        tree = purpose.partition("_")[0]
        return None if episode is None else f"{tree} {episode.steps[0].action}"

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        if episode is None:
            raise ExtractionError("there is no chain")
        return self.answer(self.prompt(purpose, episode, notes) or "")

    def paying(self, on_payment: OnPayment) -> Model:
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def answer(self, prompt: str) -> Extraction:
        self.asked.append(prompt)
        self.arrived.release()
        if prompt in self.held:
            assert self.gate.wait(SECONDS)
        self.trouble(prompt)
        return Extraction({"text": prompt}, "", model="m", usage=COST, attempts=1)

    def question(self, prompt: str) -> Question:
        return Question(("env_root", prompt), partial(self.answer, prompt))

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.arrived.acquire(timeout=SECONDS)


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.gate.set()
    for asking in model.opened:
        asking.close(model.cancel)


def taken(asking: Asking, question: Question) -> str:
    """What a question whose turn it is comes to."""
    found: Extraction = asking.answer(question.key, question.ask)
    assert found.payload is not None
    return found.payload["text"]


def trusted(model: Model, count: int = 4, stopped: Callable[[], bool] = lambda: False) -> Asking:
    """After its first answer, in its turn 0."""
    asking = model.asking(count, stopped)
    taken(asking, model.question("warm up"))
    model.asked.clear()
    model.wait()
    return asking


def test_a_model_is_asked_ahead_and_the_rules_are_not() -> None:
    assert isinstance(Model(), ModelWriter)
    assert not isinstance(EchoExtractor(), ModelWriter)


def test_an_answer_that_came_ahead_is_used_and_another_question_is_asked_anew(
    model: Model,
) -> None:
    asking = trusted(model)
    asking.begin([model.question("a"), model.question("b")])
    model.wait(2)
    asking.begin([model.question("a"), model.question("b")])
    assert taken(asking, model.question("a")) == "a"
    assert taken(asking, model.question("a")) == "a"  # planned again in the same turn
    asking.begin([])
    assert taken(asking, model.question("c")) == "c"
    assert sorted(model.asked) == ["a", "b", "c"]
    assert asking.used == COST + COST + COST


def test_one_prompt_of_two_episodes_is_asked_in_each_ones_turn(model: Model) -> None:
    """The second one finds the first one's answer in the response cache."""
    asking = trusted(model)
    for turn in (1, 2):
        asking.begin([model.question("a"), model.question("a")])
        assert taken(asking, model.question("a")) == "a"
        assert len(model.asked) == turn


@pytest.mark.parametrize("count", [1, 4])
def test_nothing_goes_ahead_before_the_first_answer_nor_with_one_thread(
    model: Model, count: int
) -> None:
    asking = model.asking() if count > 1 else trusted(model, 1)
    asking.begin([model.question("a")])
    assert taken(asking, model.question("b")) == "b"
    assert model.asked == ["b"]


def test_what_has_not_begun_is_taken_back_for_nothing(model: Model) -> None:
    asking = trusted(model, count=3)
    model.held = {"a", "b"}
    both = [model.question("a"), model.question("b")]
    asking.begin([*both, model.question("c")])
    model.wait(2)
    asking.begin([*both, model.question("d")])
    model.gate.set()
    assert taken(asking, model.question("d")) == "d"
    assert "c" not in model.asked


def test_a_thread_is_kept_for_the_present_turn(model: Model) -> None:
    asking = trusted(model, count=2)
    model.held = {"a"}
    asking.begin([model.question("a"), model.question("b")])
    model.wait()
    assert taken(asking, model.question("now")) == "now"
    assert model.asked == ["a", "now"]
    model.gate.set()
    assert taken(asking, model.question("b")) == "b"


def test_what_would_not_be_sent_is_not_waited_for(model: Model) -> None:
    asking = AskingWriter(model, trusted(model))
    with pytest.raises(ExtractionError, match="there is no chain"):
        asking.write("task_consolidation", None, ())
    found = asking.write("task_root_success", episode((1, 0, 0), action="look"), ())
    assert found.payload == {"text": "task look"}


def test_money_that_was_set_aside_for_others_may_be_free_at_the_turn(model: Model) -> None:
    asking = trusted(model)
    left = [BudgetError("too little left")]

    def trouble(_prompt: str) -> None:
        if left:
            raise left.pop()

    model.trouble = trouble
    asking.begin([model.question("a")])
    assert taken(asking, model.question("a")) == "a"
    assert model.asked == ["a", "a"]


def test_after_a_failure_that_lasts_nothing_goes_ahead(model: Model) -> None:
    asking = trusted(model)

    def trouble(_prompt: str) -> None:
        raise CredentialsError("no key")

    model.trouble = trouble
    asking.begin([model.question("a")])
    with pytest.raises(CredentialsError):
        taken(asking, model.question("a"))
    asking.begin([model.question("b")])
    assert model.asked == ["a"]


def test_the_wait_for_an_answer_can_be_stopped(model: Model) -> None:
    asking = model.asking(1, lambda: True)
    model.held = {"a"}
    with pytest.raises(StoppedError):
        taken(asking, model.question("a"))
    asking.close(model.cancel)
    model.gate.set()


def test_closing_cancels_waits_a_little_and_begins_nothing_more(model: Model) -> None:
    others = set(threading.enumerate())
    asking = trusted(model, count=3)
    model.held = {"a", "b"}
    asking.begin([model.question(each) for each in "abc"])
    model.wait(2)
    started = time.monotonic()
    asking.close(model.cancel, grace=0.05)
    assert time.monotonic() - started < SECONDS / 2
    assert (model.cancelled, asking.under_way) == (1, 2)
    model.gate.set()
    asking.close(model.cancel, grace=SECONDS)
    assert asking.under_way == 0
    assert sorted(model.asked) == ["a", "b"]
    for thread in set(threading.enumerate()) - others:
        thread.join(SECONDS)
        assert not thread.is_alive()
