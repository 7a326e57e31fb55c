from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.embedding import load as loading
from deltamem_tui.embedding.load import load, load_for
from deltamem_tui.embedding.sentence import is_cached
from deltamem_tui.errors import EmbedderMismatchError, EmbedderUnavailableError, VectorError
from tests.embedding.support import save_tiny_model

TEXTS = ["heat the apple", "cool the mug", "", "put it by the window, then look"]


def refused(name: str | Path) -> str:
    """The one line that loading `name` is refused with."""
    with pytest.raises(EmbedderUnavailableError) as caught:
        load(str(name))
    line = str(caught.value)
    assert "\n" not in line
    assert "minilm" in line
    assert "hashing" in line
    return line


def change_weights(folder: Path, change: Callable[[dict[str, np.ndarray]], None]) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


class TestFolder:
    def test_it_gives_unit_rows_of_the_models_width(self, tiny_model: Path) -> None:
        embedder = load(str(tiny_model))

        rows = embedder.embed_passages(TEXTS)

        assert rows.shape == (4, 16)
        assert rows.dtype == np.float32
        assert rows.flags.c_contiguous
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        assert embedder.card.dimensions == 16
        assert embedder.card.model == str(tiny_model)
        assert embedder.card.weighting == "none"

    def test_it_agrees_with_the_library(self, tiny_model: Path) -> None:
        from sentence_transformers import SentenceTransformer

        expected = SentenceTransformer(str(tiny_model), device="cpu").encode(TEXTS)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)

        assert np.allclose(load(str(tiny_model)).embed_queries(TEXTS), expected, atol=1e-6)

    def test_it_is_loaded_once(self, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        embedder = load(str(tiny_model))
        monkeypatch.chdir(tiny_model.parent)

        assert load(tiny_model.name) is embedder

    def test_prefixes_of_the_family_are_put_before_each_text(
        self, copied: Callable[[str], Path]
    ) -> None:
        e5, plain = load(str(copied("e5-tiny"))), load(str(copied("plain")))

        assert (e5.card.query_prefix, e5.card.passage_prefix) == ("query: ", "passage: ")
        assert (plain.card.query_prefix, plain.card.passage_prefix) == ("", "")
        for role, prefix in (("embed_queries", "query: "), ("embed_passages", "passage: ")):
            expected = plain.embed_passages([prefix + text for text in TEXTS])
            assert np.allclose(getattr(e5, role)(TEXTS), expected, atol=1e-6)
            assert not np.allclose(expected, plain.embed_passages(TEXTS), atol=1e-2)

    def test_a_text_far_beyond_the_models_window_is_cut(self, tiny_model: Path) -> None:
        embedder = load(str(tiny_model))
        window = "heat the apple and cool the mug " * 20

        rows = embedder.embed_passages([window, window + "star " * 2_000_000])

        assert np.allclose(rows[0], rows[1], atol=1e-6)

    def test_nothing_is_said_while_it_loads_and_runs(
        self,
        copied: Callable[[str], Path],
        capfd: pytest.CaptureFixture[str],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        embedder = load(str(copied("silent")))
        embedder.embed_passages(TEXTS * 20)

        assert capfd.readouterr() == ("", "")
        assert caplog.records == []


class TestDamage:
    def test_truncated_weights(self, copied: Callable[[str], Path]) -> None:
        folder = copied("truncated")
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1000])

        assert "the model cannot be loaded" in refused(folder)

    def test_code_that_comes_with_a_model_is_not_run(self, copied: Callable[[str], Path]) -> None:
        folder = copied("strange")
        proof = folder / "it-ran"
        (folder / "strange.py").write_text(f"open({str(proof)!r}, 'w').close()\n")
        modules = folder / "modules.json"
        replaced = modules.read_text().replace(
            "sentence_transformers.sentence_transformer.modules.pooling.Pooling", "strange.Pooling"
        )
        assert "strange.Pooling" in replaced
        modules.write_text(replaced)

        refused(folder)

        assert not proof.exists()

    def test_a_model_that_knows_no_numbers(self, copied: Callable[[str], Path]) -> None:
        folder = copied("nowhere")

        def spoil(weights: dict[str, np.ndarray]) -> None:
            weights["embeddings.word_embeddings.weight"][:] = np.nan

        change_weights(folder, spoil)

        with pytest.raises(VectorError, match="nowhere, text 1 of 1: the vector is not finite"):
            load(str(folder))


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "./nowhere",
            "~/no such model",
            "~nobody-of-that-name/model",
            "",
            "\x00",
            "-x",
        ],
    )
    def test_a_path_without_a_folder_is_not_taken_for_an_id(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("deltamem_tui.embedding.sentence.open_model", None)

        assert "there is no such folder" in refused(name)

    def test_importing_the_door_loads_no_library(self) -> None:
        heavy = "{'numpy', 'torch', 'sklearn', 'sentence_transformers', 'transformers', 'scipy'}"
        code = f"import sys, deltamem_tui.embedding.load; print(sorted({heavy} & set(sys.modules)))"

        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

        assert (run.stdout.strip(), run.stderr) == ("[]", "")


class TestForABank:
    def test_the_banks_prefixes_hold(self, tiny_model: Path, copied: Callable[[str], Path]) -> None:
        card = load(str(copied("e5-renamed"))).card

        embedder = load_for(replace(card, model=str(tiny_model)))

        expected = load(str(tiny_model)).embed_passages(["query: heat the apple"])
        assert np.allclose(embedder.embed_queries(["heat the apple"]), expected, atol=1e-6)

    def test_another_model_is_refused(self, tiny_model: Path, tmp_path: Path) -> None:
        other = save_tiny_model(tmp_path / "other", seed=1)

        with pytest.raises(EmbedderMismatchError, match=r"deltamem bank reembed") as caught:
            load_for(replace(load(str(tiny_model)).card, model=str(other)))

        assert "their fingerprints are" in str(caught.value)

    def test_hashing_has_no_prefixes(self) -> None:
        card = load("hashing").card
        assert load_for(card).card == card

        with pytest.raises(EmbedderMismatchError, match="query_prefix"):
            load_for(replace(card, query_prefix="query: "))


def test_without_the_library_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    for name in ("intfloat/e5-base-v2", str(tmp_path)):
        with pytest.raises(EmbedderUnavailableError, match="is not installed") as caught:
            load(name)
        assert "pip install 'deltamem-tui[transformers]'" in (caught.value.hint or "")
        assert "\n" not in str(caught.value)


def test_a_model_of_the_hub_is_here_once_it_is_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The cache lies as the hub's own client lays it out, which is asked as well."""
    from huggingface_hub import try_to_load_from_cache

    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    model_id = "some/model"
    assert not is_cached(model_id)
    cached = tmp_path / f"models--{model_id.replace('/', '--')}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("abc")
    snapshot = cached / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    assert not is_cached(model_id)
    (snapshot / "config.json").write_text("{}")
    assert try_to_load_from_cache(model_id, "config.json", cache_dir=str(tmp_path))
    assert is_cached(model_id)
