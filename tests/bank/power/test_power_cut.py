"""After a power cut, what was acknowledged is there once, and nothing half-written is seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product, zip_longest
from pathlib import Path
from random import Random

import pytest

from deltamem_tui.bank import journal, usage_log
from deltamem_tui.bank.journal import Commit
from tests.bank.power.disk import Disk, Fate
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
    "skills.write_skills: bank.deltamem": AGAIN,
    "transfer.write > new_file: bank.deltamem": AGAIN,
    "transfer.settle: bank.json": OTHERS,
    "table.create > replace: index.npy": DERIVED,
    "table.write_whole > replace: index.npy": DERIVED,
    "table.write_whole > replace: the folder": DERIVED,
    "table.create > replace: the folder": AGAIN,
    "table.create > replace: jsonl": EMPTY,
    "table.create > replace: nodes.jsonl": EMPTY,
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


def every_fate(disk: Disk) -> Iterator[tuple[int, dict[str, bytes]]]:
    """All that power cuts may leave of a few writes, and how many steps were acknowledged."""
    for cut in disk.power_cuts():
        for drawn in product(Fate, repeat=len(cut.pending)):
            yield cut.acknowledged, cut.left(dict(zip(cut.pending, drawn, strict=True)).__getitem__)


def test_a_newline_never_reaches_the_disk_before_its_line(tmp_path: Path) -> None:
    """The sync between a commit's line and its newline, in every case and on every run."""
    (tmp_path / "bank").mkdir()
    history = journal.Journal(tmp_path / "bank" / journal.FILE_NAME)
    first = history.append(None, Commit(sequence=0, event="init", time=journal.now()))
    disk = Disk(tmp_path / "bank")
    with disk.recording():
        history.append(first, Commit(sequence=1, event="learn", time=journal.now()))
    disk.acknowledge()
    left = tmp_path / "left.jsonl"
    for acknowledged, files in every_fate(disk):
        left.write_bytes(files[journal.FILE_NAME])
        assert journal.Journal(left).tail().commit.sequence in range(acknowledged, 2)


def test_a_bill_s_line_is_on_the_disk_when_it_is_acknowledged(tmp_path: Path) -> None:
    (tmp_path / "bank").mkdir()
    usage_log.append(tmp_path / "bank", {"calls": 1})
    disk = Disk(tmp_path / "bank")
    with disk.recording():
        usage_log.append(tmp_path / "bank", {"calls": 2})
    disk.acknowledge()
    for acknowledged, files in every_fate(disk):
        (tmp_path / usage_log.FILE_NAME).write_bytes(files[usage_log.FILE_NAME])
        calls = [each["calls"] for each in usage_log.records(tmp_path)]
        assert (calls == [1, 2]) if acknowledged else (calls[:1] == [1])


def _faults_without(site: str, trials: dict[str, Trial]) -> Iterator[str]:
    """What power cuts break if a sync is left out, a bit of each scenario in turn."""
    yield from chain.from_iterable(
        zip_longest(*[_faults_of(trial, site) for trial in trials.values()], fillvalue="")
    )


def _faults_of(trial: Trial, site: str) -> Iterator[str]:
    for cut in reversed(list(trial.disk.power_cuts(without=site))):
        if cut.owed:
            yield from (trial.fault(cut, fate) for fate in unsynced_fates(cut))
