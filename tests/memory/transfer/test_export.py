"""What leaves with a bank is looked through, and told where it comes from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born, to_line
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.transfer.export import Leak, prepare
from deltamem_tui.trajectory.secrets.redaction import kinds_of_secrets
from tests.bank.support import manifest, vector
from tests.effort import examples

GITHUB = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
OPENAI = "sk-proj-" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zZ"


def add(bank: Bank, *nodes: Node, tree: str = "task") -> None:
    with bank.writing() as batch:
        for number, node in enumerate(nodes):
            batch.add_node(tree, node, vector(number))
        batch.log("learn", {"note": "nothing"})


def a_node(when: str = "boil", how: str = "use the stove", **origin: str) -> Node:
    label: Label = "success"
    return born("task", None, label, Payload(when, how, "done"), Origin(**origin))  # type: ignore[arg-type]


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank.create(tmp_path / "kitchen", manifest("kitchen"))


@pytest.mark.parametrize("field", ["activation_condition", "execution_procedure"])
@pytest.mark.parametrize("secret", [GITHUB, OPENAI, "password: hunter2hunter2"])
def test_a_secret_in_a_node_is_told_without_being_told(bank: Bank, field: str, secret: str) -> None:
    payload = Payload("boil", "use the stove", "done")
    guilty = born("task", None, "success", {**payload, field: f"say {secret} "}, Origin())
    add(bank, *(a_node(f"do {number}") for number in range(300)), guilty)
    leaks = prepare(bank).leaks
    assert [(leak.place, leak.record, leak.field) for leak in leaks] == [("task", guilty.id, field)]
    assert secret.rsplit(maxsplit=1)[-1] not in repr(leaks)


def test_where_a_node_comes_from_is_looked_at(bank: Bank) -> None:
    nodes = [a_node(f"do {number}", model=f"openai/gpt?key={OPENAI}") for number in range(300)]
    add(bank, a_node("clean"), *nodes, a_node("also", trajectory=GITHUB))
    leaks = prepare(bank).leaks
    assert {leak.field for leak in leaks} == {"origin", "provenance"}
    assert len({leak.record for leak in leaks if leak.place == "task"}) == 301


def test_what_stays_is_not_looked_at(bank: Bank) -> None:
    with bank.writing() as batch:
        batch.put_episode({"id": "0" * 16, "task": "log in", "metadata": {"token": GITHUB}})
        batch.log("import", {"argument": f"--header 'Authorization: Bearer {OPENAI}'"})
    assert prepare(bank).leaks == ()
    (episode,) = prepare(bank, with_episodes=True).leaks
    assert (episode.place, episode.record, episode.field) == ("trajectories", "0" * 16, "metadata")
    *_, commit = prepare(bank, with_episodes=True, with_journal=True).leaks
    assert (commit.place, commit.record) == ("journal.jsonl", "1")


def test_the_manifest_is_looked_at(bank: Bank) -> None:
    bank.change_manifest(
        "describe", lambda old: (replace(old, description=f"made with {OPENAI}"), {})
    )
    assert Leak("bank.json", "", "description", "openai key") in prepare(bank).leaks
    assert [leak.field for leak in prepare(bank, builder=GITHUB).leaks] == [
        "description",
        "provenance",
    ]


_texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [GITHUB, OPENAI, "password=hunter2hunter2", "PASS", "a" * 16, "user@host", "://", "key: x"]
    ),
)


@examples(20)
@given(st.lists(st.tuples(_texts, _texts, _texts, _texts), max_size=20))
def test_the_quick_look_finds_what_a_look_at_every_text_finds(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str, str, str]],
) -> None:
    bank = Bank.create(tmp_path_factory.mktemp("look") / "kitchen", manifest())
    nodes = {
        node.id: node
        for when, how, until, model in texts
        for node in [
            born(
                "task",
                None,
                "success",
                Payload(*(text.encode(errors="ignore").decode() for text in (when, how, until))),
                Origin(model=model.encode(errors="ignore").decode()),
            )
        ]
    }
    add(bank, *nodes.values())
    expected = {
        (node.id, name, kind)
        for node in nodes.values()
        for name, text in json.loads(to_line(node)).items()
        if isinstance(text, str) and name not in {"id", "parent", "kind", "label"}
        for kind in (*kinds_of_secrets(text), *kinds_of_secrets(f"{name}={text}"))
    } | {
        (node.id, "origin", kind)
        for node in nodes.values()
        for text in (node.origin.model, f"model={node.origin.model}")
        for kind in kinds_of_secrets(text)
    }
    # The manifest names all models once more.
    expected |= {
        ("", "provenance", kind)
        for node in nodes.values()
        if node.origin.model
        for text in (node.origin.model, f"models={node.origin.model}")
        for kind in kinds_of_secrets(text)
    }
    found = prepare(bank).leaks
    assert {(leak.record, leak.field, leak.kind) for leak in found} == expected


def test_it_is_told_what_the_bank_was_made_of(tmp_path: Path, bank: Bank) -> None:
    episodes = [f"{number:016x}" for number in range(5)]
    add(
        bank,
        *(a_node(f"do {each}", trajectory=each, model="openai/gpt-5") for each in episodes),
        a_node("by hand", extractor="user"),
    )
    outgoing_bank = prepare(bank, builder="Ada")
    path = tmp_path / "kitchen.deltamem"
    digest = outgoing_bank.package.write(path)
    told = Bank.open(path).manifest.provenance
    assert told == {
        "builder": "Ada",
        "contents": {
            "episodes": 5,
            "extractors": ["rules", "user"],
            "models": ["openai/gpt-5"],
        },
    }
    assert prepare(bank, builder="Ada").package.digest() == digest
    assert prepare(bank).package.digest() != digest

    arrived, _ = install(receive(path), tmp_path / "there" / "kitchen")
    assert prepare(arrived).package.digest() == digest
