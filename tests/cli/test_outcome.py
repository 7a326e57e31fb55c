"""`episode outcome`: everybody's word is kept, and credit goes with it."""

from __future__ import annotations

import json

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.outcomes import known_episode
from tests.cli.support import Program, heat


def credit(program: Program, node: str) -> dict[str, int]:
    found = program.json("show", "kitchen", node).data["nodes"][0]["credit"]["strict"]
    return {"judged": found["judged"], "utility": found["utility"]}


def test_a_verdict_moves_credit_and_gives_way(program: Program) -> None:
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
    unclear = program.json("outcome", "kitchen", episode, "unclear").data["words"]
    assert [(each["source"], each.get("success")) for each in unclear] == [
        ("stated", True),
        ("user", None),
    ]
    assert credit(program, node) == {"judged": 1, "utility": 10_000}
    assert program.json("outcome", "kitchen", episode).data["words"] == unclear
    assert program.json("outcome", "kitchen", "last").data["id"] == episode
    assert program("outcome", "kitchen", "nothing", "success").code == 1
    assert program("outcome", "kitchen", "success").code == 2


def test_one_verdict_is_given_to_several_episodes(program: Program) -> None:
    log = program.log(heat("tomato", success=None), heat("bread", success=None))
    found = program.json("import", "kitchen", log).data["trajectories"]
    names = [each["id"] for each in found]
    waiting = program("review", "kitchen").err
    assert "to review; these have no outcome yet:" in waiting
    assert all(name[:8] in waiting for name in names)
    said = program.json("outcome", "kitchen", *names, "success").data["episodes"]
    assert [(each["id"], each["words"][0]["success"]) for each in said] == [
        (n, True) for n in names
    ]
    assert not any(name[:8] in program("review", "kitchen").err for name in names)


def test_learnt_nodes_are_marked_only_when_that_is_confirmed(program: Program) -> None:
    bank = Bank.open(program.bank)
    learnt = next(e for e in bank.episodes.ids() if bank.episodes.state(e) == EpisodeState.LEARNT)
    before = known_episode(bank, learnt).outcome.success
    other = "failure" if before else "success"
    refused = program("outcome", "kitchen", learnt, other)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert known_episode(Bank.open(program.bank), learnt).outcome.success is before
    assert program("outcome", "kitchen", learnt, other, "--yes").code == 0
    assert learnt in Bank.open(program.bank).episodes.waiting()
    assert program("extract", "kitchen", "--extractor", "rules").code == 0
    assert learnt not in Bank.open(program.bank).episodes.waiting()
