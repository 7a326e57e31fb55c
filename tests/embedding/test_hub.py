"""Models by id, without any network: a local cache, a port nobody listens on, a silent host."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.embedding.load import load
from deltamem_tui.errors import EmbedderUnavailableError

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty model cache."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder


def be_the_hub(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the client of the hub talk to a port of this machine; it keeps three addresses."""
    from huggingface_hub import HfApi

    endpoint = f"http://127.0.0.1:{port}"
    files = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", endpoint)
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)
    # transformers keeps a client of its own, made for the first address it saw.
    monkeypatch.setattr("transformers.utils.hub.hf_api", HfApi, raising=False)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is a port that nobody listens on."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    be_the_hub(port, monkeypatch)


def put_into(cache: Path, name: str, model: Path) -> Path:
    """Lay `model` into the cache as the hub's client would."""
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(REVISION)
    return Path(shutil.copytree(model, repository / "snapshots" / REVISION))


@pytest.mark.usefixtures("no_network")
def test_a_cached_model_needs_no_network(cache: Path, tiny_model: Path) -> None:
    put_into(cache, "owner/e5-cached", tiny_model)

    embedder = load("owner/e5-cached")

    assert embedder.card.model == "owner/e5-cached"
    assert embedder.card.query_prefix == "query: "
    expected = load(str(tiny_model)).embed_passages(["query: heat the apple"])
    assert np.allclose(embedder.embed_queries(["heat the apple"]), expected, atol=1e-6)


@pytest.mark.usefixtures("no_network")
def test_without_network_the_error_names_the_other_embedders() -> None:
    with pytest.raises(EmbedderUnavailableError) as caught:
        load("owner/absent")

    assert "owner/absent: the model is not cached here and the hub cannot be reached" in str(
        caught.value
    )
    assert "`minilm`" in (caught.value.hint or "")
    assert "`hashing`" in (caught.value.hint or "")
    assert "\n" not in str(caught.value)
