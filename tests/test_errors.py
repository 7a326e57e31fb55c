"""Each error on one line."""

from deltamem_tui.errors import RecordError


def test_an_error_says_where_what_and_what_to_do_on_one_line() -> None:
    error = RecordError("is not JSON", source="log.jsonl", position="line 3", hint="mend it")
    assert str(error) == "log.jsonl, line 3: is not JSON (mend it)"
    assert str(RecordError("is not JSON", source="log.jsonl")) == "log.jsonl: is not JSON"
    assert str(RecordError("is not JSON", position="line 3")) == "line 3: is not JSON"
    assert str(RecordError("is not JSON")) == "is not JSON"
