"""`deltamem init`: a domain of one's own is fine, a misspelt one is not."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.deltamem.settings import PRESETS, Parameters, domain_named
from deltamem_tui.memory.settings import to_record
from tests.cli.support import Program


@pytest.mark.parametrize("typed", ["alfwrold", "scienceworlds", "web-shop", "genric"])
def test_a_near_miss_names_the_domain_that_was_meant(empty: Program, typed: str) -> None:
    answer = empty("init", "new", "--embedder", "hashing", "--domain", typed)
    assert answer.code == 2
    assert "did you mean" in answer.error
    assert not (empty.folder / "memory_banks" / "new").exists()


def test_a_domain_without_a_preset_is_told_and_taken(empty: Program) -> None:
    answer = empty("init", "new", "--embedder", "hashing", "--domain", "chess")
    assert answer.code == 0
    assert "chess has no preset, so the generic one is used" in answer.err
    assert "alfworld, scienceworld, webshop, generic" in answer.err
    data = empty.json("init", "other", "--embedder", "hashing", "--domain", "go").data
    assert data["domain"] == "go"
    assert data["parameters"] == to_record(Parameters.preset("generic"))


@pytest.mark.parametrize("domain", PRESETS)
def test_a_domain_with_a_preset_needs_no_word(empty: Program, domain: str) -> None:
    assert domain_named(domain) == domain
    answer = empty("init", "new", "--embedder", "hashing", "--domain", domain)
    assert answer.code == 0
    assert "no preset" not in answer.err


def test_a_domain_with_a_preset_has_its_name_however_it_is_spelt(empty: Program) -> None:
    data = empty.json("init", "new", "--embedder", "hashing", "--domain", "ALFWorld").data
    assert data["domain"] == "alfworld"
    assert data["parameters"] == to_record(Parameters.preset("alfworld"))


def test_an_empty_domain_is_the_generic_one(empty: Program) -> None:
    data = empty.json("init", "new", "--embedder", "hashing", "--domain", "").data
    assert data["domain"] == "generic"


@pytest.mark.parametrize("domain", ["../../../etc", "a/b", "Bad Dom/ain"])
def test_a_domain_that_could_be_more_than_a_name_is_refused(empty: Program, domain: str) -> None:
    answer = empty("init", "new", "--embedder", "hashing", "--domain", domain)
    assert answer.code == 2
    assert "cannot be the name of a domain" in answer.error
    assert list((empty.folder / "memory_banks").iterdir()) == []
