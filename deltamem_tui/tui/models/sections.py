"""What a text pane shows: sections of a title and a body."""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.text import clean

SHOWN_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text pane.

    Attributes:
        title: Its heading; empty for none.
        body: Its text.
        warning: Whether it is to be read as a warning.
        quiet: Whether it matters less than the others.
        above: The texts that it adds to: what it repeats of them matters less than what is new.
        brief: Whether a long repetition is left out where the section is shown.
        marked: Whether it has a mark at its left, as the current one has.
    """

    title: str = ""
    body: str = ""
    warning: bool = False
    quiet: bool = False
    above: tuple[str, ...] = ()
    brief: bool = False
    marked: bool = False

    def shown_body(self, read_key: str = "") -> str:
        """The body, cleaned; of a very long one the beginning, and how much is left.

        Args:
            read_key: The key that shows all of it; empty if there is none.
        """
        body = clean(self.body)
        left = len(body) - SHOWN_CHARACTERS
        if left <= 0:
            return body
        how = f": press {read_key} to read all of it" if read_key else ""
        return f"{body[:SHOWN_CHARACTERS]}\n… {left:,} more characters{how}"


def plain(sections: list[Section]) -> str:
    """All sections as text, whole, for the clipboard and the pager."""
    parts = [
        "\n".join(part for part in (each.title, clean(each.body)) if part) for each in sections
    ]
    return "\n\n".join(parts) + "\n"
