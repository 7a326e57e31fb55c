"""A dry run says beforehand, within a tenth, what the run will send, and sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import NOTHING, Budget, Price, Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.engine import due
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.runs.questions import estimate_learning
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.llm.server import ModelServer, Reply
from tests.llm.support import client
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with, learnt_files, run_over
from tests.places import DOCS

SAMPLE = DOCS / "sample"
PRICE = Price(1e-6, 2e-6)
TEMPLATE = 7  # how many tokens hosted chat models put around a single message


@pytest.fixture
def server(running: ModelServer) -> Iterator[ModelServer]:
    """The module's server, which answers sensibly and counts as models of its family do."""
    running.script()
    running.replies = sensible.reply
    running.tokens = client(running).count
    running.template = TEMPLATE
    yield running
    running.tokens = ModelServer().tokens
    running.template = ModelServer().template


def sample(domain: str, count: int) -> Iterable[Trajectory]:
    logs = read_logs([SAMPLE / f"{domain}.jsonl.gz"])
    return islice((each for each in logs if isinstance(each, Trajectory)), count)


def estimated(bank: Bank, server: ModelServer, **more: Any) -> Usage:
    extractor = ModelExtractor(client(server, budget=Budget(NOTHING), price=PRICE, **more))
    return estimate_learning(bank, waiting(bank), extractor, embedder_of(bank))


EPISODES: dict[str, Callable[[], Iterable[Trajectory]]] = {
    "alfworld": lambda: sample("alfworld", 12),
    "scienceworld": lambda: sample("scienceworld", 12),
    "generated": lambda: generated(30),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("episodes", EPISODES)
def test_the_estimate_is_within_a_tenth_and_nothing_is_sent(
    server: ModelServer, tmp_path: Path, episodes: str
) -> None:
    bank = bank_with(tmp_path / "bank", EPISODES[episodes]())
    before = learnt_files(bank)
    estimate = estimated(bank, server)
    assert server.requests == []
    assert learnt_files(bank) == before
    _, run = run_over(bank, server, price=PRICE)
    took = run.asking.usage
    assert estimate.prompt_tokens == pytest.approx(took.prompt_tokens, rel=0.1)
    assert estimate.calls == pytest.approx(took.calls, rel=0.1)
    assert estimate.cost == pytest.approx(
        PRICE.of(estimate.prompt_tokens, estimate.completion_tokens)
    )


def test_what_the_cache_has_is_not_counted_and_makes_the_rest_exact(
    server: ModelServer, tmp_path: Path
) -> None:
    episodes = generated(12)
    cache = ResponseCache(tmp_path / "cache")
    _, run = run_over(bank_with(tmp_path / "first", episodes), server, cache=cache)
    again = bank_with(tmp_path / "again", episodes)
    server.script()
    assert estimated(again, server, cache=cache) == Usage(cached=run.asking.usage.calls)
    half = bank_with(tmp_path / "half", [*episodes, *generated(3, seed=8)])
    estimate = estimated(half, server, cache=cache)
    assert estimate.cached == run.asking.usage.calls
    assert estimate.calls >= 6
    assert server.requests == []


@pytest.mark.parametrize("keeps", [True, False])
def test_the_same_question_is_counted_as_often_as_it_is_paid(
    server: ModelServer, tmp_path: Path, keeps: bool
) -> None:
    """Each time where no answer is kept, as with `--no-cache`: here, what a task says of itself."""
    (first,) = [each for each in generated(3) if each.outcome.success]
    tries = [structs.replace(first, steps=(*first.steps, Step("look", at))) for at in "abc"]
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="memp")
    take_in(bank, tries)
    more: Any = {"cache": ResponseCache(tmp_path / "cache")} if keeps else {}
    estimate = estimated(bank, server, **more)
    script, facts = (Reply(text) for text in ('{"script": "Take it there."}', '{"items": []}'))
    server.replies = lambda asked: facts if "`items`" in asked.prompt else script
    _, run = run_over(bank, server, **more)
    assert estimate.calls == run.asking.usage.calls == (4 if keeps else 6)
    assert estimate.prompt_tokens == pytest.approx(run.asking.usage.prompt_tokens, rel=0.1)


def test_fusions_that_are_due_are_made(server: ModelServer, tmp_path: Path) -> None:
    bank = bank_with(tmp_path / "bank", generated(20), TreeParameters(tau_base=0.8, k_cons=None))
    run_over(bank, server)
    low = TreeParameters(tau_base=0.8, k_cons=1)
    change_settings(bank, "test", lambda _: Parameters(low, low))
    server.script()
    server.replies = sensible.reply
    chains = due(bank)
    assert len(chains) > 2
    asking = ModelExtractor(client(server))
    with LearningRun(bank, asking, concurrency=4) as run:
        fusions = list(run.consolidate())
    assert [fusion.root is not None for fusion in fusions] == [True] * len(chains)
    for fusion in fusions:
        assert fusion.root is not None
        assert fusion.root.origin.nodes == tuple(node.id for node in fusion.chain)
        assert bank.tree(fusion.collection).chain(fusion.chain[-1].id)[:-1] == fusion.chain[:-1]
    told = [commit for commit in bank.journal.commits() if commit.event == "consolidate"]
    assert [commit.detail["calls"][0]["purpose"] for commit in told] == ["fuse"] * len(chains)
    assert due(bank) == []
