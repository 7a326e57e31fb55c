"""Archives whose files are not what their manifest promises."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np

from deltamem_tui.bank.manifest import encode
from tests.bank.forging import Files, sealed, with_old_digests
from tests.bank.transfer.hostile import npy, refused


def test_every_file_is_what_the_manifest_promises(place: Path, good: Files) -> None:
    for name in good:
        changed = {**good, name: good[name].replace(b"e", b"f", 1) + b"\n"}
        if name == "bank.json":
            changed[name] = good[name].replace(b'"generic"', b'"other"')
        path = with_old_digests(place / "x.deltamem", changed)
        refused(path, "changed since", also_in_place=False)


def test_swapped_vectors_are_noticed(place: Path, good: Files) -> None:
    vectors = np.load(io.BytesIO(good["task.embeddings.npy"]))
    swapped = {**good, "task.embeddings.npy": npy(vectors[::-1])}
    refused(with_old_digests(place / "x.deltamem", swapped), "changed since", also_in_place=False)


def test_nothing_is_missing_and_nothing_added(place: Path, good: Files) -> None:
    lean = {name: data for name, data in good.items() if not name.startswith("traj")}
    refused(with_old_digests(place / "x.deltamem", lean), "is missing")
    del lean["journal.jsonl"]
    manifest = sealed(lean).manifest
    added = {**lean, "bank.json": encode(manifest), "trajectories.jsonl": b""}
    path = with_old_digests(place / "x.deltamem", added)
    refused(path, "was not there", also_in_place=False)


def test_an_archive_is_always_frozen(place: Path, good: Files) -> None:
    text = json.loads(good["bank.json"])
    text |= {"frozen": False, "digests": {}}
    files = {**good, "bank.json": json.dumps(text).encode()}
    refused(with_old_digests(place / "x.deltamem", files), "not frozen", also_in_place=False)
