"""Questions go out before their turn; only the answer to the same question is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import pytest

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BudgetError, DeltaMemError, LanguageModelError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.runs.asking import Asking, Question, StoppedError
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.writers.extraction import Call
from tests.memory.support import new_bank

SECONDS = 20.0
CALL = Usage(1, 0, 100, 20, 0.5)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank")


@dataclass
class Model:
    """Says back the prompt; a test decides when, and what goes wrong."""

    asking: Asking
    asked: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    cancelled: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    trouble: Callable[[str], None] = lambda _prompt: None

    def cancel(self) -> None:
        self.cancelled += 1

    def _answer(self, prompt: str) -> str:
        self.asked.append(prompt)
        self.arrived.release()
        if prompt in self.held:
            assert self.gate.wait(SECONDS)
        self.trouble(prompt)
        return prompt

    def question(self, prompt: str) -> Question:
        return Question(("env_root", prompt), partial(self._answer, prompt))

    def turn(self, prompt: str) -> str:
        """What a question whose turn it is comes to."""
        found: str = self.asking.answer(*self.question(prompt))
        return found

    def turns(self, *turns: str) -> Iterator[str]:
        """Turns that ask a question for each of their letters."""
        return self.asking.turns(turns, lambda turn: map(self.question, turn))

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.arrived.acquire(timeout=SECONDS)


@pytest.fixture
def model_of(bank: Bank) -> Iterator[Callable[..., Model]]:
    """Makes models that were asked once, unless `trusted` is unset."""
    made: list[Model] = []

    def make(
        count: int = 4, stopped: Callable[[], bool] = lambda: False, *, trusted: bool = True
    ) -> Model:
        made.append(Model(Asking(bank, count, stopped)))
        if trusted:
            made[-1].turn("warm up")
            made[-1].wait()
            made[-1].asked.clear()
        return made[-1]

    yield make
    for model in made:
        model.gate.set()
        model.asking.close(model.cancel)


def test_an_answer_that_came_ahead_is_used_and_another_question_is_asked_anew(
    model_of: Callable[..., Model],
) -> None:
    model = model_of()
    turns = model.turns("ab", "d")
    next(turns)
    model.wait(3)
    assert model.turn("a") == "a"
    assert model.turn("a") == "a"  # planned again in the same turn
    next(turns)
    assert model.turn("c") == "c"
    assert sorted(model.asked) == ["a", "b", "c", "d"]


def test_what_a_turn_used_is_asked_again_in_a_later_one(model_of: Callable[..., Model]) -> None:
    """It finds the first one's answer in the response cache."""
    model = model_of(count=2)
    for turn, _ in enumerate(model.turns("a", "a"), 1):
        assert model.turn("a") == "a"
        assert len(model.asked) == turn


@pytest.mark.parametrize(("count", "trusted"), [(1, True), (4, False)])
def test_nothing_goes_ahead_before_the_first_answer_nor_with_one_thread(
    model_of: Callable[..., Model], count: int, trusted: bool
) -> None:
    model = model_of(count, trusted=trusted)
    next(model.turns("a"))
    assert model.turn("b") == "b"
    assert model.asked == ["b"]


def test_a_thread_is_kept_for_the_present_turn(model_of: Callable[..., Model]) -> None:
    model = model_of(count=2)
    model.held = {"a"}
    next(model.turns("ab"))
    model.wait()
    assert model.turn("n") == "n"
    assert model.asked == ["a", "n"]


def test_money_that_was_set_aside_for_others_may_be_free_at_the_turn(
    model_of: Callable[..., Model],
) -> None:
    model = model_of()
    left: list[DeltaMemError] = [BudgetError("too little left")]

    def trouble(_prompt: str) -> None:
        if left:
            raise left.pop()

    model.trouble = trouble
    next(model.turns("a"))
    assert model.turn("a") == "a"
    assert model.asked == ["a", "a"]


def test_after_a_failure_that_lasts_nothing_goes_ahead(model_of: Callable[..., Model]) -> None:
    model = model_of()

    def trouble(_prompt: str) -> None:
        raise LanguageModelError("no key")

    model.trouble, model.held = trouble, {"a", "b", "c"}
    turns = model.turns("a", "b", "c", "d", "e")
    next(turns)
    model.wait(3)
    model.gate.set()
    with pytest.raises(LanguageModelError):
        model.turn("a")
    next(turns)
    assert sorted(model.asked) == ["a", "b", "c"]


def test_the_wait_for_an_answer_can_be_stopped(model_of: Callable[..., Model]) -> None:
    model = model_of(1, lambda: True, trusted=False)
    model.held = {"a"}
    with pytest.raises(StoppedError):
        model.turn("a")


def test_closing_cancels_and_waits_a_little(
    model_of: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = set(threading.enumerate())
    model = model_of(count=3)
    model.held = {"a", "b"}
    next(model.turns("abc"))
    model.wait(2)
    started = time.monotonic()
    monkeypatch.setattr("deltamem_tui.memory.runs.asking.GRACE", 0.05)
    model.asking.close(model.cancel)
    assert time.monotonic() - started < SECONDS / 2
    assert (model.cancelled, model.asking.in_flight) == (1, 2)
    model.gate.set()
    monkeypatch.setattr("deltamem_tui.memory.runs.asking.GRACE", SECONDS)
    model.asking.close(model.cancel)
    assert model.asking.in_flight == 0
    assert sorted(model.asked) == ["a", "b"]
    for thread in set(threading.enumerate()) - others:
        thread.join(SECONDS)
        assert not thread.is_alive()


def payment(usage: Usage = CALL) -> Call:
    return Call("extract", "task", "some/model", "abc", usage, source="0123456789abcdef")


def test_each_payment_is_a_line_and_the_lines_are_the_sum(bank: Bank) -> None:
    asking = Asking(bank, 1, lambda: False)
    for usage in (CALL, Usage(cached=1), Usage(1, 0, 5, 5, None)):
        asking.pay(payment(usage))
    assert asking.usage == history(bank).usage
    assert asking.usage.cost is None
    assert next(iter(usage_log.records(bank.path))) == {
        "purpose": "extract",
        "tree": "task",
        "episode": "0123456789abcdef",
        "model": "some/model",
        "prompt": "abc",
        **asdict(CALL),
    }
