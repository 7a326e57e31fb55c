"""While a bank is written: what one looks at stays, and what is begun is brought to its end."""

from __future__ import annotations

from pathlib import Path

from tests.tui.support import Person, browse


def test_a_bank_that_is_gone_is_told_as_that_whatever_is_asked_of_it(folder: Path) -> None:
    """Not with the paths of files that nobody asked about, nor the advice to make a new one."""
    gone = f"{folder / 'kitchen'}: the bank is no longer there (b goes back to the banks)"

    async def story(person: Person) -> None:
        (folder / "kitchen").rename(folder.parent / "elsewhere")
        person.app.session.look_for_changes()
        await person.settle()
        assert person.said[-1] == gone
        for keys in (("3",), ("F",), ("u",)):
            await person.press("1", *keys)
            assert person.said[-1] == gone, keys
        await person.press("b")
        assert "No banks" in person.screen

    browse(folder, story, "kitchen")
