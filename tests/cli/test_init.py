"""`deltamem init`: a domain of one's own is fine, a misspelt one is not."""

from __future__ import annotations

import json

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.episodes.outcomes import verdicts_on, with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.settings import to_record
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import to_line
from tests.cli.support import Program


@pytest.mark.parametrize("typed", ["alfwrold", "scienceworlds", "web-shop", "genric"])
def test_a_near_miss_names_the_domain_that_was_meant(empty: Program, typed: str) -> None:
    answer = empty("init", "new", "--embedder", "hashing", "--domain", typed)
    assert answer.code == 2
    assert "did you mean" in answer.error
    assert not (empty.folder / "memory_banks" / "new").exists()


def test_a_domain_without_a_preset_is_taken(empty: Program) -> None:
    data = empty.json("init", "other", "--embedder", "hashing", "--domain", "go").data
    assert data["domain"] == "go"
    assert data["parameters"] == to_record(Parameters.preset("generic", "hashing"))


def test_logs_of_a_game_choose_its_domain(empty: Program) -> None:
    def log(name: str, *domains: str) -> str:
        steps = [{"action": "look", "observation": "a room"}]
        records = [
            {"task": f"task {number}", "domain": domain, "steps": steps}
            for number, domain in enumerate(domains)
        ]
        path = empty.folder / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return str(path)

    games = log("games.jsonl", "ALFWorld", "alfworld", "shop")
    answer = empty("init", "games", "--embedder", "hashing", "--for", games)
    assert "2 of 3 episodes looked at are of alfworld" in answer.err
    made = empty.json("init", "work", "--embedder", "hashing", "--for", log("work.jsonl", "shop"))
    assert made.data["domain"] == "generic"
    own = empty.json("init", "own", "--embedder", "hashing", "--for", games, "--domain", "webshop")
    assert own.data["domain"] == "webshop"
    (empty.folder / "notes.jsonl").write_text("not a log\n")
    bad = empty("init", "bad", "--for", str(empty.folder / "notes.jsonl"))
    assert bad.code != 0
    assert not (empty.folder / "memory_banks" / "bad").exists()


@pytest.mark.parametrize("domain", ["../../../etc", "a/b", "Bad Dom/ain"])
def test_a_domain_that_could_be_more_than_a_name_is_refused(empty: Program, domain: str) -> None:
    answer = empty("init", "new", "--embedder", "hashing", "--domain", domain)
    assert answer.code == 2
    assert "cannot be the name of a domain" in answer.error
    assert list((empty.folder / "memory_banks").iterdir()) == []


def test_the_episodes_of_a_bank_are_taken_over_as_they_are(program: Program) -> None:
    bank = Bank.open(program.bank)
    ids = bank.episodes.ids()
    first = next(episodes(bank))
    judged = with_verdict(first, Outcome(False, source="judge", reason="it looked wrong"))
    judged = judged.with_facts(metadata={**judged.metadata, "task_kind": "heat something"})
    with bank.writing() as changes:
        changes.put_episode_lines({first.id: to_line(judged)})
        changes.log("import")

    answer = program.json("init", "other", "--episodes-from", "kitchen")
    assert answer.data["episodes"] == len(ids)
    assert answer.data["embedder"]["model"] == "hashing"
    other = Bank.open(program.folder / "memory_banks" / "other")
    assert other.episodes.ids() == other.episodes.waiting() == ids
    found = next(episodes(other))
    assert found == judged
    assert {each.source for each in verdicts_on(found)} == {first.outcome.source, "judge"}
    assert program("verify", "other").code == 0

    again = program("init", "third", "--episodes-from", "other", "--domain", "webshop")
    assert again.code == 0
    third = Bank.open(program.folder / "memory_banks" / "third")
    assert third.manifest.domain == "webshop"
    assert {each.domain for each in episodes(third)} == {"webshop"}  # as an import would
    assert [each.with_facts(domain="") for each in episodes(third)] == [*episodes(other)]


def test_methods_are_listed_by_what_they_keep(empty: Program) -> None:
    found = {each["name"]: each["title"] for each in empty.json("methods").data["methods"]}
    assert all(found.values())
    for name in found:
        assert empty("init", name, "--embedder", "hashing", "--method", name).code == 0
