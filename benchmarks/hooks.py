"""`deltamem hook … prompt` on a bank of 10,000 nodes against `import numpy`, from start to exit.

Every prompt to an agent waits for it. What a session's end takes of the processor is held against
a bare Python: it may load nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load

ROWS = 10_000
ROUNDS = 12
_LIMITS = {"hashing": 3.0, "minilm": 6.0}
_HOOK = [sys.executable, "-m", "deltamem_tui", "hook", "claude-code"]


def run() -> str:
    """Measure fresh processes in turns, fastest round against fastest."""
    commands = {
        "numpy": [sys.executable, "-c", "import numpy"],
        "bare_python": [sys.executable, "-c", "pass"],
        "end": [*_HOOK, "end", "--bank", "any"],
    }
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for name in _LIMITS:
            commands[name] = [*_HOOK, "prompt", "--bank", str(_bank(home, name).path)]
        rounds = [
            {name: _seconds(command, home, number) for name, command in commands.items()}
            for number in range(ROUNDS)
        ]
    seconds = {name: min(each[name] for each in rounds[1:]) for name in commands}
    stated = [
        Goal(f"{name}_prompt_to_import_numpy", seconds[name] / seconds["numpy"], "at most", limit)
        for name, limit in _LIMITS.items()
        if name in seconds
    ]
    return goals.line("hooks", stated, {f"{name}_ms": 1000 * seconds[name] for name in seconds})


def _bank(folder: Path, embedder: str) -> Bank:
    """Return a big bank of an embedder; a model's has random vectors, so that nothing is near."""
    if embedder == "hashing":
        return big_bank.hashed(ROWS)
    bank = big_bank.build(folder / embedder, ROWS)
    card = asdict(load(embedder).card)
    bank.change_manifest("reembed", lambda known: (replace(known, embedder=card), {}))
    return bank


def _seconds(command: list[str], home: Path, number: int) -> float:
    """Return what a command takes of the processor that is told of a prompt in a new session."""
    told = {"session_id": f"s{number}", "cwd": "/work", "prompt": big_bank.trigger(number)}
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(told).encode())
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime
