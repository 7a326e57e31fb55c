"""A native record goes the short way or the long way into a bank: the bytes are the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.memory.episodes import importer
from deltamem_tui.memory.episodes.import_report import Redaction
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Value
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers import from_record, read_logs, to_line, to_record
from deltamem_tui.trajectory.readers.at_once import written_at_once
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.reading import read_written
from deltamem_tui.trajectory.readers.written import Written, written
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes
from tests.bank.support import file_bytes
from tests.effort import examples
from tests.memory.support import new_bank
from tests.places import GENERATED
from tests.trajectory.readers.test_native import trajectories

SECRET = "sk-" + "Ab3" * 16
PLAIN = Trajectory(
    "heat an egg",
    "A kitchen.",
    (Step("open fridge", "It is\nopen.", "Where is it?", 0.5), Step("take egg", "")),
    Outcome(None, 1.0, "stated"),
    LogSource("old.jsonl", "line 3", "rollout"),
    domain="alfworld",
    metadata={"trial": "1"},
)


def short_way(record: object, success_at: float = 1.0, **limits: int) -> Written | None:
    """What becomes of a record that stands alone in a log."""
    log = Log("log.jsonl", Path("log.jsonl"), Limits(**limits))
    return written_at_once(Value(json.dumps(record).encode(), "line 1"), log, success_at)


def test_the_short_way_ends_where_the_long_one_does() -> None:
    went = 0

    @given(trajectories, st.sampled_from([0.5, 1.0]))
    @example(PLAIN, 1.0)
    def ends_there(found: Trajectory, success_at: float) -> None:
        nonlocal went
        record = orjson.loads(to_line(found))
        short = short_way(record, success_at)
        if short is None:
            return
        went += 1
        again = from_record(record)
        domain = chosen(again.domain, otherwise="")  # as an intake has it
        long = replace(again, domain=domain, outcome=decided(again.outcome, success_at))
        assert redact(long, personal=True) == (long, NOTHING)
        assert short == written(long, long.source)

    ends_there()
    assert went > 1  # more than the example


def test_a_plain_record_goes_the_short_way() -> None:
    short = short_way(to_record(PLAIN))
    assert short is not None
    assert (short.id, short.steps, short.outcome) == (PLAIN.id, 2, Outcome(True, 1.0, "stated"))
    assert short.line == to_line(PLAIN.with_outcome(short.outcome))


def test_a_record_that_came_from_nowhere_is_from_this_log() -> None:
    short = short_way(to_record(PLAIN) | {"source": {}})
    assert short is not None
    assert short.source == LogSource("log.jsonl", "line 1", "native")


STEP = {"action": "a", "observation": "b"}
PLACE = LogSource("log.jsonl", "line 1")


@pytest.mark.parametrize(
    "change",
    [
        {"task": " "},
        {"task": 3},
        {"task": "t\x1b[31m"},
        {"task": "t\x7f"},
        {"task": "t\x85"},
        {"task": "t\u202e"},
        {"task": "t\ud800"},
        {"task": f"use {SECRET}"},
        {"task": "password=hunter2!"},
        {"task": "ask ada@example.org"},
        {"environment": ["x"]},
        {"steps": []},
        {"steps": {}},
        {"steps": [STEP, "look"]},
        {"steps": [STEP, ["action", "observation"]]},
        {"steps": [{"action": "a"}]},
        {"steps": [STEP | {"action": " "}]},
        {"steps": [STEP | {"action": 1}]},
        {"steps": [STEP | {"observation": None}]},
        {"steps": [STEP | {"thought": ["x"]}]},
        {"steps": [STEP | {"reward": 1e16}]},
        {"steps": [STEP | {"note": "of a later version"}]},
        {"steps": [STEP | {"reward": True}]},
        {"steps": [STEP | {"reward": float("nan")}]},
        {"steps": [STEP | {"observation": "x" * 200}]},
        {"outcome": {}},
        {"outcome": {"success": "yes"}},
        {"outcome": {"success": True, "reward": 2.0}},
        {"outcome": {"success": True, "reward": float("nan")}},
        *(
            {"outcome": {"success": True, "reason": reason}}
            for reason in (
                f"refused {SECRET}",
                "psk = hunter22!",
                "password=hunter2!",
                "said ada@example.org",
                "rang\x07",
                "\x9b31m",
                "data:image/png;base64,iVBORw0KGgo=",
            )
        ),
        {"source": "here"},
        {"source": {"file": f"{SECRET}.jsonl"}},
        {"source": {"file": "\x1b[31m.jsonl"}},
        {"source": {"position": "line\x07 3"}},
        {"metadata": {"trial\x07": "1"}},
        {"agent": "bot\x9b31m"},
        {"later": {"version": 2}},
        {"domain": 7},
        {"agent": f"bot {SECRET}"},
        {"agent": "bot of ada@example.org"},
        {"domain": "of ada@example.org"},
        {"source": {"file": "ada@example.org.jsonl"}},
        {"metadata": {"n": 1}},
        {"metadata": {"author": "ada@example.org"}},
        {"metadata": {"ada@example.org": "author"}},
        {"metadata": {"api_key": "0123456789abcdef0123456789abcdef"}},
    ],
)
def test_what_is_odd_goes_the_long_way(change: dict[str, object]) -> None:
    record = {"task": "t", "steps": [STEP], "outcome": {"success": True}}
    assert short_way(record, field_characters=300) is not None
    assert short_way(record | change, field_characters=300) is None


@pytest.mark.parametrize("record", [None, [], "text", 3])
def test_what_is_no_record_goes_the_long_way(record: object) -> None:
    assert short_way(record) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**20), 10**20))
@example(1e15)
@example(-1e15)
@example(999999999999999.9)
@example(1e-7)
@example(5e-324)
def test_a_reward_is_written_as_ever(reward: float) -> None:
    record = {"task": "t", "steps": [STEP | {"reward": reward}], "outcome": {"success": True}}
    short = short_way(record)
    assert (short is None) == (abs(reward) >= 1e15)
    if short is not None:
        long = replace(from_record(record), source=PLACE, outcome=Outcome(True, source="stated"))
        assert short == written(long, PLACE)


@given(st.text(min_size=1))
@example('schön “so” 日本 😀 \x00\x1f\x7f\x80\xff\u2028\\"/')
def test_a_text_is_written_as_ever(text: str) -> None:
    record = {"task": "t", "steps": [STEP | {"observation": text}], "outcome": {"success": True}}
    short = short_way(record)
    if short is not None:
        long = replace(from_record(record), source=PLACE, outcome=Outcome(True, source="stated"))
        assert short == written(long, PLACE)
    elif text.isascii() and text.isprintable():
        assert "@" in text or may_hold_secrets(text)


RECORDS = (
    PLAIN,
    replace(PLAIN, task="schön “warm”"),
    PLAIN.with_outcome(Outcome()),
    Trajectory("t", steps=(Step("cat .env", f"KEY={SECRET}"),), outcome=Outcome(True)),
    Trajectory("schön", steps=(Step("mail ada@example.org"),), outcome=Outcome(True)),
    replace(PLAIN, agent="ada@example.org"),
    replace(PLAIN, task="cool an egg", metadata={"author": "ada@example.org"}),
)


@pytest.mark.parametrize("redaction", ["secrets", "personal", "off"])
def test_a_bank_gets_the_same_either_way(tmp_path: Path, redaction: Redaction) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(map(to_line, RECORDS)) + b'{"task": "t", "steps": [7]}\n')
    kinds = [type(each) for each in read_written([log])]
    assert kinds == [Written, Written, *[Trajectory] * 5, RecordError]
    kept, told = [], []
    for number, readings in enumerate((read_logs([log]), read_written([log]))):
        bank = new_bank(tmp_path / f"bank-{number}")
        taken = take_in(bank, readings, redaction=redaction)
        kept.append(file_bytes(bank.path)["trajectories.jsonl"])
        told.append((taken.entries, [str(error) for error in taken.rejected], taken.files))
    assert kept[0] == kept[1]
    assert told[0] == told[1]
    assert (SECRET.encode() in kept[0]) == (redaction == "off")
    assert (b"ada@example.org" in kept[0]) == (redaction != "personal")


def test_other_formats_are_read_as_ever(tmp_path: Path) -> None:
    log = tmp_path / "chat.json"
    messages = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "Done."}]
    log.write_bytes(orjson.dumps({"messages": messages, "reward": 1}))
    assert list(read_written([log])) == list(read_logs([log]))


def stored(folder: Path, log: Path, *, at_once: bool) -> tuple[bytes, object]:
    """What a bank keeps of a log, and what is told of it; one way or the other."""
    bank = new_bank(folder / f"bank-{at_once}")
    taken = take_in(bank, read_written([log]) if at_once else read_logs([log]))
    told = (taken.entries, [str(error) for error in taken.rejected], taken.files)
    return file_bytes(bank.path)["trajectories.jsonl"], told


# What a step may be in a log that another program wrote, or a person.
odd_values: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.just([]) | st.just(" ")
)
step_values = {
    "thought": st.sampled_from(["", "Where?", "\x1b[1mWhere", "schön"]) | odd_values,
    "action": st.sampled_from(["look", "go\tin", f"login {SECRET}", "", "\x07"]) | odd_values,
    "observation": st.sampled_from(["", "a stove", "a\r\nb", "mail ada@example.org"]) | odd_values,
    "reward": st.sampled_from([0.0, -0.0, 0.5, 1e17, 1e-7, 1, 10**30]) | odd_values,
    "note": st.just("of a later version"),
}


@st.composite
def odd_steps(draw: st.DrawFn) -> dict[str, object]:
    """A step with some keys in some order, most of the time with those that it needs."""
    needed = [] if draw(st.integers(0, 9)) == 0 else ["action", "observation"]
    keys = dict.fromkeys(needed + draw(st.lists(st.sampled_from(sorted(step_values)), max_size=3)))
    plain = {"thought": "Hm.", "action": "look", "observation": "a stove", "reward": 0.25}
    return {
        key: plain[key] if key in plain and draw(st.integers(0, 4)) else draw(step_values[key])
        for key in draw(st.permutations(list(keys)))
    }


odd_records = st.fixed_dictionaries(
    {
        "task": st.sampled_from(["heat an egg", "heat an egg", f"use {SECRET}", " "]),
        "steps": st.lists(odd_steps(), max_size=4),
    },
    optional={
        "id": st.sampled_from(["run-7", "0123456789abcdef", "", None]),
        "environment": st.sampled_from(["", "A kitchen.", "A\x00 kitchen.", None]),
        "outcome": st.fixed_dictionaries(
            {},
            optional={
                "success": st.sampled_from([True, False, None, 1]),
                "reward": st.sampled_from([0.0, -0.0, 0, 0.5, 1, 1.0, 2.0, None]),
                "source": st.sampled_from(["stated", "judge", "user", "unknown", "", "nobody"]),
                "reason": st.sampled_from(["", "won", "\x1b[1mwon", "psk = hunter22", None]),
            },
        ),
        "source": st.fixed_dictionaries(
            {},
            optional={
                "file": st.sampled_from(["", "old.jsonl", "\x1b[1mold"]),
                "position": st.sampled_from(["", "line 9", "9\x07"]),
                "format": st.sampled_from(["", "react", "x@y.org"]),
            },
        ),
        "domain": st.sampled_from(["", "web", "of ada@example.org", None]),
        "metadata": st.sampled_from([{}, {"trial": "1"}, {"game": "Pick-None-Desk-307"}])
        | st.sampled_from([{"author": "ada@example.org"}, {"ada@example.org": "1"}, {"id": "7"}])
        | st.sampled_from([{"psk": "hunter22"}, {"note": "zip -P hunter22 a.zip"}]),
        "agent": st.sampled_from(["", "bot", "Böt", "ada@example.org"]),
        "extra": st.just({"later": 1}),
    },
)


NOUGHTS: list[dict[str, object]] = [
    {"task": f"heat {number} eggs", "steps": [{"action": "a", "observation": "b"}]}
    | {"outcome": {"reward": reward}}
    for number, reward in enumerate((0.0, -0.0, 0))
]


JUDGED: list[dict[str, object]] = [
    {"id": "run-7", "task": "heat an egg", "steps": [{"action": "a", "observation": "b"}]}
    | {"outcome": {"success": True, "source": "judge"}, "source": source}
    for source in ({"format": "react"}, {"format": "react", "position": "line 9"}, {})
]


@examples(100, one_folder=True)
@given(
    st.lists(odd_records, min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from(["secrets", "personal"]),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([UserOutcomes(), user_outcomes("success"), user_outcomes("failure")]),
)
@example(NOUGHTS, True, "secrets", 1.0, UserOutcomes())
@example(NOUGHTS[::-1], True, "secrets", 1.0, UserOutcomes())
@example(JUDGED, True, "secrets", 1.0, user_outcomes("failure"))
def test_whatever_stands_in_a_log_both_ways_end_in_the_same_lines(
    tmp_path: Path,
    records: list[dict[str, object]],
    escaped: bool,
    redaction: Redaction,
    success_at: float,
    outcomes: UserOutcomes,
) -> None:
    log = tmp_path / "log.jsonl"
    # JSON has many spellings: escapes for letters, and blanks between its parts.
    log.write_text("".join(json.dumps(each, ensure_ascii=escaped) + "\n" for each in records))
    assert outcomes.are_for_all
    short = read_written([log], format="native", success_at=success_at, domain="home")
    long = read_logs([log], format="native", success_at=success_at)
    assert arrived(short, redaction, outcomes) == arrived(long, redaction, outcomes)


def arrived(
    readings: Iterable[Reading | Written], redaction: Redaction, outcomes: UserOutcomes
) -> list[Written | str]:
    """What an intake into a bank of a domain would keep, and what it would refuse."""
    at_home = (
        replace(each, domain=each.domain or "home") if isinstance(each, Trajectory) else each
        for each in readings
    )
    found = (importer._arrived(each, redaction, outcomes, set()) for each in at_home)
    return [each if isinstance(each, Written) else str(each) for each in found]


STEPS = {
    "bare": [STEP, STEP],
    "thoughts": [{"thought": "t", **STEP}, {"thought": "u", **STEP}],
    "rewards": [STEP | {"reward": 0.5}, STEP | {"reward": 1.0}],
    "mixed": [{"thought": "t", **STEP}, STEP, STEP | {"reward": 0.5}],
    "blank thoughts": [{"thought": "t", **STEP}, {"thought": "", **STEP}],
    "blank rewards": [STEP | {"reward": 0.5}, STEP | {"reward": None}],
    "empty": [{"thought": "", **STEP}, STEP | {"reward": None}],
    "other order": [{"observation": "b", "action": "a"}, STEP],
    "whole rewards": [STEP | {"reward": 1}, STEP | {"reward": 0}],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_step_that_is_not_as_a_bank_keeps_it_is_written_anew(steps: list[object]) -> None:
    record = {"task": "t", "environment": "", "steps": steps, "outcome": {"success": True}}
    short = short_way(record)
    assert short is not None
    long = replace(from_record(record), source=PLACE, outcome=Outcome(True, source="stated"))
    assert short == written(long, PLACE)


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the samples are not here")
@pytest.mark.parametrize(
    "name", ["alfworld_valid_train_experts.jsonl", "scienceworld_train_variations.jsonl"]
)
def test_generated_episodes_end_in_the_same_bank_either_way(tmp_path: Path, name: str) -> None:
    native = tmp_path / "native.jsonl"
    found = (each for each in read_logs([GENERATED / name]) if isinstance(each, Trajectory))
    read = islice(found, 300)
    native.write_bytes(b"".join(map(to_line, read)))
    long, short = (stored(tmp_path, native, at_once=at_once) for at_once in (False, True))
    assert short == long
    assert short[0].count(b"\n") > 0
