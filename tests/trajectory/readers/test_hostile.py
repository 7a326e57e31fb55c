"""What strangers may write: no text makes a reader slow, and no file breaks one."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import ConfigurationError, RecordError, TrajectoryError, UsageError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.declared import declared_reader
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.user_outcomes import user_outcomes
from tests.effort import examples
from tests.trajectory.readers.hostile import FILLS

LEISURE = examples(100)


# The rest of the seeds are for whoever has changed a reader: a minute for all of them.
@pytest.mark.one_in(3)
@pytest.mark.parametrize("fill", [" ", "[", "9"])
def test_no_run_and_no_long_log_makes_much_work(fill: str) -> None:
    """In a process of its own: a search that never ends can only be stopped from outside."""
    module = "tests.trajectory.readers.hostile"
    command = [sys.executable, "-m", module, str(FILLS.index(fill))]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    begun = finished.stderr.splitlines()[-1:]
    assert finished.returncode == 0, f"{finished.stdout} {begun}"


_WORDS = st.sampled_from(
    [
        *("id", "success", "reward", "true", "0.5", "resolved_ids", ",", ";", "\t", "\n", '"'),
        *("\r", "{", "}", "[", "]", ":", "null", "9" * 5000, "\x00", "\ufeff", "²", "\\ud800"),
        " " * 2000,
    ]
)
_ROW_KEYS = ("id", "success", "resolved", "resolved_ids", "total", "a")
_SIDE_FILES = st.one_of(
    st.binary(max_size=60),
    st.text('{}[]",:;\n\tabid01', max_size=60).map(str.encode),
    st.lists(_WORDS, max_size=30).map(lambda words: "".join(words).encode()),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(("id", "success", "resolved", "resolved_ids", "total", "a")), inner
            )
        ),
        max_leaves=9,
    ).map(lambda value: json.dumps(value).encode()),
)


@LEISURE
@given(_SIDE_FILES)
def test_no_side_file_breaks_anything(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "outcomes")
        path.write_bytes(data)
        try:
            outcomes = user_outcomes(str(path))
        except (UsageError, TrajectoryError) as error:
            outcomes, told = None, str(error)
        else:
            told = ""
    assert "\n" not in told
    assert folder not in told
    if outcomes is None:
        return
    assert all(each.known and each.source == "user" for each in outcomes.by_id.values())
    assert outcomes.by_id or outcomes.otherwise
    episode = Trajectory("t", steps=(Step("a"),), metadata={"id": "a"})
    assert outcomes.apply(episode).outcome in {
        Outcome(),
        *outcomes.by_id.values(),
        outcomes.otherwise,
    }


_PIECES = st.sampled_from(
    [
        *("a", "b", "x", ".", "[]", "[*]", "[0]", "[?a]", "[?a > `1`]", "*", "@", "&a", " || "),
        *(" && ", "|", "!", "(", ")", "'", "`", "`1`", "'x'", "{a: a}", "[a, b]", "keys(@)"),
        *("length(@)", "to_number(a)", "sort_by(@, &a)", "avg(@)", "join('', @)", "max(@)"),
        *("not_null(a)", "to_string(@)", "ceil(a)", "[::0]", "[9999999999999999999999]", '"'),
        *("²", "[:-1:-1]"),
    ]
)
_EXPRESSION = st.lists(_PIECES, min_size=1, max_size=5).map("".join)
_KEYS: tuple[str, ...] = (
    "records",
    "task",
    "environment",
    "steps",
    "step.action",
    "step.observation",
)
_KEYS += ("step.reward", "outcome.success", "outcome.reward", "metadata.id", "agent")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(("", "x", "1", "²")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx"), inner),
    max_leaves=9,
)


@LEISURE
@given(
    st.fixed_dictionaries({key: st.none() | _EXPRESSION | st.just("@") for key in _KEYS}), _VALUES
)
def test_no_declaration_breaks_anything(keys: dict[str, str | None], value: object) -> None:
    given_keys = {"task": "'t'", "step.action": "a"} | {k: v for k, v in keys.items() if v}
    with tempfile.TemporaryDirectory() as folder:
        toml, log = Path(folder, "format.toml"), Path(folder, "log.json")
        toml.write_text(
            "\n".join(f"{key} = {json.dumps(text)}" for key, text in given_keys.items())
        )
        log.write_text(json.dumps({"a": value, "b": [{"a": "x"}]}))
        try:
            reader = declared_reader(toml)
        except ConfigurationError:
            return
        opened = Log("log.json", log)
        assert 0.0 <= reader.claims(opened.preview()) <= 1.0
        found = list(read_log(opened, reader))
    assert found
    assert all(isinstance(reading, Trajectory | RecordError) for reading in found)
