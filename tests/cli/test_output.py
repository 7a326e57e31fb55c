"""What reaches stdout and stderr, drawn, plain and as JSON, and the exit codes."""

import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.cli.output import Output
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import ExitCode, InterruptionError, Result, Status
from deltamem_tui.errors import DeltaMemError, RecordError, UsageError
from deltamem_tui.text import clean

RECORD = RecordError("is not JSON", source="log.jsonl", position="line 3", hint="mend it")
HOSTILE = "[/x] walk to [fridge 1] :smile: \x1b[2J\x1b]52;c;x\x07\u202e"
CLEANED = "[/x] walk to [fridge 1] :smile: "


class Terminal(io.StringIO):
    """A stream that says a person is looking at it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@dataclass
class Captured:
    output: Output
    stdout: io.StringIO
    stderr: io.StringIO

    @property
    def document(self) -> dict[str, object]:
        loaded = json.loads(self.stdout.getvalue())
        assert isinstance(loaded, dict)
        return loaded


def captured(*, json: bool = False, debug: bool = False, terminal: bool = False) -> Captured:
    stream = Terminal if terminal else io.StringIO
    stdout, stderr = stream(), stream()
    output = Output(json=json, debug=debug, stdout=stdout, stderr=stderr)
    return Captured(output, stdout, stderr)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns that draws without colour and cannot redraw."""
    monkeypatch.setenv("TERM", "dumb")


@pytest.mark.parametrize(
    ("errors", "status", "code"),
    [
        ((), "success", 0),
        ((RECORD,), "partial", 3),
        ((RECORD,), "error", 1),
        ((UsageError("no"),), "error", 2),
        ((UsageError("no"), RECORD), "error", 1),
        ((InterruptionError("interrupted"),), "error", 130),
        ((RECORD, InterruptionError("interrupted")), "partial", 130),
    ],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_the_status_becomes_the_exit_code(
    errors: Sequence[DeltaMemError], status: Status, code: int, as_json: bool
) -> None:
    assert captured(json=as_json).output.publish(Result("verify", {}, errors, status)) == code


def test_json_is_one_whole_document_and_stderr_stays_silent() -> None:
    got = captured(json=True)
    result = Result("import", {"imported": 2}, (RECORD,), "partial", notes=("two imported",))
    assert got.output.publish(result) == ExitCode.PARTIAL
    assert got.document == {
        "command": "import",
        "status": "partial",
        "data": {"imported": 2},
        "errors": [
            {
                "message": "is not JSON",
                "source": "log.jsonl",
                "position": "line 3",
                "hint": "mend it",
            }
        ],
    }
    assert got.stderr.getvalue() == ""


def test_json_takes_what_commands_have_at_hand() -> None:
    @dataclass(frozen=True, slots=True)
    class Match:
        node: str
        score: np.float32

    got = captured(json=True)
    data = {"path": Path("a/b"), "match": Match(HOSTILE, np.float32(0.5)), "row": np.ones(2), 3: ()}
    got.output.publish(Result("recall", data))
    assert got.document["data"] == {
        "path": "a/b",
        "match": {"node": CLEANED, "score": 0.5},
        "row": [1.0, 1.0],
        "3": [],
    }


@given(st.recursive(st.text() | st.none() | st.floats(), st.lists))
def test_whatever_the_text_the_document_is_json_without_control_characters(data: object) -> None:
    got = captured(json=True)
    got.output.publish(Result("show", {"data": data}))
    assert got.document["command"] == "show"
    assert all(c == "\n" or c.isprintable() or ord(c) > 0x9F for c in got.stdout.getvalue())


def test_json_is_utf8_whatever_the_terminals_encoding_is() -> None:
    raw = io.BytesIO()
    output = Output(json=True, stdout=io.TextIOWrapper(raw, "ascii"), stderr=io.StringIO())
    output.publish(Result("show", {"text": "Küche → 台所"}))
    assert json.loads(raw.getvalue().decode("utf-8"))["data"] == {"text": "Küche → 台所"}


def test_words_for_a_person_go_to_stderr_and_data_to_stdout() -> None:
    got = captured()
    result = Result(
        "import",
        {},
        (RECORD,),
        "partial",
        view=lambda page: page.text("2 episodes"),
        notes=("`deltamem extract kitchen` learns from them",),
    )
    got.output.publish(result)
    assert got.stdout.getvalue() == "2 episodes\n"
    assert got.stderr.getvalue() == (
        "`deltamem extract kitchen` learns from them\n"
        "error: log.jsonl, line 3: is not JSON (mend it)\n"
    )


@pytest.mark.parametrize("terminal", [True, False])
def test_hostile_text_is_neither_lost_nor_obeyed(terminal: bool) -> None:
    got = captured(terminal=terminal)

    def view(page: Page) -> None:
        page.text(HOSTILE)
        page.facts({HOSTILE: HOSTILE})
        page.table([HOSTILE], [[HOSTILE]])
        page.outline([(0, HOSTILE), (1, HOSTILE)])

    result = Result("show", None, (DeltaMemError(HOSTILE),), "partial", view=view, notes=(HOSTILE,))
    got.output.publish(result)
    shown = got.stdout.getvalue()
    assert shown.count(CLEANED.strip()) == 7
    assert got.stderr.getvalue().count(CLEANED.strip()) == 2
    for character in "\x1b\x07\u202e":
        assert character not in shown + got.stderr.getvalue()


def test_a_piped_table_has_one_record_a_line_with_tabs() -> None:
    page, stream = plain_page()
    page.table(
        ("name", "nodes", "score", "frozen"), [("a\tb\nc", 3, 0.123456, True), ("", 0, None, False)]
    )
    assert stream.getvalue() == ("name\tnodes\tscore\tfrozen\na b c\t3\t0.1235\tyes\n\t0\t\tno\n")


def drawn(width: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Page, Terminal]:
    monkeypatch.setenv("TERM", "xterm")  # a dumb one has 80 columns
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    return Page(stream), stream


def seen(stream: Terminal) -> list[str]:
    """The lines as they are seen, without their colours."""
    return [line.rstrip() for line in clean(stream.getvalue()).splitlines()]


def test_a_terminal_colours_outcomes_and_is_spared_empty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    page, stream = drawn(60, monkeypatch)
    page.table(("id", "outcome", "why"), [("a", "success", ""), ("b", "failure", "")])
    page.outline([(0, "tree"), (1, "5f3a ✗ deploy")])
    text = stream.getvalue()
    assert "\x1b[32msuccess" in text
    assert "\x1b[31mfailure" in text
    assert "\x1b[31m└─ 5f3a ✗ deploy" in text
    assert "why" not in text


def test_of_many_reasons_the_first_are_shown_and_the_rest_counted() -> None:
    for count, shown in ((3, 3), (21, 21), (22, 20), (1500, 20)):
        errors = [RecordError(f"no {at}", source="a", position=f"line {at}") for at in range(count)]
        program = captured()
        program.output.publish(Result("import", None, errors, "partial"))
        more = [f"error: and {count - shown:,} more: see `--json`"] if shown < count else []
        lines = program.stderr.getvalue().splitlines()
        assert lines == [*(f"error: a, line {at}: no {at}" for at in range(shown)), *more]


def test_an_outline_draws_guides_from_parents_to_children() -> None:
    page, stream = plain_page()
    page.outline([(0, "root"), (1, "a"), (2, "a1"), (2, "a2"), (1, "b"), (2, "b1"), (0, "next")])
    assert stream.getvalue().splitlines() == [
        "root",
        "├─ a",
        "│  ├─ a1",
        "│  └─ a2",
        "└─ b",
        "   └─ b1",
        "next",
    ]


def test_what_the_encoding_lacks_does_not_end_the_program() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii")
    page = Page(stream)
    page.text("Küche")
    stream.flush()
    assert raw.getvalue() == b"K?che\n"


def plain_page() -> tuple[Page, io.StringIO]:
    stream = io.StringIO()
    return Page(stream), stream


def test_a_reader_that_closes_the_pipe_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        stderr = io.StringIO()
        output = Output(stdout=stdout, stderr=stderr)
        result = Result("list", {}, view=lambda page: page.text("x" * 100_000), notes=("done",))
        assert output.publish(result) == ExitCode.SUCCESS
    assert stderr.getvalue() == "done\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("as_json", [True, False])
def test_a_full_disk_behind_stdout_is_one_line(as_json: bool) -> None:
    stderr = io.StringIO()
    with Path("/dev/full").open("w") as stdout:
        output = Output(json=as_json, stdout=stdout, stderr=stderr)
        result = Result("list", {}, view=lambda page: page.text("data"))
        assert output.publish(result) == ExitCode.FAILURE
    assert stderr.getvalue() == "error: cannot write to stdout: No space left on device\n"


def test_progress_is_shown_to_a_person_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    got = captured(terminal=True)
    with got.output.progress("learning [x]", total=3) as advance:
        advance()
        advance(2)
    assert "learning [x]" in got.stderr.getvalue()
    assert "3/3" in got.stderr.getvalue()
    assert got.stdout.getvalue() == ""


@pytest.mark.parametrize(
    ("as_json", "terminal", "kind"),
    [(True, True, "xterm"), (False, False, "xterm"), (False, True, "dumb")],
)
def test_progress_is_silent_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, as_json: bool, terminal: bool, kind: str
) -> None:
    monkeypatch.setenv("TERM", kind)
    got = captured(json=as_json, terminal=terminal)
    with got.output.progress("learning", total=1) as advance:
        advance()
    assert got.stderr.getvalue() == ""
