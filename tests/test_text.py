"""`text.clean` lets nothing through that acts on a terminal."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.text import clean, count_tokens, counted, one_line, word_diff

ANY_TEXT = st.text(st.characters(), max_size=60)
HOSTILE = st.lists(
    st.sampled_from(
        ["\x1b", "[", "]", "0;", "m", "\x07", "\x9b", "\x9d", "\\", "\r", "\n", "a", " "]
    )
).map("".join)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("walk to [fridge 1]", "walk to [fridge 1]"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]52;c;c2VjcmV0\x1b\\text", "text"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bPq#0\x1b\\text", "text"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("take the mug\rfrom the shelf", "take the mug\nfrom the shelf"),
        (" 10 %\r 50 %\r100 %\ndone", " 10 %\n 50 %\n100 %\ndone"),
        ("old\rmac\r\nand dos\r", "old\nmac\nand dos\n"),
        ("bell\x07 nul\x00 del\x7f", "bell nul del"),
        ("exe\u202egpj.", "exegpj."),
        ("\ufeffmarked", "marked"),
        ("half \ud83d a pair", "half  a pair"),
        ("naïve 日本語 🙂", "naïve 日本語 🙂"),
        ("fi\u061cle", "file"),
        ("go\U000e0001\U000e0068\U000e0069\U000e007f on", "go on"),
        ("\u061b\u061d\U000e0100", "\u061b\u061d\U000e0100"),
    ],
)
def test_clean_removes_what_acts_and_keeps_what_is_read(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@given(ANY_TEXT | HOSTILE)
@example("\x1b\x1b[[31m")
def test_clean_text_holds_no_control_character_and_can_be_encoded(raw: str) -> None:
    cleaned = clean(raw)
    controls = [
        character
        for character in cleaned
        if (ord(character) < 0x20 and character not in "\n\t") or 0x7F <= ord(character) <= 0x9F
    ]
    assert controls == []
    cleaned.encode("utf-8")


@given(ANY_TEXT | HOSTILE)
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    assert clean(clean(raw)) == clean(raw)


def test_an_unfinished_control_string_does_not_take_a_long_text_with_it() -> None:
    assert clean("\x1b]" + "x" * 10_000).endswith("x")


def test_one_line_folds_and_cuts() -> None:
    assert one_line("  go \n\t to\r\nthe  kitchen ") == "go to the kitchen"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("abcdefg", 0) == "…"


@given(ANY_TEXT | HOSTILE, st.integers(1, 20))
def test_one_line_is_never_wider_than_asked(raw: str, width: int) -> None:
    line = one_line(raw, width)
    assert len(line) <= width
    assert "\n" not in line
    assert line == line.strip()


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (2000, "2,000 nodes")]
)
def test_a_number_goes_with_its_noun(number: int, words: str) -> None:
    assert counted(number, "node") == words
    assert counted(3, "child", "children") == "3 children"


def test_tokens_are_counted_at_white_space() -> None:
    assert count_tokens("go to\n the  kitchen") == 4
    assert count_tokens("  ") == 0


@given(st.lists(st.text("ab ", min_size=1), min_size=1), st.sampled_from(["\r", "\r\n", "\n"]))
def test_no_kind_of_line_end_takes_words_away(lines: list[str], end: str) -> None:
    assert clean(end.join(lines)) == "\n".join(lines)


def test_long_text_takes_no_longer_than_reading_it() -> None:
    long = "x" * 3_000_000 + "…"  # quadratic work on this would never end
    assert clean(long) == long
    assert clean(f"0%\r{long}") == f"0%\n{long}"
    assert clean("\r" * 3_000_000) == "\n" * 3_000_000


def test_words_that_came_and_went() -> None:
    assert word_diff("put it on the table", "put it under the table") == (
        "put it [−on−]{+under+} the table"
    )
    assert word_diff("", "new words") == "{+new words+}"
    assert word_diff("same", "same") == "same"
    long = "word " * 5000
    assert word_diff(long, "short") == "[−25,000 characters−]{+5 characters+}"
