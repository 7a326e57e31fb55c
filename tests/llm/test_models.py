"""What is known about models, in an interpreter that has no network and in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltamem_tui.errors import LanguageModelError
from deltamem_tui.llm.models import look_up, server_address
from tests.places import ROOT

OFFLINE = """
import os, socket, sys
tried = []
def refuse(*args, **kwargs):
    tried.append(args)
    raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from deltamem_tui.llm.models import look_up
from deltamem_tui.llm.models import count_tokens
for model in sys.argv[1:]:
    look_up(model)
    assert 8 <= count_tokens(model, "a few plain words to count here, no more") <= 12, model
import litellm
assert not tried, tried
assert litellm.telemetry is False
assert "PLANTED" not in os.environ
"""


def test_tables_and_tokens_need_no_network(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLANTED=yes\nOPENAI_API_BASE=http://elsewhere.example\n")
    models = [
        *("openai/gpt-4o", "openai/gpt-4", "openai/text-davinci-003", "ollama/llama3"),
        *("ollama/unheard-of", "anthropic/claude-2", "replicate/meta/llama-2-70b-chat"),
        *("together_ai/meta-llama/Llama-3-8b-chat-hf", "cohere_chat/command-r", "openai/own"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, *models],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_environment_may_name_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert server_address("openai/own") is None
    monkeypatch.setenv("OPENAI_API_BASE", "http://one.example")
    assert server_address("openai/own") == "http://one.example"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one.example")
    assert server_address("openai/own") == "http://one.example"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://two.example")
    assert server_address("openai/own") not in (None, "http://one.example")


def test_a_name_does_not_take_another_providers_price() -> None:
    assert look_up("hosted_vllm/gpt-4o").price is None
    assert look_up("openrouter/openrouter/auto").price is None  # a hosted one at no price
    bare, full = look_up("gpt-4o").price, look_up("openai/gpt-4o").price
    assert bare is not None
    assert full is not None
    assert bare.of(9, 9) == full.of(9, 9) > 0


@pytest.mark.parametrize("name", ["", "gpt-99-nonsense", "nobody/model", "\x1b[31m/x", "a b c"])
def test_a_name_nobody_knows(name: str) -> None:
    with pytest.raises(LanguageModelError, match="no provider has a model called") as caught:
        look_up(name)
    assert "\x1b" not in str(caught.value)
