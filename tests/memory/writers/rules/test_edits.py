"""Edits: what differs between two procedures, as text, and what they make of a base again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.procedure import Edit, difference, merged, read_edits

# Few different lines, so that two procedures have some in common; some look like an edit's own.
STEPS = st.lists(
    st.sampled_from(
        [
            "take mug", "open fridge", "look", "wait", "At the start:", "After step 2:",
            "Instead of steps 1 to 3:", "Without step 1.", "+ take mug", "+ ", "1. look",
            "[FAILED] look → No.", "Worked with [object] = mug.",
        ]
    ) | st.text(st.characters(exclude_categories=["C", "Z"]), max_size=5),
    max_size=12,
)  # fmt: skip


def lines_of(edits: list[Edit]) -> list[str]:
    return [line for edit in edits for line in str(edit).split("\n")]


@given(STEPS, STEPS)
def test_the_difference_makes_the_one_of_the_other_also_as_text(
    base: list[str], steps: list[str]
) -> None:
    edits = difference(base, steps)
    assert merged(base, edits) == steps
    assert read_edits(lines_of(edits)) == edits
    assert bool(edits) == (base != steps)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (Edit(0, 0, ("look",)), "At the start:\n+ look"),
        (Edit(2, 2, ("look", "wait")), "After step 2:\n+ look\n+ wait"),
        (Edit(2, 3, ("look",)), "Instead of step 3:\n+ look"),
        (Edit(2, 4, ("look",)), "Instead of steps 3 to 4:\n+ look"),
        (Edit(2, 3, ()), "Without step 3."),
        (Edit(0, 4, ()), "Without steps 1 to 4."),
    ],
)
def test_an_edit_is_a_sentence(edit: Edit, text: str) -> None:
    assert str(edit) == text
    assert read_edits(text.split("\n")) == [edit]


@pytest.mark.parametrize(
    "lines",
    [
        ["look"],
        ["+ look"],
        ["After step 2:"],
        ["After step 2:", "look"],
        ["After step 2:", "+ look", "- wait"],
        ["After step 0:", "+ look"],
        ["Without step 0."],
        ["Instead of step 1"],
        ["Without step " + "9" * 5000 + "."],
        ["After step ٣:", "+ look"],
    ],
)
def test_what_is_no_edit_is_not_read_as_one(lines: list[str]) -> None:
    assert (
        read_edits(["At the start:", "+ wait", *lines][2 if lines[0] == "+ look" else 0 :]) is None
    )


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(3, 4, ())],
        [Edit(4, 4, ("look",))],
        [Edit(2, 1, ("look",))],
        [Edit(1, 3, ()), Edit(2, 2, ("look",))],
        [Edit(2, 2, ("look",)), Edit(0, 0, ("look",))],
    ],
)
def test_edits_that_were_made_for_another_base_do_not_fit(edits: list[Edit]) -> None:
    assert merged(["take mug", "wait", "look"], edits) is None


NUMBERS = st.integers(0, 10**7)
HOSTILE = st.lists(
    st.one_of(
        st.builds("Without steps {} to {}.".format, NUMBERS, NUMBERS),
        st.builds("Instead of steps {} to {}:".format, NUMBERS, NUMBERS),
        st.builds("After step {}:".format, NUMBERS),
        st.builds("+ {}".format, st.text(max_size=3)),
        st.text(max_size=8),
    ),
    max_size=8,
)


@given(STEPS, HOSTILE)
def test_any_lines_are_edits_that_fit_or_none(base: list[str], lines: list[str]) -> None:
    edits = read_edits(lines)
    made = None if edits is None else merged(base, edits)
    if edits is not None and made is not None:
        added = sum(len(edit.lines) for edit in edits)
        left_out = sum(edit.end - edit.start for edit in edits)
        assert len(made) == len(base) + added - left_out
