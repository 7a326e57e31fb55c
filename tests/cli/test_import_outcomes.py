"""`deltamem import --outcome`: who says how episodes ended, and whose word counts."""

from __future__ import annotations

from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from tests.bank.support import file_bytes
from tests.cli.support import Program, heat


def unsaid(thing: str) -> dict[str, Any]:
    return heat(thing, success=None)


def test_a_correction_of_an_outcome_is_taken_and_told(program: Program) -> None:
    log = program.log(unsaid("soup") | {"id": "s-1"})
    program("import", "kitchen", log, "--outcome", "success")
    (program.folder / "said.json").write_text('{"s-1": false}')
    answer = program("import", "kitchen", log, "--outcome", "said.json")
    assert answer.code == 0
    assert "1 outcome was changed" in answer.err
    (found,) = (each for each in episodes(Bank.open(program.bank)) if "soup" in each.task)
    assert found.outcome.success is False
    for _ in range(2):
        said = program("import", "kitchen", log, "--outcome", "success")
        assert "1 episode keeps what its log or a person said, not what success says" in said.err
        assert "keeps" not in program("import", "kitchen", log).err
        program("extract", "kitchen", "--extractor", "rules")
    (program.folder / "said.json").write_text('{"s-1": true}')
    late = program("import", "kitchen", log, "--outcome", "said.json")
    assert late.code == 1
    assert "log.jsonl, line 1: was learnt from as a failure" in late.err


def test_an_import_of_which_nothing_came_in_is_an_error_and_names_the_reader(
    program: Program,
) -> None:
    log = program.folder / "chats.jsonl"
    line = '{"messages": [{"role": "assistant", "content": "%s"}]}\n'
    log.write_text(line % "Hello." + line % "Hi.")
    answer = program.json("import", "kitchen", str(log))
    assert answer.code == 1
    assert answer.document["status"] == "error"
    row = answer.data
    assert (row["formats"], row["episodes"], row["rejected"]) == (["chat"], 0, 2)


NO_LISTS = {
    "ids of others": "other\nyet another\n",
    "json": '["other"]',
    "report": '{"resolved_ids": ["other"]}',
    "page": "<html>\n<h1>404 Not Found</h1>\n</html>\n",
    "prose": "All of them went well.\n",
}


@pytest.mark.parametrize("text", NO_LISTS.values(), ids=NO_LISTS)
@pytest.mark.parametrize("dry", [True, False])
def test_what_names_no_episode_is_no_list_of_those_that_were_resolved(
    program: Program, text: str, dry: bool
) -> None:
    log = program.log(unsaid("soup") | {"id": "r-1"}, unsaid("tea") | {"id": "r-2"})
    (program.folder / "said").write_text(text)
    before = file_bytes(program.bank)
    call = ("import", "kitchen", log, "--outcome", "said", *(["--dry-run"] if dry else []))
    answer = program(*call)
    assert answer.code in (1, 2)
    assert answer.err.startswith("error: said: ")
    assert answer.err.count("\n") == 1
    assert file_bytes(program.bank) == before


def test_what_a_log_states_stands_against_a_file_and_that_is_said(program: Program) -> None:
    records = [heat("soup", success=False) | {"id": "s-1"}, heat("tea") | {"id": "s-2"}]
    log = program.log(*records)
    (program.folder / "ov.json").write_text('{"s-1": true, "s-2": true}')
    call = ("import", "kitchen", log, "--outcome", "ov.json")
    answer = program(*call)
    assert answer.code == 0
    assert "1 episode keeps what its log or a person said, not what ov.json says\n" in answer.err
    again = program.json(*call)
    assert again.code == 0
    (soup,) = (each for each in episodes(Bank.open(program.bank)) if "soup" in each.task)
    assert soup.outcome.success is False
    assert again.data["disputed"] == [soup.id]
    assert program.json("import", "kitchen", log).data["disputed"] == []


def test_why_outcomes_are_unknown_is_told(program: Program) -> None:
    chat = [{"role": "user", "content": "Heat it."}, {"role": "assistant", "content": "I do."}]
    rows = [
        {"messages": [*chat, {"role": "assistant", "content": f"{n}."}], "success": said}
        for n, said in enumerate(["maybe"] * 2 + [f"perhaps {n}" for n in range(6)] + [True])
    ]
    path = program.log(*rows)
    answer = program.json("import", "kitchen", path, "--dry-run")
    maybe = "`success` says maybe, neither a verdict nor a reward"
    assert answer.data["unknown"]["total"] == 8
    assert answer.data["unknown"]["listed"][maybe] == 2
    assert [each["reason"] for each in answer.data["trajectories"]][1::7] == [maybe, None]
    said = program("import", "kitchen", path).err
    assert f"2 outcomes are unknown: {maybe}\n" in said
    assert "2 more outcomes are unknown, for other reasons\n" in said
    again = program.json("import", "kitchen", path)
    assert again.data["unknown"] == {"total": 0, "listed": {}}
