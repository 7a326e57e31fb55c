"""Every bad input gets one clear line and the right exit code, and leaves everything as it was."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.cli import app
from deltamem_tui.cli.output import Output
from deltamem_tui.memory.deltamem.rules import Payload
from tests.cli.support import RECORDS, Answer, Program, heat, state_of

TASK = str(RECORDS[0]["task"])
IMPORT = ("import", "kitchen", "log.jsonl")
EXTRACT = ("extract", "kitchen", "--extractor", "rules")
RECALL = ("recall", "kitchen", TASK)


def refused(program: Program, *call: str, code: int = 1) -> str:
    """The one line of an error, which `--json` tells too, with every file left as it was."""
    before = state_of(program.bank) if program.bank.is_dir() else {}
    answer = program(*call)
    assert answer.code == code, answer
    assert answer.out == ""
    told = program.json(*call)
    assert told.code == code
    document = told.document
    assert (document["status"], document["data"]) == ("error", None)
    (error,) = document["errors"]
    assert error["message"] in answer.error
    assert (state_of(program.bank) if program.bank.is_dir() else {}) == before
    return answer.error


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("recall", "kitchen", ""), "the task is empty"),
        (("recall", "kitchen", " \n"), "the task is empty"),
        (("search", "kitchen", ""), "the text is empty"),
        (("tree", "kitchen", "--tree", "wood"), "there is no tree 'wood'"),
        (("tree", "kitchen", "--depth", "0"), "0 is not in the range"),
        (("extract", "kitchen"), "no model was named"),
        (("extract", "kitchen", "--extractor", "magic"), "no extractor 'magic'"),
        (("extract", "kitchen", "--extractor", "rules", "--limit", "-1"), "not in the range"),
        (("parameters", "kitchen", "task.tau_base=2"), "tau_base must be a number from -1 to 1"),
        (("parameters", "kitchen", "task.d_max=1"), "d_max must be a whole number"),
        (("parameters", "kitchen", "tau=1"), "there is no parameter"),
        (("export", "kitchen", "--as", "parchment"), "parchment"),
        (("recall", "kitchen"), "missing argument"),
        (("info", "~nouser/bank"), "there is no such user"),
        (("import", "kitchen"), "missing argument"),
        (("import", "kitchen", "log.jsonl", "--success-at", "0"), "success is at a reward"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    program: Program, call: tuple[str, ...], reason: str
) -> None:
    program.log()
    assert reason.lower() in refused(program, *call, code=2).lower()


def rewrite(program: Program, name: str, changed: list[bytes]) -> None:
    """Put other lines into a bank that is shipped without its journal and index."""
    (program.bank / name).write_bytes(b"".join(changed))
    for path in [program.bank / "journal.jsonl", *program.bank.glob("*.index.npy")]:
        path.unlink()


def test_a_broken_tree(program: Program) -> None:
    found = (program.bank / "task.nodes.jsonl").read_bytes().splitlines(keepends=True)
    rewrite(program, "task.nodes.jsonl", [found[0], b"{broken\n", *found[2:]])
    assert "task.nodes.jsonl, line 2: not a node" in refused(program, *RECALL)
    before = state_of(program.bank)
    answer = program.json("verify", "kitchen")
    assert answer.code == 1
    document = answer.document
    assert document["status"] == "error"
    assert document["data"] is None or document["data"]["sound"] is False
    assert document["errors"]
    assert state_of(program.bank) == before


@pytest.mark.parametrize(
    "call",
    [
        IMPORT,
        (*IMPORT, "--dry-run"),
        EXTRACT,
        ("parameters", "kitchen", "task.d_max=9"),
        ("freeze", "kitchen"),
        ("compact", "kitchen"),
        ("reembed", "kitchen", "--embedder", "hashing"),
    ],
)
def test_a_frozen_bank(program: Program, call: tuple[str, ...]) -> None:
    program.log(heat("bread"))
    program("freeze", "kitchen")
    assert "`deltamem bank unfreeze`" in refused(program, *call)
    assert program("verify", "kitchen").code == 0


HOSTILE = (
    "[/x] [red]walk[/red] \x1b[2J\x1b]52;c;cGF5bG9hZA==\x07\x9b31m\u202egnirts\u2066 \x08\x00end"
)
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def hostile(program: Program) -> Program:
    """A bank as a stranger may have written it, past every check of ours on the way in."""
    bank = Bank.open(program.bank)
    node = born("task", None, "success", Payload(HOSTILE, HOSTILE, HOSTILE), Origin(HOSTILE))
    vector = np.zeros(2048, dtype=np.float32)
    vector[:4] = 0.5
    with bank.writing() as batch:
        batch.add_node("task", node, vector)
        batch.log(HOSTILE, {"why": HOSTILE})
    hostile = replace(bank.manifest, description=HOSTILE, provenance={HOSTILE: HOSTILE})
    bank.change_manifest("edit", lambda _: (hostile, {}))
    return program


def hostile_calls(program: Program) -> list[tuple[str, ...]]:
    last = list(Bank.open(program.bank).tree("task"))[-1].id
    return [
        ("list",),
        ("info", "kitchen"),
        ("tree", "kitchen"),
        ("show", "kitchen", last),
        ("chain", "kitchen", last),
        ("search", "kitchen", "walk"),
        ("recall", "kitchen", HOSTILE, "--env", HOSTILE, "--explain"),
        ("show", "kitchen", HOSTILE),
        ("info", HOSTILE),
        ("parameters", "kitchen", HOSTILE),
        ("tree", "kitchen", "--tree", HOSTILE),
        ("extract", "kitchen", "--extractor", HOSTILE),
        ("import", "kitchen", "log.jsonl", "--format", HOSTILE),
        ("import", "kitchen", HOSTILE),
        ("import", "kitchen", "log.jsonl", "--outcome", HOSTILE),
        ("init", "new", "--embedder", HOSTILE),
        ("init", HOSTILE, "--embedder", "hashing"),
        (HOSTILE,),
        ("info", f"--{HOSTILE}"),
    ]


def test_hostile_text_acts_on_no_terminal_and_becomes_no_markup(
    hostile: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.log()
    monkeypatch.setenv("TERM", "dumb")  # draws without colours, so that any escape is theirs
    for call in hostile_calls(hostile):
        plain: Answer = hostile(*call)
        told = hostile.json(*call)
        assert plain.code == told.code
        stdout, stderr = Terminal(), Terminal()
        assert app.run(call, Output(stdout=stdout, stderr=stderr)) == plain.code
        for text in (
            plain.out,
            plain.err,
            told.out,
            told.err,
            stdout.getvalue(),
            stderr.getvalue(),
        ):
            assert not ACTING.search(text), (call, text)
            assert "defect of this program" not in text, (call, text)
        json.loads(told.out)
        assert not ACTING.search(json.dumps(json.loads(told.out), ensure_ascii=False)), call
    shown = hostile("show", "kitchen", hostile_calls(hostile)[3][2]).out
    assert shown.count("[/x] [red]walk[/red] ") == 4
    tree = hostile("tree", "kitchen").out
    assert "[/x] [red]walk[/red]" in tree
