"""Make docs/results.md: what memories are worth to the agent without a model, in both simulators.

Every table is a contest of `deltamem lab`. What is finished is kept in build/results until
the program's own code changes, so a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from deltamem_tui.bank.disk.files import new_folder
from deltamem_tui.lab.contestants import BASELINES
from deltamem_tui.lab.result import Cell, ContestResult, interval, tables, title_of, warnings
from deltamem_tui.memory.method import names
from deltamem_tui.text import clean

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results.md"
KEPT = ROOT / "build" / "results"
DATA = ROOT.parent / "shared" / "data"
BEGIN, END = "<!-- made by make results -->\n", "<!-- end of what make results made -->"
LOGS = {
    "alfworld": DATA / "generated" / "alfworld_valid_train_experts.jsonl",
    "scienceworld": DATA / "generated" / "scienceworld_train_variations.jsonl",
}
GAMES = DATA / "games" / "alfworld_games.tar.xz"
"""Those of ALFWorld, which are unpacked once."""
OTHER = {"alfworld": "scienceworld", "scienceworld": "alfworld"}
MOST = {"alfworld": 60, "scienceworld": 90}
"""How many games of the test part are played."""

_EVERY = [word for name in (*BASELINES, *names()) for word in ("--method", name)]
_NOISY = [
    word
    for name in ("synapse", "memp", "deltamem")
    for policy in ("strict", "coarse", "unjudged")
    for word in ("--method", f"{name}:admission={policy}")
]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table of the page.

    Attributes:
        title: Its heading.
        text: What is compared.
        options: Those of `deltamem lab`, beside the environment and its games.
        learns: Whether the log is learnt before.
    """

    title: str
    text: str
    options: Sequence[str]
    learns: bool = True


def experiments(environment: str, embedder: str) -> Iterator[Experiment]:
    """Yield the tables of one environment."""
    by = ("--embedder", embedder)
    yield Experiment(
        "methods, frozen",
        "Every method learnt the same episodes by the rules and was not written any more; the raw "
        "memories hold the same episodes.",
        (*_EVERY, *by),
    )
    yield Experiment(
        "methods, unfrozen",
        "The same, but they go on learning from the games.",
        (*_EVERY, *by, "--protocol", "unfrozen"),
    )
    yield Experiment(
        "whose word admits",
        "Strict admission, a simulated judge that is wrong in three of ten episodes, and every "
        "episode as if it had succeeded.",
        ("--method", "synapse", "--method", "memp", "--method", "deltamem", *_NOISY, *by),
    )
    if environment == "alfworld":  # ScienceWorld does not say what it would accept
        yield Experiment(
            "memories that begin empty",
            "The agent explores where a memory's text ends, and every method learns from each game "
            "after it was played.",
            (*_EVERY, *by, "--agent", "explorer", "--protocol", "online"),
            learns=False,
        )
    yield Experiment(
        "a bank of another environment",
        f"The bank of {OTHER[environment]} that comes with the program, beside none.",
        ("--method", "nothing", "--bank", str(ROOT / "memory_banks" / OTHER[environment])),
        learns=False,
    )


def main() -> None:
    """Play, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, help="fewer games, to see that it works")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    parts = []
    for environment in LOGS:
        for number, each in enumerate(experiments(environment, options.embedder), 1):
            found = played(environment, number, each, options)
            parts.append(section(environment, each, found))
            sys.stdout.write(parts[-1] + "\n")
            sys.stdout.flush()
    options.page.write_text(with_tables(PAGE.read_text("utf-8"), "\n".join(parts)), "utf-8")


def played(
    environment: str, number: int, experiment: Experiment, options: argparse.Namespace
) -> ContestResult:
    """Return the result of one experiment, played as far as it was not before."""
    games = min(options.games or MOST[environment], MOST[environment])
    out = KEPT / code_digest() / f"{environment}-{number}-{games}-{options.embedder}"
    log = ["--learn-from", str(LOGS[environment])] if experiment.learns else []
    asked = ["lab", "play", environment, "--split", "test", "--games", str(games), *log]
    rest = [*games_of(environment), "--parallel", str(options.parallel), "--out", str(out)]
    command = [sys.executable, "-m", "deltamem_tui", *asked, *experiment.options, *rest, "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{environment}, {experiment.title}: {done.stdout.decode()}")
    return msgspec.json.decode(done.stdout, type=_Printed).data


def games_of(environment: str) -> Sequence[str]:
    """Return the option that names an environment's games."""
    if environment != "alfworld":
        return ()
    folder = KEPT / "games"
    if not folder.exists():
        with new_folder(folder) as draft:
            shutil.unpack_archive(GAMES, draft, filter="data")
    return ("--games-from", str(folder))


class _Printed(msgspec.Struct):
    data: ContestResult


def section(environment: str, experiment: Experiment, found: ContestResult) -> str:
    """Return one table with its heading, and what is to be known of it."""
    lines = [f"### {environment}: {experiment.title}", "", experiment.text, ""]
    lines += [f"{title_of(found)}; embedder {found.embedder}.", "", *main_table(found), ""]
    lines += [leaders(found), *(f"{each}." for each in warnings(found))]
    return "\n".join([*lines, ""])


def leaders(found: ContestResult) -> str:
    """Return who has the highest score, and by how few steps; a baseline is named as one."""

    def rank(at: int) -> tuple[float, float]:
        measures = found.contestants[at].measures
        return measures["score"].estimate.value or 0.0, -(measures["steps"].estimate.value or 0.0)

    first = max(range(len(found.contestants)), key=rank)
    if not rank(first)[0]:
        return "None of them scores."
    best = found.contestants[first].contestant
    return (
        f"The highest score, and of equal ones the fewest steps, has the {best.sort} {best.name}."
    )


def with_tables(page: str, tables: str) -> str:
    """Return the page with other tables between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def code_digest() -> str:
    """16 hexadecimal digits of the program's own code and prompts."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("deltamem_tui/**/*.py"), *ROOT.glob("prompts/**/*.md")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main_table(found: ContestResult) -> list[str]:
    """Return the contestants with all their numbers in Markdown, the score with its interval."""
    first = next(tables(found))
    rows: list[Sequence[Cell]] = []
    for (name, _, *rest), each in zip(first.rows, found.contestants, strict=True):
        measure = next(iter(each.measures.values()))
        rows.append((name, interval(measure.estimate), *rest))
    return _table(first.head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    lines = [[_escaped(each) for each in head], ["---"] * len(head)]
    lines += [["" if cell is None else _escaped(_text(cell)) for cell in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _text(cell: str | int | float) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _escaped(text: str) -> str:
    return clean(text).replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
