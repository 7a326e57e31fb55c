"""The commands that look at a bank, for a person and for a program."""

from __future__ import annotations

import io
from typing import Any

import pytest

from deltamem_tui.cli import app
from deltamem_tui.cli.output import Output
from tests.cli.support import SCENE, Program, state_of

TASK = "heat some bread and put it on the table"
NODE_KEYS = {
    *("id", "tree", "parent", "kind", "label", "depth", "consolidated", "revision", "tokens"),
    *("activation_condition", "execution_procedure", "termination_condition"),
    *("hits", "recalls", "successes", "origin"),
}


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def nodes_of(program: Program, tree: str = "task") -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = program.json("tree", "kitchen", "--tree", tree).data["nodes"]
    return nodes


LOOKING = [
    ("list",),
    ("info", "kitchen"),
    ("tree", "kitchen"),
    ("search", "kitchen", "heat"),
    ("recall", "kitchen", TASK, "--env", SCENE, "--explain"),
    ("parameters", "kitchen"),
    ("verify", "kitchen"),
    ("consolidate", "kitchen", "--extractor", "rules", "--dry-run"),
    ("extract", "kitchen", "--extractor", "rules", "--dry-run"),
]


@pytest.mark.parametrize("call", LOOKING, ids=lambda call: call[0])
def test_looking_changes_nothing_and_has_three_faces(
    program: Program, call: tuple[str, ...]
) -> None:
    before = state_of(program.bank)
    plain = program(*call)
    assert plain.code == 0
    assert "\x1b" not in plain.out + plain.err
    told = program.json(*call)
    assert told.code == 0
    assert told.document["command"] == call[0]
    assert told.document["status"] == "success"
    assert told.document["errors"] == []
    stdout, stderr = Terminal(), Terminal()
    assert app.run(call, Output(stdout=stdout, stderr=stderr)) == 0
    if call[0] not in ("verify", "consolidate"):
        assert plain.out
        assert stdout.getvalue()
    assert state_of(program.bank) == before
    assert not (program.bank / ".lock").exists() or (program.bank / ".lock").stat().st_size == 0


def test_info_counts(program: Program) -> None:
    data = program.json("info", "kitchen").data
    about = {key: data[key] for key in ("bank", "description", "domain", "model", "frozen")}
    assert about == {
        "bank": "kitchen",
        "description": "hot food",
        "domain": "generic",
        "model": "hashing",
        "frozen": False,
    }
    assert [data[key] for key in ("episodes", "learnt", "waiting", "without_outcome")] == [
        4,
        3,
        1,
        1,
    ]
    assert data["parameters"]["task"]["tau_base"] == 0.5
    for tree in ("task", "env"):
        numbers = data[tree]
        assert numbers["nodes"] == len(nodes_of(program, tree)) > 1
        assert numbers["roots"] + numbers["residuals"] == numbers["nodes"]
        assert sum(numbers["depths"].values()) == numbers["nodes"]
        assert {"failures", "tokens", "hits"} <= set(numbers)
    facts = dict(line.split("\t", 1) for line in program("info", "kitchen").out.splitlines())
    assert facts["waiting"] == "1"
    assert facts["tree"] == "task\tenv"
    assert facts["nodes"] == f"{data['task']['nodes']}\t{data['env']['nodes']}"
    assert facts["without outcome"] == "1"
    assert "1 episode has no outcome yet" in program("info", "kitchen").err


def test_tree_shows_each_node_below_its_parent(program: Program) -> None:
    nodes = nodes_of(program)
    assert all(set(node) == NODE_KEYS for node in nodes)
    seen = {None}
    for node in nodes:
        assert node["parent"] in seen
        seen.add(node["id"])
    lines = program("tree", "kitchen", "--tree", "task").out.splitlines()
    assert lines[0] == f"task tree ({len(nodes)} nodes)"
    assert all(node["id"][:8] in line for node, line in zip(nodes, lines[1:], strict=True))


def test_tree_is_cut_by_depth(program: Program) -> None:
    both = program.json("tree", "kitchen").data["nodes"]
    assert {node["tree"] for node in both} == {"task", "env"}
    shallow = program.json("tree", "kitchen", "--depth", "1").data["nodes"]
    assert {node["depth"] for node in shallow} == {1}
    assert 0 < len(shallow) < len(both)


def test_show_tells_all_of_one_node(program: Program) -> None:
    node = nodes_of(program)[-1]
    (shown,) = program.json("show", "kitchen", node["id"]).data["nodes"]
    assert shown.pop("credit")["shown"] == 0
    assert shown == node
    text = program("show", "kitchen", node["id"][:8]).out
    assert f"id\t{node['id']}\n" in text
    assert f"parent\t{node['parent']}\n" in text
    assert node["execution_procedure"] in text
    assert f"origin trajectory\t{node['origin']['trajectory']}" in text


def test_chain_goes_from_the_root_to_the_node(program: Program) -> None:
    nodes = nodes_of(program)
    deepest = max(nodes, key=lambda node: int(node["depth"]))
    assert deepest["depth"] > 1
    data = program.json("chain", "kitchen", deepest["id"]).data
    assert data["tree"] == "task"
    assert [node["depth"] for node in data["nodes"]] == list(range(1, deepest["depth"] + 1))
    assert data["nodes"][-1] == deepest
    text = program("chain", "kitchen", deepest["id"]).out
    assert text.index("### Base skill") < text.index("### Skill delta 1")


def test_search_ranks_by_score_in_each_tree(program: Program) -> None:
    found = program.json("search", "kitchen", "heat an apple").data["nodes"]
    for tree in ("task", "env"):
        scores = [each["score"] for each in found if each["node"]["tree"] == tree]
        assert scores == sorted(scores, reverse=True)
        assert scores
    one = program.json("search", "kitchen", "heat", "--tree", "task", "--limit", "1").data["nodes"]
    assert [each["node"]["tree"] for each in one] == ["task"]
    head, *lines = program("search", "kitchen", "heat an apple").out.splitlines()
    assert head == "tree\tnode\tscore\tlabel\twhen / where"
    assert len(lines) == len(found)


def test_recall_gives_the_context_and_says_why(program: Program) -> None:
    data = program.json("recall", "kitchen", TASK, "--env", SCENE).data
    assert set(data) == {"context", "why_nothing", "task", "env", "receipt"}
    assert data["why_nothing"] is None
    for tree in ("task", "env"):
        assert set(data[tree]) == {"match", "score", "rule", "chain"}
        assert data[tree]["chain"][-1]["id"] == data[tree]["match"]
        assert data[tree]["score"] >= 0.5
    assert program("recall", "kitchen", TASK, "--env", SCENE).out == data["context"] + "\n"
    assert data["context"].startswith("<past_experience>")
    explained = program.json("recall", "kitchen", TASK, "--explain").data
    assert explained["env"] is None
    for candidate in explained["task"]["candidates"]:
        assert candidate["score"] == pytest.approx(candidate["similarity"] - candidate["penalty"])
        assert candidate["threshold"] is explained["task"]["threshold"] is None
        assert (candidate["node"]["label"] == "failure") == (candidate["penalty"] == 0.05)
    assert len(explained["task"]["candidates"]) == len(nodes_of(program))
    first, head, second = program("recall", "kitchen", TASK, "--explain").out.splitlines()[:3]
    assert first.startswith("task tree, by work: ")
    assert head == "\tnode\tsimilarity\tpenalty\tscore\twhen"
    assert second.split("\t")[:2] == ["match", explained["task"]["match"][:8]]


def test_a_question_comes_through_a_pipe(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TASK}\n"))
    assert program("recall", "kitchen", "-").out == program("recall", "kitchen", TASK).out


def test_a_recall_that_finds_nothing_says_how_near_it_came(program: Program) -> None:
    answer = program("recall", "kitchen", "prove Fermat's theorem")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.startswith("nothing matches: the best of the task tree scores 0.")
    assert answer.err.endswith(", which is not near enough\n")
    assert "Solved “Your task is to: heat" in program("recall", "kitchen", "apple").out
    data = program.json("recall", "kitchen", "prove Fermat's theorem").data
    assert data["why_nothing"] in answer.err
    assert (data["context"], data["task"], data["env"]) == ("", None, None)
    assert "entries" not in data["receipt"]


def test_an_empty_bank_says_so(empty: Program) -> None:
    assert empty("init", "new", "--embedder", "hashing").code == 0
    said = empty("recall", "new", TASK).err
    assert said == (
        "nothing is learnt yet: `deltamem import new LOG…`, then "
        "`deltamem extract new --extractor rules`\n"
    )
    assert empty.json("search", "new", "heat").data == {"nodes": []}
    assert empty.json("tree", "new").data == {"nodes": []}
    assert empty.json("info", "new").data["task"]["tokens"] == 0
