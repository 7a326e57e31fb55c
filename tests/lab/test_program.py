"""The agent that is any program, and what a program may do wrong."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agents.program import LONGEST_LINE, ProgramAgent
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from tests.lab.house import HouseEnvironment

TALK = """
import json, sys
def say(**what): print(json.dumps(what), flush=True)
def hear(): return json.loads(sys.stdin.readline())
"""


def agent(tmp_path: Path, program: str, timeout: float = 60.0) -> ProgramAgent:
    file = tmp_path / "agent of mine.py"
    file.write_text(TALK + program)
    command = shlex.join([sys.executable, str(file)])
    return ProgramAgent(command, timeout=timeout)


def game(limit: int = 30) -> Playthrough:
    house = HouseEnvironment()
    return Playthrough(house.load(house.games("dev")[0]), limit)


def test_a_program_plays(tmp_path: Path) -> None:
    program = """
first = hear()
assert sorted(first) == ["commands", "limit", "memory", "scene", "task"]
assert first["memory"] == "it is in the fridge" and first["limit"] == 30
for action in ("go to fridge 1", "open fridge 1", "take mug 1 from fridge 1", "go to cabinet 1"):
    say(action=action, thought="on", calls=1, tokens=10, cost=0.25)
    seen = hear()
assert "move mug 1 to cabinet 1" in seen["commands"] and not seen["done"]
say(action="move mug 1 to cabinet 1")
seen = hear()
assert seen["done"] and seen["score"] == 1
"""
    played = game()
    cost = agent(tmp_path, program).play(played, "it is in the fridge")
    assert (played.best, len(played.steps), played.steps[0].thought) == (1, 5, "on")
    assert cost == ModelCost(4, 40, 1.0)


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("hear(); say(stop=True)", 0),
        ("hear()", 0),
        ("", 0),
        ("hear(); say(action='look'); hear(); say(stop=True)", 1),
        ("while hear(): say(action='look')", 3),
    ],
    ids=["stops", "ends", "does not listen", "stops later", "never ends"],
)
def test_a_game_ends_by_the_program_or_by_the_limit(
    tmp_path: Path, program: str, steps: int
) -> None:
    played = game(3)
    assert agent(tmp_path, program).play(played, "").cost is None
    assert len(played.steps) == steps


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('hello', flush=True)", "wrote 'hello', which is not an action"),
        ("say(action=7)", "not an action: .*action"),
        ("say(action='look', cost=-1)", "not an action: .*cost"),
        ("say(thought='hm')", "without an action"),
        (f"print('x' * {LONGEST_LINE + 9}, flush=True)", "which is not an action"),
        ("hear(); raise ValueError('no\\x1b[31m key')", "code 1: ValueError: no key"),
        ("while True: hear()", "no answer within 0.5 s"),
    ],
)
def test_a_program_that_misbehaves_is_told_in_one_line(
    tmp_path: Path, program: str, told: str
) -> None:
    timeout = 0.5 if "within" in told else 60.0
    with pytest.raises(UsageError, match=told) as caught:
        agent(tmp_path, program, timeout).play(game(), "")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_what_is_no_command_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not named"):
        ProgramAgent(" ")
    with pytest.raises(UsageError, match="not a command"):
        ProgramAgent("'unclosed")
    with pytest.raises(UsageError, match="cannot be started"):
        ProgramAgent(str(tmp_path / "none")).play(game(), "")


def test_what_the_program_started_ends_with_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    child = f"""
import signal
pipe = open({str(tmp_path / "pipe")!r}, "wb", buffering=0)
pipe.write(b"x")
print("open", flush=True)
signal.pause()
"""
    program = f"""
import subprocess
child = subprocess.Popen([sys.executable, "-c", {child!r}], stdout=subprocess.PIPE)
child.stdout.readline()
hear(); say(stop=True)
"""
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    agent(tmp_path, program).play(game(), "")
    os.set_blocking(reader, True)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"x"  # and it is at its end: no process has it open any more
