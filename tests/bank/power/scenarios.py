"""What is done to banks, to see what a power cut makes of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import ledger, usage_log
from deltamem_tui.bank import manifest as manifests
from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.merge import MergePlan, merge_into, merge_to
from deltamem_tui.bank.transfer import copy_bank, install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.embedding.protocol import EmbedderCard, fingerprint
from deltamem_tui.memory.settings import to_record
from deltamem_tui.memory.transfer.skills import skill_texts, write_skills
from deltamem_tui.memory.vectors.reembed import reembed
from tests.bank.power.trial import Scenario, Step
from tests.bank.support import (
    DIMENSIONS,
    change_domain,
    contents,
    learn_one,
    manifest,
    mark_first,
    vector,
)
from tests.memory.support import parameters


@dataclass
class Embedder:
    """A model that can be interrupted."""

    card: EmbedderCard
    calls_left: int = -1

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.calls_left:
            raise KeyboardInterrupt
        self.calls_left -= 1
        return np.stack([_vector_of(text) for text in texts])

    embed_queries = embed_passages


def _vector_of(text: str) -> NDArray[np.float32]:
    return vector(int(hashlib.sha256(text.encode()).hexdigest()[:8], 16))


def embedder(calls_left: int = -1) -> Embedder:
    card = EmbedderCard("other", DIMENSIONS, fingerprint=fingerprint(_vector_of("probe")))
    return Embedder(card, calls_left)


def grown(path: Path, *numbers: int) -> Bank:
    """A bank that has learnt something."""
    bank = Bank.create(path, replace(manifest(), settings=to_record(parameters())))
    for number in numbers or (0, 1):
        learn_one(bank, number, shown=True)
    return bank


def look(path: Path) -> Any:
    """All that a reader finds in a bank, and what it says it is; None if there is none."""
    if not path.exists():
        return None
    bank = Bank.open(path)
    said = bank.manifest
    commits = bank.journal.newest_first() if bank.journal.exists else ()
    # The others say what is going to be done.
    last = next((each.event for each in commits if each.event not in ("adopt", "freeze")), "")
    shares = ledger.shares(bank.snapshots, said.counts_as)
    counted = ledger.but(shares, said.counts_as)
    entries = (counted, ledger.CREDIT.entries(bank.snapshots))
    others = [each[name].tolist() for each in entries for name in ("node", "third", "values")]
    unlike = replace(said, origin="", digests={}, format=0)  # drawn anew, or of a clock
    return contents(bank), last, others, unlike


def learn_more(path: Path) -> None:
    """What the next writer does: make good what is left to do, and learn one episode more."""
    bank = Bank.open(path)
    with bank.writing():
        pass
    assert verify(bank) == []
    learn_one(bank, 20, shown=True)
    assert verify(Bank.open(path)) == []


def in_place(
    *steps: Callable[[Bank], object],
    prepare: Callable[[Path], object] = grown,
    go_on: Callable[[Path], object] = learn_more,
    whole: bool = True,
) -> Scenario:
    """What is done to a bank through one handle."""

    def steps_of(root: Path) -> list[Step]:
        bank = Bank.open(root / "bank")
        return [partial(step, bank) for step in steps]

    return Scenario(
        lambda root: prepare(root / "bank"),
        steps_of,
        lambda root: look(root / "bank"),
        lambda root: go_on(root / "bank"),
        whole,
    )


def appearing(
    make: Callable[[Path], object],
    prepare: Callable[[Path], object] = lambda _: None,
    thaw: bool = False,
) -> Scenario:
    """A bank that appears in a folder that was not there; what is prepared lies beside it."""
    at = Path("banks", "bank")

    def go_on(root: Path) -> None:
        if not (root / at).exists():
            for left in (root / at.parent).glob(".*.draft"):
                os.utime(left, (0, 0))  # a day later
            make(root)
            assert [each.name for each in (root / at.parent).iterdir()] == [at.name]
        if thaw:
            assert verify(Bank.open(root / at)) == []
            Bank.open(root / at).unfreeze()
        learn_more(root / at)

    return Scenario(prepare, lambda root: [lambda: make(root)], lambda root: look(root / at), go_on)


def learn(number: int) -> Callable[[Bank], object]:
    return lambda bank: learn_one(bank, number, shown=True)


def shipped(path: Path) -> None:
    """A bank as it may be shipped: no journal, no episodes, nothing derived."""
    grown(path)
    for each in {path / "journal.jsonl", *path.glob("*.index.npy"), *path.glob("trajectories.*")}:
        each.unlink()


def of_format_1(path: Path) -> None:
    """A bank as the first version wrote it: the next commit upgrades it."""
    manifests.write(path, replace(grown(path).manifest, format=1))


def look_at_format(root: Path) -> Any:
    return look(root / "bank"), Bank.open(root / "bank").manifest.format


def unsettled(path: Path) -> None:
    """A bank whose last commit was not done in place when the power failed."""
    bank = grown(path)
    kept = {each: each.read_bytes() for each in path.glob("*.npy")}
    learn_one(bank, 2, shown=True)
    for each, before in kept.items():
        each.write_bytes(before + each.read_bytes()[len(before) :])


def frozen(path: Path) -> None:
    grown(path).freeze()


def shipped_frozen(path: Path) -> None:
    shipped(path)
    Bank.open(path).freeze()


def freeze_again(path: Path) -> None:
    bank = Bank.open(path)
    if bank.frozen:
        assert verify(bank) == []
        bank.unfreeze()
    learn_more(path)
    bank.refresh()
    bank.freeze()
    assert verify(bank) == []


def thaw(path: Path) -> None:
    Bank.open(path).unfreeze()
    learn_more(path)


CUT_OFF = {"calls": 5}


def pay_after_one_cut_off(path: Path) -> None:
    """Write a line where another process was killed before it had synced anything."""
    files.write_at(path / usage_log.FILE_NAME, 0, orjson.dumps(CUT_OFF))
    usage_log.append(path, {"calls": 1})


def pay_more(root: Path) -> None:
    usage_log.append(root / "bank", {"calls": 9})
    learn_more(root / "bank")


def packed(root: Path) -> None:
    package.pack(grown(root / "one"), with_episodes=True, with_journal=True).write(root / "a")


def old_and_new(root: Path) -> None:
    packed(root)
    grown(root / "bank", 7, 8)


def installed(root: Path) -> None:
    install(receive(root / "a"), root / "banks" / "bank")


def replaced(root: Path) -> None:
    install(receive(root / "a"), root / "bank", replacing=True, frozen=False)


def two_banks(root: Path) -> None:
    grown(root / "bank", 0, 1, 3)
    grown(root / "two", 0, 1, 2)


def merged(root: Path) -> None:
    merge_to(
        root / "banks" / "bank", MergePlan([Bank.open(root / "bank"), Bank.open(root / "two")])
    )


def merge_two(bank: Bank) -> None:
    merge_into(bank, lambda: MergePlan([bank, Bank.open(bank.path.parent / "two")]))


def merge_more(root: Path) -> None:
    learn_more(root / "bank")
    merge_two(Bank.open(root / "bank"))


def skills(root: Path) -> None:
    if not (root / "out" / "skills").exists():
        write_skills(Bank.open(root / "bank"), root / "out" / "skills")


def look_at_skills(root: Path) -> Any:
    folder = root / "out" / "skills"
    if not folder.exists():
        return None
    texts = skill_texts(Bank.open(folder / "bank.deltamem"))
    assert all((folder / path).read_text() == text for path, text in texts.items())
    written = [path for path in folder.rglob("*") if path.is_file() and ".draft" not in str(path)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in written}


def look_at_archive(root: Path) -> Any:
    if not (root / "out").exists() or not (root / "out" / "a.deltamem").exists():
        return None
    assert verify(Bank.open(root / "out" / "a.deltamem")) == []
    return look(root / "out" / "a.deltamem")


def export(root: Path) -> None:
    package.pack(Bank.open(root / "bank")).write(root / "out" / "a.deltamem", replace=True)


SCENARIOS = {
    "commits": in_place(learn(2), mark_first, learn(4), learn(5)),
    "after a power cut": in_place(learn(4), prepare=unsettled),
    "manifest": in_place(learn(2), lambda bank: change_domain(bank, "kitchens"), learn(4)),
    "adopt": in_place(learn(4), prepare=shipped),
    "upgrade": replace(in_place(learn(4), mark_first, prepare=of_format_1), look=look_at_format),
    "upgrade by compaction": replace(
        in_place(compact, learn(4), prepare=of_format_1), look=look_at_format
    ),
    "create": appearing(lambda root: Bank.create(root / "banks" / "bank", manifest())),
    "first": in_place(learn(0), learn(1), prepare=lambda path: Bank.create(path, manifest())),
    "freeze": in_place(learn(2), Bank.freeze, go_on=freeze_again, whole=False),
    "unfreeze": in_place(Bank.unfreeze, learn(2), prepare=frozen, go_on=thaw, whole=False),
    "unfreeze what was shipped": in_place(
        Bank.unfreeze, prepare=shipped_frozen, go_on=thaw, whole=False
    ),
    "compact": in_place(
        mark_first, compact, learn(2), compact, learn(4), prepare=lambda path: grown(path, 0)
    ),
    "reembed": in_place(learn(2), lambda bank: reembed(bank, embedder()), learn(4)),
    "payments": Scenario(
        lambda root: grown(root / "bank"),
        lambda root: [partial(usage_log.append, root / "bank", {"calls": n}) for n in range(3)],
        lambda root: list(usage_log.records(root / "bank")),
        pay_more,
    ),
    "payment after one that was cut off": Scenario(
        lambda root: grown(root / "bank"),
        lambda root: [partial(pay_after_one_cut_off, root / "bank")],
        lambda root: [each for each in usage_log.records(root / "bank") if each != CUT_OFF],
        pay_more,
    ),
    "copy": appearing(
        lambda root: copy_bank(Bank.open(root / "one"), root / "banks" / "bank", history=True),
        lambda root: grown(root / "one", 0),
    ),
    "copy without history": appearing(
        lambda root: copy_bank(Bank.open(root / "one"), root / "banks" / "bank"),
        lambda root: grown(root / "one"),
    ),
    "install": appearing(installed, packed, thaw=True),
    "install over": Scenario(
        old_and_new,
        lambda root: [lambda: replaced(root)],
        lambda root: look(root / "bank"),
        lambda root: learn_more(root / "bank"),
    ),
    "merge into": Scenario(
        two_banks,
        lambda root: [lambda: merge_two(Bank.open(root / "bank"))],
        lambda root: look(root / "bank"),
        merge_more,
    ),
    "merge to": appearing(merged, two_banks),
    "export": Scenario(
        lambda root: grown(root / "bank"),
        lambda root: [
            lambda: export(root),
            lambda: learn_one(Bank.open(root / "bank"), 5),
            lambda: export(root),
        ],
        look_at_archive,
        export,
    ),
    "skills": Scenario(
        lambda root: grown(root / "bank"),
        lambda root: [lambda: skills(root)],
        look_at_skills,
        skills,
    ),
}
