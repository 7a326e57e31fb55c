"""Agents' hooks, called as their settings have them, told of events as the agents tell of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui import paths
from deltamem_tui.agents import hooks, settings
from deltamem_tui.agents.hook_input import outcome_in, parsed
from deltamem_tui.agents.hook_recall import digest_for, fitted
from deltamem_tui.agents.protocols import PROTOCOLS
from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.models import count_tokens
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.credit import node_credit
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.coding import workspace
from tests.agents.recorded import FOLDER, RECORDED, TASK
from tests.bank.power.disk import Disk, Fate
from tests.places import DOCS
from tests.program import deltamem, own_folders


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank that knows how such tasks were solved, and how a call of theirs failed at first."""
    found = create_bank(tmp_path_factory.mktemp("banks") / "code", embedder="hashing")
    for text in (TASK, "Add a currency to the price list.", "Speed up the report."):
        steps = (
            Step("edit dates.py", "ok"),
            Step("ruff check .", "bash: ruff: command not found"),
            Step("python -m ruff check .", "All checks passed!"),
        )
        outcome = Outcome(success=True, source="user")
        learn(found, Trajectory(text, workspace(directory=FOLDER), steps, outcome))
    return found.path


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateFolder:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return StateFolder(tmp_path / "state" / "deltamem" / "agents")


def text_in(agent: str, event: str, printed: str) -> str:
    """What an agent reads of what a hook printed, which has no more than its schema lets it."""
    if not printed.strip():
        return ""
    answer = json.loads(printed)
    protocol = PROTOCOLS[agent]
    if not protocol.context and answer:
        assert list(answer) == ["hookSpecificOutput"]
        answer = answer["hookSpecificOutput"]
        assert answer.pop("hookEventName") == protocol.handlers[event].name
    key = protocol.context or "additionalContext"
    assert set(answer) <= {key}
    return str(answer.get(key, ""))


def called(written: str, agent: str, event: str) -> list[str]:
    """The arguments that an install has an agent call."""
    if agent == "opencode":  # its plug-in adds them
        (words,) = re.findall(r"^const .* = (.*)$", written, re.MULTILINE)
        return ["hook", agent, event, *json.loads(words)[1]]
    entry = json.loads(written)["hooks"][PROTOCOLS[agent].handlers[event].name][0]
    hook = entry.get("hooks", [entry])[0]
    return hook.get("args") or shlex.split(hook.get("bash") or hook["command"])[1:]


@pytest.mark.parametrize("agent", PROTOCOLS)
def test_each_agent_in_processes_of_their_own(agent: str, bank: Path, state: StateFolder) -> None:
    """The very commands that an install writes, once an event."""
    (written, *_) = settings.planned(
        PROTOCOLS[agent], Path("/nowhere"), str(bank), 1500, portable=True
    )
    said = {}
    for event in PROTOCOLS[agent].handlers:
        arguments = called(written.after or "", agent, event)
        done = subprocess.run(
            [sys.executable, "-m", "deltamem_tui", *arguments],
            input=json.dumps(RECORDED[agent, event]).encode(),
            capture_output=True,
            check=True,
        )
        assert not done.stderr
        said[event] = text_in(agent, event, done.stdout.decode())
    told = "prompt" not in PROTOCOLS[agent].mute
    assert said["prompt"].startswith("<past_experience>\n") == told
    assert ("dates.py" in said["prompt"]) == told
    assert "then worked: python -m ruff check ." in said["failure"]
    assert said["end"] == ""
    if "start" in said and RECORDED[agent, "start"]["source"] == "compact":
        assert said["start"] == f"{said['prompt']}\n\n{said['failure']}"
    elif "start" in said:
        assert "Check with: python -m ruff check ." in said["start"]
    ((_, queued),) = state.queued()
    assert (queued.agent, queued.session, len(queued.receipts)) == (agent, "s1", 1 + told)
    silent = agent in ("openhands", "copilot", "opencode")
    assert queued.path == ("" if silent else "/logs/s1.jsonl")
    assert not (state.folder / "hook.log").exists()


class Agent:
    """One that calls its hooks in this process."""

    def __init__(self, bank: Path, out: pytest.CaptureFixture[str]):
        self._bank, self._out = bank, out

    def __call__(
        self, event: str, said: bytes | None = None, budget: int = 1500, **facts: Any
    ) -> str:
        told = RECORDED["claude-code", event] | facts
        data = json.dumps(told).encode() if said is None else said
        arguments = ["claude-code", event, "--bank", str(self._bank), "--budget", str(budget)]
        assert hooks.run(arguments, data) == 0
        return text_in("claude-code", event, self._out.readouterr().out)


@pytest.fixture
def agent(bank: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> Agent:
    return Agent(bank, capsys)


def test_no_node_comes_twice_in_a_session(agent: Agent) -> None:
    first = agent("prompt")
    assert first
    assert agent("prompt") == ""
    assert agent("failure")
    assert agent("failure") == ""
    assert agent("prompt", session_id="s2") == first
    assert agent("failure", tool_input={"command": "make"}) == ""


def test_what_was_told_comes_again_within_the_same_limits(
    agent: Agent, bank: Path, state: StateFolder
) -> None:
    texts = tuple(f"{number} " + "word " * 400 for number in range(5))
    state.keep(SessionFile("claude-code", "s1", str(bank), texts=texts))
    assert agent("start", budget=1000) == "\n\n".join(texts[-2:])
    assert agent("start", budget=9000) == "\n\n".join(texts[-4:])


def test_the_start_of_a_session_tells_what_every_task_needs(agent: Agent) -> None:
    told = agent("start", source="startup")
    assert "Edited most: dates.py" in told
    assert "Went wrong 3 times: ruff check ." in told
    assert agent("start", source="resume", session_id="s2") == ""
    assert agent("start", source="resume") == ""
    assert agent("start", source="compact") == told


def test_the_end_of_a_session_loads_little(bank: Path, state: StateFolder) -> None:
    """Codex waits for one second."""
    called = ["-m", "deltamem_tui", "hook", "codex", "end", "--bank", str(bank)]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *called],
        input=json.dumps(RECORDED["codex", "end"]).encode(),
        capture_output=True,
        check=True,
    )
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert state.waiting() == 1
    assert "deltamem_tui.agents.hooks" in loaded
    assert not loaded & {"numpy", "msgspec", "orjson", "typer", "filelock", "deltamem_tui.bank"}


def test_nothing_below_the_threshold_and_nothing_beyond_the_budget(agent: Agent) -> None:
    assert agent("prompt", prompt="Paint the garden house in a nice colour", cwd="/tmp") == ""
    assert len(agent("prompt", budget=60).split()) <= 60


def test_each_bank_that_was_asked_hears_of_a_session(
    tmp_path: Path,
    bank: Path,
    agent: Agent,
    state: StateFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that is just named is looked up in the user's banks folder."""
    other = shutil.copytree(bank, tmp_path / "memory_banks" / "other")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DELTAMEM_BANKS", str(tmp_path / "memory_banks"))
    named, placed = (Agent(each, capsys) for each in (Path("other"), other))
    assert "dates.py" in agent("prompt")
    assert "dates.py" in named("prompt")
    assert placed("prompt") == ""
    for each in (agent, named, placed):
        each("end")
    assert {queued.bank for _, queued in state.queued()} == {str(bank), str(other)}


@pytest.mark.parametrize(("characters", "tokens"), [(9000, 40), (300, 1500)])
def test_a_text_is_cut_at_a_line_and_stays_fenced(characters: int, tokens: int) -> None:
    lines = "\n".join(f"line {number} of it" for number in range(4000))
    text = fitted(f"<past_experience>\n\n{lines}\n\n</past_experience>", characters, tokens)
    assert len(text) <= characters
    assert len(text.split()) <= tokens
    assert text.endswith("\n…\n\n</past_experience>")
    assert fitted(text, characters, tokens) == text


@pytest.mark.parametrize("said", [b"", b"[]", b"\xff{", b'{"prompt": 7}', b'{"session_id": []}'])
def test_what_an_agent_should_not_say_breaks_nothing(said: bytes, agent: Agent) -> None:
    assert agent("prompt", said) == ""


def test_no_failure_of_ours_reaches_the_agent(state: StateFolder) -> None:
    for arguments in (
        ["nonsense"],
        ["gemini", "prompt"],
        ["claude-code", "prompt", "--bank", "/no"],
    ):
        assert hooks.run(arguments, b'{"prompt": "x"}') == 0
    assert len((state.folder / "hook.log").read_text().splitlines()) == 3


def test_a_session_that_cannot_be_kept_does_not_reach_the_agent(
    agent: Agent, state: StateFolder
) -> None:
    state.folder.mkdir(parents=True)
    (state.folder / "sessions").write_text("a file where a folder is to be")
    agent("prompt", prompt="/deltamem ok")
    assert (state.folder / "hook.log").read_text()


def test_what_a_person_says_of_the_end_is_kept_whoever_listens(
    bank: Path, state: StateFolder
) -> None:
    for event, facts in (("prompt", {"prompt": "/deltamem ok"}), ("end", {})):
        data = json.dumps(RECORDED["claude-code", event] | facts).encode()
        arguments = ["claude-code", event, "--bank", str(bank)]
        with suppress(BrokenPipeError), hooks.answered(state, arguments, data, str(bank)):
            raise BrokenPipeError  # the agent is gone
    assert [queued.outcome for _, queued in state.queued()] == ["success"]


def test_an_interruption_is_no_failure() -> None:
    told = RECORDED["claude-code", "failure"]
    assert any(parsed(json.dumps(told).encode()).failure)
    assert not any(parsed(json.dumps(told | {"is_interrupt": True}).encode()).failure)
    fine = RECORDED["codex", "failure"] | {"tool_response": "Exit code: 0\nall well"}
    assert not any(parsed(json.dumps(fine).encode()).failure)
    printed = RECORDED["codex", "failure"] | {"tool_response": "notes:\nthere is no match"}
    assert not any(parsed(json.dumps(printed).encode()).failure)
    script = {"llmContent": "#!/bin/sh\nmake || exit 1\n", "returnDisplay": ""}
    read = RECORDED["gemini", "failure"] | {"tool_response": script}
    assert not any(parsed(json.dumps(read).encode()).failure)
    shell = {"llmContent": "Command: make\nExit Code: 2\n", "returnDisplay": ""}
    assert any(parsed(json.dumps(read | {"tool_response": shell}).encode()).failure)


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("/deltamem ok", "success"),
        ("/deltamem bad\n\nThe user says", "failure"),
        ("/prompts:deltamem ok", "success"),
        ("<hook_context>Mind it.\n/x</hook_context>\n\n/deltamem ok", "success"),  # Gemini CLI
        ("<hook_context>/deltamem ok</hook_context>\nmend it", ""),
        ("/deltamem okay", ""),
        ("what does /deltamem ok do?", ""),
    ],
)
def test_an_outcome_in_one_word_is_never_guessed(prompt: str, outcome: str) -> None:
    assert outcome_in(parsed(json.dumps({"prompt": prompt}).encode()).prompt) == outcome


def transcript(path: Path, context: str, turns: int) -> None:
    """A session as it is saved, with the context that was given it."""

    def line(kind: str, content: Any) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {"type": kind, "sessionId": "s1", "cwd": FOLDER, "message": message}

    lines = [line("user", f"{context}\n\n{TASK}")]
    for number in range(turns):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": "ls"}}
        answer = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"a.py\n{context}"}
        lines += [line("assistant", [call]), line("user", [answer])]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))


def test_a_session_comes_home_and_learns_nothing_of_what_it_was_told(
    tmp_path: Path, bank: Path, agent: Agent, state: StateFolder
) -> None:
    with own_folders(tmp_path):
        log = tmp_path / "s1.jsonl"
        context = agent("prompt", transcript_path=str(log))
        transcript(log, context, 2)
        agent("end", transcript_path=str(log))
        before = len(Bank.open(bank).episodes)
        (taken,) = deltamem("import", "--queued").data["sessions"]
        assert (taken["imported"], taken["receipts"], state.waiting()) == (1, 1, 0)
        transcript(log, context, 3)
        agent("prompt", prompt="/deltamem ok", transcript_path=str(log))
        (taken,) = deltamem("import", "--queued", str(bank)).data["sessions"]
        assert (taken["imported"], taken["grown"]) == (0, 1)
    kept = Bank.open(bank)
    assert len(kept.episodes) == before + 1
    *_, found = episodes(kept)
    assert found.task == TASK
    assert found.outcome == Outcome(success=True, source="user")
    assert [step.observation for step in found.steps] == ["a.py"] * 3
    assert "past_experience" not in found.text
    ((shown, *_),) = [receipt.entries for receipt in found.receipts]
    assert node_credit(kept, shown.collection, shown.node).shown == 1
    learn(kept, found)
    assert "past_experience" not in "".join(node.text for node in kept.tree("task"))
    (tmp_path / "later").mkdir()
    with own_folders(tmp_path / "later"):
        agent("prompt", prompt="/deltamem bad", transcript_path=str(log))
        (taken,) = deltamem("import", "--queued").data["sessions"]
        assert taken["duplicate"] == 1
    *_, found = episodes(Bank.open(bank))
    assert found.outcome == Outcome(success=False, source="user")


def test_a_session_of_openhands_is_found_where_it_keeps_them(
    tmp_path: Path, bank: Path, state: StateFolder
) -> None:
    def keep(folder: Path, *events: dict[str, Any]) -> None:
        for number, event in enumerate(events):
            (folder / f"event-{number:05}.json").write_text(json.dumps(event))
        state.enqueue(SessionFile("openhands", "ab-12", str(bank)))

    def said(source: str, text: str) -> dict[str, Any]:
        message = {"role": source, "content": [{"type": "text", "text": text}]}
        return {"kind": "MessageEvent", "source": source, "llm_message": message}

    events = [said("user", "Name the colours."), said("agent", "Red."), said("user", "And?")]
    with own_folders(tmp_path):
        folder = Path.home() / ".openhands" / "conversations" / "ab12" / "events"
        folder.mkdir(parents=True)
        for count in (2, 3):
            keep(folder, *events[:count])
            (taken,) = deltamem("import", "--queued").data["sessions"]
            assert (taken["imported"], taken["grown"]) == (count == 2, count == 3)


def test_a_session_whose_log_is_gone_is_told_and_waits_no_more(
    tmp_path: Path, agent: Agent, state: StateFolder
) -> None:
    with own_folders(tmp_path):
        agent("end", transcript_path=str(tmp_path / "gone.jsonl"))
        answer = deltamem("import", "--queued")
    assert (answer.code, len(answer.document["errors"]), state.waiting()) == (1, 1, 0)


def test_only_a_plain_file_is_taken_for_a_log(
    tmp_path: Path, agent: Agent, state: StateFolder
) -> None:
    """A pipe would be waited for, for ever if nobody writes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def offer() -> None:  # so that a reader would find something, and come to an end
        with suppress(BrokenPipeError):
            pipe.write_text("{}")

    threading.Thread(target=offer, daemon=True).start()
    with own_folders(tmp_path):
        agent("end", transcript_path=str(pipe))
        answer = deltamem("import", "--queued")
    ((error,), left) = answer.document["errors"], state.waiting()
    assert (error["source"], left) == (str(pipe), 0)
    assert "not a plain file" in error["message"]
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # lets the thread go


def test_a_power_cut_leaves_the_settings_as_they_were_or_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text("old" * 500)
    path.chmod(0o640)
    disk = Disk(tmp_path / "home")
    with disk.recording():
        settings.FileChange(path, "old" * 500, "new" * 900).apply()
    disk.acknowledge()
    for cut in disk.power_cuts():
        for drawn in product(Fate, repeat=len(cut.pending)):
            left = cut.left(dict(zip(cut.pending, drawn, strict=True)).__getitem__)
            found = left[".claude"]["settings.json"].decode()
            assert found in {"new" * 900} | ({"old" * 500} if not cut.acknowledged else set())
    backup = path.with_name("settings.json.before-deltamem")
    settings.FileChange(backup, None, "old").apply()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, backup)] == [0o640, 0o640]


@pytest.mark.usefixtures("state")
def test_the_blocks_of_the_page(
    tmp_path: Path, bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCS / "agents.md").read_text()
    lines = [
        shlex.split(line, comments=True)
        for block in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    with own_folders(tmp_path) as banks:
        monkeypatch.setenv("DELTAMEM_MODEL", "openai/gpt-4o-mini")
        shutil.copytree(bank, banks / "kitchen")
        for program, *arguments in lines:
            assert program == "deltamem"
            assert deltamem(*arguments).code == 0


def test_hooks_are_installed_shown_and_removed(tmp_path: Path, bank: Path) -> None:
    """What was there before comes back to the byte, however it was written."""
    with own_folders(tmp_path):
        home = Path(os.environ["HOME"])
        kept = home / ".claude" / "settings.json"
        kept.parent.mkdir(parents=True)
        kept.write_text('{"model":"opus", "hooks": {"Stop": [],"SessionEnd": [{"hooks": []}]}}')
        (home / ".claude" / "skills").mkdir()  # the user's own, if empty
        (home / ".codex").mkdir()
        (home / ".codex" / "hooks.json").touch()
        before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
        for name in PROTOCOLS:
            tried = deltamem("hooks", "install", name, "--bank", bank, "--dry-run").data
            done = deltamem("hooks", "install", name, "--bank", bank).data
            assert tried["files"] == done["files"]
            assert deltamem("hooks", "install", name, "--bank", bank).data["files"] == []
        shown = deltamem("hooks", "status").data["agents"]
        assert {name: found["banks"] for name, found in shown.items()} == {
            name: [str(bank)] for name in PROTOCOLS
        }
        assert not any(found["missing"] or found["last_run"] for found in shown.values())
        (backup,) = kept.parent.glob("*.before-deltamem")
        assert backup.read_bytes() == before[kept]
        for name in PROTOCOLS:
            deltamem("hooks", "remove", name)
        assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
        assert [*(kept.parent / "skills").iterdir()] == []


def test_settings_that_an_agent_does_not_read_in_a_project_are_refused(
    tmp_path: Path, bank: Path
) -> None:
    with own_folders(tmp_path):
        install = ("hooks", "install", "--bank", bank, "--project", "--dry-run")
        found = {name: deltamem(*install, name) for name in PROTOCOLS}
    refused = [name for name, answer in found.items() if answer.code == 2]
    assert refused == ["copilot", "opencode"]
    assert (
        "copilot reads no hooks of a project" in found["copilot"].document["errors"][0]["message"]
    )


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_plugin_packages_call_what_an_install_writes(agent: str) -> None:
    """In a checkout, from which the agents take them; bank and program are named there."""
    folder = DOCS.parent / "plugins" / agent
    changes = settings.planned(PROTOCOLS[agent], Path("/"), "work", 1500, portable=True)
    written = {each.path.name: each.after for each in changes}
    name = Path(PROTOCOLS[agent].settings).name
    assert json.loads((folder / "hooks" / "hooks.json").read_text()) == json.loads(
        written[name] or ""
    )
    if agent == "claude-code":
        skill = folder / "skills" / "deltamem" / "SKILL.md"
        assert skill.read_text() == written["SKILL.md"]


def test_status_says_when_a_hook_last_ran(tmp_path: Path, bank: Path) -> None:
    with own_folders(tmp_path):
        StateFolder(paths.state_folder()).keep(SessionFile("codex", "s1", str(bank)))
        shown = deltamem("hooks", "status").data["agents"]
        ran = {name: found["last_run"] for name, found in shown.items()}
        assert ran.pop("codex") > "2026"
        assert set(ran.values()) == {None}


def test_what_others_change_after_an_install_stays(tmp_path: Path, bank: Path) -> None:
    with own_folders(tmp_path):
        path = Path(os.environ["HOME"]) / ".claude" / "settings.json"
        path.parent.mkdir(parents=True)
        path.write_text('{"a": 1}')
        deltamem("hooks", "install", "claude-code", "--bank", bank)
        theirs = json.loads(path.read_text())
        theirs["hooks"]["Stop"] = [1]
        theirs["hooks"]["SessionEnd"].append({"theirs": True})
        path.write_text(json.dumps(theirs))
        deltamem("hooks", "install", "claude-code", "--bank", bank, "--budget", "90")
        assert "90" in path.read_text()
        deltamem("hooks", "remove", "claude-code")
        left = {"a": 1, "hooks": {"Stop": [1], "SessionEnd": [{"theirs": True}]}}
        assert json.loads(path.read_text()) == left
        assert [each.name for each in path.parent.iterdir() if each.is_file()] == [path.name]


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"hooks": 1}', '{"hooks": {"SessionEnd": {}}}', '{"a": 1} // mine', "x"]
)
def test_settings_that_are_not_plain_json_are_left_alone(
    tmp_path: Path, bank: Path, text: str
) -> None:
    with own_folders(tmp_path):
        path = Path(os.environ["HOME"]) / ".claude" / "settings.json"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        for words in (("install", "--bank", bank), ("remove",), ("status",)):
            answer = deltamem("agent", *words, "claude-code")
            assert [each["source"] for each in answer.document["errors"]] == [str(path)]
        assert path.read_text() == text
        path.unlink()
        path.symlink_to(path.name)  # to itself
        told = deltamem("agent", "install", "--bank", bank, "claude-code").document["errors"]
        assert not any("defect" in each["message"] for each in told)
        assert deltamem("hooks", "install", "codex").code == 2
        assert deltamem("hooks", "install", "nonsense", "--bank", bank).code == 2


def test_the_start_tells_a_project_of_itself_whatever_its_name(tmp_path: Path) -> None:
    found = create_bank(tmp_path / "code", embedder="hashing")
    for folder, check in (("/x/my shop", "npm test"), ("/x/bank", "cargo test")):
        for text in ("Fix the menu", "Mend the footer", "Speed up the search"):
            outcome = Outcome(success=True, source="user")
            steps = (Step(check, "ok"),)
            learn(found, Trajectory(text, workspace(directory=folder), steps, outcome))
    _, text = digest_for(SessionFile("codex", "one", str(found.path)), "/x/my shop", 200)
    assert "npm test" in text
    assert "cargo" not in text


def test_the_start_tells_no_more_than_it_may(tmp_path: Path) -> None:
    """By a model's own count, and however much is known."""
    found = create_bank(tmp_path / "code", embedder="hashing")
    for number in range(12):
        edits = tuple(Step(f"edit src/{'long_name/' * 9}{number % 4}_{n}.py", "ok") for n in "abc")
        fails = Step(f"make part{number % 4}-{'x' * 60}", "make: *** No rule to make target")
        steps = (*edits, fails, Step(f"pytest -q tests/{'part/' * 9}{number % 4}.py", "1 passed"))
        outcome = Outcome(success=True, source="user")
        learn(found, Trajectory(f"Mend {number}", workspace(directory=FOLDER), steps, outcome))
    _, text = digest_for(SessionFile("codex", "one", str(found.path)), FOLDER, 1_500)
    assert text.startswith("<past_experience>")
    assert 80 < count_tokens("openai/gpt-4o", text) <= 200
