from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltamem_tui.embedding import load as loading
from deltamem_tui.embedding.fingerprint import TOLERANCE, distance
from deltamem_tui.embedding.load import load, load_for
from deltamem_tui.embedding.minilm import open_minilm
from deltamem_tui.embedding.sentence import SentenceModel, open_folder
from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.places import ROOT

SAMPLE = ROOT / "docs" / "sample"

installed = pytest.mark.skipif(
    importlib.util.find_spec(loading.PACKAGE) is None, reason="the extra `minilm` is not installed"
)


@installed
def test_its_card() -> None:
    card = load("minilm").card

    assert (card.model, card.dimensions, card.weighting) == ("minilm", 384, "none")
    assert (card.query_prefix, card.passage_prefix) == ("", "")
    # As first seen; every machine with the published weights comes this close.
    seen = "ffda015af8fd08e7fd30fdcc02ca0089ff8dfd3d00be055305df02ecff00041d"
    assert distance(card.fingerprint, seen) < TOLERANCE
    assert load_for(card).card == card


@installed
def test_it_knows_what_texts_mean() -> None:
    tasks = ["warm up a slice of bread", "chill a drink", "examine a book under a lamp"]
    questions = ["look at the novel by the light of the desk lamp", "heat some toast"]

    scores = load("minilm").embed_queries(questions) @ load("minilm").embed_passages(tasks).T

    assert scores.argmax(axis=1).tolist() == [2, 0]
    assert np.abs(scores).max() <= 1 + 1e-6


@pytest.fixture(scope="module")
def by_torch() -> SentenceModel:
    """The packaged model as sentence-transformers runs it."""
    return open_folder(loading.minilm_folder(), name="reference")


def farthest(texts: list[str], by_torch: SentenceModel) -> float:
    """The largest difference of a component between our vectors and sentence-transformers'."""
    ours = load("minilm").embed_passages(texts)
    theirs = by_torch.encode(texts, role="passage", prefix="")
    return float(np.abs(ours - theirs).max())


@pytest.mark.thorough
@installed
def test_it_gives_the_vectors_of_sentence_transformers(by_torch: SentenceModel) -> None:
    episodes = [found for found in read_logs([SAMPLE]) if isinstance(found, Trajectory)]
    texts = [
        text
        for number, episode in enumerate(episodes)
        for text in (episode.task, *(step.observation for step in episode.steps[number % 50 :: 50]))
    ]
    strange = [
        "",
        "\x1b[1m",
        "[CLS] a [SEP] [MASK]",
        "Maß İ e\u0301",
        "火车",
        "a" * 300,
        "hot " * 3000,
    ]

    assert len(set(texts)) > 200
    assert farthest([*dict.fromkeys(texts), *strange], by_torch) <= 1e-5


@pytest.mark.thorough
@installed
@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text(), min_size=1, max_size=20))
def test_it_gives_them_for_any_text(texts: list[str], by_torch: SentenceModel) -> None:
    assert farthest(texts, by_torch) <= 1e-5


@installed
def test_a_text_is_the_same_beside_others() -> None:
    texts = [f"heat {'the ' * length}mug" for length in (0, 3, 3, 500, 1)] * 3

    together = load("minilm").embed_passages(texts)

    assert together.tobytes() == load("minilm").embed_passages(texts).tobytes()
    assert np.abs(together[:1] - load("minilm").embed_queries(texts[:1])).max() <= 1e-6
    assert np.abs(together[3:4] - load("minilm").embed_queries(texts[3:4])).max() <= 1e-6


@installed
@pytest.mark.parametrize("damage", ["{", ""])
def test_a_tokenizer_that_cannot_be_read(tmp_path: Path, damage: str) -> None:
    (tmp_path / "tokenizer.json").write_text(damage)

    with pytest.raises(EmbedderUnavailableError, match="the model cannot be loaded"):
        open_minilm(tmp_path, name="minilm")


@installed
def test_weights_that_were_tampered_with_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tampered_minilm_package"
    shutil.copytree(loading.minilm_folder(), package / "model")
    (package / "__init__.py").touch()
    with (package / "model" / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, 2)
        weights.write(b"\xff")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(loading, "PACKAGE", package.name)
    monkeypatch.setattr(loading, "_loaded", {})

    with pytest.raises(EmbedderUnavailableError, match="not those of all-MiniLM-L6-v2") as caught:
        load("minilm")

    assert "--force-reinstall" in (caught.value.hint or "")


def test_weights_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailableError, match="No such file"):
        loading.check_minilm(tmp_path)


def test_without_the_extra_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "PACKAGE", "not_installed_anywhere")

    with pytest.raises(EmbedderUnavailableError) as caught:
        loading.minilm_folder()

    assert "pip install 'deltamem-tui[minilm]'" in (caught.value.hint or "")
    assert "hashing" in (caught.value.hint or "")
    assert "\n" not in str(caught.value)
