"""The browser on a real terminal: how soon it paints a big bank, how soon a key answers.

The first screen of a bank of 100,000 nodes is held against a program that opens the same
bank and then shows stock widgets of the same kinds and number, with nothing in them. A key
is pressed while the program learns from episodes beside the screen; the answer is the text
of the node one line further down. Both times are those of the terminal: from the start of
the process, or from the key, to the byte that was waited for.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.terminal import Terminal
from benchmarks.timing import in_turns
from deltamem_tui.bank.node import Origin, Payload, born
from deltamem_tui.memory.episodes.intake import take_in
from deltamem_tui.memory.opening import create_bank
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

ROWS = 100_000
ROUNDS = 5
EPISODES = 600
KEYS = 40

_EMPTY_PROGRAM = """
import sys
from pathlib import Path
from textual.app import App
from textual.containers import Horizontal
from textual.scroll_view import ScrollView
from textual.widgets import Input, Static
from deltamem_tui.bank.bank import Bank

class Empty(App):
    def compose(self):
        yield Static("painted")
        with Horizontal():
            yield ScrollView()
            yield ScrollView()
        yield Input()
        yield ScrollView()
        yield Static("")
        yield Static("")

bank = Bank.open(Path(sys.argv[1]))
for tree in bank.trees.values():
    len(tree)
Empty().run()
"""


def run() -> str:
    """Measure first paint and key presses."""
    folder = big_bank.shared(ROWS).path
    with tempfile.TemporaryDirectory(prefix="deltamem-bench-") as room:
        home = {f"XDG_{name}_HOME": room for name in ("STATE", "CONFIG", "DATA")}

        def browser(_: int) -> None:
            with Terminal(_browse(folder), environment=home) as terminal:
                terminal.until("clean some thing 0 and")

        def empty(_: int) -> None:
            words = [sys.executable, "-c", _EMPTY_PROGRAM, str(folder)]
            with Terminal(words, environment=home) as terminal:
                terminal.until("painted")

        timings = in_turns({"browser": browser, "empty_app_and_bank": empty}, ROUNDS)
        idle = _key_times(Path(room), home, learning=False)
        learning = _key_times(Path(room), home, learning=True)
    return goals.line(
        "browsing",
        [
            Goal(
                "first_screen_to_empty_app",
                timings.ratio("browser", "empty_app_and_bank"),
                "at most",
                1.5,
            ),
            Goal("key_while_learning_ms", median(learning), "at most", 50),
        ],
        {
            "rows": ROWS,
            **timings.milliseconds(),
            "key_while_learning_p90_ms": quantiles(learning, n=10)[-1],
            "key_idle_ms": median(idle),
            "key_idle_p90_ms": quantiles(idle, n=10)[-1],
        },
    )


def _browse(bank: Path) -> list[str]:
    return [sys.executable, "-m", "deltamem_tui", "browse", str(bank)]


def _key_times(room: Path, home: dict[str, str], *, learning: bool) -> list[float]:
    """The milliseconds that each of some keys takes to its answer."""
    path = room / ("learning" if learning else "idle")
    ids = _bank_to_learn(path)
    times: list[float] = []
    with Terminal(_browse(path), environment=home) as terminal:
        seen = terminal.until(ids[0])
        if learning:
            terminal.press("3")
            seen = terminal.until("waiting", seen)
            terminal.press("E")
            terminal.press("\r")
            seen = terminal.until(f"of {EPISODES}", seen)
            terminal.press("1")
            seen = terminal.until(ids[0], seen)
        for node_id in ids[1 : KEYS + 1]:
            pressed = time.perf_counter()
            terminal.press("j")
            seen = terminal.until(node_id, seen)
            times.append(1000 * (time.perf_counter() - pressed))
        if learning and b"by rules, no cost" in terminal.written:
            raise RuntimeError("the episodes were learnt before the last key was pressed")
    return times


def _bank_to_learn(path: Path) -> list[str]:
    """A bank of some roots with many episodes that wait; the roots' ids, in order of birth."""
    bank = create_bank(path, embedder="hashing", domain="alfworld")
    take_in(bank, [_episode(number) for number in range(EPISODES)], listed=False)
    roots = [
        born("task", None, "success", Payload(f"root number {number}", "do it"), Origin())
        for number in range(KEYS + 1)
    ]
    vectors = big_bank.unit_rows(len(roots), bank.manifest.dimensions)
    with bank.writing() as batch:
        for root, vector in zip(roots, vectors, strict=True):
            batch.add_node("task", root, vector)
        batch.log("benchmark")
    return [root.id for root in roots]


def _episode(number: int) -> Trajectory:
    steps = tuple(
        Step(f"go to shelf {number + step}", f"On shelf {number + step} you see a box {step}.")
        for step in range(12)
    )
    return Trajectory(
        task=f"put thing{number} and stuff{number} on place{number}",
        environment=f"a room {number} with shelves",
        steps=steps,
        outcome=Outcome(success=True, source="stated"),
        domain="alfworld",
    )
