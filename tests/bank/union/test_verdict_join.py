"""Two records of one episode become one, whichever comes first."""

from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.records import parsed, united

SOURCES = ("unknown", "judge", "stated", "user")
WORDS = st.fixed_dictionaries(
    {
        "source": st.sampled_from(SOURCES),
        "success": st.sampled_from((None, True, False)),
        "reason": st.sampled_from(("", "so it seems")),
    }
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    outcome, *others = draw(
        st.lists(WORDS, min_size=1, max_size=4, unique_by=lambda w: w["source"])
    )
    scene = draw(st.sampled_from(({}, {"drawn_scene": "a kitchen"}, {"drawn_scene": "a bedroom"})))
    record = {"id": "1" * 16, "outcome": outcome, "metadata": scene}
    verdicts = [each for each in others if each["source"] != "unknown"]
    receipts = draw(st.sampled_from(({}, {"receipts": [{"id": "2" * 16}]})))
    return orjson.dumps(record | ({"verdicts": verdicts} if verdicts else {}) | receipts)


@given(lines(), lines(), lines())
def test_banks_may_come_in_any_order_and_again(one: bytes, two: bytes, three: bytes) -> None:
    both = united(one, two)
    assert both == united(two, one)
    assert united(both, one) == both
    assert united(both, three) == united(one, united(two, three))


@given(lines(), lines())
def test_a_person_counts_before_the_log_and_that_before_a_judge(one: bytes, two: bytes) -> None:
    said = [
        word
        for record in map(parsed, (one, two))
        for word in (record["outcome"], *record.get("verdicts", ()))
    ]
    found = parsed(united(one, two))
    doubts = any(each["source"] == "user" and each["success"] is None for each in said)
    known = [
        each["source"]
        for each in said
        if each["success"] is not None and not (doubts and each["source"] == "user")
    ]
    if known:
        assert found["outcome"]["source"] == max(known, key=SOURCES.index)
    kept = [found["outcome"], *found.get("verdicts", ())]
    assert {each["source"] for each in kept} | {"unknown"} == {
        *(each["source"] for each in said),
        "unknown",
    }
    assert all(each in said for each in kept)


@given(lines())
def test_a_person_who_cannot_tell_takes_back_what_they_said(line: bytes) -> None:
    """Of copies of one bank, the one in which the verdict was withdrawn is the later."""
    failure = {"source": "user", "success": False, "reason": ""}
    doubt = {"source": "user", "success": None, "reason": "cannot tell"}
    old, new = (orjson.dumps(parsed(line) | {"verdicts": [each]}) for each in (failure, doubt))
    found = parsed(united(old, new))
    if parsed(line)["outcome"]["source"] != "user":
        assert doubt in [found["outcome"], *found.get("verdicts", ())]
        assert failure not in [found["outcome"], *found.get("verdicts", ())]
