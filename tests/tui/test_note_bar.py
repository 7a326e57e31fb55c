"""The line of notes: what is said is folded for the terminal as it is now."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.errors import UsageError
from deltamem_tui.tui.widgets.bottom_bar import NoteBar
from tests.tui.support import Person, browse


def test_a_note_is_folded_anew_when_the_terminal_has_another_size(folder: Path) -> None:
    words = " ".join(f"word-{number}" for number in range(40)) + " THE END"

    async def story(person: Person) -> None:
        person.app.notes.report(UsageError(words))
        await person.settle()
        bar = person.app.screen.query_one(NoteBar)
        assert "THE END" in person.screen
        wide = bar.size.height
        await person.resize((60, 24))
        assert "THE END" not in person.screen
        assert person.screen.splitlines()[-1].strip() == "… N shows all of it"
        await person.resize((120, 24))
        assert "THE END" in person.screen
        assert bar.size.height == wide

    browse(folder, story, "kitchen", size=(120, 24))
