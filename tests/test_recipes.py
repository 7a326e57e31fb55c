"""Every block of `docs/recipes.md` runs: with the real package where it is installed.

Where it is not, the block is checked against the interface that the package documents, which
stands below in as few lines as it takes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Generic, TypeVar

import pytest

from deltamem_tui import Bank, Outcome, Step, Trajectory, create_bank, learn
from deltamem_tui.llm.models import litellm
from deltamem_tui.memory.banks import open_bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.places import ROOT
from tests.program import deltamem
from tests.warm import warm_programs

__all__ = ["running", "server"]

PAGE = (ROOT / "docs" / "recipes.md").read_text()
BLOCK = re.compile(r"^## (.*?)\n.*?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {title.split(" (")[0]: block for title, _, block in BLOCK.findall(PAGE)}
BEGINNING = PAGE.split("```python\n")[1].split("```")[0]
TASK = "heat an egg"
EPISODE = Trajectory(
    TASK, "A kitchen.", (Step("open fridge 1", "You see an egg 2."),), Outcome(success=True)
)
T = TypeVar("T")


class Loose(SimpleNamespace):
    """A record of whatever it is given."""


class Graph:
    """LangGraph's builder, for one chain of nodes."""

    def __init__(self, _state: type) -> None:
        self.nodes: list[Callable[[Any], Any]] = []

    def add_node(self, _name: str, node: Callable[[Any], Any]) -> None:
        self.nodes.append(node)

    def add_edge(self, _start: str, _end: str) -> None:
        pass

    def compile(self) -> Any:
        return Loose(invoke=lambda state: state | self.nodes[0](state))


class MemoryBlock(Loose, Generic[T]):
    async def aget(self, messages: Any) -> Any:
        return await self._aget(messages)


class OpenAIAgent(Loose):
    async def get_system_prompt(self, run: Any) -> str:
        return str(self.instructions(run, self))


INTERFACES: dict[str, dict[str, Any]] = {
    "agents": {"Agent": OpenAIAgent, "RunContextWrapper": Loose},
    "langgraph.graph": {"StateGraph": Graph, "START": "start", "END": "end"},
    "llama_index.core.memory": {"BaseMemoryBlock": MemoryBlock},
    "llama_index.core.llms": {"ChatMessage": Loose},
    "google.adk.memory.base_memory_service": {
        "BaseMemoryService": object,
        "SearchMemoryResponse": Loose,
    },
    "google.adk.memory.memory_entry": {"MemoryEntry": Loose},
    "google.genai.types": {"Content": Loose, "Part": Loose},
}


def is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def result_of(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What it comes to, in a loop of its own: litellm made one of its thread's."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    """A bank that knows the task, where the recipes look for it; and the packages."""
    monkeypatch.chdir(tmp_path)
    for name, content in INTERFACES.items():
        if not is_installed(name):
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)
    made = create_bank("banks/kitchen", embedder="hashing")
    learn(made, EPISODE)
    return made


def cooked(title: str) -> dict[str, Any]:
    """What a recipe defines."""
    found: dict[str, Any] = {}
    block = BLOCKS[title]
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
    exec(BEGINNING + block, found)
    return found


def test_litellm(bank: Bank, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base)
    litellm()  # loaded as we load it: without the network
    server.answer("look", "heat egg")
    solve = cooked("A plain loop with litellm")["solve"]
    lesson = solve(TASK, lambda action: ("You see.", action == "heat egg"), "openai/some")
    assert "open fridge 1" in server.requests[0].prompt
    assert lesson.new
    assert len(server.requests) == 2
    (episode,) = (each for each in episodes(open_bank(bank.path)) if each.id == lesson.trajectory)
    assert episode.receipts


def test_openai_agents(bank: Bank) -> None:
    found = cooked("OpenAI Agents SDK")
    context = import_module("agents").RunContextWrapper

    run = context(context={"task": TASK})
    assert "open fridge 1" in result_of(found["cook"].get_system_prompt(run))


def test_langgraph(bank: Bank) -> None:
    assert "open fridge 1" in cooked("A LangGraph node")["app"].invoke({"task": TASK})["memory"]


def test_llama_index(bank: Bank) -> None:
    block = cooked("A LlamaIndex memory block")["block"]
    message = import_module("llama_index.core.llms").ChatMessage

    assert "open fridge 1" in result_of(block.aget([message(role="user", content=TASK)]))


def test_smolagents(bank: Bank) -> None:
    steps = [{"task": TASK}, {"model_output": "take egg", "observations": "Taken."}]
    memory = Loose(get_full_steps=lambda: steps)
    agent = Loose(run=lambda text: text, memory=memory)
    answer = cooked("smolagents")["run"](agent, TASK, lambda _: True)
    assert "open fridge 1" in answer
    assert open_bank(bank.path).episodes.learnt() == 2


def test_google_adk(bank: Bank) -> None:
    service = cooked("Google ADK")["DeltaMemService"]()
    found = result_of(service.search_memory(app_name="a", user_id="u", query=TASK))
    assert "open fridge 1" in found.memories[0].content.parts[0].text
    assert not result_of(service.search_memory(app_name="a", user_id="u", query="!")).memories


def test_git(tmp_path: Path) -> None:
    who = {
        f"GIT_{role}_{part}": "a@b"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    variables = {
        **os.environ,
        **who,
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    with warm_programs(tmp_path, variables, ["numpy"]) as programs:
        variables["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        _team_at_work(tmp_path, variables)


def _team_at_work(tmp_path: Path, variables: dict[str, str]) -> None:
    team = tmp_path / "team"
    team.mkdir()

    def sh(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-ec", text], cwd=team, env=variables, capture_output=True, text=True
        )

    def commit(branch: str, *lines: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "log.jsonl").write_text("\n".join(lines))
        sh(f"git checkout -q {branch}")
        made = tmp_path / branch / "kitchen"
        deltamem("init", made, "--embedder", "hashing")
        deltamem("import", made, tmp_path / "log.jsonl", "--no-redact")
        file = team / "kitchen.deltamem"
        assert deltamem("export", made, "-o", file, "--episodes", "--allow-secrets").code == 0
        return sh("git add .; git commit -qm more")

    def record(task: str) -> str:
        steps = [{"action": "look", "observation": "You see it."}]
        return json.dumps({"task": task, "steps": steps, "outcome": {"success": True}})

    begun = sh("git init -q -b main\n" + BLOCKS["A team's bank in git"])
    assert begun.returncode == 0, begun.stderr
    sh("git add .; git commit -qm begin; git branch other; git branch leaky")
    for branch, task in (("main", TASK), ("other", "sweep the hall")):
        assert commit(branch, record(task)).returncode == 0
    merged = sh("git checkout -q main; git merge -q -m both other")
    assert merged.returncode == 0, merged.stderr
    both = open_bank(team / "kitchen.deltamem")
    assert {each.task for each in episodes(both)} == {TASK, "sweep the hall"}
    assert "task tree (0 nodes)" in sh("git show --format= HEAD^1").stdout
    leaky = commit("leaky", record("log in with AKIAIOSFODNN7EXAMPLQ"))
    assert leaky.returncode == 1
    assert "secret" in leaky.stderr
