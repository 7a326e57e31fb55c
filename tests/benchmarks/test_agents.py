"""The scripted model that agents' programs talk to, and what is done where they cannot be had."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from benchmarks import agents
from benchmarks.agent_server import ScriptedServer

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
FORMS: dict[str, dict[str, Any]] = {
    "/v1/messages": {"tools": [{"name": "Bash", "input_schema": SCHEMA}]},
    "/v1/responses": {"tools": [{"type": "function", "name": "shell", "parameters": SCHEMA}]},
    "/v1/chat/completions": {"tools": [{"function": {"name": "bash", "parameters": SCHEMA}}]},
    "/v1beta/models/m:streamGenerateContent": {
        "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parameters": SCHEMA}]}]
    },
}


@pytest.mark.parametrize("path", FORMS)
def test_the_model_calls_what_it_was_told_to_and_then_is_done(path: str) -> None:
    with ScriptedServer() as server:
        script = server.begin(["make lint"])

        def ask(tools: dict[str, Any]) -> str:
            data = json.dumps({"model": "m", "stream": True, **tools}).encode()
            with urlopen(Request(server.url + path, data)) as answer:
                return str(answer.read().decode())

        assert "Done." in ask({})  # a title, or a summary
        assert script.first is None
        assert "make lint" in ask(FORMS[path])
        assert "Done." in ask(FORMS[path])
    assert script.first
    assert len(script.requests) == 2


def test_nothing_is_installed_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AGENTS_FOLDER", raising=False)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("npm is run"))
    assert "AGENTS_FOLDER" in json.loads(agents.run())["skipped"]
    monkeypatch.setenv("AGENTS_FOLDER", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    line = json.loads(agents.run())
    assert (line["met"], line["skipped"]) == (None, "npm cannot install @anthropic-ai/claude-code")
