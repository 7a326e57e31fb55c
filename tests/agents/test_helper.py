"""What outlives a hook: the helper that others ask, and learning at a session's end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import pytest

from deltamem_tui import paths
from deltamem_tui.agents import asking, helper, hooks, settings
from deltamem_tui.agents.protocols import PROTOCOLS
from deltamem_tui.agents.sessions import StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.llm.hosted import hosted
from tests.program import deltamem, own_folders

TASK = "Fix the failing date parser."


@contextmanager
def helping(answer: helper.Answer) -> Iterator[None]:
    """A helper in a thread, which answers when this begins and has ended when it is left."""
    ready = Event()
    thread = Thread(target=helper.serve, args=(answer, ready.set, 0.5))
    thread.start()
    assert ready.wait(20)
    yield
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    with TemporaryDirectory(prefix="d") as name:
        monkeypatch.setenv("XDG_RUNTIME_DIR", name)
        monkeypatch.setenv("XDG_STATE_HOME", name)
        yield Path(name)


@pytest.mark.usefixtures("room")
def test_the_helper_answers_until_it_is_not_asked() -> None:
    @contextmanager
    def answer(arguments: list[str], told: bytes, folder: str) -> Iterator[str]:
        if arguments == ["bad"]:
            raise ValueError(arguments)
        yield f"{arguments} {len(told)} {folder}"

    long = "word ö " * 100_000
    assert asking.ask(["early"], b"") is None
    with helping(answer):
        told = long.encode()
        assert asking.ask(["one"], told) == f"['one'] {len(told)} {Path.cwd()}"
        assert asking.ask(["bad"], b"") is None
        assert asking.ask(["two"], b"") == f"['two'] 0 {Path.cwd()}"
        second = Thread(target=helper.serve, args=(answer, pytest.fail))
        second.start()  # ends at once: there is one
        second.join(20)
        assert not second.is_alive()
    assert asking.ask(["late"], b"") is None


def test_a_helper_is_asked_only_where_nobody_else_may_enter(room: Path) -> None:
    @contextmanager
    def answer(*_: object) -> Iterator[str]:
        yield "heard"

    with helping(answer):
        folder = Path(asking.place()).parent
        assert asking.ask(["one"], b"") == "heard"
        folder.chmod(0o777)
        assert asking.ask(["one"], b"") is None
    helper.serve(answer, pytest.fail)  # nor does one answer there
    folder.chmod(0o700)
    folder.rename(room / "other")
    folder.symlink_to(room / "other")
    assert asking.ask(["one"], b"") is None


def test_another_configuration_has_another_helper(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = asking.place()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(room))
    assert asking.place() != here
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/long" * 30)
    assert asking.place() == ""


def test_a_hook_prints_what_the_helper_answers(room: Path) -> None:
    """And loads next to nothing, for each prompt waits for it; without one it knows the same."""
    state = StateFolder(room / "deltamem" / "agents")
    bank = create_bank(room / "code", embedder="hashing")
    asked: list[Any] = []

    @contextmanager
    def answer(arguments: list[str], told: bytes, folder: str) -> Iterator[str]:
        asked.append((arguments, told, folder))
        with hooks.answered(state, arguments, told, folder) as printed:
            yield printed + "heard"

    told = json.dumps({"session_id": "s1", "cwd": "/w", "prompt": TASK}).encode()
    called = ["gemini", "prompt", "--bank", str(bank.path)]
    program = [sys.executable, "-X", "importtime", "-m", "deltamem_tui", "hook", *called]
    how: dict[str, Any] = {"input": told, "capture_output": True, "check": True}
    with helping(answer):
        done = subprocess.run(program, cwd=room, env=os.environ, **how)
    assert asked == [(called, told, str(room))]
    assert done.stdout == b"{}\nheard"
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "deltamem_tui.agents.asking" in loaded
    assert not loaded & {
        "dataclasses",
        "pathlib",
        "deltamem_tui.paths",
        "deltamem_tui.agents.hooks",
    }
    assert state.session("gemini", "s1", str(bank.path)).task == TASK
    alone = subprocess.run(program, cwd=room, env=os.environ, **how)
    assert alone.stdout == b"{}\n"


def test_what_comes_too_late_was_not_told(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent waits for no more than some seconds: then its hook has nothing to say."""
    bank = create_bank(room / "code", embedder="hashing")
    for text in (TASK, "Add a currency.", "Speed up the report."):
        steps = (Step("edit dates.py", "ok"), Step("pytest -q", "2 passed"))
        learn(bank, Trajectory(text, "", steps, Outcome(success=True, source="user")))
    state, gone = StateFolder(room / "deltamem" / "agents"), Event()

    @contextmanager
    def answer(arguments: list[str], told: bytes, folder: str) -> Iterator[str]:
        with hooks.answered(state, arguments, told, folder) as printed:
            assert "dates.py" in printed
            gone.wait(20)
            yield printed

    told = json.dumps({"session_id": "s1", "cwd": "/w", "prompt": TASK}).encode()
    called = ["claude-code", "prompt", "--bank", str(bank.path)]
    with helping(answer):
        with monkeypatch.context() as patch:
            patch.setattr(asking, "ANSWER_SECONDS", 0.3)
            assert asking.ask(called, told) == ""
        gone.set()
        found = json.loads(asking.ask(called, told) or "")  # told now, for the first time
    assert "dates.py" in found["hookSpecificOutput"]["additionalContext"]
    assert len(state.session("claude-code", "s1", str(bank.path)).receipts) == 1


def session(path: Path) -> None:
    """A session whose tests pass at last, without a word of the user."""

    def line(kind: str, content: Any) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {"type": kind, "sessionId": "s1", "cwd": "/home/ada/calc", "message": message}

    lines = [line("user", TASK)]
    for number, (command, error) in enumerate((("ruff check .", True), ("pytest -q", False))):
        given = {"name": "Bash", "input": {"command": command}}
        call = {"type": "tool_use", "id": f"c{number}", **given}
        answer = {"type": "tool_result", "tool_use_id": f"c{number}", "is_error": error}
        content = "bash: ruff: command not found" if error else "2 passed"
        lines += [line("assistant", [call]), line("user", [answer | {"content": content}])]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))


def test_the_end_of_a_session_learns_what_signs_say_and_you_have_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_folders(tmp_path):
        bank = create_bank(tmp_path / "code", embedder="hashing").path
        protocol = PROTOCOLS["claude-code"]
        (written, *_) = settings.planned(
            protocol, Path.home(), str(bank), 1500, portable=True, learn="rules"
        )
        entries = json.loads(written.after or "")["hooks"]
        assert "--learn" not in entries["UserPromptSubmit"][0]["hooks"][0]["args"]
        (_, *ending) = entries["SessionEnd"][0]["hooks"][0]["args"]
        begun: list[Any] = []
        monkeypatch.setattr(helper, "detached", begun.append)
        session(tmp_path / "s1.jsonl")
        told = {"session_id": "s1", "cwd": "/w", "transcript_path": str(tmp_path / "s1.jsonl")}
        hooks.run(ending, json.dumps(told).encode())
        ((_, *learning),) = begun
        assert learning == ["learn", str(bank), "rules"]

        program = [sys.executable, "-m", "deltamem_tui", "hook", *learning]
        with StateFolder(paths.state_folder()).turn("next to learn", str(bank)):  # one waits
            subprocess.run(program, check=True, capture_output=True, env=os.environ)
        assert not [*episodes(Bank.open(bank))]
        subprocess.run(program, check=True, capture_output=True, env=os.environ)
        (found,) = episodes(Bank.open(bank))
        assert "weak sign: the last check passed: pytest" in found.outcome.reason
        assert [node.label for node in Bank.open(bank).tree("task")] == ["success"]
        (doubt,) = deltamem("episode", "review", bank).data["queue"]
        assert (doubt["reason"], doubt["learnt"]) == ("weak", True)

        hooks.run(ending, json.dumps(told).encode())
        again = deltamem("import", bank, "--queued")
        assert again.data["sessions"][0]["duplicate"] == 1
        assert deltamem("episode", "outcome", bank, "last", "failure", "--yes").code == 0
        assert deltamem("episode", "review", bank).data["queue"] == []
        assert [node.label for node in Bank.open(bank).tree("task")] == ["failure"]


def test_a_model_learns_at_an_end_within_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot work is said at the install; what fails later, by `agent status`."""
    with own_folders(tmp_path), hosted(tmp_path / "cache") as (server, variables):
        for name in ("OPENAI_API_KEY", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, variables[name])
        bank = create_bank(tmp_path / "code", embedder="hashing").path
        install = ("agent", "install", "claude-code", "--bank", bank, "--learn", "0.05")
        refused = [deltamem(*install).document["errors"][0]]
        monkeypatch.setenv("DELTAMEM_MODEL", "openai/own")
        monkeypatch.setenv("DELTAMEM_API_BASE", server.base)
        refused.append(deltamem(*install).document["errors"][0])
        said = ["no model was named", "the price of openai/own is not known"]
        assert [each["message"] for each in refused] == said
        assert "in deltamem.toml" in refused[1]["hint"]
        assert not (Path.home() / ".claude").exists()
        session(tmp_path / "s1.jsonl")
        told = {"session_id": "s1", "cwd": "/w", "transcript_path": str(tmp_path / "s1.jsonl")}
        hooks.run(["claude-code", "end", "--bank", str(bank)], json.dumps(told).encode())

        def learnt() -> list[str]:
            program = [sys.executable, "-m", "deltamem_tui", "hook", "learn", str(bank), "0.05"]
            subprocess.run(program, check=True, capture_output=True, env=os.environ)
            return [node.origin.model for node in Bank.open(bank).tree("task")]

        def last_failure() -> str:
            return str(deltamem("agent", "status").data["last_failure"])

        assert learnt() == []
        assert "the price of openai/own is not known" in last_failure()
        assert server.requests == []
        monkeypatch.setenv("DELTAMEM_PRICE", "0.25/2")
        assert deltamem(*install).code == 0
        assert deltamem("agent", "status").data["agents"]["claude-code"]["learns"] == ["0.05"]
        assert learnt() == ["openai/own"]
        assert server.requests
        monkeypatch.setenv("DELTAMEM_PRICE", "9000/9000")
        other = (tmp_path / "s1.jsonl").read_text().replace("s1", "s2").replace("date", "price")
        (tmp_path / "s2.jsonl").write_text(other)
        told |= {"session_id": "s2", "transcript_path": str(tmp_path / "s2.jsonl")}
        hooks.run(["claude-code", "end", "--bank", str(bank)], json.dumps(told).encode())
        server.requests.clear()
        assert learnt() == ["openai/own"]
        assert server.requests == []
        assert "the next call could cost" in last_failure()
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)  # of a model whose price is listed
        for name in ("PRICE", "API_BASE"):
            monkeypatch.delenv(f"DELTAMEM_{name}")
        monkeypatch.setenv("DELTAMEM_MODEL", "openai/gpt-4o-mini")
        assert deltamem(*install).code == 0
        learnt()
        assert {each.body["model"] for each in server.requests} == {"gpt-4o-mini"}
        states = [each["state"] for each in deltamem("episode", "list", bank).data["episodes"]]
        assert (states, last_failure()) == (["learnt", "learnt"], "None")
        deltamem("bank", "freeze", bank)
        assert deltamem("agent", "remove", "claude-code").code == 0
        assert "is frozen" in deltamem(*install).document["errors"][0]["message"]
        assert deltamem(*install[:-2]).code == 0


def test_a_hook_says_what_it_is() -> None:
    program = [sys.executable, "-m", "deltamem_tui", "hook", "--help"]
    done = subprocess.run(program, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stdout.startswith(b"Usage: deltamem hook AGENT EVENT --bank BANK")


@pytest.mark.parametrize("how", ["0", "much", "-1", "inf"])
def test_how_to_learn_is_checked_at_the_install(tmp_path: Path, how: str) -> None:
    with own_folders(tmp_path):
        bank = create_bank(tmp_path / "code", embedder="hashing").path
        assert deltamem("agent", "install", "codex", "--bank", bank, f"--learn={how}").code == 2
        assert not (Path.home() / ".codex").exists()
