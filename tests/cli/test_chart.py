"""Curves on a terminal, as data."""

from __future__ import annotations

from deltamem_tui.cli.chart import chart


def test_lines_rise_end_at_their_letters_and_fill_the_width() -> None:
    lines: dict[str, list[float | None]]
    lines = {"a": [0.0, 10.0, 20.0], "b": [None, 20.0, 20.0], "c": [None, None, None]}
    drawn = chart("nodes", [1, 2, 3], lines, width=30, height=4)
    texts = ["".join(text for text, _ in parts) for parts in drawn]
    assert [len(each) for each in texts] == [30] * 6
    assert texts[1].endswith("ab  ")
    assert texts[1].startswith(" 20 │")
    assert texts[4].startswith("  0 │⣀")
    assert texts[5].split() == ["1", "3"]
    colour = {name: style for parts in drawn for name, style in parts if name in ("a", "b")}
    columns = [[at for at, (_, style) in enumerate(row) if style == colour["b"]] for row in drawn]
    assert columns[1]
    assert min(columns[1]) > 10  # it begins with its first value
    assert not any(columns[2:5])
