"""`extract` and `consolidate` through a model: what is asked, paid, told, stopped and kept."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.memory.statistics import history
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import to_line
from tests.cli.support import Program, state_of
from tests.llm.server import ModelServer, Reply, Request
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.support import verdict
from tests.warm import begin, warm_programs

KEY = "sk-test-0123456789abcdef"
MODEL = "openai/loopback-model"
PRICED = "openai/gpt-4o-mini"
SECONDS = 60.0


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.script()
    running.replies = sensible.reply
    return running


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a `deltamem` is that a signal may end; litellm, which takes seconds, is loaded."""
    folder = tmp_path_factory.mktemp("warm")
    with warm_programs(folder, dict(os.environ), ["litellm"]) as programs:
        yield programs


@pytest.fixture
def house(empty: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program with a bank in which eight episodes wait, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty.folder / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("MODEL", "PROMPTS"):
        monkeypatch.delenv(f"DELTAMEM_{name}", raising=False)
    log = empty.folder / "log.jsonl"
    with log.open("wb") as stream:
        stream.writelines(map(to_line, generated(8)))
    assert empty("init", "kitchen", "--embedder", "hashing", "--domain", "alfworld").code == 0
    assert empty("import", "kitchen", str(log)).code == 0
    return empty


def by_model(server: ModelServer, *more: str) -> tuple[str, ...]:
    return ("extract", "kitchen", "--model", MODEL, "--api-base", server.base, *more)


def test_a_model_writes_the_nodes_and_the_bill_is_shown(
    house: Program, server: ModelServer
) -> None:
    answer = house.json(*by_model(server))
    assert answer.code == 0
    data = answer.data
    assert (data["learned"], data["waiting"]) == (8, 0)
    assert data["usage"]["calls"] == len(server.requests)
    assert data["usage"]["cost"] is None
    nodes = [node for tree in Bank.open(house.bank).trees.values() for node in tree]
    assert {node.origin.model for node in nodes} == {MODEL}
    assert {node.origin.extractor for node in nodes} == {"model"}
    info = house.json("info", "kitchen").data
    assert info["usage"] == data["usage"]
    assert info["refused"] == []
    assert "cost\tunknown\n" in house("info", "kitchen").out


def test_a_known_price_is_summed_up_and_a_limit_kept(house: Program, server: ModelServer) -> None:
    call = ("extract", "kitchen", "--model", PRICED, "--api-base", server.base)
    answer = house(*call, "--limit", "2")
    assert "cost\t$0.00" in answer.out
    stopped = house.json(*call, "--max-cost", "0.0000001")
    assert stopped.code == 1
    assert "could cost" in stopped.document["errors"][0]["message"]
    assert house.json("info", "kitchen").data["waiting"] == 6


def test_another_model_learns_what_the_first_could_not(house: Program, server: ModelServer) -> None:
    server.replies = lambda _: Reply("What?")
    assert house(*by_model(server, "--limit", "1")).code == 1
    server.replies = sensible.reply
    call = by_model(server, "--limit", "1", "--model", PRICED)
    assert house.json(*call).data["learned"] == 1


def test_a_dry_run_sends_and_writes_nothing(house: Program, server: ModelServer) -> None:
    before = state_of(house.bank)
    answer = house(*by_model(server, "--dry-run"))
    assert answer.code == 0
    assert "would learn\t8\n" in answer.out
    assert "cost\tunknown\n" in answer.out
    assert "an estimate" in answer.err
    data = house.json(*by_model(server, "--dry-run", "--limit", "3")).data
    assert (data["would_learn"], data["learned"]) == (3, 0)
    assert data["usage"]["calls"] == 6
    stated = by_model(server, "--dry-run", "--price", "2/0", "--window", "6000")
    usage = house.json(*stated).data["usage"]
    assert usage["cost"] == pytest.approx(usage["prompt_tokens"] * 2e-6)
    assert server.requests == []
    assert state_of(house.bank) == before


def unsaid(house: Program) -> str:
    """A log of episodes whose outcome nobody states."""
    log = house.folder / "unsaid.jsonl"
    episodes = [each.with_outcome(Outcome()) for each in generated(8, seed=7)]
    log.write_bytes(b"".join(map(to_line, episodes)))
    return str(log)


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (("--model", MODEL, "--extractor", "rules"), 2, "options of a model do not go with"),
        (("--extractor", "rules", "--max-cost", "1"), 2, "options of a model do not go with"),
        ((), 2, "no model was named"),
        (("--model", "nonsense"), 1, "no provider has a model called 'nonsense'"),
        (("--model", "anthropic/claude-x"), 1, "ANTHROPIC_API_KEY"),
        (("--model", MODEL, "--api-base", "localhost"), 2, "begins with http"),
        (("--model", MODEL, "--max-cost", "1"), 1, "or --price; 0/0 if it is free"),
        (("--model", MODEL, "--price", "cheap"), 2, "price must be IN/OUT"),
        (
            ("--model", MODEL, "--window", "9", "--answer-tokens", "9"),
            2,
            "answers of 9 tokens fill a window of 9",
        ),
        (("--model", MODEL, "--prompts", "nowhere"), 2, "no folder of prompts"),
        (("--model", MODEL, "--admit", "judge"), 2, "admission must be none, all"),
    ],
)
def test_what_is_wrong_with_the_call_is_told_before_any_episode_is_touched(
    house: Program, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    before = state_of(house.bank)
    answer = house("extract", "kitchen", *call)
    assert answer.code == code
    assert said in answer.error
    assert state_of(house.bank) == before


def test_what_failed_for_good_is_named_in_info_until_it_works(
    house: Program, server: ModelServer
) -> None:
    stubborn = generated(8)[3]

    def replies(request: Request) -> Reply:
        steps = sensible.Asked(request.prompt).parts.get("steps", "")
        if stubborn.steps[-1].action in steps:
            return Reply("I would rather not.")
        return sensible.reply(request)

    server.replies = replies
    answer = house.json(*by_model(server, "--concurrency", "4"))
    assert answer.code == 3
    (error,) = answer.document["errors"]
    assert error["source"] == stubborn.id
    (refused,) = house.json("info", "kitchen").data["refused"]
    assert refused["trajectory"] == stubborn.id
    assert "no usable answer in 3 attempts" in refused["reason"]
    assert stubborn.id in house("info", "kitchen").out
    server.replies = sensible.reply
    assert house.json(*by_model(server, "--no-cache")).data["learned"] == 1
    assert house.json("info", "kitchen").data["refused"] == []


def test_a_key_shows_nowhere(house: Program, server: ModelServer) -> None:
    echo = Reply(status=401, error=(f"Incorrect API key provided: {KEY}", None))
    server.replies = lambda _request: echo
    refused = house(*by_model(server, "--debug"))
    assert refused.code == 1
    assert KEY not in refused.out + refused.err
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    server.replies = lambda request: Reply(
        json.dumps({**sensible.answer(sensible.Asked(request.prompt))})
    )
    told = house(*by_model(server, "--debug", "--concurrency", "2"))
    assert told.code == 0
    assert KEY not in told.out + told.err
    kept = [path for path in house.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.parent.parent.name == "answers" for path in kept)
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("presses", "then", "sent"),
    [
        (1, "answers late", signal.SIGINT),
        (3, "hangs", signal.SIGINT),
        (1, "answers late", signal.SIGTERM),
    ],
)
def test_ctrl_c_ends_a_run_with_what_was_learnt_and_paid(
    house: Program,
    server: ModelServer,
    programs: Path,
    presses: int,
    then: str,
    sent: signal.Signals,
) -> None:
    """The first one waits a little for the calls that are on their way, the next ones do not.

    A system that asks the program to end does no less.
    """
    reached, pressed = threading.Event(), threading.Event()

    def replies(request: Request) -> Reply:
        if len(server.requests) < 6:
            return sensible.reply(request)
        reached.set()
        if then == "hangs":
            return Reply(manner="hang")
        return replace(sensible.reply(request), after=pressed)

    server.replies = replies
    environment = {**os.environ, "XDG_CACHE_HOME": str(house.folder / "cache")}
    call = by_model(server, "--concurrency", "4", "--json")
    with (house.folder / "said").open("w+") as said:
        program = begin(programs, call, house.folder, environment, said)
        assert reached.wait(SECONDS)
        for _ in range(presses):
            with suppress(ProcessLookupError):  # the second may have ended it
                os.kill(program.number, sent)
            pressed.wait(0.1)  # two that come at once are one to a process
        threading.Timer(0.5, pressed.set).start()
        assert program.end() == 130
        said.seek(0)
        document = json.load(said)  # and nothing else, on either stream
    assert document["errors"][-1]["message"] == "interrupted"
    data = document["data"]
    bank = Bank.open(house.bank)
    assert data["learned"] == bank.episodes.learnt() > 0
    assert verify(bank) == []
    paid = server.requests[:5] if then == "hangs" else list(server.requests)
    assert data["usage"]["calls"] == history(bank).usage.calls == len(paid)
    assert data["on_their_way"] == len(server.requests) - len(paid)
    answered = {request.prompt for request in paid}
    server.script()
    server.replies = sensible.reply
    assert house.json(*by_model(server)).data["waiting"] == 0
    assert not answered & {request.prompt for request in server.requests}


@pytest.mark.parametrize("command", ["extract", "judge"])
def test_what_a_killed_run_had_paid_is_on_the_bill_at_once(
    house: Program, server: ModelServer, programs: Path, command: str
) -> None:
    """Killed between an answer and its commit: the answer is used, and its cost is not lost."""
    if command == "judge":
        assert house("import", "kitchen", unsaid(house)).code == 0
    reached = threading.Event()

    def usual(request: Request) -> Reply:
        return Reply(verdict("yes", "So it is.")) if command == "judge" else sensible.reply(request)

    def replies(request: Request) -> Reply:
        if len(server.requests) < 4:
            return usual(request)
        reached.set()
        return Reply(manner="hang")

    server.replies = replies
    call = (command, *by_model(server)[1:])
    environment = {**os.environ, "XDG_CACHE_HOME": str(house.folder / "cache")}
    with Path(os.devnull).open("w") as unread:
        program = begin(programs, [*call, "--concurrency", "2"], house.folder, environment, unread)
    assert reached.wait(SECONDS)
    while ResponseCache().size()[0] < 3:
        os.kill(program.number, 0)
    os.kill(program.number, signal.SIGKILL)
    assert program.end() == -signal.SIGKILL
    assert house.json("info", "kitchen").data["usage"]["calls"] == 3
    first = [request.prompt for request in server.requests[:3]]
    tokens = sum(request.words for request in server.requests[:3])
    server.script()
    server.replies = usual
    answer = house.json(*call)
    assert answer.code == 0
    assert not set(first) & {request.prompt for request in server.requests}
    tokens += sum(request.words for request in server.requests)
    data = house.json("info", "kitchen").data
    assert data["usage"]["calls"] == 3 + len(server.requests)
    assert data["usage"]["prompt_tokens"] == tokens
    assert data["untold"]["calls"] == 0
