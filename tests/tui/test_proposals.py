"""Proposed thresholds are of what was asked, and go when that is no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.tui.widgets.plots import Plot
from tests.tui.support import Person, browse, take_in_many


def relabelled(path: Path) -> None:
    bank = Bank.open(path)
    editing.delete(bank, "task", next(bank.tree("task").roots()))


def reembedded(path: Path) -> None:
    def other(manifest):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        return replace(manifest, embedder={**manifest.embedder, "fingerprint": "another"}), {}

    Bank.open(path).change_manifest("reembed", other)


def counted(path: Path) -> None:
    bank = Bank.open(path)
    with bank.writing() as batch:
        batch.count("task", next(bank.tree("task").roots()).id, hits=1)
        batch.log("learn")


@pytest.mark.parametrize(
    ("change", "kept"), [(relabelled, False), (reembedded, False), (counted, True)]
)
def test_old_proposals_go_with_what_they_rest_on(
    folder: Path, change: Callable[[Path], None], kept: bool
) -> None:
    take_in_many(Bank.open(folder / "kitchen"))

    async def story(person: Person) -> None:
        await person.press("4", "c")
        assert person.app.screen.query_one("#scores", Plot).display
        change(folder / "kitchen")
        person.app.session.look_for_changes()
        await person.settle()
        assert person.app.screen.query_one("#scores", Plot).display is kept
        await person.press("w")
        assert ("saved: " in person.said[-1]) is kept
        assert ("no thresholds were proposed yet" in person.said[-1]) is not kept

    browse(folder, story, "kitchen", size=(120, 60))
