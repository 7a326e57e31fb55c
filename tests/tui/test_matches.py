"""What a filter sought is marked where it stands, and can be gone to."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.views.occurrences import occurrences
from deltamem_tui.tui.models.found_words import holding, with_found
from deltamem_tui.tui.models.repeats import Piece
from deltamem_tui.tui.models.titles import shown, titles
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse

TEXTS = st.text("abß ", max_size=6)
WORDS = st.lists(st.sampled_from(["a", "ab", "ss", "b a", ""]), max_size=3)


@given(st.lists(st.builds(Piece, TEXTS, st.booleans()), max_size=4), WORDS)
def test_a_line_is_cut_where_words_stand(line: list[Piece], words: list[str]) -> None:
    def signs(pieces: list[Piece]) -> list[tuple[str, bool]]:
        return [(sign, piece.repeats) for piece in pieces for sign in piece.text]

    cut = with_found(line, words)
    assert signs(cut) == signs(line)
    text = "".join(piece.text for piece in line)
    sought = {place for span in occurrences(text, words) for place in range(*span)}
    marks = [piece.found for piece in cut for _ in piece.text]
    assert {place for place, mark in enumerate(marks) if mark} == sought


@given(st.lists(TEXTS.map(lambda text: text.replace(" ", "")), max_size=5), WORDS)
def test_a_word_holds_what_is_sought_if_a_sign_of_it_does(
    line: list[str], words: list[str]
) -> None:
    pieces = with_found([Piece(" ".join(line), repeats=False)], words)
    marked = "".join(("x" if piece.found else "-") * len(piece.text) for piece in pieces)
    for word, held in zip(line, holding(line, words), strict=True):
        assert held == ("x" in marked[: len(word)])
        marked = marked[len(word) + 1 :]


def test_what_is_sought_does_not_give_way_in_a_title() -> None:
    texts = [f"the oven, the microwave, and at last a {thing}" for thing in ("cup", "pan", "lid")]
    entries = [(text, f"{number:016x}") for number, text in enumerate(texts)]
    assert all("wave" not in shown(title) for title in titles(entries, 30))
    assert all("microwave" in shown(title) for title in titles(entries, 30, sought=["wave"]))


def marked(person: Person) -> list[str]:
    """What is yellow on the screen, in the terminal's own colours."""
    return [
        segment.text.casefold()
        for strip in person.app.screen._compositor.render_strips()
        for segment in strip
        if segment.style and segment.style.color and segment.style.color.number == 3
    ]


def test_the_words_of_a_filter_are_marked_and_gone_to(folder: Path) -> None:
    async def story(person: Person) -> None:
        person.app.theme = "ansi-dark"
        await person.press("slash")
        await person.write("Microwave label:failure")
        assert marked(person) == ["microwave"]
        await person.press("enter", "g", "ctrl+n")
        assert person.node.label == "failure"  # behind the two that only lead to it
        await person.press("shift+tab", "ctrl+n")
        pane = person.app.focused
        assert isinstance(pane, TextPane)
        assert pane.match is not None
        assert "^n next match" in person.screen
        await person.press("escape")
        assert marked(person) == []
        assert "next match" not in person.screen
        assert not person.said
        await person.press("ctrl+n")
        assert len(person.said) == 1

    browse(folder, story, "kitchen")


def test_the_next_match_of_a_long_text_is_in_sight_and_goes_round(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("closed")
        await person.press("enter")
        pane = person.app.screen.query_one("#steps", TextPane)
        await person.resize((60, 14))
        gone_to = []
        for key in ("ctrl+n", "ctrl+n", "ctrl+p"):
            await person.press(key)
            assert pane.match is not None
            assert 0 <= pane.match - pane.scroll_offset.y < pane.scrollable_content_region.height
            gone_to.append(pane.match)
        assert len({*gone_to}) == 1  # the episode says it once

    browse(folder, story, "kitchen")
