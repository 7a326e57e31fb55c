from __future__ import annotations

import pytest

from deltamem_tui.trajectory.readers.coding import (
    own_words,
    typed_command,
    without_reminders,
)
from deltamem_tui.trajectory.readers.pictures import without_images


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
        ("This session is being continued from a previous conversation that …", ""),
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
        ("<command-name>/init</command-name><command-args> </command-args>", ""),
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
        "<command-name>/fix</command-name><command-args>" + " " * 200_000,
    ],
    ids=["blanks", "names", "arguments", "blank-arguments"],
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
