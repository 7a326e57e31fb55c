"""After a power cut, what was acknowledged is there once, and nothing half-written is seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from random import Random

import pytest

from deltamem_tui.bank.commits import journal
from tests.bank.power.scenarios import SCENARIOS
from tests.bank.power.trial import Trial, fates, unsynced_fates
from tests.effort import draw, in_turn, thorough

AGAIN = "it is synced once more before anybody sees it; who writes the file does not know that"
DERIVED = "what is lost of it is made again"
EMPTY = "there is nothing in the file yet; `files.replace` makes no exception of that"
OTHERS = "all that lies there is synced, as another program may have put it there"

NEEDLESS = {
    "bank.freeze: counts.npy": OTHERS,
    "bank.freeze: journal.jsonl": OTHERS,
    "bank.freeze: jsonl": OTHERS,
    "bank.freeze: nodes.jsonl": OTHERS,
    "bank.freeze: states.npy": OTHERS,
    "batch.write_unseen: embeddings.npy": AGAIN,
    "batch.write_unseen: index.npy": AGAIN,
    "copying.copy_into: index.npy": DERIVED,
    "installing._sync: bank.json": OTHERS,
    "npy_file.create > replace: index.npy": DERIVED,
    "npy_file.create > replace: reembed.npy": DERIVED,
    "npy_file.write_whole > replace: index.npy": DERIVED,
    "npy_file.write_whole > replace: the folder": DERIVED,
    "table.create > replace: jsonl": EMPTY,
    "table.create > replace: nodes.jsonl": EMPTY,
    "table.create > replace: the folder": AGAIN,
}
"""The syncs that no scenario needs, and why they stay."""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Trial]]:
    """All scenarios, done once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "now", lambda: "2026-01-01T00:00:00Z")
        patch.setattr("deltamem_tui.memory.vectors.reembed._BATCH", 1)
        yield {
            name: Trial(scenario, tmp_path_factory.mktemp("trial"))
            for name, scenario in SCENARIOS.items()
        }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    trials: dict[str, Trial], name: str
) -> None:
    trial, seed = trials[name], draw().randrange(10**6)
    cuts = list(trial.disk.power_cuts())
    for number in in_turn(len(cuts), apart=8):
        for fate in fates(cuts[number - 1], Random(seed), drawn=30 if thorough() else 2):
            assert trial.fault(cuts[number - 1], fate) == "", f"before sync {number}, seed {seed}"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kill_or_a_full_disk_takes_nothing_that_was_acknowledged(
    trials: dict[str, Trial], name: str
) -> None:
    trial = trials[name]
    effects = trial.effects()
    for last in in_turn(effects, apart=25):
        assert trial.fault_if_killed(last) == "", f"before effect {last}"
    for last in in_turn(effects, apart=25):
        assert trial.fault_if_full(last) == "", f"at effect {last}"


@pytest.mark.thorough
def test_without_any_one_sync_a_power_cut_breaks_a_promise(trials: dict[str, Trial]) -> None:
    sites = sorted(set(chain.from_iterable(each.disk.sites for each in trials.values())))
    assert set(NEEDLESS) <= set(sites)
    tried = sites if thorough() else [site for site in sites if site not in NEEDLESS]
    missed = [site for site in tried if not any(_faults_without(site, trials))]
    assert missed == [site for site in tried if site in NEEDLESS]


def _faults_without(site: str, trials: dict[str, Trial]) -> Iterator[str]:
    """What power cuts break if a sync is left out, a bit of each scenario in turn."""
    yield from chain.from_iterable(
        zip_longest(*[_faults_of(trial, site) for trial in trials.values()], fillvalue="")
    )


def _faults_of(trial: Trial, site: str) -> Iterator[str]:
    for cut in reversed(list(trial.disk.power_cuts(without=site))):
        if cut.owed:
            yield from (trial.fault(cut, fate) for fate in unsynced_fates(cut))
