"""Side files: one meaning whatever way they are written, and none where they could have two."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import UsageError
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcomes import ID_KEYS
from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes
from tests.effort import examples

Said = Mapping[str, bool | float]

# Ids as benchmarks have them, and as nobody should; but no word, which may be a column's name.
IDS = st.text(
    st.characters(min_codepoint=0x21, exclude_categories=["C", "Z"]) | st.sampled_from('",;_-'),
    min_size=1,
    max_size=12,
).filter(lambda name: not (name.isascii() and name.isalpha()))
SAID = st.dictionaries(
    IDS,
    st.booleans() | st.floats(0.01, 0.99).map(lambda reward: round(reward, 4)),
    min_size=2,
    max_size=5,
)


def side_file(tmp_path: Path, content: str | bytes, success_at: float = 1.0) -> UserOutcomes:
    path = tmp_path / "outcomes"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return user_outcomes(str(path), success_at=success_at)


def outcomes(said: Said) -> UserOutcomes:
    """What a person means who says that."""
    found = {
        name: Outcome(success=value, source="user")
        if isinstance(value, bool)
        else Outcome(success=False, reward=value, source="user")
        for name, value in said.items()
    }
    return UserOutcomes(found, only_identified=True)


def mapping(said: Said) -> str:
    return json.dumps(said)


def pretty(said: Said) -> str:
    return json.dumps(said, indent=2, ensure_ascii=False)


def nested(said: Said) -> str:
    return json.dumps({name: {_key(value): value} for name, value in said.items()})


def records(said: Said) -> str:
    return json.dumps([{"instance_id": name, _key(said[name]): said[name]} for name in said])


def jsonl(said: Said) -> str:
    rows = ({"note": 1, "task_id": name, _key(said[name]): said[name]} for name in said)
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def comma(said: Said) -> str:
    return table(said, ",", ["name", "outcome"])


def semicolon(said: Said) -> str:
    return table(said, ";", ["name", "outcome"])


def bare(said: Said) -> str:
    return table(said, ",", [])


def table(said: Said, delimiter: str, header: list[str]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    if header:
        writer.writerow(header)
    writer.writerows((name, str(value).lower()) for name, value in said.items())
    return stream.getvalue()


def _key(value: bool | float) -> str:
    return "resolved" if isinstance(value, bool) else "score"


WRITERS: list[Callable[[Said], str]] = [
    *(mapping, pretty, nested, records, jsonl, comma, semicolon, bare)
]
BOMS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


@pytest.mark.parametrize("write", WRITERS)
@examples(30, one_folder=True)
@given(said=SAID, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]))
def test_one_meaning_in_every_way_of_writing(
    tmp_path: Path, write: Callable[[Said], str], said: Said, encoding: str
) -> None:
    content = BOMS.get(encoding, b"") + write(said).encode(encoding)
    assert side_file(tmp_path, content) == outcomes(said)


@examples(30, one_folder=True)
@given(said=SAID, at=st.floats(0.05, 1.0))
def test_rewards_count_from_where_the_user_says(tmp_path: Path, said: Said, at: float) -> None:
    found = side_file(tmp_path, mapping(said), success_at=at)
    for name, value in said.items():
        expected = value if isinstance(value, bool) else value >= at - 1e-6
        assert found.by_id[name].success is expected


@pytest.mark.parametrize("key", ID_KEYS)
def test_every_name_of_an_id(tmp_path: Path, key: str) -> None:
    expected = outcomes({"a": True})
    assert side_file(tmp_path, f"note,{key.upper()},success\nx,a,yes\n") == expected
    assert side_file(tmp_path, json.dumps([{"note": "x", key: "a", "success": True}])) == expected
    assert side_file(tmp_path, json.dumps({key: "a", "success": True})) == expected


def test_a_reward_below_nought_is_nought_as_it_is_in_a_log(tmp_path: Path) -> None:
    failed = UserOutcomes({"a": Outcome(False, 0.0, "user")}, only_identified=True)
    for content in ('{"a": -1}', '{"a": {"reward": -1.0}}', "id,score\na,-1\n", "a,-1\n"):
        assert side_file(tmp_path, content) == failed
    for content in ('{"a": 2}', '{"a": {"reward": 1.5}}', "id,score\na,100\n"):
        with pytest.raises(UsageError, match="a reward from 0 to 1"):
            side_file(tmp_path, content)


FAILED = Outcome(False, source="user")
RESOLVED = UserOutcomes({"a": Outcome(True, source="user")}, FAILED, only_identified=True)
BOTH = outcomes({"a": True, "b": False})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('["a"]', RESOLVED),
        ("a\n", RESOLVED),
        ("a\r\n\r\n", RESOLVED),
        ("instance_id\na\n", RESOLVED),
        ('[{"instance_id": "a"}]', RESOLVED),
        ('{"instance_id": "a"}\n{"instance_id": "a"}\n', RESOLVED),
        ('{"resolved": ["a"]}', RESOLVED),
        ('{"resolved_ids": ["a"], "total_instances": 300}', RESOLVED),
        ('{"resolved_ids": ["a"], "unresolved_ids": ["b"]}', BOTH),
        ('{"resolved": ["a"], "unresolved": ["b"]}', BOTH),
        ('{"resolved_ids": ["a"], "error_ids": ["b"], "empty_patch_ids": ["b"]}', BOTH),
        ('{"resolved_ids": ["a"], "incomplete_ids": ["b"]}', BOTH),
        ('{"resolved_ids": ["a"], "submitted_ids": ["a", "b"]}', BOTH),
        ('{"resolved_ids": ["a"], "completed_ids": ["b"], "schema_version": 2}', BOTH),
        # The report of one instance, under its id.
        ('{"a": {"resolved": true, "patch_exists": true}, "b": {"resolved": false}}', BOTH),
    ],
)
def test_lists_of_what_was_resolved(tmp_path: Path, content: str, expected: UserOutcomes) -> None:
    assert side_file(tmp_path, content) == expected
    assert side_file(tmp_path, codecs.BOM_UTF16_LE + content.encode("utf-16-le")) == expected


def test_a_report_in_which_nothing_was_resolved(tmp_path: Path) -> None:
    none = UserOutcomes({}, FAILED, only_identified=True)
    assert side_file(tmp_path, '{"resolved_ids": []}') == none
    found = side_file(tmp_path, '{"resolved_ids": [], "submitted_ids": ["b"]}')
    assert found == outcomes({"b": False})


LONG = "x" * (65 << 20)  # more than a record may have


@pytest.mark.parametrize(
    ("content", "words"),
    [
        # A table without a header, of an id and what is no outcome.
        ("a,submitted\nb,submitted\n", "line 1: not an outcome: submitted"),
        ("task,verdict\na,true\n", "line 1: not an outcome: verdict"),
        # Names of columns that nobody knows, beside one that names the id.
        ("id,verdict\na,true\n", "line 2: nothing known to say .* only verdict .*success"),
        ('[{"instance_id": "a", "verdict": "x", "by": 1}]', "record 1: .* only verdict, by "),
        ('{"id": "a", "verdict": "x"}', "record 1: .* only verdict "),
        ("success\ntrue\n", "line 2: no id; it is looked for as id, instance_id"),
        ("id,success\n,true\n", "line 2: no id"),
        ('[{"success": true}]', "record 1: no id"),
        ('[{"success": true}, {"success": true}]', "record 1: no id"),
        ('[["a", true]]', "record 1: no id"),
        ('["a", 1]', "record 1: no id"),
        ("[]", "no id in it"),
        ("{}", "no id in it"),
        ('{"a": null}', "id a: not an outcome: null"),
        ('{"a": [true, false]}', r"id a: not an outcome: \[true, false\]"),
        ('{"a": NaN, "b": 1e999}', "id a: not an outcome: NaN"),
        ('{"a": "perhaps"}', "id a: not an outcome: perhaps"),
        ('{"a": 37}', "id a: not an outcome: 37"),
        ('{"a": []}', "id a: not an outcome"),
        ("id,status\na,submitted\n", "line 2: not an outcome: submitted"),
        ("id,success,reward\na,maybe,1\n", "line 2: not an outcome: maybe"),
        ('[{"id": "a", "score": 1, "best": 100}]', "record 1: not an outcome: 1"),
        ('{"a": {"resolved": 1, "unresolved": 2}}', "id a: not an outcome: 1"),
        # What contradicts itself, or stands there twice.
        ("id,success,reward\na,true,0\n", "line 2: it contradicts itself: success true, reward 0"),
        ('{"a": {"success": false, "score": 1}}', "id a: it contradicts itself"),
        ('[{"id": "a", "resolved": true, "success": false}]', "success false, resolved true"),
        ('{"a": true, "a": false}', "a second, different value for a"),
        ('[{"id": "a", "success": true, "success": false}]', "different value for success"),
        ('{"id": "a", "success": true, "success": 0}\n{"id": "b", "success": 0}', "for success"),
        ('{"id": "a", "success": true}\n{"id": "a", "success": false}', "a second, different"),
        ('[{"id": "a", "success": true}, {"id": "a", "success": false}]', "second, different"),
        ('{"resolved_ids": [["a"]]}', "resolved_ids: not an id"),
        ('{"resolved_ids": [{"id": "a"}]}', "resolved_ids: not an id"),
        ('{"resolved_ids": ["a"], "unresolved_ids": ["a"]}', "a is among the resolved ids"),
        ('{"resolved_ids": ["a", "b"], "unresolved_ids": ["b"]}', "b is among the resolved ids"),
        ('{"resolved_ids": ["a"], "error_ids": ["a"]}', "a is among the resolved ids"),
        # Some say how they ended and some do not.
        ('[{"id": "a", "success": true}, {"id": "b"}]', "some rows have an outcome and some"),
        ("id,success\na,true\nb\n", "some rows have an outcome and some"),
        # Tables and JSON that cannot be read.
        ("id,success,success\na,true,true\n", "two columns success"),
        ("id,success\na,true,false\n", "line 2: 3 cells, where 2 are expected"),
        ("a,true,false\n", "line 1: 3 cells, where 2 are expected"),
        ('{"a": true', "not JSON"),
        ('{"id": "a", "success": true}\n{"id": "b", "succ', "line 2: not JSON"),
        ("", "no|empty"),
        ("   \n", "no|empty"),
        ("\ufeff", "no|empty"),
        ("id,success,note\na,true,\nb,true," + LONG[:140_000], "line 3: .*131,?072"),
        ('id,success\n"a,true\n' + "b,true\n" * 30_000, "line .*131,?072.*quotation mark"),
        ("id,success," + LONG, "a record of more than 64 MB"),
        ("id,success\na,true," + LONG + "\nb,true", "a record of more than"),
    ],
)
def test_what_has_no_meaning_or_two(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        side_file(tmp_path, content)
    assert caught.value.source == "outcomes"
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "a,yes\n",
        "a;yes\r\n",
        "a\tyes\n",
        " ID , Success \n a , yes \n",
        "id,success\n\n,\na,yes,,\n  \n",
        ",\n \r\nid,success\na,yes\n",
        'id,note,success\na,"x, ""y"" ;",yes\n',
    ],
)
def test_tables_as_spreadsheets_write_them(tmp_path: Path, content: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert side_file(tmp_path, content.encode(encoding)) == outcomes({"a": True})
