"""Models by id, without any network: a local cache, a port nobody listens on, a silent host."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from deltamem_tui.embedding import load as loading
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


@dataclass
class Hub:
    """A hub on this machine: the models it has, and what it was asked for."""

    models: dict[str, Path] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a request."""
        self.asked.append(path)
        for name, folder in self.models.items():
            if path == f"/api/models/{name}" or path.startswith(f"/api/models/{name}/revision/"):
                return 200, {}, json.dumps({"id": name, "sha": REVISION}).encode()
            file = folder / path.partition(f"/{name}/resolve/")[2].partition("/")[2]
            if file.is_file():
                content = file.read_bytes()
                etag = f'"{hashlib.sha256(content).hexdigest()}"'
                return 200, {"ETag": etag, "X-Repo-Commit": REVISION}, content
            if f"/{name}/" in path:
                missing = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": REVISION}
                return 404, missing, b""
        return 404, {"X-Error-Code": "RepoNotFound"}, b""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that can be reached and, at first, has no model."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = hub.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        be_the_hub(server.server_port, monkeypatch)
        yield hub
        server.shutdown()
        thread.join()


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


def test_a_model_that_does_not_exist_is_asked_for_once(hub: Hub) -> None:
    with pytest.raises(EmbedderUnavailableError, match="no model has this name"):
        load("owner/absent")

    assert hub.asked == ["/api/models/owner/absent"]


def test_a_model_is_fetched_once_and_silently(
    hub: Hub,
    cache: Path,
    tiny_model: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub.models["owner/remote"] = tiny_model

    fetched = load("owner/remote")

    assert capfd.readouterr() == ("", "")
    assert any("model.safetensors" in path for path in hub.asked)
    same = load(str(tiny_model)).embed_passages(["heat the apple"])
    assert np.allclose(fetched.embed_passages(["heat the apple"]), same, atol=1e-6)

    hub.asked.clear()
    monkeypatch.setattr(loading, "_loaded", {})
    assert load("owner/remote").card == fetched.card
    assert hub.asked == []
