"""`deltamem model prompts`: seen, checked, handed out, and overruled file by file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.memory.methods import prompt_uses
from deltamem_tui.memory.prompts import library as prompts
from tests.cli.support import Program
from tests.places import PROMPTS

OWN = """+++
purpose = "Mine"
inputs = ["task"]
output = { reasons = 9, solved = 1 }
+++
Judge {{ task }}, with reasons, as solved or not.
"""


def own(program: Program, text: str = OWN, name: str = "generic/judge.md") -> Path:
    path = program.folder / "mine" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def is_own(listed: dict[str, Any]) -> bool:
    """Whether a domain has a prompt of its own, and not one that it shares with all."""
    return bool(listed["file"].startswith(f"{listed['domain']}/"))


def test_all_prompts_are_listed_with_their_digests(empty: Program) -> None:
    listed = empty.json("prompts").data["prompts"]
    names = {each["prompt"] for each in listed}
    domains = ("alfworld", "generic", "scienceworld", "webshop")
    assert names == set(prompt_uses())
    assert [(each["domain"], each["prompt"]) for each in listed] == [
        (domain, name) for domain in domains for name in sorted(names)
    ]
    own_files = {(each["domain"], each["prompt"]) for each in listed if is_own(each)}
    assert own_files == set(prompts.listing([PROMPTS]))
    for each in listed:
        assert is_own(each) or each["file"] == f"generic/{each['prompt']}.md"
    assert {each["from"] for each in listed} == {"shipped"}
    found = prompts.find("webshop", "env_root", [PROMPTS])
    (record,) = [
        each for each in listed if (each["domain"], each["prompt"]) == ("webshop", "env_root")
    ]
    assert record["digest"] == prompts.digest(found, [PROMPTS])
    assert record["purpose"] == found.purpose
    assert empty("prompts", "list").out.count("\n") == len(listed) + 1


@pytest.mark.parametrize("way", ["flag", "setting", "variable"])
def test_a_users_file_overrules_a_single_one(
    program: Program, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    own(program)
    flag: tuple[str, ...] = ()
    if way == "flag":
        flag = ("--prompts", "mine")
    elif way == "setting":
        settings = program.folder / "deltamem.toml"
        settings.write_text('prompts = "mine"\n')
        monkeypatch.setenv("DELTAMEM_CONFIG", str(settings))
    else:
        monkeypatch.setenv("DELTAMEM_PROMPTS", "mine")
    listed = program.json("prompts", *flag).data["prompts"]
    overruled = {(each["file"], each["prompt"]) for each in listed if each["from"] != "shipped"}
    assert overruled == {("generic/judge.md", "judge")}
    assert "Judge {{ task }}" in program("prompts", "show", "judge", *flag).out
    assert "Judge <record" in program("prompts", "show", "judge", "--render", "kitchen", *flag).out


def test_show_gives_the_source_as_it_is(empty: Program) -> None:
    answer = empty("prompts", "show", "judge", "--domain", "garden")
    assert answer.out == (PROMPTS / "generic/judge.md").read_text().rstrip("\n") + "\n"
    assert "_episode.md" in empty("prompts", "show", "env_root").err
    assert "no prompt 'jugde'" in empty("prompts", "show", "jugde").error


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("judge", "some potato"),
        ("task_root_success", "some apple"),
        ("task_root_failure", "sweep the floor"),
        ("task_residual_success", "### Base skill"),
        ("task_residual_failure", "### Base skill"),
        ("env_root", "some apple"),
        ("env_residual", "### Base knowledge"),
        ("task_consolidation", "### Base skill"),
        ("environment", "You are in a kitchen."),
        ("memory_header", "Learnt from past tasks"),
    ],
)
def test_each_prompt_is_rendered_with_an_episode_it_is_for(
    program: Program, name: str, words: str
) -> None:
    answer = program("prompts", "show", name, "--render", "kitchen")
    assert answer.code == 0
    assert words in answer.out
    assert "+++" not in answer.out
    assert "{{" not in answer.out
    assert "nothing was sent" in answer.err


def test_an_episode_can_be_chosen(program: Program) -> None:
    (record,) = [
        each
        for each in program.json("import", "kitchen", program.log(), "--dry-run").data["files"]
        if each["duplicates"]
    ]
    assert record["duplicates"] == 4
    from deltamem_tui.bank.bank import Bank

    first, second, *_ = Bank.open(program.bank).episodes.ids()
    call = ("prompts", "show", "judge", "--render", "kitchen", "--episode")
    assert "some apple" in program(*call, first[:6]).out
    assert "some egg" in program(*call, second).out
    assert "no episode has the id 'zz'" in program(*call, "zz").error


def test_sound_files_pass_the_check(empty: Program) -> None:
    answer = empty("prompts", "check")
    assert answer.code == 0
    total = len(list(PROMPTS.rglob("*.md")))
    assert answer.err == f"{total} of {total} files are sound\n"
    own(empty)
    assert empty.json("prompts", "check", "mine").data["checked"] == 1
    assert empty.json("prompts", "check", "--prompts", "mine").data["checked"] == total + 1


def test_exported_files_are_the_shipped_ones(empty: Program) -> None:
    answer = empty.json("prompts", "export", "mine")
    assert answer.code == 0
    written = [Path(path) for path in answer.data["written"]]
    assert len(written) == len(list(PROMPTS.rglob("*.md")))
    for path in written:
        assert path.read_bytes() == (PROMPTS / path.relative_to("mine")).read_bytes()
    again = empty.json("prompts", "export", "mine").data
    assert (len(again["written"]), len(again["same"])) == (0, len(written))


def test_export_never_writes_over_an_edit_unasked(empty: Program) -> None:
    path = own(empty)
    answer = empty("prompts", "export", "mine")
    assert answer.code == 2
    assert "is there already with another text" in answer.error
    assert path.read_text() == OWN
    assert list((empty.folder / "mine").rglob("*.md")) == [path]
    assert empty("prompts", "export", "mine", "--replace").code == 0
    assert path.read_bytes() == (PROMPTS / "generic/judge.md").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "nowhere"), "nowhere: there is no such folder"),
        (("--prompts", "nowhere"), "nowhere, --prompts: there is no folder of prompts here"),
    ],
)
def test_a_wrong_call_is_one_line(empty: Program, words: tuple[str, ...], said: str) -> None:
    answer = empty("prompts", *words)
    assert answer.code == 2
    assert said in answer.error
