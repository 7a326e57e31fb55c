"""Prompts are seen, checked, handed out and overruled file by file; kept answers are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Reply
from deltamem_tui.memory.method import prompt_uses
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


def test_all_prompts_are_listed_with_their_digests(empty: Program) -> None:
    listed = empty.json("prompts").data["prompts"]
    assert {each["prompt"] for each in listed} == set(prompt_uses())
    files = [(each["domain"], each["prompt"]) for each in listed]
    assert files == prompts.listing([PROMPTS])
    assert {each["from"] for each in listed} == {"shipped"}
    found = prompts.find("webshop", "env_root", [PROMPTS])
    (record,) = [listed[files.index(("webshop", "env_root"))]]
    of_webshop = empty.json("prompts", "--domain", "WebShop").data["prompts"]
    assert {each["domain"] for each in of_webshop} == {"webshop", "generic"}
    assert record["digest"] == found.digest
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


def test_show_gives_the_source_as_it_is(empty: Program) -> None:
    answer = empty("prompts", "show", "judge", "--domain", "garden")
    assert answer.out == (PROMPTS / "generic/judge.md").read_text().rstrip("\n") + "\n"
    assert "_episode.md" in empty("prompts", "show", "env_root").err
    assert "no prompt 'jugde'" in empty("prompts", "show", "jugde").error


def test_sound_files_pass_the_check(empty: Program) -> None:
    answer = empty("prompts", "check")
    assert answer.code == 0
    total = len(list(PROMPTS.rglob("*.md")))
    assert answer.err == f"{total} of {total} files are sound\n"
    own(empty)
    assert empty.json("prompts", "check", "mine").data["checked"] == 1


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
        (("--prompts", "nowhere"), "nowhere: there is no folder of prompts here"),
    ],
)
def test_a_wrong_call_is_one_line(empty: Program, words: tuple[str, ...], said: str) -> None:
    answer = empty("prompts", *words)
    assert answer.code == 2
    assert said in answer.error


def test_the_cache_tells_place_and_size(empty: Program) -> None:
    folder = empty.folder / "cache" / "deltamem" / "answers"
    assert empty("cache").err == "no answer is kept\n"
    kept = ResponseCache(folder)
    for number, model in enumerate(("a/one", "a/one", "b/two")):
        kept.put(ResponseCache.key({"question": number}), model, Reply("yes", "stop", 1, 1, None))
    data = empty.json("cache").data
    assert (data["folder"], data["answers"]) == (str(folder), 3)
    assert data["bytes"] == sum(path.stat().st_size for path in folder.rglob("*.json"))
