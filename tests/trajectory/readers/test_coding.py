"""What coding agents share: where they worked, what the user typed, and their calls as text."""

from __future__ import annotations

import pytest

from deltamem_tui.trajectory.readers.coding import (
    call_text,
    own_words,
    tool_names,
    typed_command,
    without_reminders,
)
from deltamem_tui.trajectory.readers.pictures import without_images
from deltamem_tui.trajectory.workspace import repository_name, without_home, workspace


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ada/calc", "~/calc"),
        ("/Users/ada", "~"),
        ("/root/calc", "~/calc"),
        ("C:\\Users\\ada\\calc", "~\\calc"),
        ("/rooted/calc", "/rooted/calc"),
        ("/srv/home/ada", "/srv/home/ada"),
        ("", ""),
    ],
)
def test_without_home(path: str, shown: str) -> None:
    assert without_home(path) == shown


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@example.org:ada/calc.git", "ada/calc"),
        ("https://ada:pw@example.org/ada/calc.git", "ada/calc"),
        ("https://example.org/group/ada/calc/", "group/ada/calc"),
        ("ssh://git@example.org:22/ada/calc", "ada/calc"),
        ("ada/calc", "ada/calc"),
        ("testbed", "testbed"),
    ],
)
def test_repository_name(address: str, name: str) -> None:
    assert repository_name(address) == name


def test_only_what_is_known_is_said() -> None:
    assert workspace() == ""
    assert workspace(language="c", system="linux", tools=["a", "b", "a", ""]) == (
        "Language: c\nOperating system: linux\nTools: a, b"
    )


def test_tool_names() -> None:
    tools = [{"function": {"name": "a"}}, {"name": "b"}, {"title": "c"}, "d", {}, 3]
    assert tool_names(tools) == ["a", "b", "c", "d"]
    assert tool_names(None) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fix it.", "Fix it."),
        (" Use <b>bold</b> & <command>. ", "Use <b>bold</b> & <command>."),
        ("<system-reminder>a\nb</system-reminder>\nFix it.", "Fix it."),
        ("<ide_selection>x</ide_selection>Fix it.", "Fix it."),
        ("<command-name>/clear</command-name><command-args></command-args>", ""),
        ("<system-reminder>never closed. Fix it.", "<system-reminder>never closed. Fix it."),
        ("<permissions instructions>x</permissions instructions>Go.", "Go."),
        ("[Request interrupted by user for tool use]", ""),
        ("# AGENTS.md instructions for /w\nx", ""),
        ("# Context from my IDE setup:\nx\n## My request for Codex:\nFix it.", "Fix it."),
        ("This is the Qwen Code. We are setting up the context for our chat.\nToday is x.", ""),
        ("This is the setup. Mend it.", "This is the setup. Mend it."),
        ("This session is being continued from a previous conversation that …", ""),
        ("/deltamem ok\n\nThe user says with `ok` that …", ""),
        ("/deltamem okay", "/deltamem okay"),
    ],
)
def test_own_words(text: str, words: str) -> None:
    assert own_words(text) == words


def test_many_unclosed_elements_are_no_matter() -> None:
    text = "<system-reminder>" * 100_000
    assert own_words(text) == text


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("<command-name>/fix</command-name>\n<command-args>it now</command-args>", "/fix it now"),
        ("<command-args>it</command-args>", "it"),
        ("<command-name>/init</command-name><command-args> </command-args>", "/init"),
        ("<command-name>/clear</command-name>", ""),
        ("/fix it", ""),
    ],
)
def test_typed_command(text: str, command: str) -> None:
    assert typed_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>" + " " * 200_000,
        "<command-name>" * 200_000,
        "<command-args>" * 200_000,
    ],
    ids=["blanks", "names", "arguments"],
)
def test_a_command_that_is_never_closed_is_none(text: str) -> None:
    assert typed_command(text) == ""


def test_blanks_around_a_command_are_no_part_of_it() -> None:
    blanks = " " * 200_000
    text = (
        f"<command-name>{blanks}/fix{blanks}</command-name>"
        f"<command-args>{blanks}it{blanks}</command-args>"
    )
    assert typed_command(text) == "/fix it"


def test_reminders_and_pictures_inside_a_text() -> None:
    assert without_reminders("a.py\n<system-reminder>x</system-reminder>") == "a.py"
    assert without_reminders("<command-name>x</command-name>") == "<command-name>x</command-name>"
    assert without_images("see data:image/png;base64,iVBORw0KGgo= here") == "see [image] here"


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("Bash", {"command": "ls -la\n", "timeout": 3}, "ls -la"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("exec", '{"cmd": ["git", "log", "a b"]}', "git log 'a b'"),
        ("bash_command", {"keystrokes": "ls\n", "duration": 0.1}, "ls"),
        ("Bash", {"command": "ls", "description": "Look.", "run_in_background": False}, "ls"),
        ("bash", {"cmd": "ls", "token": "t"}, 'bash(cmd="ls", token="t")'),
        ("run", {"command": "ls", "cmd": "rm a"}, 'run(command="ls", cmd="rm a")'),
        ("bash", {"restart": True}, "bash(restart=true)"),
        ("bash", {"command": ""}, 'bash(command="")'),
        ("read", {"path": "a\n", "lines": [1, 2]}, 'read(path="a\\n", lines=[1,2])'),
        ("read", '{"path": "气"}', 'read(path="气")'),
        ("read", "{broken", "read({broken)"),
        ("look", None, "look()"),
        ("look", {}, "look()"),
        ("look", "", "look()"),
        ("say", "hello", "say(hello)"),
        ("apply_patch", "*** Begin\n+x", "apply_patch\n*** Begin\n+x"),
        ("sum", [1, 2], "sum([1,2])"),
    ],
)
def test_a_call_as_text(name: str, arguments: object, text: str) -> None:
    assert call_text(name, arguments) == text
