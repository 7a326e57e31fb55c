"""`deltamem episode formats`, the guide to importing logs, and the page on declared formats."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from benchmarks import formats_table
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.readers.registry import READERS
from tests.cli.support import Program, heat, state_of
from tests.places import DOCS
from tests.trajectory.readers.samples import first_logs

GUIDE = (DOCS / "readers.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = dict(BLOCK.findall((DOCS / "formats.md").read_text()))


def test_all_formats_are_listed(program: Program) -> None:
    listed = program.json("formats").data["formats"]
    assert [(each["name"], each["description"]) for each in listed] == [
        (reader.name, reader.description) for reader in READERS
    ]
    plain = program("formats")
    assert plain.code == 0
    assert f"native\t{READERS[0].description}\n" in plain.out


def test_what_each_reader_makes_of_a_log(program: Program) -> None:
    log = program.log(heat("bread"), heat("soup") | {"task": " "})
    before = state_of(program.bank)
    answer = program.json("formats", "try", log)
    assert answer.code == 0
    (found,) = answer.data["logs"]
    assert (found["source"], found["format"]) == ("log.jsonl", "native")
    native = found["trials"][0]
    assert 0 < native.pop("sureness") < 1
    assert native == {
        "format": "native",
        "episodes": 1,
        "steps": 4,
        "successes": 1,
        "failures": 0,
        "unknown": 0,
        "reasons": {"total": 0, "listed": {}},
        "rejected": 1,
        "first_task": heat("bread")["task"],
        "first_rejection": {"message": "the episode has no task", "position": "line 2"},
    }
    plain = program("formats", "try", log)
    assert plain.out.startswith("file\t\tformat\tsure\tepisodes\tsteps\tsuccesses\tfailures\t")
    assert "log.jsonl\t→\tnative\t0.90\t1\t4\t1\t0\t0\t1\tYour task is to" in plain.out
    assert state_of(program.bank) == before


def test_no_secret_of_a_log_is_shown(program: Program) -> None:
    key = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5"
    refused = heat("soup") | {"metadata": {key: 1}}
    path = program.log(heat("bread") | {"task": f"my key {key}"}, refused, {key: 1})
    for words in (("formats", "try", path), ("import", "kitchen", path, "--dry-run")):
        for answer in (program(*words), program.json(*words)):
            assert key[:8] not in answer.out + answer.err
            assert "github token" in answer.out + answer.err


def test_a_log_that_no_reader_knows_or_that_cannot_be_opened(program: Program) -> None:
    (program.folder / "notes.md").write_text("buy bread")
    (program.folder / "empty.json").write_text("")
    for name, words in (("notes.md", "no reader knows"), ("empty.json", "the file is empty")):
        answer = program("formats", "try", name)
        assert answer.code == 1
        assert words in answer.error
    (program.folder / "logs").mkdir()
    (program.folder / "logs/lost.jsonl").symlink_to("gone")
    answer = program("formats", "try", "logs")
    assert answer.error == "lost.jsonl: cannot be read: No such file or directory"
    both = program.json("formats", "try", "notes.md", program.log())
    assert both.code == 3
    assert [each["format"] for each in both.data["logs"]] == [None, "native"]
    assert both.data["logs"][0]["trials"] == []


def test_the_commands_of_the_guide_work_in_their_order(program: Program) -> None:
    folder = program.folder / "home" / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    (folder / "session.jsonl").write_bytes(first_logs()["claude-code"][1])
    (program.folder / "outcomes.csv").write_text("id,success\ns1,true\n")
    commands = [
        line for kind, text in BLOCK.findall(GUIDE) if kind == "sh" for line in text.splitlines()
    ]
    assert len(commands) > 5
    for command in commands:
        answer = program.json(*command.replace("~", str(program.folder / "home")).split()[1:])
        assert answer.code == 0, answer.out
    bank = Bank.open(program.bank.with_name("work"))
    assert [each.outcome.success for each in episodes(bank)] == [True]


def test_the_guide_is_short() -> None:
    assert len(GUIDE.split()) <= 1500


def test_the_declared_format_of_the_guide_reads_its_log(program: Program) -> None:
    (program.folder / "runs.jsonl").write_text(BLOCKS["json"])
    (program.folder / "my-harness.toml").write_text(BLOCKS["toml"])
    for command in BLOCKS["sh"].replace("household", "kitchen").splitlines():
        answer = program.json(*command.split()[1:])
        assert answer.code == 0, answer.out
    assert list(episodes(Bank.open(program.bank)))[-1] == Trajectory(
        task="get out of the cellar",
        environment="A cellar with a door.",
        steps=(
            Step("light lamp", "You see a door.", "It is dark."),
            Step("open door", "You are outside."),
        ),
        outcome=Outcome(True, 1.0, "stated"),
        source=LogSource("runs.jsonl", "line 1", "my-harness"),
        metadata={"id": "r-17"},
    )


def test_the_module_of_the_guide_is_a_reader(tmp_path: Path) -> None:
    module, path = tmp_path / "moves.py", tmp_path / "log.jsonl"
    module.write_text(BLOCKS["python"])
    game = {"goal": "win", "moves": [["e4", "e5"], ["Qh5", "Nc6"]], "won": False}
    path.write_text(f"{json.dumps(game)}\n{json.dumps({'goal': 'win'})}\n")
    reader = runpy.run_path(str(module))["READER"]
    log = Log("log.jsonl", path)
    assert reader.claims(log.preview()) == pytest.approx(0.45)
    episode, refused = read_log(log, reader)
    assert isinstance(episode, Trajectory)
    assert episode.steps == (Step("e4", "e5"), Step("Qh5", "Nc6"))
    assert episode.outcome == Outcome(success=False, source="stated")
    assert str(refused) == "log.jsonl, line 2: no goal or no moves"


def test_the_table_of_what_becomes_of_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.jsonl").write_text(json.dumps(heat("bread")) + '\n{"task": "cut\n')
    (tmp_path / "notes.md").write_text("buy bread")
    assert formats_table.main(tmp_path) == 0
    said = capsys.readouterr()
    rows = [line.split("\t") for line in said.out.splitlines()]
    assert rows[-2][:9] == ["good.jsonl", "native", "1", "4", "1", "0", "0", "0", "1"]
    assert rows[-2][9] == "line 2: JSON that ends in the middle of a value"
    assert rows[-1] == ["notes.md", "", *["0"] * 7, "no reader knows this format"]
    assert said.err == "1 of 2 logs read; the others say why not\n"
    assert formats_table.main(tmp_path / "none") == 0
    assert "no logs to read" in capsys.readouterr().err
