"""`deltamem bank forget` shows what would go, does it when told to, and `undo` brings it back."""

from __future__ import annotations

from tests.cli.support import Program


def test_what_goes_is_shown_then_done_then_undone(program: Program) -> None:
    assert program("forget", "kitchen").code == 2
    asked = ("forget", "kitchen", "--capacity", "1")
    before = program.json("tree", "kitchen").data["nodes"]
    shown = program.json(*asked).data
    assert not shown["applied"]
    assert shown["deletions"]
    assert program.json("tree", "kitchen").data["nodes"] == before
    done = program.json(*asked, "--apply").data
    assert (done["applied"], done["deletions"]) == (True, shown["deletions"])
    # What the last episode wrote is spared, and so is what it adds to.
    assert set(done["nodes"].values()) == {2}
    for each in reversed(done["deletions"]):
        assert each["node"] in program.json("undo", "kitchen").data["nodes"]
    assert {each["id"] for each in program.json("tree", "kitchen").data["nodes"]} == {
        each["id"] for each in before
    }
    assert program("undo", "kitchen").code == 1
    redone = program.json("redo", "kitchen").data
    assert (redone["redone"], redone["nodes"][0]) == ("forget", done["deletions"][0]["node"])
