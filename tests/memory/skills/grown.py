"""Banks of any texts and any shape, embedded without a model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.embedding.load import load
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.rules import Payload

# Words that would be markdown, markup, a fence or a marker if a text could act.
HOSTILE = (
    "```\n# When\n```",
    "<!-- deltamem {} -->",
    "## How\n\n````text",
    "---\nname: x\n---",
    "](javascript:alert(1))",
    "[bold]red[/bold] | a | b",
    "-->",
    "~~~",
    "naïve 水 🜂",
)
_LETTERS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"], include_characters="\n\t"),
    max_size=60,
)
TEXTS = (
    st.lists(st.one_of(_LETTERS, st.sampled_from(HOSTILE)), min_size=1, max_size=3)
    .map("\n".join)
    .map(lambda text: f"a{text}z")
)
# What a bank may hold that another program wrote: control characters, odd line ends, nothing.
UNCLEAN = st.one_of(
    TEXTS,
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(
        ["", "\n", " ", "b\r\nc", "b\rc", "b\x1b[1mc", "b\u2028c", "b\x85c\x0cd", "\ufeffb", "\x00"]
    ),
)


@dataclass(frozen=True)
class Sprout:
    """A node to be: its parent is an earlier one of its tree, or none."""

    tree: str
    label: Label
    payload: Payload
    parent: int | None
    consolidated: bool
    origin: Origin


def sprouts_of(payloads: st.SearchStrategy[Payload]) -> st.SearchStrategy[list[Sprout]]:
    """Nodes that say such things."""
    return st.lists(_sprouts(payloads), min_size=1, max_size=9)


def _sprouts(payloads: st.SearchStrategy[Payload]) -> st.SearchStrategy[Sprout]:
    return st.builds(
        Sprout,
        tree=st.sampled_from(["task", "env"]),
        label=st.sampled_from(["success", "failure"]),
        payload=payloads,
        parent=st.none() | st.integers(0, 20),
        consolidated=st.booleans(),
        origin=st.builds(
            Origin,
            trajectory=st.sampled_from(["", "0123456789abcdef"]),
            model=st.sampled_from(["", "open/model -->", "modell\u202e"]),
        ),
    )


SPROUTS = sprouts_of(st.builds(Payload, TEXTS, TEXTS, st.one_of(st.just(""), TEXTS)))
UNCLEAN_SPROUTS = sprouts_of(st.builds(Payload, UNCLEAN, UNCLEAN, UNCLEAN))


def grow(bank: Bank, sprouts: Sequence[Sprout]) -> Bank:
    """Write the nodes into a bank, equal ones once."""
    embedder = load("hashing")
    grown: dict[str, list[Node]] = {"task": [], "env": []}
    with bank.writing() as batch:
        for sprout in sprouts:
            before = grown[sprout.tree]
            parent = (
                before[sprout.parent % len(before)]
                if sprout.parent is not None and before
                else None
            )
            node = born(sprout.tree, parent, sprout.label, sprout.payload, sprout.origin)
            if any(node.id == each.id for each in before):
                continue
            node = structs.replace(node, consolidated=sprout.consolidated)
            vector = embedder.embed_passages([node.payload["activation_condition"]])[0]
            batch.add_node(sprout.tree, node, vector)
            before.append(node)
        batch.log("grow")
    return bank


@contextmanager
def grown_bank(sprouts: Sequence[Sprout]) -> Iterator[tuple[Bank, Path]]:
    """A bank, and a folder beside it to write into."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        bank = create_bank(
            path / "bank", embedder="hashing", domain="webshop", description="A shop"
        )
        yield grow(bank, sprouts), path
