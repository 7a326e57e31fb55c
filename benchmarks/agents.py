"""Agents' own programs with the hooks: what reaches their model, and what it costs them in time.

Each program is installed by npm into a folder, gets a home of its own, a dummy key and a scripted
model on the loopback address (`agent_server`), with its telemetry off. Two sessions, the second
about the same task, and an unrelated one; then the hooks are taken out again. Nothing is installed
unless `AGENTS_FOLDER` names a folder for the programs.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import goals
from benchmarks.agent_server import ScriptedServer
from benchmarks.goals import Goal
from deltamem_tui.agents.protocols import PROTOCOLS

ROUNDS = 8
_ROUNDS_SECONDS = 120.0
ADDED_MS = 300
FAILURE_MS = 150
_PATIENCE = 600.0  # opencode installs a package by npm at its first start with a plug-in
_SETTINGS = ("settings", "hooks", "config", "opencode")
_TASK = "Run the tests of the calculator, and mend what fails"
_OTHER = "Explain what a monad is"
_COMMANDS = ("cat numbers.txt", "lintcheck .", "python3 -m unittest -q")
_FAILS = "lintcheck"


@dataclass(frozen=True, slots=True)
class Program:
    """An agent's program.

    Attributes:
        package: Its npm package.
        command: What asks it for one answer; the prompt comes last.
        settings: Its settings before the install, by their paths below the home folder.
        environment: Further variables.
    """

    package: str
    command: tuple[str, ...]
    settings: Callable[[str], Mapping[str, str]]
    environment: Callable[[str], Mapping[str, str]]


def _codex_settings(url: str) -> Mapping[str, str]:
    text = f"""model = "scripted"
model_provider = "loop"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
"""
    return {".codex/config.toml": text}


def _gemini_settings(_: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return {".gemini/settings.json": json.dumps(settings, indent=4)}


def _qwen_settings(_: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "$version": 3,
    }
    return {".qwen/settings.json": json.dumps(settings, indent=2)}


def _opencode_settings(url: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loop",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"scripted": {"name": "scripted"}},
    }
    settings = {"autoupdate": False, "share": "disabled", "provider": {"loop": provider}}
    return {".config/opencode/opencode.json": json.dumps(settings)}


PROGRAMS: Mapping[str, Program] = {
    "claude-code": Program(
        "@anthropic-ai/claude-code",
        ("claude", "--allowedTools", "Bash", "-p"),
        lambda _: {".claude/settings.json": '{"cleanupPeriodDays":30,\n  "hooks": {}}'},
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        },
    ),
    "codex": Program(
        "@openai/codex",
        (
            *("codex", "exec", "--skip-git-repo-check"),
            *("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"),
        ),
        _codex_settings,
        lambda _: {"LOOP_KEY": "dummy"},
    ),
    "gemini": Program(
        "@google/gemini-cli",
        ("gemini", "-m", "gemini-2.5-pro", "--yolo", "-p"),
        _gemini_settings,
        lambda url: {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    ),
    "qwen": Program(
        "@qwen-code/qwen-code",
        ("qwen", "--yolo", "-p"),
        _qwen_settings,
        lambda url: {
            "OPENAI_API_KEY": "dummy",
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_MODEL": "scripted",
        },
    ),
    "copilot": Program(
        "@github/copilot",
        ("copilot", "--allow-all-tools", "-p"),
        lambda _: {},
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
    ),
    "opencode": Program(
        "opencode-ai",
        ("opencode", "run", "-m", "loop/scripted"),
        _opencode_settings,
        lambda _: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    ),
}


class Trial:
    """One program, in a home of its own."""

    def __init__(self, name: str, programs: Path, folder: Path, server: ScriptedServer) -> None:
        self.name, self.program, self.server = name, PROGRAMS[name], server
        self.home, self.project = folder / "home", folder / "calc"
        self.bin = programs / "node_modules" / ".bin"
        self.environment = {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_PROXY": "127.0.0.1",
            "DO_NOT_TRACK": "1",
            **self.program.environment(server.url),
        }
        for path, text in self.program.settings(server.url).items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text)
        self.project.mkdir(parents=True)
        (self.project / "numbers.txt").write_text("1\n2\n3\n")
        (self.project / "test_calc.py").write_text(_TESTS)

    def ask(self, prompt: str, *commands: str) -> tuple[list[str], float]:
        """Have the program answer; returns what its model was sent, and the ms to the first."""
        script = self.server.begin(commands)
        begun = time.perf_counter()
        subprocess.run(
            [self.bin / self.program.command[0], *self.program.command[1:], prompt],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_PATIENCE,
        )
        if script.first is None:
            raise RuntimeError(f"{self.name} sent nothing to its model")
        return script.requests, 1000 * (script.first - begun)

    def deltamem(self, *arguments: str) -> Any:
        """Call our program as its user would; returns its JSON."""
        done = subprocess.run(
            [str(Path(sys.executable).with_name("deltamem")), "--json", *arguments],
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            check=False,
        )
        return json.loads(done.stdout)["data"]

    def version(self) -> str:
        """Return the program's version."""
        manifest = self.bin.parent / self.program.package / "package.json"
        return str(json.loads(manifest.read_text())["version"])

    def settings(self) -> dict[str, bytes]:
        """Return the files that the program reads its settings from, and those beside them."""
        known = {*self.program.settings(""), PROTOCOLS[self.name].settings}
        folders = {(self.home / path).parent for path in known}
        return {
            str(each.relative_to(self.home)): each.read_bytes()
            for folder in folders
            for each in folder.glob("*")
            if each.is_file() and each.name.split(".")[0] in _SETTINGS
        }

    def run(self) -> dict[str, Any]:
        """Try all; returns a row of the table."""
        self.ask(_OTHER)  # what it writes at its very first start
        self.deltamem("init", "work")
        before = self.settings()
        self.deltamem("agent", "install", self.name, "--bank", "work", "--learn", "rules")
        first, _ = self.ask(_TASK, *_COMMANDS)
        learnt = self._learnt()
        second, _ = self.ask(_TASK, "lintcheck .")
        unrelated, _ = self.ask(_OTHER)
        failed, _ = self.ask("Is the style of the text right?", "lintcheck .")
        with_hooks, without = self._times()
        failure = self._failure_ms()
        self.deltamem("agent", "remove", self.name)
        return {
            "version": self.version(),
            "commands": sum(command in first[-1] for command in _COMMANDS),
            "learnt": learnt,
            "told": "past_experience" in second[0] and "unittest" in second[0],
            "failure": "past_experience" in failed[-1] and "past_experience" not in failed[0],
            "unrelated": "past_experience" in unrelated[0],
            "ms_without": min(without),
            "ms_added": min(with_hooks) - min(without),
            "ms_added_median": statistics.median(with_hooks) - statistics.median(without),
            "failure_ms": failure,
            "restored": self.settings() == before,
        }

    def _times(self) -> tuple[list[float], list[float]]:
        """Return the ms to the first request with the hooks and without, in turns.

        Nothing learns meanwhile: it would take the processor from the next round.
        """
        self.deltamem("agent", "install", self.name, "--bank", "work")
        path = self.home / PROTOCOLS[self.name].settings
        aside = path.with_name("aside")
        times: tuple[list[float], list[float]] = ([], [])
        theirs = path.with_name(f"{path.name}.before-deltamem")
        begun = time.perf_counter()
        for number in range(ROUNDS):
            if number and time.perf_counter() - begun > _ROUNDS_SECONDS:
                break
            times[0].append(self.ask(_OTHER)[1])
            path.rename(aside)
            if theirs.exists():
                shutil.copy(theirs, path)
            times[1].append(self.ask(_OTHER)[1])
            aside.rename(path)
        return times

    def _learnt(self) -> int:
        """Wait for what learns behind a session's end; returns the episodes."""
        for _ in range(100):
            if learnt := int(self.deltamem("bank", "info", "work")["learnt"]):
                return learnt
            time.sleep(0.3)
        return 0

    def _failure_ms(self) -> float:
        """Return the time of the hook of a failed call, as the program calls it."""
        told = {
            "session_id": "timed",
            "cwd": str(self.project),
            "tool_name": "Bash",
            "tool_input": {"command": "lintcheck ."},
            "tool_response": "Exit code: 127\nbash: lintcheck: command not found",
            "error": "Exit code 127\nbash: lintcheck: command not found",
        }
        bank = str(self.home / ".local/share/deltamem/memory_banks/work")
        program = str(Path(sys.executable).with_name("deltamem"))
        times = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            subprocess.run(
                [program, "hook", self.name, "failure", "--bank", bank],
                input=json.dumps(told).encode(),
                env=self.environment,
                capture_output=True,
                check=True,
            )
            times.append(1000 * (time.perf_counter() - begun))
        return min(times)


_TESTS = """import unittest

class Calculator(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum(map(int, open("numbers.txt"))), 6)
"""


def run(names: tuple[str, ...] = tuple(PROGRAMS)) -> str:
    """Try each program that can be installed here."""
    folder = os.environ.get("AGENTS_FOLDER")
    if not folder:
        reason = "AGENTS_FOLDER names no folder to install the agents' programs into, by npm"
        return goals.skipped("agents", reason)
    programs, rows = Path(folder).resolve(), dict[str, Any]()
    with ScriptedServer() as server:
        for name in filter(PROTOCOLS.__contains__, names):
            if not _installed(PROGRAMS[name].package, programs):
                return goals.skipped("agents", f"npm cannot install {PROGRAMS[name].package}")
            with TemporaryDirectory(prefix="a", ignore_cleanup_errors=True) as folder:
                rows[name] = Trial(name, programs, Path(folder), server).run()
    return goals.line("agents", _goals(rows), {"agents": rows})


def _goals(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Goal]:
    for name, row in rows.items():
        for what in ("told", "failure", "restored"):
            yield Goal(f"{name}_{what}", float(row[what]), "at least", 1)
        yield Goal(f"{name}_unrelated", float(row["unrelated"]), "at most", 0)
        yield Goal(f"{name}_ms_added", row["ms_added"], "at most", ADDED_MS)
        yield Goal(f"{name}_failure_ms", row["failure_ms"], "at most", FAILURE_MS)


def _installed(package: str, folder: Path) -> bool:
    if (folder / "node_modules" / package).is_dir():
        return True
    if shutil.which("npm") is None:
        return False
    command = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), package]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    print(run(tuple(sys.argv[1:]) or tuple(PROGRAMS)))
