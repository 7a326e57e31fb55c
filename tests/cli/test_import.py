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
from deltamem_tui.cli.imported import telling
from deltamem_tui.cli.output import Advance, Output
from deltamem_tui.memory.episodes import intake
from deltamem_tui.memory.episodes.kept import episodes
from deltamem_tui.trajectory.readers import reading
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping
from tests.bank.support import file_bytes
from tests.cli.support import Program, heat, state_of, write_log
from tests.trajectory.readers.issue_logs import MINI

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


@pytest.mark.parametrize(
    "side",
    [
        {"ada__calc-7": True, "ada__calc-8": 0.25},
        [{"instance_id": "ada__calc-7", "resolved": True}, {"id": "ada__calc-8", "reward": 0.25}],
        '{"id": "ada__calc-7", "success": "true"}\n{"id": "ada__calc-8", "success": false}\n',
        "instance_id,resolved\nada__calc-7,1\nada__calc-8,0\n",
        {"resolved_ids": ["ada__calc-7"], "unresolved_ids": ["ada__calc-8"]},
        {"resolved": ["ada__calc-7"]},
        ["ada__calc-7"],
    ],
    ids=["json", "records", "jsonl", "csv", "report", "resolved", "bare-list"],
)
def test_a_side_file_says_how_runs_ended_that_only_say_submitted(
    program: Program, side: object
) -> None:
    for number in (7, 8):
        asked, *rest = as_list(MINI["messages"])[1:]
        issue = {**as_mapping(asked), "content": f"Solve issue {number}."}
        run = MINI | {"instance_id": f"ada__calc-{number}", "messages": [issue, *rest]}
        (program.folder / f"{number}.traj.json").write_text(json.dumps(run, indent=1))
    path = program.folder / "outcomes"
    path.write_text(side if isinstance(side, str) else json.dumps(side))
    call = ("import", "kitchen", "7.traj.json", "8.traj.json", "--dry-run")
    silent = program.json(*call).data["trajectories"]
    assert [each["outcome_source"] for each in silent] == ["unknown", "unknown"]
    told = program.json(*call, "--outcome", "outcomes").data["trajectories"]
    assert [(each["success"], each["outcome_source"]) for each in told] == [
        (True, "user"),
        (False, "user"),
    ]


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
    columns = ("file", "episodes", "said by", "rejected")
    assert telling(columns, [("a", 1, "", 0), ("b", 0, "", 0)]) == (
        ("file", "episodes"),
        [("a", 1), ("b", 0)],
    )
    assert telling(columns, []) == (columns, [])


def unsaid(thing: str) -> dict[str, Any]:
    return heat(thing, success=None)


def test_a_correction_of_an_outcome_is_taken_and_told(program: Program) -> None:
    log = program.log(unsaid("soup"))
    program("import", "kitchen", log, "--outcome", "success")
    answer = program("import", "kitchen", log, "--outcome", "failure")
    assert answer.code == 0
    assert "1 outcome was changed" in answer.err
    (found,) = (each for each in episodes(Bank.open(program.bank)) if "soup" in each.task)
    assert found.outcome.success is False
    back = program.json("import", "kitchen", log, "--outcome", "success").data
    assert (back["updated"], back["changed"], back["files"][0]["successes"]) == (1, 1, 1)
    program("extract", "kitchen", "--extractor", "rules")
    late = program("import", "kitchen", log, "--outcome", "failure")
    assert late.code == 1
    assert "log.jsonl, line 1: was learnt from as a success" in late.err


@pytest.mark.parametrize("side", [{"resolved_ids": []}, {"resolved_ids": ["run-8"]}])
def test_a_report_overrules_a_judge_whether_or_not_it_names_the_episode(
    program: Program, side: object
) -> None:
    judged = {"id": "run-7", "outcome": {"success": True, "source": "judge"}}
    log = program.log(heat("soup") | judged, heat("tea") | {"id": "run-8"})
    (program.folder / "report.json").write_text(json.dumps(side))
    told, _ = program.json("import", "kitchen", log, "--outcome", "report.json").data[
        "trajectories"
    ]
    assert (told["success"], told["outcome_source"]) == (False, "user")


def test_records_that_contradict_each_other_are_told(program: Program) -> None:
    log = program.log(heat("soup"), heat("soup", success=False))
    answer = program.json("import", "kitchen", log)
    assert answer.code == 3
    (error,) = answer.document["errors"]
    assert (error["source"], error["position"]) == ("log.jsonl", "line 2")
    assert "but log.jsonl, line 1 says success" in error["message"]
    (row,) = answer.data["files"]
    assert (row["successes"], row["failures"], row["rejected"]) == (1, 0, 1)


def test_an_import_of_which_nothing_came_in_is_an_error_and_names_the_reader(
    program: Program,
) -> None:
    log = program.folder / "chats.jsonl"
    line = '{"messages": [{"role": "assistant", "content": "%s"}]}\n'
    log.write_text(line % "Hello." + line % "Hi.")
    answer = program.json("import", "kitchen", str(log))
    assert answer.code == 1
    assert answer.document["status"] == "error"
    (row,) = answer.data["files"]
    assert (row["formats"], row["episodes"], row["rejected"]) == (["openai-chat"], 0, 2)


def test_ids_of_a_side_file_that_no_log_holds_are_told(program: Program) -> None:
    records = [unsaid(f"egg {number}") | {"metadata": {"id": f"r-{number}"}} for number in (1, 2)]
    records.append(heat("rice") | {"metadata": {"id": "r-3"}})
    ids = [f"r-{number}" for number in range(1, 10)]
    (program.folder / "said.json").write_text(json.dumps(dict.fromkeys(ids, True)))
    answer = program.json("import", "kitchen", program.log(*records), "--outcome", "said.json")
    assert answer.code == 0
    assert answer.data["unmatched"] == ids[3:]
    told = program("import", "kitchen", program.log(*records), "--outcome", "said.json").err
    assert "6 ids of said.json match no episode of these logs: r-4, r-5, r-6, …" in told
    (program.folder / "said.json").write_text(json.dumps({"r-1": True, "r-x": True}))
    told = program("import", "kitchen", program.log(*records), "--outcome", "said.json").err
    assert "1 id of said.json matches no episode of these logs: r-x\n" in told


NO_LISTS = {
    "ids of others": "other\nyet another\n",
    "json": '["other"]',
    "report": '{"resolved_ids": ["other"]}',
    "yaml": "r-1: true\nr-2: false\n",
    "toml": "[r]\nr-1 = true\n",
    "bars": "r-1|false\nr-2|true\n",
    "page": "<html>\n<h1>404 Not Found</h1>\n</html>\n",
    "prose": "All of them went well.\n",
    "braces": "{{{\n",
}


@pytest.mark.parametrize("text", NO_LISTS.values(), ids=NO_LISTS)
@pytest.mark.parametrize("dry", [True, False])
def test_what_names_no_episode_is_no_list_of_those_that_were_resolved(
    program: Program, text: str, dry: bool
) -> None:
    log = program.log(unsaid("soup") | {"id": "r-1"}, unsaid("tea") | {"id": "r-2"})
    (program.folder / "said").write_text(text)
    before = kept(program)
    call = ("import", "kitchen", log, "--outcome", "said", *(["--dry-run"] if dry else []))
    answer = program(*call)
    assert answer.code in (1, 2)
    assert answer.err.startswith("error: said: ")
    assert answer.err.count("\n") == 1
    assert kept(program) == before


def test_a_list_of_ids_is_held_against_standard_input_too(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [unsaid("soup") | {"id": "r-1"}, unsaid("tea") | {"id": "r-2"}]
    data = Path(program.log(*records)).read_bytes()
    (program.folder / "said").write_text("r-2\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    told = program.json("import", "kitchen", "-", "--outcome", "said").data["trajectories"]
    assert [each["success"] for each in told] == [False, True]


def test_what_a_log_states_stands_against_a_file_and_that_is_said(program: Program) -> None:
    records = [heat("soup", success=False) | {"id": "s-1"}, heat("tea") | {"id": "s-2"}]
    log = program.log(*records)
    (program.folder / "ov.json").write_text('{"s-1": true, "s-2": true}')
    call = ("import", "kitchen", log, "--outcome", "ov.json")
    answer = program(*call)
    assert answer.code == 0
    assert "1 episode states another outcome than ov.json: it keeps it\n" in answer.err
    again = program.json(*call)
    assert again.code == 0
    (soup,) = (each for each in episodes(Bank.open(program.bank)) if "soup" in each.task)
    assert soup.outcome.success is False
    assert again.data["disputed"] == [soup.id]
    assert program.json("import", "kitchen", log).data["disputed"] == []
    program("extract", "kitchen", "--extractor", "rules")
    late = program(*call)
    assert late.code == 3
    assert "log.jsonl, line 1: was learnt from as a failure" in late.err
    (program.folder / "ov.json").write_text('{"s-1": false, "s-2": true}')
    assert program(*call).code == 0


def test_a_success_that_nobody_is_named_for_counts_as_stated_everywhere(program: Program) -> None:
    before = program.json("info", "kitchen").data["without_outcome"]
    odd = unsaid("soup") | {"outcome": {"success": True, "source": "unknown"}}
    (told,) = program.json("import", "kitchen", program.log(odd)).data["trajectories"]
    assert (told["success"], told["outcome_source"]) == (True, "stated")
    assert program.json("info", "kitchen").data["without_outcome"] == before
    assert program.json("extract", "kitchen", "--extractor", "rules").data["learned"] == 1


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
    real = reading.read_written

    def pressed(*args: Any, **named: Any) -> Iterator[Any]:
        for index, each in enumerate(real(*args, **named)):
            for _ in range(presses if index == 3 else 0):
                signal.raise_signal(signal.SIGINT)
            yield each

    monkeypatch.setattr(reading, "read_written", pressed)
    monkeypatch.setattr(intake, "_BATCH_EPISODES", 2)
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


def test_the_help_says_what_a_side_file_may_be(program: Program) -> None:
    words = " ".join(program("import", "--help").out.split())
    for kind in ("JSON", "JSONL", "CSV", "resolved"):
        assert kind in words
