"""`deltamem import`: redaction, declared formats, and what the report says."""

from __future__ import annotations

import io
import json
import math
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest
from rich.console import Console
from rich.progress import Progress, TaskID

from deltamem_tui.bank.bank import Bank
from deltamem_tui.cli import output
from deltamem_tui.cli.import_ import without_empty
from deltamem_tui.cli.output import Advance, Output
from deltamem_tui.memory.episodes import domains, importer
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.readers import reading
from tests.bank.support import file_bytes
from tests.cli.support import Program, heat, state_of, write_log

SECRET = "sk-" + "Ab3" * 16
ADDRESS = "ada@lovelace.org"
LEAKY = heat("bread") | {"environment": f"A shell. OPENAI_API_KEY={SECRET} by {ADDRESS}"}


def kept(program: Program) -> bytes:
    return b"".join(file_bytes(program.bank).values())


def test_secrets_never_reach_the_bank_and_are_counted(program: Program) -> None:
    log = program.log(LEAKY, heat("soup"))
    answer = program("import", "kitchen", log)
    assert answer.code == 0
    assert "redacted openai key\t1\n" in answer.out
    assert SECRET.encode() not in kept(program)
    assert ADDRESS.encode() in kept(program)
    again = program.json("import", "kitchen", log).data
    assert (again["duplicates"], again["redaction"]) == (2, "secrets")
    assert again["redactions"] == again["files"][0]["redactions"] == {"openai key": 1}


def test_addresses_are_taken_out_when_asked(program: Program) -> None:
    data = program.json("import", "kitchen", program.log(LEAKY), "--redact-personal").data
    assert sum(data["redactions"].values()) == 2
    assert ADDRESS.encode() not in kept(program)
    assert SECRET.encode() not in kept(program)


def test_secrets_stay_only_when_asked_and_it_is_said(program: Program) -> None:
    answer = program("import", "kitchen", program.log(LEAKY), "--no-redact")
    assert answer.code == 0
    assert "nothing was redacted" in answer.err
    assert SECRET.encode() in kept(program)
    both = program("import", "kitchen", program.log(), "--no-redact", "--redact-personal")
    assert both.code == 2
    assert "contradict" in both.error


def test_no_model_or_rule_sees_a_secret(program: Program) -> None:
    program("import", "kitchen", program.log(LEAKY))
    assert program.json("extract", "kitchen", "--extractor", "rules").data["learned"] == 1
    assert SECRET.encode() not in kept(program)


def test_the_report_has_a_row_per_file(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "one.jsonl", [heat("bread"), heat("bread"), LEAKY])
    broken = write_log(folder / "two.jsonl", [heat("soup", success=None), heat("tea")])
    broken.write_text(broken.read_text() + '{"task": "cut\n')
    (folder / "odd.md").write_text("no log at all")
    answer = program.json("import", "kitchen", str(folder), "--outcome", "failure")
    assert answer.code == 3
    rows = {row["source"]: row for row in answer.data["files"]}
    assert rows["one.jsonl"] == {
        "source": "one.jsonl",
        "formats": ["native"],
        "episodes": 3,
        "steps": 12,
        "successes": 3,
        "failures": 0,
        "outcomes": {"stated": 3},
        "duplicates": 1,
        "redactions": {"openai key": 1},
        "rejected": 0,
    }
    assert rows["two.jsonl"]["outcomes"] == {"user": 1, "stated": 1}
    assert (rows["two.jsonl"]["failures"], rows["two.jsonl"]["rejected"]) == (1, 1)
    assert (rows["odd.md"]["formats"], rows["odd.md"]["rejected"]) == ([], 1)
    told = [(error["source"], error.get("position")) for error in answer.document["errors"]]
    assert told == [("odd.md", None), ("two.jsonl", "line 3")]
    plain = program("import", "kitchen", str(folder), "--dry-run")
    assert "native\tone.jsonl\t3\t12\t3\t0\t0\tlog 3\t3\t1\t0\n" in plain.out
    assert plain.err.count("error: ") == 2


def test_a_dry_run_reports_redactions_and_writes_nothing(program: Program) -> None:
    before = state_of(program.bank)
    data = program.json("import", "kitchen", program.log(LEAKY), "--dry-run").data
    assert (data["imported"], data["redactions"]) == (1, {"openai key": 1})
    assert state_of(program.bank) == before


def declare(program: Program, text: str) -> str:
    (program.folder / "my.toml").write_text(text)
    return "my.toml"


TOML = 'name = "mine"\ntask = "q"\nsteps = "s"\n[step]\naction = "a"\n[outcome]\nsuccess = "ok"\n'


def test_a_declared_format_is_read(program: Program) -> None:
    log = program.folder / "runs.jsonl"
    run = {"q": "go home", "s": [{"a": "walk"}], "ok": True}
    log.write_text(json.dumps(run) + "\n" + json.dumps(run | {"s": [{}]}) + "\n")
    answer = program.json(
        "import", "kitchen", str(log), "--format", declare(program, TOML), "--domain", "town"
    )
    assert answer.code == 3
    (record,) = answer.data["trajectories"]
    assert (record["task"], record["format"], record["success"]) == ("go home", "mine", True)
    assert answer.document["errors"][0]["position"] == "line 2"
    assert list(episodes(Bank.open(program.bank)))[-1].domain == "town"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("tusk = 1", "my.toml: unknown key `tusk`"),
        (TOML.replace("mine", "native"), "my.toml, name: there is a format native already"),
        ('task = "["', "my.toml, task: not a path expression"),
    ],
)
def test_a_wrong_declaration_is_a_wrong_call(program: Program, toml: str, words: str) -> None:
    answer = program("import", "kitchen", program.log(), "--format", declare(program, toml))
    assert answer.code == 2
    assert words in answer.error


def test_a_declaration_that_is_not_there(program: Program) -> None:
    answer = program("import", "kitchen", program.log(), "--format", "none.toml")
    assert answer.code == 2
    assert "none.toml: cannot be read: No such file" in answer.error


@pytest.mark.parametrize(
    ("bank_domain", "given", "log_domain", "kept"),
    [
        ("chess", None, None, "chess"),
        ("chess", None, "webshop", "webshop"),
        ("chess", "town", "webshop", "town"),
        ("generic", None, None, ""),
    ],
)
@pytest.mark.parametrize("said", [True, None])
def test_an_episode_has_the_domain_of_its_bank_unless_somebody_says_another(
    empty: Program,
    bank_domain: str,
    given: str | None,
    log_domain: str | None,
    kept: str,
    said: bool | None,
) -> None:
    empty("init", "new", "--embedder", "hashing", "--domain", bank_domain)
    record = heat("apple", success=said) | ({"domain": log_domain} if log_domain else {})
    log = write_log(empty.folder / "log.jsonl", [record])
    flag = ("--domain", given) if given else ()
    assert empty("import", "new", str(log), *flag).code == 0
    (found,) = episodes(Bank.open(empty.folder / "memory_banks" / "new"))
    assert found.domain == kept


def test_episodes_of_another_domain_than_the_bank_s_are_told(empty: Program) -> None:
    empty("init", "new", "--embedder", "hashing", "--domain", "alfworld")
    records = [heat("apple") | {"domain": "town"}, heat("rice"), heat("egg") | {"domain": "sea"}]
    log = empty.log(*records)
    told = "2 episodes are of town, sea, while the bank is of alfworld"
    assert told in empty("import", "new", log, "--dry-run").err
    answer = empty.json("import", "new", log)
    assert answer.data["domains"] == {"total": 3, "listed": {"town": 1, "alfworld": 1, "sea": 1}}
    assert "while the bank" not in empty("import", "new", log, "--domain", "town").err


def test_a_domain_in_other_letters_is_the_bank_s(empty: Program) -> None:
    empty("init", "new", "--embedder", "hashing", "--domain", "alfworld")
    log = empty.log(heat("apple") | {"domain": "ALFWorld"})
    assert "while the bank" not in empty("import", "new", log).err


def test_of_very_many_domains_every_episode_is_counted(
    empty: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domains, "LISTED_DOMAINS", 4)
    empty("init", "new", "--embedder", "hashing", "--domain", "alfworld")
    log = empty.log(*(heat(f"egg {n}") | {"domain": f"d{n}"} for n in range(6)), heat("rice"))
    told = empty("import", "new", log, "--dry-run").err
    assert "6 episodes are of d0, d1, d2, …, while the bank is of alfworld" in told
    assert empty.json("import", "new", log).data["domains"] == {
        "total": 7,
        "listed": {"d0": 1, "d1": 1, "d2": 1, "d3": 1},
    }


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ("../../etc", "cannot be the name of a domain"),
        ("Bad Dom/ain", "cannot be the name of a domain"),
        ("x" * 300, "cannot be the name of a domain"),
        ("alfwold", "did you mean alfworld?"),
    ],
)
def test_a_domain_that_no_bank_could_have_is_refused_before_anything_is_read(
    program: Program, domain: str, words: str
) -> None:
    before = state_of(program.bank)
    answer = program("import", "no-such-bank", "no-such-log.jsonl", "--domain", domain)
    assert answer.code == 2
    assert words in answer.error
    answer = program("import", "kitchen", program.log(heat("rice")), "--domain", domain)
    assert answer.code == 2
    assert state_of(program.bank) == before


def test_a_domain_is_taken_without_what_a_terminal_would_act_on(program: Program) -> None:
    log = program.log(heat("rice", success=None))
    assert program("import", "kitchen", log, "--domain", " to\x1b[31mwn ").code == 0
    assert list(episodes(Bank.open(program.bank)))[-1].domain == "town"


def test_a_folder_without_files_is_no_import(program: Program) -> None:
    (program.folder / "nothing").mkdir()
    answer = program("import", "kitchen", "nothing")
    assert answer.code == 1
    assert answer.error == "nothing: there is no file in this folder"


def test_the_table_of_files_is_headed_on_a_pipe_too(program: Program) -> None:
    lines = program("import", "kitchen", program.log()).out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("format\t")]
    head, row = lines[at].split("\t"), lines[at + 1].split("\t")
    assert dict(zip(head, row, strict=True))["duplicates"] == "4"


def test_whoever_waits_is_told_how_many_bytes_are_left(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, int | None, list[int]]] = []

    @contextmanager
    def progress(_: Output, label: str, total: int | None = None) -> Iterator[Advance]:
        counts: list[int] = []
        shown.append((label, total, counts))
        yield lambda steps=1, label=None: counts.append(steps)

    monkeypatch.setattr(Output, "progress", progress)
    log = Path(program.log(*(heat(f"egg {number}") for number in range(1000))))
    assert program("import", "kitchen", str(log)).code == 0
    ((label, total, counts),) = shown
    assert (label, total) == ("reading", log.stat().st_size)
    assert sum(counts) == total
    assert len(counts) > 1


def test_whoever_waits_is_told_how_long_it_still_takes(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar that a person sees, by a clock by which a second reads a hundred thousand bytes."""
    monkeypatch.setenv("TERM", "xterm")
    log = Path(program.log(*(heat(f"egg {number}") for number in range(3000))))
    total, speed = log.stat().st_size, 100_000
    seen: list[tuple[float, str]] = []
    make_bar = output._progress_bar

    def observed_bar(_: TextIO) -> Progress | None:
        bar = make_bar(Screen())
        assert bar is not None
        clock = 0.0
        bar.get_time = lambda: clock
        update = bar.update

        def observed_update(task: TaskID, *, advance: float, description: str | None) -> None:
            nonlocal clock
            clock += advance / speed
            update(task, advance=advance, description=description)
            seen.append((clock, drawn(bar)))

        monkeypatch.setattr(bar, "update", observed_update)
        return bar

    monkeypatch.setattr(output, "_progress_bar", observed_bar)
    assert program("import", "kitchen", str(log)).code == 0
    left = [re.search(r"^reading .* left (\S+)$", line) for _, line in seen]
    assert [found and found[1] for found in left] == [
        "-:--:--" if number == 0 else clock_time(math.ceil((total - clock * speed) / speed - 1e-6))
        for number, (clock, _) in enumerate(seen)
    ]
    assert len({found and found[1] for found in left}) > 3


class Screen(io.StringIO):
    """A terminal that nobody looks at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def drawn(bar: Progress) -> str:
    """A bar's line as it stands now."""
    screen = Console(file=io.StringIO(), width=120)
    with screen.capture() as captured:
        screen.print(bar.make_tasks_table(bar.tasks))
    return captured.get().rstrip()


def clock_time(seconds: int) -> str:
    return f"0:{seconds // 60:02}:{seconds % 60:02}"


def test_one_episode_waits_and_two_wait(program: Program) -> None:
    one = program("import", "kitchen", program.log(heat("soup", success=None))).err
    assert "1 episode waits without an outcome" in one
    more = [heat(thing, success=None) for thing in ("rice", "tea")]
    assert (
        "2 episodes wait without an outcome" in program("import", "kitchen", program.log(*more)).err
    )
    assert "4 episodes wait for an outcome" in program("info", "kitchen").err


def test_on_a_terminal_the_report_leaves_out_what_did_not_happen() -> None:
    columns = ("file", "episodes", "outcomes from", "rejected")
    assert without_empty(columns, [("a", 1, "", 0), ("b", 0, "", 0)]) == (
        ("file", "episodes"),
        [("a", 1), ("b", 0)],
    )
    assert without_empty(columns, []) == (columns, [])


@pytest.mark.parametrize("dry", [True, False])
def test_a_frozen_bank_takes_nothing_not_even_in_a_rehearsal(program: Program, dry: bool) -> None:
    program("freeze", "kitchen")
    answer = program(
        "import", "kitchen", program.log(heat("rice")), *(["--dry-run"] if dry else [])
    )
    assert answer.code == 1
    assert "frozen" in answer.err


def test_a_format_that_there_is_not_is_a_wrong_call(program: Program) -> None:
    log = program.log(heat("rice"))
    for call in (("import", "kitchen", log), ("formats", "try", log)):
        answer = program(*call, "--format", "nothere")
        assert answer.code == 2
        assert "unknown format nothere" in answer.err


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_says_how_many_episodes_were_kept(
    program: Program, monkeypatch: pytest.MonkeyPatch, presses: int
) -> None:
    real = reading.read_logs

    def pressed(*args: Any, **named: Any) -> Iterator[Any]:
        for index, each in enumerate(real(*args, **named)):
            for _ in range(presses if index == 3 else 0):
                signal.raise_signal(signal.SIGINT)
            yield each

    monkeypatch.setattr(reading, "read_logs", pressed)
    monkeypatch.setattr(importer, "_BATCH_EPISODES", 2)
    before = len(Bank.open(program.bank).episodes)
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        answer = program("import", "kitchen", program.log(*map(heat, "abcdef")))
    finally:
        signal.signal(signal.SIGINT, at_ctrl_c)
    assert answer.code == 130
    new = 3 if presses == 1 else 2
    assert f"interrupted ({new} new episodes are kept; import again" in answer.err
    assert len(Bank.open(program.bank).episodes) == before + new
