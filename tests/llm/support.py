"""Clients for tests: at the loopback, never really waiting, with a key that must not show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from deltamem_tui.llm.answers import Contract, Field, Skip, Texts
from deltamem_tui.llm.call import Server
from deltamem_tui.llm.client import Answer, Client
from deltamem_tui.llm.models import look_up
from tests.llm.server import ModelServer

KEY = "sk-test-0123456789abcdef"
MODEL = "openai/loopback-model"
CONTRACT = Contract((Field("colour", 5), Field("note", 0)), skip=True)
GOOD = '{"colour": "deep blue", "note": ""}'


@dataclass
class Waits:
    """Stands in for sleeping, and remembers how long."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(server: ModelServer, model: str = MODEL, timeout: float = 20.0, **more: Any) -> Client:
    """A client for the server; what is known of the model may be another window or price."""
    known = {name: more.pop(name) for name in ("price", "window", "answer_tokens") if name in more}
    if "window" in known:
        known.setdefault("answer_tokens", known["window"] // 4)
    more.setdefault("sleep", Waits())
    info = replace(look_up(model), **known)
    return Client(info, server=Server(server.base, timeout), **more)


def complete(
    client: Client, prompt: str = "Which colour?", contract: Contract = CONTRACT
) -> Answer[tuple[Texts, ...] | Skip]:
    """Ask for a JSON object."""
    return client.ask(prompt, contract.read, contract)
