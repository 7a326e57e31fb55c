"""Banks that come and go from the banks screen: export, install, merge, each planned first."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory import editing
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.settings import replaced
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.widgets.dialogs import ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog, Choices
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse, grow


async def fill(person: Person, *answers: str) -> None:
    """Fill the lines of a dialog in, and go on."""
    assert isinstance(person.app.screen, AskDialog)
    for number, answer in enumerate(answers):
        if number:
            await person.press("tab")
        if answer == "tick":
            await person.press("space")
        elif answer:
            await person.write(answer)
    await person.press("enter")


def test_a_bank_is_exported_and_installed_under_another_name(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "kitchen.deltamem"

    async def story(person: Person) -> None:
        await person.press("X")
        await fill(person, str(file), "me", "", "tick")  # its history
        assert isinstance(person.app.screen, ReadingDialog)
        assert "learnt from 1 episode by rules" in person.screen
        assert "its episodes go along" in person.screen
        assert not file.exists()
        await person.press("y")
        assert person.said[-1].startswith(f"wrote {file}; its digest is sha256:")
        digest = person.said[-1].split()[-1]
        await person.press("i")
        await fill(person, str(file))
        assert "already" in person.said[-1]
        await person.press("shift+tab")
        await fill(person, str(file), "copy", digest, "tick")
        assert "Install it as copy?" in person.screen
        assert "builder: me" in person.screen
        assert "its digest is the one you gave" in person.screen
        assert not (folder / "copy").exists()
        await person.press("y")
        assert person.said[-1] == "installed copy"
        banks = person.app.screen.query_one(BankList).lines
        assert [bank.place.name for bank in banks] == ["copy", "kitchen"]

    browse(folder, story, size=(120, 40))
    copy = Bank.open(folder / "copy")
    assert verify(copy) == []
    assert not copy.frozen
    assert [node.id for node in copy.tree("task")] == [
        node.id for node in Bank.open(folder / "kitchen").tree("task")
    ]
    assert len(copy.episodes) == 3


def test_secrets_are_told_before_a_bank_leaves(folder: Path, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    grow(Bank.open(folder / "kitchen"), "task", [("log in", f"use {key}", None, "success")])

    async def story(person: Person) -> None:
        await person.press("X")
        await fill(person, str(tmp_path))
        assert "although 1 secret would leave with it?" in person.screen
        assert key not in person.screen
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, size=(120, 40))
    assert not list(tmp_path.glob("*.deltamem"))


def test_a_merge_shows_what_it_changes_before_it_is_done(folder: Path) -> None:
    shutil.copytree(folder / "kitchen", folder / "other")
    other = Bank.open(folder / "other")
    other.change_manifest(
        "rename", lambda manifest: (replace(manifest, name="other", domain="[/b]"), {})
    )
    grow(other, "task", [("wash some object in the sink", "1. wash it", None, "success")])

    async def story(person: Person) -> None:
        await person.press("M")
        await fill(person)
        assert "Merge other into kitchen?" in person.screen
        assert "task tree" in person.screen
        assert "1 added" in person.screen
        assert "domain: alfworld stays; other says [/b]" in person.screen
        await person.press("escape")
        assert len(Bank.open(folder / "kitchen").tree("task")) == 6
        await person.press("M")
        await fill(person)
        await person.press("y")
        assert person.said[-1] == "merged other into kitchen"
        await person.press("M")
        await fill(person)
        assert "holds all of it already" in person.said[-1]

    browse(folder, story, size=(120, 40))
    assert len(Bank.open(folder / "kitchen").tree("task")) == 7
    assert verify(Bank.open(folder / "kitchen")) == []


def test_what_may_be_merged_is_offered(folder: Path) -> None:
    """A fingerprint is rounded, so it differs a little from machine to machine."""
    known = Bank.open(folder / "kitchen").manifest.embedder["fingerprint"]
    near = known[:-1] + ("1" if known[-1] == "0" else "0")
    for name, change in (("near", {"fingerprint": near}), ("far", {"query_prefix": "query: "})):
        shutil.copytree(folder / "kitchen", folder / name)
        other = Bank.open(folder / name)
        made = replace(other.manifest, embedder={**other.manifest.embedder, **change})
        other.change_manifest("move", partial(lambda made, _: (made, {}), made))

    async def story(person: Person) -> None:
        await person.press("j", "M")
        dialog = person.app.screen
        assert isinstance(dialog, AskDialog)
        assert dialog.query_one("#other", Choices).chosen == "near"
        assert "far   another search model, hashing" in person.screen

    browse(folder, story, size=(120, 40))


def test_two_banks_are_compared_by_their_nodes_first(folder: Path) -> None:
    shutil.copytree(folder / "kitchen", folder / "other")
    other = Bank.open(folder / "other")
    grow(other, "task", [("wash some object in the sink", "1. wash it", None, "success")])
    heat, cool = list(other.tree("task"))[1], list(other.tree("task"))[3]
    editing.edit(other, "task", heat, {**heat.payload, "execution_procedure": "use the oven"})
    editing.delete(Bank.open(other.path), "task", cool)
    change_settings(Bank.open(other.path), "test", lambda now: replaced(now, "env.tau_base", 0.7))

    async def story(person: Person) -> None:
        await person.press("equals_sign", "enter")
        dialog = person.app.screen
        assert isinstance(dialog, ReadingDialog)
        names, nodes, *details = dialog.query_one(TextPane).sections
        assert names.title == "kitchen (here) and other (there)"
        task, env = (line.split() for line in nodes.body.splitlines()[1:])
        assert (task, env) == (
            ["task", "tree", "2", "1", "1", "3"],
            ["env", "tree", "0", "0", "0", "3"],
        )
        said = {each.title: each.body for each in details}
        assert said["Only there: task tree"] == "· wash some object in the sink"
        assert "use the [−stove−]{+oven+}" in said["Differ, here → there: task tree"]
        assert said["Episodes"] == "0 only here, 0 only there, 3 in both"
        assert said["Settings, here → there"] == "env.tau_base: 0.6 → 0.7"
        assert [*said][-1] == "Settings, here → there"

    browse(folder, story)
