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

from deltamem_tui.agents import helper, hooks, settings
from deltamem_tui.agents.hooks import PROTOCOLS
from deltamem_tui.agents.sessions import StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from tests.program import deltamem, own_folders

TASK = "Fix the failing date parser."


@contextmanager
def helping(folder: Path, **how: Any) -> Iterator[Thread]:
    """A helper in a thread, which answers when this begins and has ended when it is left."""
    ready = Event()
    arguments = {"prepare": ready.set, "idle": 0.5, **how}
    thread = Thread(target=helper.serve, args=(folder,), kwargs=arguments)
    thread.start()
    assert ready.wait(20)
    yield thread
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def folder() -> Iterator[Path]:
    """One whose path is short enough for a socket."""
    with TemporaryDirectory(prefix="d") as name:
        yield Path(name)


def test_the_helper_answers_until_it_is_not_asked(folder: Path) -> None:
    def answer(question: Any) -> str:
        if question == ["bad"]:
            raise ValueError(question)
        return f"heard {question[0]} of {len(question[1])}"

    long = "word ö " * 100_000
    assert helper.ask(folder, ["early"], "/bank") is None
    with helping(folder, answer=answer):
        assert helper.ask(folder, ["one", long], "/bank") == f"heard one of {len(long)}"
        assert helper.ask(folder, ["bad"], "/bank") is None
        assert helper.ask(folder, ["two", ""], "/bank") == "heard two of 0"
        assert (helper.place(folder).stat().st_mode & 0o077) == 0
        second = Thread(target=helper.serve, args=(folder, answer, pytest.fail))
        second.start()  # ends at once: there is one
        second.join(20)
        assert not second.is_alive()
    assert helper.ask(folder, ["late"], "/bank") is None


def test_another_configuration_has_another_helper(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = helper.place(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    assert helper.place(folder) != here


def test_a_hook_tells_what_the_helper_knows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that makes a recall slow happens there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    state = StateFolder(folder / "deltamem" / "agents")
    state.folder.mkdir(parents=True)
    bank = create_bank(folder / "code", embedder="hashing")
    asked: list[Any] = []

    def answer(question: Any) -> str:
        asked.append(question)
        return hooks.recalled(state, *question) or "nothing"

    for prompt in ("/clear", TASK):
        told = {"session_id": "s1", "cwd": "/w", "prompt": prompt}
        with helping(state.folder, answer=answer):
            run("claude-code", "prompt", "--bank", str(bank.path), told=told, patch=monkeypatch)
    assert len(asked) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["hookSpecificOutput"]["additionalContext"] == "nothing"
    assert state.session("claude-code", "s1", str(bank.path)).task == TASK


def run(*arguments: str, told: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    import io

    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(told).encode())))
    assert hooks.run(arguments) == 0


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
        run(*ending, told=told, patch=monkeypatch)
        ((_, *learning),) = begun
        assert learning == ["learn", str(bank), "rules"]

        program = [sys.executable, "-m", "deltamem_tui", "hook", *learning]
        subprocess.run(program, check=True, capture_output=True, env=os.environ)
        (found,) = episodes(Bank.open(bank))
        assert "weak sign: the last check passed: pytest" in found.outcome.reason
        assert [node.label for node in Bank.open(bank).tree("task")] == ["success"]
        (doubt,) = deltamem("episode", "review", bank).data["queue"]
        assert (doubt["reason"], doubt["learnt"]) == ("weak", True)

        run(*ending, told=told, patch=monkeypatch)
        again = deltamem("import", bank, "--queued")
        assert again.data["sessions"][0]["duplicate"] == 1
        assert deltamem("episode", "outcome", bank, "last", "failure", "--yes").code == 0
        assert deltamem("episode", "review", bank).data["queue"] == []
        assert [node.label for node in Bank.open(bank).tree("task")] == ["failure"]


@pytest.mark.parametrize("how", ["0", "much", "-1", "inf"])
def test_how_to_learn_is_checked_at_the_install(tmp_path: Path, how: str) -> None:
    with own_folders(tmp_path):
        bank = create_bank(tmp_path / "code", embedder="hashing").path
        assert deltamem("agent", "install", "codex", "--bank", bank, f"--learn={how}").code == 2
        assert not (Path.home() / ".codex").exists()
