"""Banks that an earlier version wrote: all that they hold is read, and what is built on them stays.

`format1` holds banks as that version left them, and in `golden.json` what it said of them.
Neither is ever made anew: a difference is a break with the users' banks.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.places import DOCS
from tests.program import deltamem, own_folders

FORMAT1 = Path(__file__).with_name("format1")
GOLDEN = json.loads((FORMAT1 / "golden.json").read_text())

ARCHIVE = "frozen.deltamem"
WRITABLE = ("living", "merged", "old", "paid", "killed", "compacted", "left", "right")
BANKS = (*WRITABLE, "frozen", ARCHIVE)
TREES = ("task", "env")
TEXTS = ("activation_condition", "execution_procedure", "termination_condition")
FACTS = (
    *("id", "tree", "parent", "kind", "label", "depth", "consolidated", "revision", "origin"),
    *("hits", "recalls", "successes"),
)
QUESTIONS = (
    ("Your task is to: clean some mug and put it in coffeemachine.", "You see a sinkbasin 1."),
    ("Your task is to boil water.", "This room is called the kitchen. In it, you see: a stove."),
    ("look at the cd under the desklamp", "You are in a room. You see a bed 1 and a desk 1."),
)


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the banks, with all fixtures in it. No test writes to these."""
    with own_folders(tmp_path_factory.mktemp("format1")) as banks:
        for name in BANKS:
            copied(name, banks)
        yield banks


def copied(name: str, folder: Path) -> Path:
    """A copy of a fixture, to be written to."""
    source, target = FORMAT1 / name, folder / name
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    return target


def contents(bank: Path) -> dict[str, bytes]:
    """Every file of a bank but its lock; or the one that an archive is."""
    if bank.is_file():
        return {bank.name: bank.read_bytes()}
    return {path.name: path.read_bytes() for path in bank.iterdir() if path.name != ".lock"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def trees_of(bank: Path) -> dict[str, Any]:
    """Both trees as plain tools read them: lines, vectors and counts, each as a digest."""
    found: dict[str, Any] = {}
    for tree in TREES:
        lines = (bank / f"{tree}.nodes.jsonl").read_bytes()
        vectors = np.load(bank / f"{tree}.embeddings.npy", allow_pickle=False)
        counts = np.load(bank / f"{tree}.counts.npy", allow_pickle=False)
        assert (vectors.dtype, counts.dtype) == (np.dtype("<f4"), np.dtype("<u4"))
        assert len(vectors) == len(counts) == lines.count(b"\n")
        found[tree] = {
            "rows": len(vectors),
            "lines": digest(lines),
            "vectors": digest(vectors.tobytes()),
            "counts": counts.tolist(),
        }
    return found


def shown(bank: Path) -> dict[str, Any]:
    """What the commands that look at a bank say of it, as far as nothing may change of that."""
    nodes = []
    for node in deltamem("tree", bank).data["nodes"]:
        texts = digest("\0".join(node[name] for name in TEXTS).encode())
        nodes.append({name: node[name] for name in FACTS} | {"texts": texts})
    return {"info": deltamem("info", bank).data, "nodes": nodes}


def holds(recorded: Any, found: Any) -> bool:
    """Whether all that was recorded is still so. There may be more keys now."""
    if isinstance(recorded, dict):
        return isinstance(found, dict) and all(
            key in found and holds(value, found[key]) for key, value in recorded.items()
        )
    if isinstance(recorded, list):
        return (
            isinstance(found, list)
            and len(found) == len(recorded)
            and all(map(holds, recorded, found))
        )
    if isinstance(recorded, float):
        return bool(found == pytest.approx(recorded))
    return bool(recorded == found)


def sound(bank: Path) -> None:
    data = deltamem("verify", bank).data
    assert (data["sound"], data["flaws"]) == (True, [])


@pytest.mark.parametrize("name", BANKS)
def test_it_is_sound(banks: Path, name: str) -> None:
    sound(banks / name)


@pytest.mark.parametrize("name", BANKS)
def test_it_says_what_it_said(banks: Path, name: str) -> None:
    found = shown(banks / name)
    recorded = deepcopy(GOLDEN["shown"][name])
    for key in ("usage", "untold"):  # where a payment is told may change, not that it is
        del recorded["info"][key]
    for part in found:  # what is recalled is the method's matter
        assert holds(recorded[part], found[part]), part


@pytest.mark.parametrize("name", ["living", "merged", "frozen"])
def test_it_recalls_what_its_copy_in_the_present_format_does(
    banks: Path, tmp_path: Path, name: str
) -> None:
    old = copied(name, tmp_path)
    new = tmp_path / "new" / name
    deltamem("copy", old, new)
    formats = [json.loads((each / "bank.json").read_text())["format"] for each in (old, new)]
    assert formats == [1, 2]
    for task, scene in QUESTIONS:
        one, two = (
            deltamem("recall", each, task, "--env", scene, "--explain").data for each in (old, new)
        )
        del one["receipt"], two["receipt"]  # which name the bank
        assert one == two


@pytest.mark.parametrize("name", ["frozen", ARCHIVE])
def test_reading_leaves_a_frozen_bank_as_it_is(banks: Path, tmp_path: Path, name: str) -> None:
    bank = copied(name, tmp_path)
    before = contents(bank)
    (node, *_) = deltamem("tree", bank).data["nodes"]
    calls: tuple[tuple[object, ...], ...] = (
        ("info", bank),
        ("show", bank, node["id"]),
        ("chain", bank, node["id"]),
        ("search", bank, "water"),
        ("recall", bank, QUESTIONS[1][0], "--explain"),
        ("parameters", bank),
        ("diff", bank, banks / "living"),
        ("merge", bank, banks / "living", "-o", tmp_path / "merged", "--across-domains"),
        ("export", bank, "-o", tmp_path / "again.deltamem", "--episodes", "--journal"),
        ("export", bank, "-o", tmp_path / "skills", "--as", "skills"),
        ("copy", bank, f"copy-of-{bank.stem}-{bank.is_file()}"),
        ("list", "--banks", tmp_path),
    )
    for call in calls:
        assert deltamem(*call).code == 0, call
    assert contents(bank) == before


def test_a_frozen_bank_learns_once_it_is_unfrozen(banks: Path, tmp_path: Path) -> None:
    bank = copied("frozen", tmp_path)
    assert deltamem("unfreeze", bank).code == 0
    assert deltamem("extract", bank, "--extractor", "rules").data["learned"] == 1
    goes_on(banks / "frozen", bank)


def goes_on(before: Path, bank: Path) -> None:
    """Every line and vector that an earlier version wrote is where it was, to the byte."""
    for tree in TREES:
        old = (before / f"{tree}.nodes.jsonl").read_bytes()
        assert (bank / f"{tree}.nodes.jsonl").read_bytes().startswith(old)
        vectors = np.load(before / f"{tree}.embeddings.npy")
        assert np.array_equal(np.load(bank / f"{tree}.embeddings.npy")[: len(vectors)], vectors)
    sound(bank)


def test_an_archive_is_installed_byte_for_byte(banks: Path) -> None:
    deltamem("install", banks / ARCHIVE, "--name", "installed")
    assert trees_of(banks / "installed") == GOLDEN["installed"]
    frozen, installed = (shown(banks / name)["nodes"] for name in ("frozen", "installed"))
    assert frozen == installed
    sound(banks / "installed")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", WRITABLE)
def test_the_work_of_a_bank_goes_on(banks: Path, tmp_path: Path, name: str) -> None:
    """It takes in logs, is given other numbers, made compact, frozen, sent, placed and freed."""
    bank = copied(name, tmp_path)
    log = DOCS / "sample" / "alfworld.jsonl.gz"
    assert deltamem("import", bank, log).data["imported"] > 0
    assert deltamem("extract", bank, "--extractor", "rules", "--limit", "2").data["learned"] == 2
    assert deltamem("parameters", bank, "task.k_cons=1", "env.k_cons=1").code == 0
    assert deltamem("consolidate", bank, "--extractor", "rules").code == 0
    sound(bank)
    before = shown(bank)["nodes"]
    assert deltamem("compact", bank).code == 0
    sound(bank)
    assert deltamem("freeze", bank).code == 0
    archive = tmp_path / "sent.deltamem"
    assert deltamem("export", bank, "-o", archive, "--episodes", "--journal").code == 0
    arrived = tmp_path / "arrived"
    here = ("--banks", tmp_path, "--unfreeze")
    assert deltamem("install", archive, "--name", arrived.name, *here).code == 0
    sound(arrived)
    for each in (bank, archive, arrived):
        assert shown(each)["nodes"] == before
    assert deltamem("unfreeze", bank).code == 0
    sound(bank)


def test_compact_keeps_the_lines_that_count(banks: Path, tmp_path: Path) -> None:
    bank = copied("living", tmp_path)
    deltamem("compact", bank)
    assert trees_of(bank) == GOLDEN["compact"]


def test_all_are_merged_into_one(banks: Path, tmp_path: Path) -> None:
    """Nothing counts twice, in whatever order; the lines are those that always came of it."""
    names = [banks / name for name in ("living", "merged", "old", "paid", "compacted")]
    deltamem("merge", *names, "-o", tmp_path / "all")
    assert trees_of(tmp_path / "all") == GOLDEN["merged"]
    sound(tmp_path / "all")
    deltamem("merge", *reversed(names), "-o", tmp_path / "again")
    counted = {
        order: {
            node["id"]: (node["hits"], node["recalls"], node["successes"])
            for node in shown(tmp_path / order)["nodes"]
        }
        for order in ("all", "again")
    }
    assert counted["all"] == counted["again"]


def test_copies_that_were_changed_apart_are_merged(banks: Path, tmp_path: Path) -> None:
    """One node edited in both, one deleted in one and edited in the other, two moved crosswise."""
    pair = banks / "left", banks / "right"
    data = deltamem("merge", *pair, "-o", tmp_path / "both").data
    assert holds(GOLDEN["apart"]["conflicts"], data["conflicts"])
    assert trees_of(tmp_path / "both") == GOLDEN["apart"]["trees"]
    sound(tmp_path / "both")
