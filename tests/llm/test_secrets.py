from __future__ import annotations

import pytest

from deltamem_tui.llm.call import hide, hide_known, host, without_secrets


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abc123def456",
        "sk-proj-abc_123-def456",
        "gsk_0123456789",
        "AIzaSyA1234567890abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.abc",
    ],
)
def test_what_looks_like_a_key_is_hidden(secret: str) -> None:
    assert hide(f"wrong key {secret}, sorry") == "wrong key [hidden], sorry"


def test_the_key_in_use_and_the_environments_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "plain words of a key")
    monkeypatch.setenv("EMPTY_TOKEN", "")
    assert hide("plain words of a key and pass1", "pass1") == "[hidden] and [hidden]"
    assert hide("nothing secret") == "nothing secret"
    assert hide("Authorization: Bearer abc.def") == "Authorization: [hidden]"
    assert hide("http://user:word@host/") == "http://[hidden]@host/"


@pytest.mark.parametrize("name", ["MAX_TOKENS", "KEYBOARD_LAYOUT", "TOKENIZERS_PARALLELISM"])
def test_a_variable_that_is_no_secret_edits_no_answer(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "kitchen")
    assert hide_known("in the kitchen 1") == "in the kitchen 1"


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "GROQ_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"]
)
def test_a_variable_that_is_a_secret_does(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "open sesame")
    assert hide_known("say open sesame") == "say [hidden]"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://user:word@gate.example/v1?key=x#y", "https://gate.example/v1"),
        ("http://[::1", "the given address"),
        ("http://host:port/", "the given address"),
    ],
)
def test_an_address_is_shown_without_secrets(address: str, shown: str) -> None:
    assert host(address) == shown


@pytest.mark.parametrize(
    ("mistyped", "shown"),
    [
        ("localhost", "localhost"),
        ("user:word@host/v1", "[hidden]@host/v1"),
        ("ftp://user:w@rd@host/v1?key=x", "[hidden]@host/v1"),
    ],
)
def test_a_mistyped_address_is_shown_without_secrets(mistyped: str, shown: str) -> None:
    assert without_secrets(mistyped) == shown
