"""A session that is imported while it goes on is one episode in the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.credit import node_credit
from deltamem_tui.memory.episodes.import_report import ImportReport
from deltamem_tui.memory.episodes.importer import import_of, take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episodes, waiting
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory, is_earlier
from deltamem_tui.trajectory.receipt import ShownNode, made
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from tests.memory.support import new_bank, teach

PIECES = 20
USER = Outcome(success=True, source="user")
OTHER = [
    Trajectory("Add a test for the other parser.", "", (Step("pytest", "1 failed"),), USER),
    Trajectory("Fix the failing date parser, again.", "", (Step("ls", "a.py"),), USER),
]


def transcript() -> list[dict[str, Any]]:
    """A session of Claude Code: words, calls, two of them at once, and their answers."""

    def line(kind: str, *content: dict[str, Any] | str) -> dict[str, Any]:
        text = isinstance(content[0], str)
        message = {"role": kind, "content": content[0] if text else list(content)}
        return {"type": kind, "sessionId": "s1", "cwd": "/home/ada/calc", "message": message}

    def call(name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"run {name}"}}

    def answer(name: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": name, "content": f"{name} is done"}

    found = [line("user", "Fix the failing date parser.")]
    for number in range(5):
        one, two = f"c{number}", f"d{number}"
        found += [
            line("assistant", {"type": "text", "text": f"Now part {number}."}),
            line("assistant", call(one), call(two)),
            line("user", answer(one)),
            line("user", answer(two)),
        ]
    return found


def fed(bank: Bank, log: Path, lines: int) -> ImportReport:
    log.write_text("".join(json.dumps(each) + "\n" for each in transcript()[:lines]))
    job = import_of(bank, [str(log)])
    job.run()
    return job.report


def learnt(bank: Bank) -> None:
    for each in waiting(bank):
        learn(bank, each)


def contents(bank: Bank) -> tuple[object, ...]:
    """What a bank holds: its episodes, its nodes and their counts, and what was shown."""
    nodes = [
        (name, each, tree.counts(each.id), tree.embeddings[tree.row(each.id)].tolist())
        for name, tree in bank.trees.items()
        for each in tree
    ]
    return [*episodes(bank)], bank.episodes.learnt(), nodes


@pytest.mark.parametrize(
    ("method", "learning"), [("deltamem", True), ("deltamem", False), ("memp", False)]
)
def test_a_session_in_twenty_pieces_is_as_good_as_the_whole(
    tmp_path: Path, method: str, *, learning: bool
) -> None:
    places = tmp_path / "pieces", tmp_path / "whole"
    pieces, whole = (create_bank(each, embedder="hashing", method=method) for each in places)
    for bank in (pieces, whole):
        learn(bank, OTHER[0])
    log = tmp_path / "session.jsonl"
    for lines in range(2, PIECES + 2):
        found = fed(pieces, log, lines)
        assert found.count("imported") == (lines == 2)
        assert found.count("grown") + found.count("duplicate") == (lines > 2)
        if lines == 2:
            give_outcome(pieces, pieces.episodes.ids()[-1], success=True)
        if learning:
            learnt(pieces)
    fed(whole, log, PIECES + 1)
    give_outcome(whole, whole.episodes.ids()[-1], success=True)
    for bank in (pieces, whole):
        learnt(bank)
        learn(bank, OTHER[1])
    assert contents(pieces) == contents(whole)
    assert fed(pieces, log, 9).count("duplicate") == 1
    assert contents(pieces) == contents(whole)
    assert not verify(pieces)
    compact(pieces)
    assert contents(pieces) == contents(whole)
    assert not verify(pieces)


def session(*actions: str, task: str = "1 0.2 0", **facts: Any) -> Trajectory:
    return Trajectory(
        task,
        steps=tuple(Step(each, "done") for each in actions),
        source=LogSource("s.jsonl", format="claude-code"),
        metadata={"id": "s1"},
        **facts,
    )


def test_of_two_texts_of_one_session_the_longer_counts(tmp_path: Path) -> None:
    short, long = (
        msgspec.structs.replace(each, source=LogSource("s.md", format="transcript"))
        for each in (session("a", task="as one wrote it"), session("x", "y"))
    )
    for number, order in enumerate(([short, long], [long, short])):
        bank = new_bank(tmp_path / f"bank{number}")
        for each in order:
            take_in(bank, [each])
        assert [len(each.steps) for each in waiting(bank)] == [2]
        both = new_bank(tmp_path / f"both{number}")
        take_in(both, order)
        assert [len(each.steps) for each in waiting(both)] == [2]


def test_what_others_were_built_on_stays(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, Trajectory("1 0 0", steps=(Step("root", ""),), outcome=USER))
    take_in(bank, [session("a", outcome=USER)])
    teach(bank, next(waiting(bank)))
    below = Trajectory("1 0.21 0", steps=(Step("below", ""),), outcome=USER)
    teach(bank, below)
    tree = bank.tree("task")
    root, mine, other = tree
    assert (mine.parent, other.parent) == (root.id, mine.id)
    for_all = UserOutcomes(otherwise=Outcome(success=False, source="user"))
    report = take_in(bank, [session("a", "b")], outcomes=for_all)
    assert report.count("grown") == 1
    tree = bank.tree("task")
    assert [*tree] == [root, mine, other]
    assert [each.outcome.success for each in waiting(bank)] == [True]


def test_receipts_of_earlier_records_count_once(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, Trajectory("1 0 0", steps=(Step("root", ""),), outcome=USER))
    (root,) = bank.tree("task")
    receipt = made("f" * 16, 1, [ShownNode("task", root.id)], "1 0 0", "")
    for actions in ("a", "ab", "abc"):
        take_in(bank, [session(*actions, outcome=USER, receipts=(receipt,))])
    assert node_credit(bank, "task", root.id).shown == 1


def test_an_older_copy_brings_no_earlier_record_back(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    take_in(bank, [session("a", outcome=USER)])
    teach(bank, next(waiting(bank)))
    older = copy_bank(bank, tmp_path / "older")
    take_in(bank, [session("a", "b")])
    ids = bank.episodes.ids()
    for first, second in ((bank, older), (older, bank)):
        merge_into(first, lambda one=first, two=second: MergePlan([one, two]))  # type: ignore[misc]
        assert first.episodes.ids() == ids
        assert not [*first.tree("task")]


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (session("a"), session("a", "b"), True),
        (session("a"), session("b", "a"), False),
        (session("a", "b"), session("a"), False),
        (session("a", task="0 1 0"), session("a", "b"), False),
        (session("a", outcome=Outcome(False, 0.0, "stated")), session("a", "b"), False),
    ],
)
def test_what_an_earlier_record_is(
    earlier: Trajectory, later: Trajectory, *, expected: bool
) -> None:
    assert is_earlier(earlier, later) is expected


def test_a_session_that_specstory_wrote_twice_is_one_episode(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    folder = tmp_path / "history"
    folder.mkdir()
    for version, call in enumerate(("**Input:**\n\n- path: `a.py`\n", "`a.py`\n")):
        (folder / f"{version}.md").write_text(
            "<!-- Generated by SpecStory -->\n\n<!-- vscode Session s-1 (2026-01-01 00:00Z) -->\n\n"
            "_**User**_\n\nLook at it\n\n_**Agent**_\n\n"
            '<tool-use data-tool-type="read" data-tool-name="read_file"><details>\n'
            f"<summary>Tool use: **read_file**</summary>\n\n{call}\n</details></tool-use>\n"
        )
    import_of(bank, [str(folder)]).run()
    assert [each.task for each in episodes(bank)] == ["Look at it"]
