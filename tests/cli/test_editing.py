"""A bank put right by hand from the command line, and everything taken back."""

from __future__ import annotations

import json
import re

import pytest
import typer

from deltamem_tui.cli import page
from tests.cli.support import RECORDS, Program, heat


@pytest.fixture
def home(empty: Program) -> Program:
    """The program with a bank `home` that learnt three of four episodes."""
    (empty.folder / "log.jsonl").write_text("\n".join(map(json.dumps, [*RECORDS, heat("cup")])))
    assert empty("init", "home", "--embedder", "hashing", "--domain", "alfworld").code == 0
    assert empty("import", "home", "log.jsonl").code == 0
    assert empty("extract", "home", "--extractor", "rules").code == 0
    return empty


def outline(home: Program) -> list[tuple[str, str | None, str, int]]:
    nodes = home.json("tree", "home", "--tree", "task").data["nodes"]
    return [(each["id"], each["parent"], each["label"], each["depth"]) for each in nodes]


def test_episodes_are_listed_with_what_they_wait_for(home: Program) -> None:
    listed = home.json("episodes", "home").data["episodes"]
    assert [each["state"] for each in listed].count("waiting") == 1
    (waiting,) = home.json("episodes", "home", "--waiting").data["episodes"]
    assert (waiting["outcome"], waiting["steps"]) == ("unknown", 4)
    assert "potato" in waiting["task"]
    assert home("outcome", "home", waiting["id"], "success").code == 0
    assert "potato" in home("episodes", "home", "--waiting").out
    assert home("extract", "home", "--extractor", "rules").code == 0
    assert home.json("episodes", "home", "--waiting").data["episodes"] == []


def test_texts_are_changed_by_field(home: Program) -> None:
    (first, *_) = outline(home)
    field = "termination_condition"
    assert home("edit", "home", first[0][:8], f"{field}=It is hot.").code == 0
    assert "expected FIELD=TEXT" in home("edit", "home", first[0], "nothing").error
    refused = home("edit", "home", first[0], "what=x").error
    assert "unknown field 'what'" in refused
    assert "use When (activation_condition) or How (execution_procedure) or" in refused
    assert "It is hot." in home("show", "home", first[0]).out
    assert home("edit", "home", first[0], "done when=It is warm.", "How=Wait.").code == 0
    assert "It is warm." in (shown := home("show", "home", first[0]).out)
    assert "Wait." in shown
    assert re.search(r"matched\t\d+ later episodes?: \d+ succeeded, \d+ of them with it", shown)


def test_nodes_are_relabelled_moved_joined_deleted_and_all_of_it_undone(home: Program) -> None:
    before = outline(home)
    roots = [each for each in before if each[1] is None]
    one, other = roots[0][0], roots[1][0]
    word = {"success": "failure", "failure": "success"}[roots[0][2]]
    assert home("relabel", "home", one, word).code == 0
    assert home("move", "home", other, one).code == 0
    assert home.json("show", "home", other).data["nodes"][0]["parent"] == one
    assert home("move", "home", other, "root").code == 0
    assert home("join", "home", one, other).code == 0
    assert other not in [each[0] for each in outline(home)]
    assert {each[1] for each in outline(home)} <= {None, *(each[0] for each in outline(home))}
    below = sum(each[1] is not None for each in outline(home))
    refused = home("delete", "home", one)
    assert (refused.code == 0) == (below == 0)
    assert home("delete", "home", one, "--yes").code == (0 if refused.code else 1)
    assert home("verify", "home").code == 0
    for _ in range(5):
        assert home("undo", "home").code == 0
    assert outline(home) == before
    assert "itself" in home("join", "home", one, one).error
    assert "`deltamem node tree` lists the nodes" in home("show", "home", "ffffff").error


def test_banks_are_copied_renamed_and_removed(home: Program) -> None:
    assert home("copy", "home", "second").code == 0
    assert home("rename", "second", "third").code == 0
    names = {each["name"] for each in home.json("list").data["banks"]}
    assert {"home", "third"} <= names
    assert "second" not in names
    for form in (home, home.json):
        refused = form("remove", "third")
        assert refused.code == 2
        assert "`--yes` confirms it" in refused.err + refused.out
    assert home("remove", "third", "--yes").code == 0
    assert "third" not in {each["name"] for each in home.json("list").data["banks"]}


class Terminal:
    """A stdin with a person at it."""

    def isatty(self) -> bool:
        return True


def test_a_person_at_the_terminal_is_asked(home: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter((False, True))
    monkeypatch.setattr(page, "is_terminal", lambda _stream: True)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(
        typer, "confirm", lambda question, err: "home" in question and next(answers)
    )
    assert "nothing was done" in home("remove", "home").error
    assert home("remove", "home").code == 0


def test_what_is_forgotten_is_shown_then_done_then_undone(program: Program) -> None:
    assert program("forget", "kitchen").code == 2
    idle = ("forgetting=periodical", "forget_period=1", "forget_recalls=0")
    assert program("parameters", "kitchen", *idle).code == 0
    before = program.json("tree", "kitchen").data["nodes"]
    shown = program.json("forget", "kitchen").data
    assert not shown["applied"]
    assert shown["deletions"]
    assert program.json("tree", "kitchen").data["nodes"] == before
    done = program.json("forget", "kitchen", "--apply").data
    assert (done["applied"], done["deletions"]) == (True, shown["deletions"])
    # What the last episode wrote is spared, and so is what it adds to.
    assert set(done["nodes"].values()) == {2}
    for each in reversed(done["deletions"]):
        assert each["node"] in program.json("undo", "kitchen").data["nodes"]
    assert {each["id"] for each in program.json("tree", "kitchen").data["nodes"]} == {
        each["id"] for each in before
    }
    redone = program.json("redo", "kitchen").data
    assert (redone["redone"], redone["nodes"][0]) == ("forget", done["deletions"][0]["node"])
