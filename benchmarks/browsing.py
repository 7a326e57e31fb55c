"""The browser on a real terminal: how soon it paints a big bank, a key answers, a word is found.

A key in the empty program, which only writes a number, says how much of a key's time is the
machine's; screens are timed when they are shown for the first time, which imports them.
The first screen of a bank of 100,000 nodes is held against a program that opens the same
bank and then shows stock widgets of the same kinds and number, with nothing in them. A key
is pressed in that bank, at rest and while the program learns from episodes beside the screen,
by rules, with the embedding model that the shipped bank has; the answer is the id of the node
one line further down, in the pane that shows it. The first keys are pressed while the model
is being loaded; each lesson is a commit, and the screen reads the bank again every ten seconds.
Words are typed into the filter, among them one that all nodes have and one that none has. All
times are those of the terminal: from the start of the process, or from the key, to the byte that
was waited for.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.terminal import Terminal
from benchmarks.timing import in_turns
from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

ROWS = 100_000
ROUNDS = 5
EPISODES = 600
KEYS = 100
ROW = "▸ "
"""What a row of the outline begins with; no other part of the first screen has it."""
PANE = "task root "
"""How the pane begins that shows the node under the cursor, which is a root at first."""
WORDS = ("thing2167", "counter", "fridge", "thing99", "device", "knife")
FILTERED, UNFILTERED = "fit the filter", "nodes\x1b"
"""How the title of a tree ends while it is filtered, and else."""

_EMPTY_PROGRAM = """
import sys
from pathlib import Path
from textual.app import App
from textual.containers import Horizontal
from textual.scroll_view import ScrollView
from textual.widgets import Input, Static
from deltamem_tui.bank.bank import Bank

class Empty(App):
    BINDINGS = [("j", "count", "Count")]
    count = 0

    def action_count(self):
        self.count += 1
        self.query_one("#count", Static).update(f"counted {self.count};")

    def compose(self):
        yield Static("painted")
        with Horizontal():
            yield ScrollView()
            yield ScrollView()
        yield Input()
        yield ScrollView()
        yield Static("")
        yield Static("", id="count")

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
                terminal.until(ROW)

        def empty(_: int) -> None:
            words = [sys.executable, "-c", _EMPTY_PROGRAM, str(folder)]
            with Terminal(words, environment=home) as terminal:
                terminal.until("painted")

        with Terminal([sys.executable, "-c", _EMPTY_PROGRAM, str(folder)]) as terminal:
            terminal.until("painted")
            bare = _key_times(terminal, [f"counted {number};" for number in range(1, KEYS + 1)])
        timings = in_turns({"browser": browser, "empty_app_and_bank": empty}, ROUNDS)
        path, ids = _bank_to_learn(folder, Path(room) / "learning")
        with Terminal(_browse(path), environment=home) as terminal:
            idle = _key_times(terminal, ids)
            first, *later = _filter_times(terminal)
        with Terminal(_browse(path), environment=home) as terminal:
            screens = _screen_times(terminal)
        with Terminal(_browse(path), environment=home) as terminal:
            _begin_to_learn(terminal)
            learning = _key_times(terminal, ids)
            terminal.until(f"of {EPISODES}", len(terminal.written))  # still at it
    return goals.line(
        "browsing",
        [
            Goal(
                "first_screen_to_empty_app",
                timings.ratio("browser", "empty_app_and_bank"),
                "at most",
                1.5,
            ),
            Goal("first_screen_s", timings.milliseconds()["browser_ms"] / 1000, "at most", 2),
            Goal("key_idle_ms", median(idle), "at most", 50),
            Goal("screen_ms", max(screens.values()), "at most", 1000),
            Goal("key_while_learning_ms", median(learning), "at most", 50),
            Goal("filter_s", max(later), "at most", 1),
        ],
        {
            "rows": ROWS,
            **timings.milliseconds(),
            "keys": KEYS,
            "key_while_learning_p90_ms": quantiles(learning, n=10)[-1],
            "key_while_learning_worst_ms": max(learning),
            "empty_app_key_ms": median(bare),
            **screens,
            "key_idle_worst_ms": max(idle),
            "first_filter_s": first,
        },
    )


def _browse(bank: Path) -> list[str]:
    return [sys.executable, "-m", "deltamem_tui", "browse", str(bank)]


def _begin_to_learn(terminal: Terminal) -> None:
    """Let the program learn by rules, and go back to the trees."""
    seen = terminal.until(PANE)
    terminal.press("3")
    seen = terminal.until("waiting", seen)
    terminal.press("L")
    seen = terminal.until("Parallel requests", seen)
    terminal.press("\r")
    seen = terminal.until(f"of {EPISODES}", seen)
    terminal.press("1")
    terminal.until(PANE, seen)


def _key_times(terminal: Terminal, ids: Sequence[str]) -> list[float]:
    """Return the milliseconds that each of some keys takes to its answer."""
    times: list[float] = []
    terminal.press("gj" if ids[0] == "counted 1;" else "g")
    seen = terminal.until(ids[0])
    for node_id in ids[1:]:
        pressed = time.perf_counter()
        terminal.press("j")
        seen = terminal.until(node_id, seen)
        times.append(1000 * (time.perf_counter() - pressed))
    return times


def _screen_times(terminal: Terminal) -> dict[str, float]:
    """Return the milliseconds from the key of each screen to its own first words."""
    times: dict[str, float] = {}
    terminal.until(PANE)
    for key, words in (
        ("3", "steps"),
        ("4", "report"),
        ("2", "scene"),
        ("\r", " parameters "),
        ("1", PANE),
    ):
        pressed, seen = time.perf_counter(), len(terminal.written)
        terminal.press(key)
        terminal.until(words, seen)
        times[f"screen_{words.split()[0]}_ms"] = 1000 * (time.perf_counter() - pressed)
    return times


def _filter_times(terminal: Terminal) -> list[float]:
    """Return the seconds that each of some words takes from its first letter to what it leaves."""
    times: list[float] = []
    terminal.press("/")
    for word in WORDS:
        typed, seen = time.perf_counter(), len(terminal.written)
        terminal.press(word)
        seen = terminal.until(FILTERED, seen)
        times.append(time.perf_counter() - typed)
        terminal.press("\x15")  # ctrl+u empties the line
        terminal.until(UNFILTERED, seen)
    return times


def _bank_to_learn(big: Path, path: Path) -> tuple[Path, list[str]]:
    """Return a copy of the big bank with episodes that wait; the first roots' ids, in order of
    birth.

    Its vectors stay random. They are as many and as wide as the model's, which is what a
    lesson's questions cost.
    """
    shutil.copytree(big, path)
    bank = Bank.open(path)
    card = asdict(load("minilm").card)
    bank.change_manifest("benchmark", lambda manifest: (replace(manifest, embedder=card), {}))
    take_in(bank, [_episode(number) for number in range(EPISODES)], listed=False)
    roots = islice(bank.tree("task").roots(), KEYS + 1)
    return path, [root.id for root in roots]


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
