"""BM25 over the texts at hand."""

from deltamem_tui.embedding.lexical import Lexical, terms


def test_a_text_with_the_rare_words_of_a_question_is_first() -> None:
    index = Lexical(["fix the parser tests", "fix the lexer tests", "write docs"])
    scores = index.scores("why does the lexer fail its tests")
    assert max(range(3), key=scores.__getitem__) == 1
    assert scores[2] == 0
    assert all(0 <= score <= 1 for score in scores)


def test_names_are_taken_apart_and_endings_dropped() -> None:
    assert terms("parseDate in date_parsers, the 2.7 queries") == [
        "parse",
        "date",
        "date",
        "parser",
        "2.7",
        "query",
    ]


def test_an_empty_index_has_no_scores() -> None:
    assert Lexical([]).scores("anything") == []
