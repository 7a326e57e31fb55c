"""A bank leaves one project and arrives in another, as a person does it."""

from __future__ import annotations

import shutil
import socket

import pytest

from deltamem_tui import open_bank, recall
from deltamem_tui.bank.bank import Bank
from tests.bank.forging import forged, unpacked
from tests.cli.support import RECORDS, Program, state_of

READING = (
    ("info",),
    ("tree",),
    ("search", "heat an egg"),
    ("recall", "heat some egg"),
    ("verify",),
    ("parameters",),
)
WRITING = (
    ("freeze",),
    ("unfreeze",),
    ("parameters", "task.tau_base=0.6"),
    ("import", "log.jsonl"),
    ("extract", "--extractor", "rules"),
    ("consolidate", "--extractor", "rules"),
)


def exported(program: Program, *more: str) -> dict[str, object]:
    data = program.json("export", "kitchen", *more).data
    assert isinstance(data, dict)
    return data


def test_export_says_what_was_written(program: Program) -> None:
    answer = program("export", "kitchen", "--builder", "Ada")
    assert answer.code == 0
    path = program.folder / "kitchen.deltamem"
    assert path.stat().st_size == int(answer.out.split("bytes\t")[1].split("\n")[0])
    assert "install it with `deltamem bank install kitchen.deltamem --digest sha256:" in answer.err
    assert "already" in program("export", "kitchen").error
    data = exported(program, "--replace", "--builder", "Ada")
    assert str(data["digest"]) in answer.out
    assert data["secrets"] == []
    assert data["contents"] == {"episodes": 3, "extractors": ["rules"], "models": []}


def test_episodes_and_journal_only_on_request(program: Program) -> None:
    members = {
        flags: set(exported(program, "--replace", *flags)["members"])  # type: ignore[call-overload]
        for flags in [(), ("--episodes",), ("--episodes", "--journal")]
    }
    assert not any("traj" in name or "journal" in name for name in members[()])
    assert "trajectories.jsonl" in members["--episodes",]
    assert program("export", "kitchen", "--journal").error.endswith("(add --episodes)")
    assert members["--episodes", "--journal"] - members["--episodes",] == {"journal.jsonl"}
    answer = program("export", "kitchen", "--replace", "--episodes")
    assert "e-mail addresses and home folders" in answer.err
    assert "e-mail" not in program("export", "kitchen", "--replace").err


def test_every_reading_command_reads_an_archive(program: Program) -> None:
    exported(program)
    for command, *rest in READING:
        folder = program(command, "kitchen", *rest)
        archive = program(command, "kitchen.deltamem", *rest)
        assert archive.code == folder.code == 0, archive.err
        if command not in {"verify", "info"}:
            assert archive.out == folder.out
    node = program.json("tree", "./kitchen.deltamem").data["nodes"][0]["id"]
    for command in ("show", "chain"):
        assert program(command, "kitchen.deltamem", node).out
    assert "is sound" in program("verify", "kitchen.deltamem").err


def test_no_writing_command_writes_an_archive(program: Program) -> None:
    exported(program)
    program.log()
    path = program.folder / "kitchen.deltamem"
    before = path.read_bytes()
    for command, *rest in WRITING:
        answer = program(command, "kitchen.deltamem", *rest)
        assert answer.code == 1
        assert "an archive" in answer.error
    assert path.read_bytes() == before


def test_install_says_who_made_it_and_what_is_in_it(program: Program) -> None:
    digest = exported(program, "--builder", "Ada \x1b[31mLovelace")["digest"]
    answer = program("install", "kitchen.deltamem", "--name", "copy", "--digest", str(digest))
    assert answer.code == 0
    assert "\x1b" not in answer.out + answer.err
    facts = dict(line.split("\t", 1) for line in answer.out.splitlines())
    assert facts["builder"] == "Ada Lovelace"
    assert (facts["extractors"], facts["embedder"], facts["learnt_from"]) == (
        "rules",
        "hashing",
        "3",
    )
    assert "copy is installed, and frozen" in answer.err
    assert program("verify", "copy").code == 0


def test_install_writes_over_nothing_by_itself(program: Program) -> None:
    exported(program)
    before = state_of(program.bank)
    answer = program("install", "kitchen.deltamem")
    assert answer.code == 1
    assert "--replace" in answer.error
    assert state_of(program.bank) == before
    assert program("install", "kitchen.deltamem", "--replace").code == 0
    assert Bank.open(program.bank).frozen


def test_a_strangers_name_is_no_path(program: Program) -> None:
    exported(program)
    files = unpacked(program.folder / "kitchen.deltamem")
    files["bank.json"] = files["bank.json"].replace(b'"kitchen"', b'"../../escaped"')
    forged(program.folder / "x.deltamem", files)
    answer = program("install", "x.deltamem")
    assert answer.code == 2
    assert "--name" in answer.error
    assert exported(program, "--replace")["file"] == "kitchen.deltamem"
    assert program("install", "x.deltamem", "--name", "tame").code == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nowhere.deltamem",), "nothing is here"),
        (("log.txt",), "not an archive"),
        (("kitchen.deltamem", "--digest", "sha256:12"), "not a digest"),
        (("kitchen.deltamem", "--name", "copy", "--digest", "sha256:" + "0" * 64), "pinned"),
        *(
            (("kitchen.deltamem", "--name", name), "name")
            for name in ("a/../.b", "a/b", "../up", "/tmp/x", "")
        ),
    ],
)
def test_what_cannot_be_installed_is_said_in_one_line(
    program: Program, arguments: tuple[str, ...], reason: str
) -> None:
    exported(program)
    (program.folder / "log.txt").write_text("hello")
    before = sorted(program.folder.rglob("*"))
    assert reason in program("install", *arguments).error
    assert sorted(program.folder.rglob("*")) == before


@pytest.mark.parametrize("form", ["archive", "agents-md"])
@pytest.mark.parametrize("place", ["", "task.nodes.jsonl", "bank.json", "new.deltamem"])
def test_nothing_is_written_among_a_banks_files(program: Program, form: str, place: str) -> None:
    before = state_of(program.bank)
    answer = program(
        "export", "kitchen", "--as", form, "-o", str(program.bank / place), "--replace"
    )
    assert answer.code == 2
    assert "a bank's folder" in answer.error
    assert state_of(program.bank) == before


def test_only_an_export_is_written_over(program: Program) -> None:
    thesis = program.folder / "thesis.txt"
    thesis.write_text("years of work")
    answer = program("export", "kitchen", "-o", str(thesis), "--replace")
    assert "not an export" in answer.error
    assert thesis.read_text() == "years of work"
    assert program("export", "kitchen").code == 0
    assert program("export", "kitchen", "--replace").code == 0


def test_a_bank_arrives_in_another_project_without_a_network(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = str(RECORDS[1]["task"])
    expected = recall(open_bank(program.bank), task).context
    digest = str(exported(program, "--builder", "Ada")["digest"])
    shutil.rmtree(program.bank)

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    installed = program.json("install", "kitchen.deltamem", "--digest", digest).data
    assert installed["pinned"] is True
    assert recall(open_bank("kitchen"), task).context == expected
    assert "microwave" in expected
