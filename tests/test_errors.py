"""The error tree: drawn as it is, and each error on one line."""

import re

import pytest

from deltamem_tui import errors
from deltamem_tui.errors import DeltaMemError, RecordError


def classes() -> dict[str, type[DeltaMemError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, DeltaMemError)
    }


def drawn_tree() -> dict[str, str]:
    """Each class of the docstring's drawing with its parent there."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"([│├└─ ]*)([A-Z]\w+Error)\b", line)
        if match is None:
            continue
        column, name = len(match[1]), match[2]
        above = [(indent, ancestor) for indent, ancestor in above if indent < column]
        if above:
            parents[name] = above[-1][1]
        above.append((column, name))
    return parents


def test_the_drawing_shows_every_class_under_its_base() -> None:
    real = {
        name: cls.__mro__[1].__name__ for name, cls in classes().items() if name != "DeltaMemError"
    }
    assert drawn_tree() == real


@pytest.mark.parametrize("name", sorted(classes()))
def test_every_class_says_what_it_means(name: str) -> None:
    assert classes()[name].__doc__


def test_an_error_says_where_what_and_what_to_do_on_one_line() -> None:
    error = RecordError("is not JSON", source="log.jsonl", position="line 3", hint="mend it")
    assert str(error) == "log.jsonl, line 3: is not JSON (mend it)"
    assert str(RecordError("is not JSON", source="log.jsonl")) == "log.jsonl: is not JSON"
    assert str(RecordError("is not JSON", position="line 3")) == "line 3: is not JSON"
    assert str(RecordError("is not JSON")) == "is not JSON"
