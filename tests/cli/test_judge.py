"""`episode judge`: only what nobody said, one commit each; `extract` stays wary of it."""

from __future__ import annotations

import signal

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.runs.learning import in_flight_notes
from deltamem_tui.trajectory.model import Outcome
from tests.cli.support import RECORDS, Program, heat
from tests.llm.server import ModelServer, Reply, Request
from tests.memory.writers.model.support import verdict

MODEL = "openai/gpt-4o-mini"
MORE = [*RECORDS, heat("pear", success=None), heat("fig", success=None)]


@pytest.fixture
def server(running: ModelServer, program: Program, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """A model; and in `kitchen`, three episodes of which nobody said how they ended."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert program("import", "kitchen", program.log(*MORE)).code == 0
    running.script()
    return running


def call(server: ModelServer, *more: str) -> tuple[str, ...]:
    return ("judge", "kitchen", "--model", MODEL, "--api-base", server.base, *more)


def unsaid(program: Program) -> list[str]:
    return [each.task for each in episodes(Bank.open(program.bank)) if not each.outcome.known]


def test_what_nobody_said_is_judged_and_all_else_stays(
    program: Program, server: ModelServer
) -> None:
    before = [each.outcome for each in episodes(Bank.open(program.bank))]
    server.answer(
        verdict("yes", "Step 4 shows it."),
        verdict("no", "It broke off."),
        verdict("yes", "Step 4 shows it."),
    )
    data = program.json(*call(server)).data
    assert (data["judged"], data["successes"], data["failures"]) == (3, 2, 1)
    assert data["without_outcome"] == 0
    assert [each["reason"] for each in data["judgements"]] == [
        *("Step 4 shows it.", "It broke off.", "Step 4 shows it."),
    ]
    usage = data["usage"]
    assert (usage["calls"], usage["cached"]) == (3, 0)
    assert usage["prompt_tokens"] > 0
    assert usage["cost"] > 0
    after = [each.outcome for each in episodes(Bank.open(program.bank))]
    assert after[:3] == before[:3]
    assert after[4] == Outcome(False, None, "judge", "It broke off.")
    server.script()
    again = program(*call(server))
    assert "every episode has an outcome" in again.err
    assert server.requests == []


def test_a_bad_answer_is_that_episodes_alone(program: Program, server: ModelServer) -> None:
    server.replies = lambda request: Reply(
        "Perhaps" if "some pear" in request.prompt else verdict("no", "No")
    )
    answer = program.json(*call(server, "--concurrency", "3"))
    assert answer.code == 3
    assert answer.data["judged"] == 2
    (error,) = answer.document["errors"]
    assert "gave no usable answer in 3 attempts" in error["message"]
    (task,) = unsaid(program)
    assert "pear" in task


def test_a_call_that_is_left_behind_is_told(
    program: Program, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deltamem_tui.memory.runs.asking.GRACE", 0.05)

    def replies(_request: Request) -> Reply:
        if len(server.requests) == 1:
            return Reply(verdict("yes", "It is done."))
        signal.raise_signal(signal.SIGINT)
        return Reply(manner="hang")

    server.replies = replies
    before = signal.getsignal(signal.SIGINT)
    try:
        answer = program.json(*call(server))
    finally:
        signal.signal(signal.SIGINT, before)
    assert answer.code == 130
    assert (answer.data["judged"], answer.data["on_their_way"]) == (1, 1)
    (note,) = in_flight_notes(1)
    assert note.text.startswith("1 call was still in flight")
