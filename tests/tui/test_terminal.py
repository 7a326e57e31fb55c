"""What reaches a real terminal, byte by byte: colours, and no sequence of a bank's own."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from benchmarks.terminal import Terminal
from tests.tui.support import NODE_SHOWN
from tests.tui.test_hostile import hostile

__all__ = ["hostile"]  # a fixture

_STRING = re.compile(rb"\x1b([\]PX^_])([^\x07\x1b]*)")
"""Where a sequence begins that carries a text: OSC, DCS, SOS, PM or APC; and its text."""
_STYLES = re.compile(rb"\x1b\[([0-9;]*)m")


def seen(bank: Path, keys: str, *last: str, **environment: str) -> bytes:
    """All that the program writes while somebody walks through a bank.

    Args:
        bank: The bank.
        keys: Pressed one after another.
        last: What the last screen shows, sooner or later.
        environment: Variables of the program.
    """
    words = [sys.executable, "-m", "deltamem_tui", "browse", str(bank)]
    with Terminal(words, environment=environment) as terminal:
        terminal.until(NODE_SHOWN)
        for key in keys:
            start = len(terminal.written)
            terminal.press(key)
            terminal.until("\x1b[", start)  # something was drawn
        for each in last:
            terminal.until(each)
        terminal.press("q")
        assert terminal.until_it_ends() == 0
        return terminal.written


def test_a_hostile_bank_sends_no_sequence_to_the_terminal(hostile: Path) -> None:
    written = seen(hostile / "stranger", "jjjjjjjjjjctt34")
    text = written.decode()
    assert not [each for each in text if 0x80 <= ord(each) < 0xA0]
    assert not [each for each in text if each in "\u202a\u202e\u2066\u2069"]
    kinds = {(kind, said.partition(b";")[0]) for kind, said in _STRING.findall(written)}
    assert kinds <= {(b"]", b"22")}, kinds  # the shape of the mouse pointer
    assert written.count(b"\x1b[2J") <= 1


@pytest.mark.parametrize("words", [(), ("browse",)])
def test_a_dumb_terminal_is_told_in_one_line_and_sent_nothing_else(
    folder: Path, words: tuple[str, ...]
) -> None:
    """It moves no cursor and knows no colour."""
    command = [sys.executable, "-m", "deltamem_tui", "--banks", str(folder), *words]
    with Terminal(command, environment={"TERM": "dumb"}) as terminal:
        assert terminal.until_it_ends() == 2
        said = terminal.written.decode()
    assert "TERM=dumb: the browser cannot be drawn on a dumb terminal" in " ".join(said.split())
    assert "\x1b" not in said


def test_no_color_sends_no_colour(folder: Path) -> None:
    """Bold, dim, underlined and reverse are left, and what ends them."""
    said = {style for styles in styles_of(folder, NO_COLOR="1") for style in styles}
    assert said
    assert all(int(style or 0) < 30 or style in {"39", "49"} for style in said), said
    assert any("38" in styles for styles in styles_of(folder))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_sixteen_colours_leave_the_ground_to_the_terminal(folder: Path, theme: str) -> None:
    """It knows whether it is dark or light: no ground of ours, and no white on its own."""
    screen = {"TERM": "screen", "COLORTERM": "", "DELTAMEM_THEME": theme}
    said = {style for styles in styles_of(folder, **screen) for style in styles}
    assert "31" in said  # a failure is red
    assert not said & {*map(str, (37, 97, *range(40, 48), *range(100, 108)))}, said


def styles_of(folder: Path, **environment: str) -> list[list[str]]:
    written = seen(folder / "kitchen", "j*", "✗", **environment)
    return [each.decode().split(";") for each in _STYLES.findall(written)]


def left_with(bank: Path, *more: str) -> str:
    """What a person reads who opened a bank that cannot be looked at, and has to leave."""
    words = [sys.executable, "-m", "deltamem_tui", *more, "browse", str(bank)]
    with Terminal(words) as terminal:
        assert terminal.until_it_ends() == 1
        return terminal.written.decode().rpartition("\x1b[?1049l")[2]


def test_a_broken_line_ends_the_browser_with_one_line(folder: Path) -> None:
    lines = folder / "kitchen" / "task.nodes.jsonl"
    text = lines.read_bytes()
    lines.write_bytes(text.replace(b'{"id"', b'{"xx"', 1))
    told = left_with(folder / "kitchen")
    assert "task.nodes.jsonl, line 1: " in told
    assert "Traceback" not in told
    assert "Traceback" in left_with(folder / "kitchen", "--debug")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("key", "program", "said"),
    [
        ("\x05", {"VISUAL": "false"}, "false ended with 1"),
        ("\x05", {"VISUAL": "/no/such/editor"}, "there is no program"),
        ("v", {"PAGER": "false"}, "false ended with 1"),
    ],
)
def test_the_browser_is_back_after_a_program_that_fails(
    folder: Path, key: str, program: dict[str, str], said: str
) -> None:
    words = [sys.executable, "-m", "deltamem_tui", "browse", str(folder / "kitchen")]
    with Terminal(words, environment=program) as terminal:
        terminal.until(NODE_SHOWN)
        if key != "v":
            terminal.press("e")
            terminal.until("opens $EDITOR")
        terminal.press(key)
        terminal.until(said)
        start = len(terminal.written)
        if key != "v":
            terminal.press("\x1b")
            terminal.until(NODE_SHOWN, start)
            start = len(terminal.written)
        terminal.press("4")
        terminal.until("What to do", start)
        terminal.press("q")
        assert terminal.until_it_ends() == 0
