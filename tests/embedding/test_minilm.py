from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.embedding.load import load, load_for
from deltamem_tui.embedding.minilm import WEIGHTS, open_minilm, packaged_folder
from deltamem_tui.embedding.protocol import TOLERANCE, distance
from deltamem_tui.embedding.sentence import SentenceModel, open_model
from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from docs.build_minilm import build, published_folder
from tests.places import ROOT


@cache
def sample_episodes() -> tuple[Trajectory, ...]:
    found = read_logs([ROOT / "docs" / "sample"])
    return tuple(each for each in found if isinstance(each, Trajectory))


def test_it_opens_banks_made_with_the_published_weights() -> None:
    """Their cards have the fingerprint of the float32 weights, as every machine computes it."""
    published = "ffda015af8fd08e7fd30fdcc02ca0089ff8dfd3d00be055305df02ecff00041d"
    card = replace(load("minilm").card, fingerprint=published)

    assert 0 < distance(published, load("minilm").card.fingerprint) < TOLERANCE
    assert load_for(card).card == card


def test_it_knows_what_texts_mean() -> None:
    tasks = ["warm up a slice of bread", "chill a drink", "examine a book under a lamp"]
    questions = ["look at the novel by the light of the desk lamp", "heat some toast"]

    scores = load("minilm").embed_queries(questions) @ load("minilm").embed_passages(tasks).T

    assert scores.argmax(axis=1).tolist() == [2, 0]
    assert np.abs(scores).max() <= 1 + 1e-6


@pytest.fixture(scope="module")
def by_torch() -> SentenceModel:
    """The published model as sentence-transformers runs it."""
    return open_model(str(published_folder()), local=True)


def nearest(texts: list[str], by_torch: SentenceModel) -> float:
    """The least cosine between our vector of a text and that of the published weights."""
    ours = load("minilm").embed_passages(texts)
    theirs = by_torch.encode(texts, role="passage", prefix="")
    return float(np.einsum("ij,ij->i", ours, theirs).min())


@pytest.mark.thorough
def test_its_vectors_are_almost_those_of_the_published_weights(by_torch: SentenceModel) -> None:
    texts = [
        text
        for number, episode in enumerate(sample_episodes())
        for text in (episode.task, *(step.observation for step in episode.steps[number % 50 :: 50]))
    ]
    strange = ["", "\x1b[1m", "[CLS] a [SEP] [MASK]", "Maß İ e\u0301", "火车", "a" * 300]

    assert len(set(texts)) > 200
    assert nearest([*dict.fromkeys(texts), *strange, "hot " * 3000], by_torch) > 0.999


def test_the_weights_are_built_from_the_published_ones(tmp_path: Path) -> None:
    build(published_folder(), tmp_path)

    for name in (WEIGHTS, "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (packaged_folder() / name).read_bytes()


def test_a_text_is_the_same_beside_others() -> None:
    texts = [f"heat {'the ' * length}mug" for length in (0, 3, 3, 500, 1)] * 3

    together = load("minilm").embed_passages(texts)

    assert together.tobytes() == load("minilm").embed_passages(texts).tobytes()
    assert np.abs(together[:1] - load("minilm").embed_queries(texts[:1])).max() <= 1e-6
    assert np.abs(together[3:4] - load("minilm").embed_queries(texts[3:4])).max() <= 1e-6


@pytest.mark.parametrize("file", ["tokenizer.json", WEIGHTS])
def test_files_that_cannot_be_read(tmp_path: Path, file: str) -> None:
    shutil.copytree(packaged_folder(), tmp_path, dirs_exist_ok=True)
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:1000])

    with pytest.raises(EmbedderUnavailableError, match="the model cannot be loaded"):
        open_minilm(tmp_path, name="minilm")
