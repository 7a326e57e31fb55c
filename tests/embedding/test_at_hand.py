"""Whether an embedder is here is told without loading one."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.embedding import load as loading
from deltamem_tui.embedding.load import is_at_hand, load
from deltamem_tui.errors import EmbedderUnavailableError


def test_what_comes_with_the_package_is_always_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    assert is_at_hand("hashing")
    assert is_at_hand("minilm")
    assert not is_at_hand("some/model")


def test_without_the_library_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    for name in ("intfloat/e5-base-v2", str(tmp_path)):
        with pytest.raises(EmbedderUnavailableError, match="is not installed") as caught:
            load(name)
        assert "pip install 'deltamem-tui[transformers]'" in (caught.value.hint or "")
        assert "\n" not in str(caught.value)


def test_a_folder_is_here_and_a_path_that_is_none_is_not(tmp_path: Path) -> None:
    assert is_at_hand(str(tmp_path))
    assert not is_at_hand(str(tmp_path / "no-such-model"))


@pytest.mark.parametrize("name", ["some/model", "model"])
def test_a_model_of_the_hub_is_here_once_it_is_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """The cache lies as the hub's own client lays it out, which is asked as well."""
    from huggingface_hub import try_to_load_from_cache

    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    model_id = name if "/" in name else f"sentence-transformers/{name}"
    assert not is_at_hand(name)
    cached = tmp_path / f"models--{model_id.replace('/', '--')}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("abc")
    snapshot = cached / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    assert not is_at_hand(name)
    (snapshot / "config.json").write_text("{}")
    assert try_to_load_from_cache(model_id, "config.json", cache_dir=str(tmp_path))
    assert is_at_hand(name)
