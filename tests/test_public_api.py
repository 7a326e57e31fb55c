"""A call of the public API that cannot be meant is one line for people, never a traceback."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deltamem_tui
from deltamem_tui import Bank, DeltaMemError, Outcome, Step, Trajectory
from deltamem_tui.errors import (
    BankExistsError,
    BankFrozenError,
    RecordError,
    TrajectoryError,
    UsageError,
)
from tests.memory.support import ChosenEmbedder, EchoExtractor, episode, new_bank

api: Any = deltamem_tui  # the calls below are wrong on purpose


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank")


# What programs call and read. A name with "=" may be left out; after "*" they are named.
CALLS = {
    "Counts": "hits= recalls= successes=",
    "DeltaMemError": "message * source= position= hint=",
    "Extraction": "payload reason model= prompt= usage= attempts= cut=",
    "Lesson": "trajectory new trees",
    "Node": "id parent kind label depth payload consolidated= revision= deleted= origin=",
    "Origin": "trajectory= outcome_source= extractor= model= prompt= nodes=",
    "Outcome": "success= reward= source= reason=",
    "Payload": "activation_condition execution_procedure termination_condition=",
    "RecallResult": "collections context receipt=",
    "RulesExtractor": "",
    "Step": "action observation= thought= reward=",
    "Trajectory": "task environment= steps= outcome= source= domain= agent= metadata=",
    "TreeParameters": "tau_base failure_penalty= d_max= k_cons= enabled=",
    "create_bank": "path * embedder= domain= description= parameters= provenance=",
    "learn": "bank trajectory extractor= * embedder=",
    "open_bank": "bank banks=",
    "read_logs": "paths * format= success_at=",
    "recall": "bank task environment= * embedder= candidates=",
}
MEMBERS = {
    "Bank": "open create name path frozen tree trees find_node refresh freeze unfreeze",
    "editing": "edit relabel move join delete undo",
    "Lesson": "usage",
    "Node": "text",
    "Trajectory": "id with_outcome",
    "Tree": "roots children chain counts node find",
    "Writer": "name write",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_today_is_a_call_of_tomorrow(name: str) -> None:
    """Parameters may be added behind those there are, where nobody has to give them."""
    in_order: list[str] = []
    by_name: list[str] = []
    for each in inspect.signature(getattr(api, name)).parameters.values():
        written = each.name if each.default is each.empty else f"{each.name}="
        (by_name if each.kind is each.KEYWORD_ONLY else in_order).append(written)
    first, _, named = CALLS[name].partition("*")
    assert in_order[: len(first.split())] == first.split()
    assert set(named.split()) <= set(by_name)
    added = {*in_order, *by_name} - {*first.split(), *named.split()}
    assert [each for each in added if not each.endswith("=")] == []


@pytest.mark.parametrize("name", MEMBERS)
def test_what_programs_read_is_there(bank: Bank, name: str) -> None:
    things = {"Bank": bank, "Tree": bank.tree("task")}
    thing = things.get(name, getattr(api, name))
    assert [each for each in MEMBERS[name].split() if not hasattr(thing, each)] == []


def test_every_public_name_is_written_down() -> None:
    assert set(deltamem_tui.__all__) == {*CALLS, *MEMBERS}


WRONG_CALLS: dict[str, tuple[Callable[[Any], object], str]] = {
    "no logs": (lambda _: api.read_logs(None), "paths must be a path or several, not NoneType"),
    "logs by number": (lambda _: api.read_logs([3]), "paths must be a path or several, not int"),
    "no tree": (lambda bank: bank.tree("foo"), "there is no tree 'foo' (task or env)"),
    "tree of none": (lambda bank: bank.tree(None), "there is no tree 'None' (task or env)"),
    "an empty name": (lambda _: api.open_bank(""), "'' cannot be the name of a bank"),
    "chain of none": (lambda bank: bank.tree("task").chain(None), "id must be text, not NoneType"),
    "nodes by number": (lambda bank: bank.tree("task").find(3), "id must be text, not int"),
    "nothing to recall for": (
        lambda bank: api.recall(bank, " ", "\n"),
        "task and environment are both empty",
    ),
}


@pytest.mark.parametrize("kind", WRONG_CALLS)
def test_a_wrong_call_says_what_was_wanted(bank: Bank, kind: str) -> None:
    call, words = WRONG_CALLS[kind]
    with pytest.raises(UsageError) as caught:
        call(bank)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"task": None}, "task`: Expected `str`"),
        ({"steps": None}, "steps`: Expected `array`"),
        ({"steps": ("go",)}, "step 1: Expected `object`"),
        ({"steps": (api.Step(1, 2),)}, "step 1, `action`: Expected `str`"),
        ({"steps": (api.Step("go", reward="1"),)}, "step 1, `reward`: Expected `float"),
        ({"outcome": api.Outcome(success="yes")}, "outcome.success`: Expected `bool"),
        ({"source": "log"}, "source`: Expected `object`"),
        ({"metadata": {"a": object()}}, "object"),
    ],
)
def test_an_episode_of_the_wrong_parts_cannot_be_learnt(
    bank: Bank, parts: dict[str, Any], words: str
) -> None:
    episode = api.Trajectory(**{"task": "x", "steps": (api.Step("go"),)} | parts)
    with pytest.raises(RecordError) as caught:
        api.learn(bank, episode, embedder=ChosenEmbedder())
    assert words in str(caught.value)


def test_text_of_a_class_of_its_own_is_text() -> None:
    class Words(str):
        __slots__ = ()

    assert Step(Words("go")).action == "go"
    assert Trajectory(Words("x"), steps=(Step("go"),), outcome=Outcome(success=True)).steps


@pytest.mark.parametrize("kind", [str, Path])
def test_one_path_is_one_log(tmp_path: Path, kind: type) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"task": "x", "steps": [{"action": "go"}]}\n')
    (found,) = deltamem_tui.read_logs(kind(log))
    assert isinstance(found, Trajectory)
    assert found.task == "x"


def test_a_folder_without_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryError, match="there is no file in this folder"):
        deltamem_tui.read_logs(tmp_path)
    assert list(deltamem_tui.read_logs([])) == []


def numbers(**changes: Any) -> dict[str, Any]:
    tree = api.TreeParameters(**{"tau_base": 0.5, **changes})
    return {"task": tree, "env": tree}


WRONG_BANKS: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"path": ""}, "'' cannot be the name of a bank"),
    "two words": ({"path": "a b"}, "'a b' cannot be the name of a bank"),
    "description": ({"description": 3}, "description must be text, not int"),
    "no domain": ({"domain": None}, "domain must be text, not NoneType"),
    "a domain elsewhere": ({"domain": "../../../etc"}, "cannot be the name of a domain"),
    "a domain in a domain": ({"domain": "a/b"}, "cannot be the name of a domain"),
    "numbers": ({"parameters": 3}, "parameters must be Parameters, or these by name, not int"),
    "half the numbers": (
        {"parameters": {"task": 3}},
        "settings: Expected `object`, got `int` - at `$.task`",
    ),
    "no number": (
        {"parameters": numbers(tau_base=float("nan"))},
        "tau_base must be a number from -1 to 1",
    ),
    "a depth between": (
        {"parameters": numbers(d_max=1.5)},
        "d_max must be a whole number from 2 to 1000",
    ),
}


@pytest.mark.parametrize("kind", WRONG_BANKS)
def test_a_bank_that_cannot_be_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, words = WRONG_BANKS[kind]
    with pytest.raises(UsageError) as caught:
        api.create_bank(**{"path": "residue/z", "embedder": ChosenEmbedder(), **wrong})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bank_is_called_like_its_folder(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = bank.path.rename(bank.path.with_name("pantry"))
    assert Bank.open(moved).name == "pantry"
    assert Bank.open(moved).manifest.name == "bank"
    monkeypatch.chdir(moved)
    assert Bank.open(".").name == "pantry"


def test_a_bank_of_the_package_is_copied_before_it_is_written(bank: Bank) -> None:
    bank.freeze()
    with pytest.raises(BankFrozenError, match="copy it first") as caught:
        deltamem_tui.learn(bank, episode((1, 0, 0)), EchoExtractor(), embedder=ChosenEmbedder())
    assert "deltamem bank unfreeze" in str(caught.value)


def test_a_bank_is_never_made_over_another(bank: Bank) -> None:
    with pytest.raises(BankExistsError, match="choose another folder, or open the bank") as caught:
        deltamem_tui.create_bank(bank.path, embedder=ChosenEmbedder())
    assert isinstance(caught.value, DeltaMemError)
    assert Bank.open(bank.path).name == "bank"


def test_the_same_calls_work_when_they_are_right(bank: Bank) -> None:
    lesson = deltamem_tui.learn(
        bank, episode((1, 0, 0)), EchoExtractor(), embedder=ChosenEmbedder()
    )
    assert lesson.new
    found = deltamem_tui.recall(bank, "1 0 0", embedder=ChosenEmbedder())
    assert isinstance(found, deltamem_tui.RecallResult)
    assert found["task"] is not None
    assert found["task"].chain
    assert len(bank.tree("task")) == 1
