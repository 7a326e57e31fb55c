"""`deltamem outcome` and `judge --all`: everybody's word is kept, and credit goes with it."""

from __future__ import annotations

import json

from tests.cli.support import Program, heat


def credit(program: Program, node: str) -> dict[str, int]:
    found = program.json("show", "kitchen", node).data["nodes"][0]["credit"]["strict"]
    return {"judged": found["judged"], "utility": found["utility"]}


def test_a_word_moves_credit_and_is_taken_back(program: Program) -> None:
    receipts = program.folder / "shown.jsonl"
    asked = heat("tomato", success=True)
    task, scene = asked["task"], asked["environment"]
    shown = program.json("recall", "kitchen", task, "--env", scene, "--receipt", str(receipts))
    assert json.loads(receipts.read_text("utf-8")) == shown.data["receipt"]
    node = shown.data["receipt"]["entries"][0]["node"]
    log = program.log(asked)
    done = program.json("import", "kitchen", log, "--receipts", str(receipts)).data
    assert (done["receipts"]["given"], done["receipts"]["unmatched"]) == (1, [])
    episode = done["trajectories"][0]["id"]
    assert credit(program, node) == {"judged": 1, "utility": 10_000}
    said = program.json("outcome", "kitchen", episode[:8], "failure").data
    assert [(each["source"], each["success"]) for each in said["words"]] == [
        ("user", False),
        ("stated", True),
    ]
    assert credit(program, node) == {"judged": 1, "utility": 0}
    assert program.json("outcome", "kitchen", episode, "--undo").data["words"] == said["words"][1:]
    assert credit(program, node) == {"judged": 1, "utility": 10_000}
    assert program.json("outcome", "kitchen", episode).data["words"] == said["words"][1:]
    assert program.json("outcome", "kitchen", "last").data["id"] == episode
    found = program.json("lift", "kitchen").data
    assert [(each["node"], each["judged"]) for each in found["nodes"] if each["node"] == node] == [
        (node, 1)
    ]
    assert [each["with_memory"]["successes"] for each in found["kinds"]] == [1]
    assert program("lift", "kitchen").code == 0
    assert program("outcome", "kitchen", episode, "success", "--undo").code == 2
    assert program("outcome", "kitchen", "nothing", "success").code == 1
