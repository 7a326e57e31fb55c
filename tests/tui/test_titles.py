"""What tells neighbours apart stays in sight, and what a delta repeats gives way."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.methods import display_of
from deltamem_tui.tui.models.nodes import chain_sections, detail
from deltamem_tui.tui.models.repeats import Piece, pieces_of, repeated_words, sequences
from deltamem_tui.tui.models.titles import shown, titles
from tests.tui.support import SKILLS, Person, browse, grow

WORDS = st.sampled_from(
    ["in", "the", "kitchen.", "hallway", "You", "see", "a", "door", "日本", "…"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
NODES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12)


@given(NODES, st.integers(24, 80), st.one_of(st.just(""), TEXTS))
def test_siblings_have_different_titles_within_the_width(
    said: list[tuple[str, str]], width: int, above: str
) -> None:
    entries = [(*texts, f"{number:016x}") for number, texts in enumerate(said)]
    found = titles(entries, width, above)
    assert len({shown(title) for title in found}) == len(entries)
    for title, (text, *_) in zip(found, entries, strict=True):
        assert cell_len(shown(title)) <= width
        assert not re.search(r"…\s*…", shown(title)), "one ellipsis is enough"
        if "…" not in "".join(map("".join, said)):
            assert not re.search(r"…(\w+ )?\w+\. You", shown(title)), "the end of a sentence"
        known = [each.strip("…″ ") for each in shown(title).split("…")]
        if not shown(title).startswith("″"):
            assert all(part in text for part in known)


def slowly_repeated(words: list[str], above: list[list[str]]) -> list[bool]:
    """Each stretch of three words between the edges of the line, looked for everywhere."""
    padded = ["^", *words, "$"]
    marks = [False] * len(padded)
    for begin in range(len(padded)):
        stretch = padded[begin : begin + 3]
        for line in above:
            other = ["^", *line, "$"]
            length = min(3, len(padded))
            if len(stretch) == length and any(
                other[place : place + length] == stretch for place in range(len(other))
            ):
                marks[begin : begin + length] = [True] * length
    return marks[1:-1]


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=9),
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), max_size=4),
)
def test_a_word_is_repeated_in_a_sequence_that_stands_above(
    words: list[str], above: list[list[str]]
) -> None:
    known = sequences(["\n".join(" ".join(line) for line in above)])
    assert repeated_words(words, known) == slowly_repeated(words, above)


def test_the_words_where_siblings_part_are_seen() -> None:
    rooms = [
        f"This room is called the {room}. In it, you see: a {thing}"
        for room in ("hallway", "kitchen")
        for thing in ("stove", "picture")
    ]
    found = titles([(room, "", str(number)) for number, room in enumerate(rooms)], 30)
    assert [shown(title) for title in found] == [
        "…hallway. … stove",
        "…hallway. … picture",
        "…kitchen. … stove",
        "…kitchen. … picture",
    ]
    below = titles([("heat it (egg)", "", "a"), ("heat it", "stir", "b")], 30, "heat it")
    assert [shown(title) for title in below] == ["heat it (egg)", "″ stir"]
    assert below[0] == (Piece("heat it ", repeats=True), Piece("(egg)", repeats=False))


def test_an_end_of_a_sentence_goes_with_its_beginning() -> None:
    ends = ("plant. First, focus on the thing.", "animal. First, focus on the thing.")
    others = [f"find {name}. First, focus on the substance. Then, heat it" for name in "abcde"]
    tasks = [f"find a {end} Then, move it to the box" for end in ends] + others
    found = titles([(task, "", str(number)) for number, task in enumerate(tasks)], 44)
    assert [shown(title) for title in found[:2]] == [
        f"find a {name}. … Then, move it to the box" for name in ("plant", "animal")
    ]


def test_the_number_of_a_step_goes_with_the_step() -> None:
    steps = ["go to the fridge", "take the egg from it", "heat the egg with the stove"]
    entries = [
        (" ".join(f"{number}. {step}" for number, step in enumerate(each, 1)), "", f"{number}")
        for number, each in enumerate([steps, ["look", *steps], ["look", *steps, "eat it all up"]])
    ]
    found = [shown(title) for title in titles(entries, 30)]
    assert found[2] == "1. look 2. … 5. eat it all up"
    assert not any(re.search(r"… \d\. …", title) for title in found)


def test_what_repeats_all_of_a_neighbour_ends_with_its_last_words() -> None:
    entries = [("heat it", "1. find it 2. take it to the stove", f"{n}5ca{n:012}") for n in (2, 3)]
    found = [shown(title) for title in titles(entries, 30)]
    assert found[1].startswith("″ …")
    assert found[1].endswith("the stove 35ca")
    assert "″" not in found[1][1:]


def test_a_long_repetition_is_left_out_of_a_chain_but_for_its_label() -> None:
    above = sequences(["When: heat some object and put it in a place\n1. find it"])
    line = "When: heat some object and put it in a box"
    assert pieces_of(line, above, brief=True) == [
        Piece("When: … ", repeats=True),
        Piece("box", repeats=False),
    ]
    assert pieces_of("3. find it", above) == [Piece("3. find it", repeats=True)]
    assert pieces_of("", above) == [Piece("", repeats=False)]


def test_a_node_and_its_chain_say_what_they_repeat(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    tree, display = bank.tree("task"), display_of(bank, "task")
    chain = tree.chain(next(node.id for node in tree if node.depth == 3))
    when = detail(tree, chain[-1], display)[1]
    assert when.above == (SKILLS[0][0], SKILLS[1][0])
    assert [len(each.above) for each in chain_sections(display, chain)] == [0, 1, 2]


def test_the_outline_tells_siblings_apart(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    said = [("sing", "1. hum la", 0), ("sing", "1. hum lo", 0), ("loudly", "shout", 1)]
    grow(bank, "task", [(*each, "success") for each in [("heat it", "do", None), *said]])
    roots = [f"{'the same words before ' * 5}{name}" for name in ("one", "two")]
    grow(bank, "task", [(root, "do", None, "success") for root in roots])

    async def story(person: Person) -> None:
        await person.press("G", "k", "k", "asterisk")
        lines = [line.partition(" d")[0].strip() for line in person.screen.splitlines()]
        assert [line for line in lines if "○" in line] == ["▾ ○ sing", "○ loudly", "○ ″ 1. hum lo"]
        assert [line[-4:] for line in lines if "● the same" in line] == [" one", " two"]

    browse(folder, story, "kitchen")
